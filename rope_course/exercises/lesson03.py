"""Exercises of notebook 03, The clock with many hands."""

import numpy as np

from rope_course.exercises.checkers import choice, close, formula, function, numbers, say, true_or_false
from rope_course.exercises.entry import exercise, returns, solution_with, starter_with
from rope_ref.frequencies import inverse_frequencies, wavelengths

__all__ = ["EXERCISES"]

TURNS = wavelengths(inverse_frequencies(128))  # tokens a turn, for the pairs of a head of width 128


def unfinished(base, length):
    """Count the pairs of a head of width 128 that make no full turn in a context of some length."""
    return np.count_nonzero(wavelengths(inverse_frequencies(128, base)) > length)


# first_return ----------------------------------------------------------------------------------------------------


def away(inv_freq, m):
    """Measure how far each hand is from its start, in radians, the shorter way round."""
    return np.abs(np.angle(np.exp(1j * m * np.asarray(inv_freq))))


def past(inv_freq, m):
    """Measure how far each hand has gone since it last passed its start, in radians."""
    return m * np.asarray(inv_freq) % (2 * np.pi)


def first(inv_freq, within, *, measure=away, home=np.all, start=1):
    """Find the first position at which the hands are home, by some measure."""
    return next(m for m in range(start, 2001) if home(measure(inv_freq, m) < within))


TWO = np.array([1.0, 0.1])  # d = 4, base 100
CLOCKS = [(TWO, 0.2), (TWO, 0.15), (TWO[:1], 0.1), (TWO[:1], 0.3), (TWO[:1], 0.001)]


def return_probe(student):
    """Say which hands, or which positions, the student's function overlooks."""
    got = [student(*clock) for clock in CLOCKS]
    if close(got, [first(*clock) for clock in CLOCKS]):
        return None
    for says, settings in [
        ("from_zero", {"start": 0}),
        ("one_hand", {"home": np.any}),
        ("one_side", {"measure": past}),
    ]:
        if close(got, [first(*clock, **settings) for clock in CLOCKS]):
            return says
    return say("not_there", found=f"{got[0]:.6g}")


# mend_speeds -----------------------------------------------------------------------------------------------------


def speeds(mend_speeds, rotary_dim=8, base=10000.0):
    """Call the student's function for one width and base."""
    return mend_speeds(rotary_dim, base, shape=(rotary_dim // 2,))


def speeds_probe(student):
    """Say what is wrong with the speeds: their order, their start, or the ratio of neighbours."""
    got = speeds(student)
    if (got <= 0).any():
        return "not_positive"
    ratios = got[1:] / got[:-1]
    if np.allclose(ratios, 10.0):
        return "growing"
    if not np.allclose(ratios, 0.1):
        return "ratio"
    if not close(got[0], 1.0):
        return say("start", speed=f"{got[0]:.4g}")
    more = [(64, 10000.0), (128, 500000.0), (6, 100.0)]
    return None if all(close(speeds(student, *each), inverse_frequencies(*each)) for each in more) else "width"


EXERCISES = [
    exercise(
        "fastest_period",
        kind="predict",
        checker=numbers(wavelengths(inverse_frequencies(64))[0]),
        mistakes=[
            ("speed", 1),
            ("degrees", 360),
            ("half_turn", np.pi),
            ("slowest", 2 * np.pi * 10000),
            ("base", 10000),
        ],
    ),
    exercise(
        "near_return",
        kind="predict",
        checker=numbers(1 + np.argmin([away([1.0], m)[0] for m in range(1, 1001)]), rtol=0),
        mistakes=[("near_44", 44), ("near_6", 6), ("half_turn", 355), ("hundred_turns", 628), ("near_333", 333)],
    ),
    exercise(
        "unfinished_hands",
        kind="predict",
        checker=numbers([unfinished(1e4, 2048), unfinished(1e4, 4096), unfinished(5e5, 8192)], rtol=0),
        mistakes=[("finished", [41, 46, 35]), ("radian", [11, 6, 20]), ("third", [23, 18, 11])],
    ),
    exercise(
        "larger_base",
        kind="predict",
        checker=choice("up", "down", "same"),
        mistakes=[("pressed", "down"), ("unchanged", "same")],
    ),
    exercise(
        "slowest_period",
        kind="derive",
        checker=formula(
            lambda d, b: wavelengths(inverse_frequencies(d, b))[-1],
            lambda rng: (2 * int(rng.integers(4, 100)), float(rng.uniform(100, 500000))),
        ),
        mistakes=[
            ("one_more", returns("2 * np.pi * b")),
            ("two_lost", returns("2 * np.pi * b ** (1 - 1 / d)")),
            ("radian", returns("b ** (1 - 2 / d)")),
            ("speed", returns("b ** (-1 + 2 / d)")),
            ("slower", returns("2 * np.pi * b ** (-1 + 2 / d)")),
            ("fastest", returns("2 * np.pi")),
        ],
    ),
    exercise(
        "pair_of_4096",
        kind="predict",
        checker=numbers(np.argmin(np.abs(TURNS - 4096)), rtol=0),
        mistakes=[("from_one", 46), ("feature", 90), ("radian", 58), ("slower", 18)],
    ),
    exercise(
        "first_return",
        kind="code",
        checker=function(return_probe),
        mistakes=[
            ("from_zero", solution_with(("range(1, 2001)", "range(2001)"))),
            ("one_hand", solution_with(("np.all", "np.any"))),
            ("one_side", solution_with(("np.minimum(past, 2 * np.pi - past)", "past"))),
            ("not_there", solution_with(("np.minimum(past, 2 * np.pi - past)", "m * inv_freq")), {"found": "-1"}),
        ],
    ),
    exercise(
        "mend_speeds",
        kind="repair",
        checker=function(speeds_probe),
        mistakes=[
            ("start", starter_with(), {"speed": "0.3162"}),
            ("start", starter_with(("(2 * i - 1)", "2 * i")), {"speed": "0.1"}),
            ("ratio", starter_with(("(2 * i - 1)", "(i - 1)"))),
            ("ratio", starter_with(("(2 * i - 1)", "4 * (i - 1)"))),
            ("growing", starter_with(("-(2 * i - 1)", "2 * (i - 1)"))),
            ("width", starter_with(("(2 * i - 1) / rotary_dim", "2 * (i - 1) / 8"))),
            ("width", starter_with(("base **", "10000 **"), ("(2 * i - 1)", "2 * (i - 1)"))),
        ],
    ),
    true_or_false("true_or_false_03", [False, True, False, False, False, True]),
]
