"""The numbers that decide a result, and the tasks: tokens, and what is asked at each of them."""

from typing import NamedTuple

import numpy as np

from rope_ref.checks import check_choice, check_count, check_integer, check_positive, check_rng, check_width

__all__ = ["Settings", "draw"]

UNASKED = -1  # the target of a token at which nothing is asked


class Settings(NamedTuple):
    """All numbers that decide a result, apart from the scheme, the task and the seed.

    Parameters
    ----------
    vocabulary : int, optional
        Number of different tokens V, even; the first half are the special symbols of two tasks.
    width : int, optional
        Number of features W of a token and of the head.
    batch : int, optional
        Sequences in a training step.
    steps : int, optional
        Training steps, each with new sequences.
    length : int, optional
        Tokens in a training sequence.
    times : tuple of int, optional
        Lengths to test at, as multiples of `length`.
    seeds : tuple of int, optional
        One model for each seed, scheme and task.
    learning_rate : float, optional
        Step size of Adam.
    sequences : int, optional
        Test sequences for each length.

    Examples
    --------
    >>> Settings(steps=300).length
    32
    """

    vocabulary: int = 16
    width: int = 32
    batch: int = 32
    steps: int = 1500
    length: int = 32
    times: tuple = (1, 2, 4, 8, 16)
    seeds: tuple = (0, 1, 2)
    learning_rate: float = 0.01
    sequences: int = 256


def check_settings(settings):
    """Return `settings`, or those of the table for None, or raise: such models must be possible."""
    settings = Settings() if settings is None else settings
    if not isinstance(settings, Settings):
        raise TypeError(f"settings must be of the class Settings, got {settings!r}")
    for name in ("width", "batch", "steps", "sequences"):
        check_count(getattr(settings, name), name)
    check_width(settings.vocabulary, "vocabulary")
    check_at_least_two(settings.length, "length")
    check_positive(settings.learning_rate, "learning_rate")
    times = tuple(check_count(each, "each of times") for each in settings.times)
    seeds = tuple(check_seed(each) for each in settings.seeds)
    if not times or not seeds:
        raise ValueError(f"times and seeds must not be empty, got {times} and {seeds}")
    return settings._replace(times=times, seeds=seeds)


def check_at_least_two(seq_len, name="seq_len"):
    """Return `seq_len` as an int, or raise: one token alone has nothing to look back to."""
    seq_len = check_count(seq_len, name)
    if seq_len < 2:
        raise ValueError(f"{name} must be at least 2, got {seq_len}")
    return seq_len


def check_seed(seed):
    """Return `seed` as an int, or raise: it must be an integer from 0."""
    seed = check_integer(seed, "seed")
    if seed < 0:
        raise ValueError(f"seed must be at least 0, got {seed}")
    return seed


def copy_back(distance):
    """Make the task "which token stood `distance` places back?"."""

    def copy(count, seq_len, vocabulary, rng):
        tokens = rng.integers(vocabulary, size=(count, seq_len))
        targets = np.full_like(tokens, UNASKED)
        targets[:, distance:] = tokens[:, :-distance]
        return tokens, targets

    return copy


def recent(count, seq_len, vocabulary, rng):
    """Ask "which special symbol came last?"; one token in eight is special, and answers at its own place already."""
    kinds = vocabulary // 2
    tokens = rng.integers(kinds, vocabulary, size=(count, seq_len))
    special = rng.random(tokens.shape) < 1 / 8
    tokens = np.where(special, rng.integers(kinds, size=tokens.shape), tokens)
    latest = np.maximum.accumulate(np.where(special, np.arange(seq_len), -1), axis=-1)
    answers = np.take_along_axis(tokens, np.maximum(latest, 0), axis=-1)
    return tokens, np.where(latest >= 0, answers, UNASKED)


def special(count, seq_len, vocabulary, rng):
    """Ask "which special symbol was there?"; one stands in the first three quarters, and all later places are asked."""
    kinds = vocabulary // 2
    tokens = rng.integers(kinds, vocabulary, size=(count, seq_len))
    place = rng.integers(3 * seq_len // 4, size=(count, 1))
    answer = rng.integers(kinds, size=(count, 1))
    np.put_along_axis(tokens, place, answer, axis=-1)
    return tokens, np.where(np.arange(seq_len) > place, answer, UNASKED)


TASKS = {"copy-1": copy_back(1), "copy-3": copy_back(3), "recent": recent, "special": special}


def draw(task, count, seq_len, rng, *, vocabulary=16):
    """Draw sequences of a task, with what is asked at each token.

    Parameters
    ----------
    task : {"copy-1", "copy-3", "recent", "special"}
        Which token stood 1 or 3 places back; which special symbol came last; which one special symbol there was.
    count : int
        Number of sequences B.
    seq_len : int
        Number of tokens T in each, at least 2, and 4 for "copy-3".
    rng : numpy.random.Generator
        Where the numbers come from.
    vocabulary : int, optional
        Number of different tokens, even. In "recent" and "special" the first half are the special symbols.

    Returns
    -------
    tokens, targets : ndarray of int, shape (count, seq_len)
        Tokens from 0, and the right answer at each; -1 where nothing is asked.

    Raises
    ------
    TypeError
        If a number is not an integer, or `rng` not a `numpy.random.Generator`.
    ValueError
        If `task` is unknown, `seq_len` too short, `vocabulary` odd, or a number not positive.

    Examples
    --------
    >>> tokens, targets = draw("copy-3", 1, 8, np.random.default_rng(0))
    >>> tokens, targets
    (array([[13, 10,  8,  4,  4,  0,  1,  0]]), array([[-1, -1, -1, 13, 10,  8,  4,  4]]))
    """
    make = TASKS[check_choice(task, TASKS, "task")]
    count, seq_len = check_count(count, "count"), check_at_least_two(seq_len)
    if task == "copy-3" and seq_len < 4:
        raise ValueError(f"seq_len must be at least 4 for the task copy-3, got {seq_len}")
    return make(count, seq_len, check_width(vocabulary, "vocabulary"), check_rng(rng))
