"""Exercises of notebook 04, Does attention fade with distance?"""

import numpy as np

from rope_course.exercises.checkers import close, formula, function, numbers, true_or_false
from rope_course.exercises.entry import exercise, returns, solution_with, starter_with
from rope_ref.attention import relative_score
from rope_ref.decay import decay_bound
from rope_ref.frequencies import inverse_frequencies

__all__ = ["EXERCISES"]

SPEEDS = inverse_frequencies(64)


# partial_sums ----------------------------------------------------------------------------------------------------


def lengths(distance, inv_freq, part=np.abs):
    """Measure the partial sums S_1, S_2, ... of the paper's bound, or one part of each."""
    return part(np.cumsum(np.exp(1j * distance * inv_freq)))


def from_empty(distance, inv_freq):
    """Average from the empty sum S_0 on, and leave the whole sum out."""
    return np.concatenate(([0.0], lengths(distance, inv_freq)[:-1])).mean()


WAYS = [
    ("whole", lambda r, inv_freq: lengths(r, inv_freq)[-1]),
    ("whole", lambda r, inv_freq: lengths(r, inv_freq)[-1] / len(inv_freq)),
    ("total", lambda r, inv_freq: lengths(r, inv_freq).sum()),
    ("empty", from_empty),
    ("real", lambda r, inv_freq: lengths(r, inv_freq, np.real).mean()),
    ("real", lambda r, inv_freq: np.abs(lengths(r, inv_freq, np.real)).mean()),
    ("early", lambda r, inv_freq: (len(inv_freq) + 1) / 2),
]


def sums_probe(student):
    """Say which mean was taken instead of that of the lengths of the partial sums."""
    cases = [(r, inverse_frequencies(d)) for r, d in [(0, 128), (10, 128), (100, 64), (37, 6)]]
    got = [student(*case) for case in cases]
    if close(got, [decay_bound(*case) for case in cases]):
        return None
    return next((says for says, way in WAYS if close(got, [way(*case) for case in cases])), "other")


# key_for ---------------------------------------------------------------------------------------------------------


def peak_of(key_for, distance):
    """Find the distance from -600 to 600 at which the student's key scores highest, and whether it does so alone."""
    q = np.random.default_rng(3).standard_normal(64)
    k = key_for(q, distance, SPEEDS, shape=(64,))
    if not np.any(k):
        return None
    around = np.arange(-600, 601)
    scores = relative_score(q, k, around, SPEEDS)
    return around[np.argmax(scores)] if scores.max() > scores.min() else None


def key_probe(student):
    """Say where the student's key scores highest, if not at the distance asked for."""
    found = [peak_of(student, distance) for distance in (37, 0, 500)]
    if found == [37, 0, 500]:
        q = np.random.default_rng(4).standard_normal(64)
        k = student(q, 37, SPEEDS, shape=(64,))
        best = np.linalg.norm(q) * np.linalg.norm(k)
        return None if close(relative_score(q, k, 37, SPEEDS), best) else "best"
    if found[0] is None:
        return "lost"
    return {0: "newborn", -37: "behind"}.get(int(found[0]), "elsewhere")


# closer_wins -----------------------------------------------------------------------------------------------------


def share_of_wins(d, draws=5000):
    """Count how often a random q scores itself higher at distance 64 than at distance 32."""
    q, inv_freq = np.random.default_rng(0).standard_normal((draws, d)), inverse_frequencies(d)
    return np.mean(relative_score(q, q, 64, inv_freq) > relative_score(q, q, 32, inv_freq))


# independent_draws -----------------------------------------------------------------------------------------------


def draws_probe(student):
    """Say what the mean and the spread at some distances show."""
    draws = 4000
    results = [student(distance, SPEEDS, draws, 11, shape=(2,)) for distance in (0, 10, 1000)]
    means, spreads = np.transpose(results)
    if close(results[0], results[2]):
        return "not_turned"
    if abs(means[0]) > 40 and abs(means[2]) < abs(means[0]) / 2:
        return "one_draw"
    if np.any(np.abs(means) > 5 * 8 / np.sqrt(draws)):
        return "mean"
    if not np.allclose(spreads, 8, rtol=0.06):
        return "spread"
    return None


EXERCISES = [
    exercise(
        "cosine_weights",
        kind="derive",
        checker=formula(
            lambda q: (q**2).reshape(-1, 2).sum(axis=-1) / (q @ q),
            lambda rng: (rng.standard_normal(2 * int(rng.integers(2, 6))),),
            shape=lambda q: (len(q) // 2,),
        ),
        mistakes=[
            ("lengths", returns("np.hypot(q[0::2], q[1::2]) / np.hypot(q[0::2], q[1::2]).sum()")),
            ("proportions", returns("q[0::2] ** 2 + q[1::2] ** 2")),
            ("of_ones", returns("np.full(len(q) // 2, 2 / len(q))")),
            ("half_split", returns("(q[: len(q) // 2] ** 2 + q[len(q) // 2 :] ** 2) / (q @ q)")),
            ("squares", returns("np.hypot(q[0::2], q[1::2]) / np.linalg.norm(q)")),
        ],
    ),
    exercise(
        "fast_pair_at_three",
        kind="predict",
        checker=numbers(np.cos(3), rtol=0, atol=0.0051),
        mistakes=[("at_zero", 1), ("side", 0.99), ("sine", 0.14), ("half_turn", -1), ("quarter_turn", 0)],
    ),
    exercise(
        "closer_wins",
        kind="predict",
        checker=numbers(share_of_wins(64), rtol=0, atol=0.021),
        mistakes=[("always", 0), ("percentage", 6), ("indifferent", 0.5), ("closer", 0.94), ("wider", 0.17)],
    ),
    exercise(
        "key_for",
        kind="code",
        checker=function(key_probe),
        mistakes=[
            ("behind", solution_with(("[distance", "[-distance"))),
            ("newborn", returns("q")),
            ("lost", returns("0 * q")),
            ("elsewhere", solution_with(("[distance", "[2 * distance"))),
            ("elsewhere", solution_with((")[0]", ", pairing='half')[0]"))),
            ("best", solution_with(("[0]", "[0] * np.arange(1, 65)"))),
        ],
    ),
    exercise(
        "partial_sums",
        kind="code",
        checker=function(sums_probe),
        mistakes=[
            ("whole", solution_with((".mean()", "[-1]"))),
            ("whole", solution_with(("cumsum", "mean"), (".mean()", ""))),
            ("total", solution_with((".mean()", ".sum()"))),
            ("empty", solution_with(("np.abs(sums).mean()", "np.abs(np.append(0, sums[:-1])).mean()"))),
            ("real", solution_with(("np.abs(sums)", "sums.real"))),
            (
                "real",
                solution_with(
                    ("np.cumsum(np.exp(1j * distance * inv_freq))", "np.cumsum(np.cos(distance * inv_freq))")
                ),
            ),
            ("early", solution_with(("np.cumsum(", "np.cumsum(np.abs("), ("inv_freq))", "inv_freq)))"))),
            ("other", solution_with(("np.abs(sums).mean()", "np.median(np.abs(sums))"))),
        ],
    ),
    true_or_false("true_or_false_04", [False, False, True, True, False, False]),
    exercise(
        "independent_draws",
        kind="repair",
        checker=function(draws_probe),
        mistakes=[
            ("one_draw", starter_with()),
            ("not_turned", solution_with(("k, distance, inv", "k, 0 * distance, inv"))),
            ("spread", solution_with(("scores = ", "scores = 0.125 * "))),
        ],
    ),
]
