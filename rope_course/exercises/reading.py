"""Reading what students hand in: any object at all, and functions that may do anything.

Whatever cannot be read raises `Trouble`, and its text is the sentence to print.
"""

import copy
import inspect
import sys
import time
import warnings

import numpy as np

from rope_course.exercises.words import phrase

__all__ = []

SECONDS = 10.0  # for all calls of one check together


class Trouble(Exception):
    """The answer cannot be judged; the message is for the student."""


class NotAnswered(Trouble):
    """There is nothing to judge yet."""


class TooSlow(BaseException):
    """Time is up; no `except Exception` of a student catches it."""


def trouble(key, *more, **fields):
    """Make a `Trouble` of a phrase, and of further ones behind it."""
    return Trouble(" ".join([phrase(key, **fields), *map(phrase, more)]))


def is_blank(answer):
    """Tell whether an answer is None, `...`, or a list of nothing else."""
    if isinstance(answer, (list, tuple)):
        return len(answer) > 0 and all(is_blank(each) for each in answer)
    return answer is None or answer is ...


def describe(value):
    """Name an object in a few words, without asking the object itself."""
    if isinstance(value, (bool, np.bool_)):
        return phrase("a_truth", value=bool(value))
    if isinstance(value, str):
        return phrase("a_text")
    if isinstance(value, (int, float, np.integer, np.floating)):
        try:
            return phrase("a_number", value=f"{float(value):.6g}")
        except OverflowError:
            return phrase("a_large_number")
    if isinstance(value, np.ndarray):
        return phrase("an_array", shape=value.shape)
    if isinstance(value, (list, tuple)):
        return phrase("a_list" if isinstance(value, list) else "a_tuple", count=len(value))
    if inspect.isroutine(value):
        return phrase("a_function")
    return phrase("an_object", type=type(value).__name__)


def expected(shape):
    """Say which numbers are expected."""
    if shape == ():
        return phrase("one_number")
    return phrase("numbers", count=shape[0]) if len(shape) == 1 else phrase("an_array", shape=shape)


def as_numbers(value, shape, complaint="expected"):
    """Return `value` as a new float64 array of `shape`, or raise a `Trouble`."""
    if isinstance(value, (list, tuple)) and any(is_blank(each) for each in value):
        raise NotAnswered(phrase("not_every_number"))
    wrong_kind = trouble(complaint, what=expected(shape), got=describe(value))
    try:
        array = np.asarray(value)
        if array.dtype.kind == "c":
            raise trouble(complaint, "take_apart", what=expected(shape), got=phrase("complex_numbers"))
        if array.dtype.kind not in "iufO":
            raise wrong_kind
        with np.errstate(all="ignore"):
            numbers = np.array(array, np.float64)
    except Trouble:
        raise
    except Exception:  # an object of any kind may refuse in any way
        raise wrong_kind from None
    if shape == () and numbers.size == 1:
        numbers = numbers.reshape(())
    if numbers.shape != shape:
        raise wrong_kind
    if not np.isfinite(numbers).all():
        raise trouble(complaint, "divided_by_zero", what=expected(shape), got=phrase("not_finite"))
    return numbers


def one_line(error):
    """Say what kind of error it was and what it said, cut to one short line."""
    try:
        text = str(error).strip().splitlines()[0][:100].rstrip(". ")
    except Exception:  # an error without a text, or one that cannot even say what it is
        text = ""
    return f"{type(error).__name__}: {text}" if text else type(error).__name__


class Guarded:
    """A student's function, safe to call: on copies, for a limited time, without warnings."""

    def __init__(self, function, exercise):
        self.head = exercise.head
        if not callable(function):
            raise trouble("no_function", got=describe(function), name=exercise.name)
        self.function = function
        self.stop = time.monotonic() + SECONDS

    def __call__(self, *args, shape=()):
        """Call the function and return its result as a float64 array of `shape`, or raise a `Trouble`."""
        self.check_signature(args)
        given = copy.deepcopy(args)
        result = self.call_in_time(given)
        for before, after in zip(args, given, strict=True):
            if not np.array_equal(before, after):
                raise trouble("input_changed")
        if is_blank(result):
            raise NotAnswered(phrase("returns_nothing"))
        return as_numbers(result, shape, "must_return")

    def check_signature(self, args):
        """Raise a `Trouble` unless the function takes these arguments."""
        try:
            signature = inspect.signature(self.function)
        except (TypeError, ValueError):  # some built-in functions do not tell
            return
        try:
            signature.bind(*args)
        except TypeError:
            raise trouble("other_arguments", head=self.head) from None

    def call_in_time(self, args):
        """Call the function; errors and endless loops become a `Trouble`."""

        def watch(frame, event, arg):
            if time.monotonic() > self.stop:
                raise TooSlow
            return watch

        debugged = sys.gettrace() is not None  # a debugger uses the same hook, and takes its time
        try:
            with np.errstate(all="ignore"), warnings.catch_warnings():
                warnings.simplefilter("ignore")
                try:
                    if not debugged:
                        sys.settrace(watch)
                    return self.function(*args)
                finally:
                    if not debugged:
                        sys.settrace(None)
        except TooSlow:
            raise trouble("too_slow", seconds=f"{SECONDS:g}") from None
        except (Exception, SystemExit) as error:
            raise trouble("stopped", error=one_line(error)) from None
