"""Checkers that exercises share. Each takes an answer and its exercise; None means right, a key says what is not.

Values are compared with the right one and with the catalogued mistakes; functions are called on copies and asked
whether they keep what they must.
"""

import numpy as np

from rope_course.exercises.entry import Said, exercise, run
from rope_course.exercises.reading import Guarded, NotAnswered, as_numbers, describe, is_blank, trouble
from rope_course.exercises.words import phrase
from rope_ref.faults import CHECKS, FAULTS, rotate_correctly
from rope_ref.frequencies import inverse_frequencies, rotation_angles

__all__ = []

SEED = 20250311


def matched(each, agrees):
    """Name the message of the first catalogued mistake that agrees with the answer, or the general advice."""
    for wrong in each.wrong:
        if agrees(each.answer(wrong)):
            return Said(wrong.key, wrong.fields)
    return "advice"


def say(key, **fields):
    """Name a message and what its braces are filled with."""
    return Said(key, fields)


# Values ----------------------------------------------------------------------------------------------------------


def numbers(want, *, rtol=1e-3, atol=1e-9):
    """Check one number, or several in a fixed order."""
    want = np.asarray(want, np.float64)

    def judge(answer, each):
        got = as_numbers(answer, want.shape)

        def agrees(value):
            return np.allclose(got, value, rtol=rtol, atol=atol)

        return None if agrees(want) else matched(each, agrees)

    return judge


def choice(right, *others):
    """Check one word out of a few, in quotes."""
    words = sorted([right, *others])

    def judge(answer, each):
        listed = ", ".join(f'"{word}"' for word in words)
        if not isinstance(answer, str):
            raise trouble("one_word", words=listed, got=describe(answer))
        word = answer.strip().lower()
        if word not in words:
            raise trouble("other_word", words=listed)
        return None if word == right else matched(each, lambda wrong: wrong == word)

    return judge


def statements(truths):
    """Check a list of True and False, one for each sentence."""

    def judge(answer, each):
        if isinstance(answer, np.ndarray):
            answer = answer.tolist()
        if not isinstance(answer, (list, tuple)) or len(answer) != len(truths):
            raise trouble("truths", count=len(truths), got=describe(answer))
        blank = [str(i) for i, said in enumerate(answer, 1) if is_blank(said)]
        if blank:
            raise NotAnswered(phrase("still_open", numbers=", ".join(blank)))
        for i, said in enumerate(answer, 1):
            if not isinstance(said, (bool, np.bool_)):
                raise trouble("truth_of_one", count=len(truths), got=describe(said), number=i)
        wrong = [i for i, truth in enumerate(truths, 1) if bool(answer[i - 1]) != truth]
        return look_again(wrong, len(truths)) if wrong else None

    return judge


def look_again(wrong, count):
    """Say which sentence needs another look; the exercise has a pointer for each."""
    return say("sentence" if len(wrong) == 1 else "sentences", number=wrong[0], wrong=len(wrong), all=count)


def true_or_false(name, truths):
    """Make an exercise from sentences of its text, told whether each is true; every one of them can be got wrong."""
    flipped = [[truth != (i == wrong) for i, truth in enumerate(truths)] for wrong in range(len(truths))]
    mistakes = [("sentence", answer, {"number": number}) for number, answer in enumerate(flipped, 1)]
    return exercise(name, kind="predict", checker=statements(truths), mistakes=mistakes, truths=truths)


# Functions -------------------------------------------------------------------------------------------------------


def close(got, want):
    """Tell whether two results are equal to rounding."""
    return np.shape(got) == np.shape(want) and np.allclose(got, want, rtol=1e-9, atol=1e-9)


def formula(truth, draw, shape=(), times=8):
    """Check a formula by putting in random numbers: `draw(rng)` gives the arguments, `truth` the right value."""

    def judge(answer, each):
        student, rng = Guarded(answer, each), np.random.default_rng(SEED)
        cases = [draw(rng) for _ in range(times)]
        shapes = [shape(*case) if callable(shape) else shape for case in cases]
        got = [student(*case, shape=its) for case, its in zip(cases, shapes, strict=True)]

        def agrees(function):
            return all(close(value, function(*case)) for value, case in zip(got, cases, strict=True))

        return None if agrees(truth) else matched(each, lambda code: agrees(run(code, each.name)))

    return judge


def by_solution(draw, shape=()):
    """Check a function as `formula` does, by what the solution returns."""

    def judge(answer, each):
        return formula(run(each.solution, each.name), draw, shape)(answer, each)

    return judge


def function(*probes):
    """Check a function by asking one probe after the other; the first that finds something says it.

    A probe takes the guarded function and returns the key of a message, or None where all is well.
    """

    def judge(answer, each):
        student = Guarded(answer, each)
        found = (probe(student) for probe in probes)
        return next((says for says in found if says), None)

    return judge


def must(holds, says):
    """Make a probe: `holds(student)` tells whether all is well, `says` is the key if not."""
    return lambda student: None if holds(student) else says


def must_not(fails, says):
    """Make a probe: `fails(student)` tells whether a fault is there, `says` is its key."""
    return lambda student: says if fails(student) else None


# Rotations -------------------------------------------------------------------------------------------------------

# Asked in this order where a function is none of the planted faults; each is the key of its message.
ASKED = (
    "nothing at zero",
    "length kept",
    "pairs stay apart",
    "distance alone",
    "distance alone far out",
    "turns add up",
    "curve of ones",
    "case by hand",
)

# Faults that agree on a sample of few positions are told apart by these shapes and positions.
SAMPLES = [((2, 3, 8), [3, 4, 5]), ((1, 3, 8), [0, 777, 3005])]


def rotation(call, *probes):
    """Check a rotation; `call(student, x, position_ids)` says how the student's function is called.

    The probes of the exercise come first, as in `function`. Then the rotation must agree with the package on several
    heads at once and pass every check of `faults`. One that does not is compared with the planted faults, so that the
    message can name the mistake.
    """

    def judge(answer, each):
        student, rng = Guarded(answer, each), np.random.default_rng(SEED)
        for probe in probes:
            if says := probe(student):
                return says
        inputs = [(rng.standard_normal(shape), np.array(positions)) for shape, positions in SAMPLES]
        got = [call(student, *sample) for sample in inputs]

        def agrees(rotate):
            return all(close(turned, rotate(*sample)) for turned, sample in zip(got, inputs, strict=True))

        right = agrees(rotate_correctly)
        if agrees(lambda x, position_ids: rotate_correctly(x, 0 * position_ids + position_ids[0])):
            return "alike"
        if not right:
            for name, fault in FAULTS.items():
                if agrees(fault.rotate):
                    return name
        if all(close(turned, call(student, x, at + 7)) for turned, (x, at) in zip(got, inputs, strict=True)):
            return "unmoved"
        for name in ASKED:
            if not CHECKS[name].holds(lambda x, position_ids: call(student, x, np.asarray(position_ids))):
                return name
        return None if right else "advice"

    return judge


def by_angles(student, x, position_ids):
    """Call a function of `x` and angles, as the four forms are."""
    angles = rotation_angles(position_ids, inverse_frequencies(x.shape[-1]))
    return student(x, angles, shape=x.shape)
