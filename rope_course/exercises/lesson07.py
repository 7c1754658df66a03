"""Exercises of notebook 07, Longer than trained."""

import itertools

import numpy as np

from rope_course.exercises.checkers import close, formula, function, numbers, true_or_false
from rope_course.exercises.entry import exercise, returns, solution_with, starter_with
from rope_ref.frequencies import inverse_frequencies, rotation_angles
from rope_ref.rotation import rotate_expanded
from rope_ref.scaling import dynamic_ntk, first_new_position, linear, ntk, ntk_base, ntk_by_parts
from rope_ref.xpos import xpos_scales

__all__ = ["EXERCISES"]

TURN = 2 * np.pi


# by_parts_counts -------------------------------------------------------------------------------------------------


def parts(factor=16):
    """Count the pairs of a head of 128 that YaRN keeps, blends and slows, if trained on 2,048 tokens."""
    own = inverse_frequencies(128)
    scaled = ntk_by_parts(128, factor=factor, original_length=2048).inv_freq
    kept, slowed = (int(np.isclose(scaled, own / s, rtol=1e-9, atol=0).sum()) for s in (1, factor))
    return [kept, len(own) - kept - slowed, slowed]


# cached_score ----------------------------------------------------------------------------------------------------

LENGTH = 16  # tokens trained on
PLACES = [(5, 0), (20, 15), (40, 35), (60, 12), (9, 9)]


def speeds(width, length):
    """Give the speeds that are in use when a text has some length."""
    return dynamic_ntk(width, factor=2, original_length=LENGTH, seq_len=length).inv_freq


def score(q, k, m, n, q_length, k_length):
    """Score a query turned by the speeds of one length with a key turned by those of another."""
    turned = [
        rotate_expanded(x[None], rotation_angles([at], speeds(len(x), length)))[0]
        for x, at, length in ((q, m, q_length), (k, n, k_length))
    ]
    return turned[0] @ turned[1]


WAYS = [
    ("afresh", lambda m, n: (m + 1, m + 1)),
    ("frozen", lambda m, n: (n + 1, n + 1)),
    ("crossed", lambda m, n: (n + 1, m + 1)),
]


def cache_probe(student):
    """Say by which speeds the student turned the query and the cached key."""
    q, k = np.random.default_rng(7).standard_normal((2, 8))
    got = [student(q, k, m, n, speeds(8, m + 1), speeds(8, n + 1)) for m, n in PLACES]
    for says, lengths in [(None, lambda m, n: (m + 1, n + 1)), *WAYS]:
        if close(got, [score(q, k, m, n, *lengths(m, n)) for m, n in PLACES]):
            return says
    return "other"


# first_new_angle -------------------------------------------------------------------------------------------------

SLOWED = {  # speeds of a width for a factor, trained on some length
    "NTK": lambda width, length, factor: ntk(width, factor=factor),
    "PI": lambda width, length, factor: linear(width, factor=factor),
    "YaRN": lambda width, length, factor: ntk_by_parts(width, factor=factor, original_length=length),
}
REACHES = list(itertools.product((64, 128), (200, 513, 2048), (2, 4, 7, 8)))  # width, trained length, factor
EXACT = REACHES.index((128, 513, 4))  # 512 and 4 are powers of two: for PI no step of the way is rounded


def last_inside(own, scaled, length, *, among=None, last=1, pick=np.min):
    """Find where some hand leaves its trained arc, between two positions, if hands or tokens are counted otherwise."""
    chosen = length * own < TURN if among is None else np.full(len(own), among)
    return pick((length - last) * own[chosen] / scaled[chosen])


REACH_WAYS = [
    ("all_hands", 1, {"among": True}),
    ("one_late", 1, {"last": 0}),
    ("last_hand", 1, {"pick": np.max}),
    ("inside", 0, {}),
]


def reach_probe(student):
    """Say which hands or positions the student counts otherwise, or that only the last digit is missing."""
    cases = {
        name: [(inverse_frequencies(at[0]), scale(*at).inv_freq, at[1]) for at in REACHES]
        for name, scale in SLOWED.items()
    }
    got = {name: np.array([student(*case) for case in each]) for name, each in cases.items()}
    missing = {name: [first_new_position(*case) for case in each] - got[name] for name, each in cases.items()}
    if not any(off.any() for off in missing.values()):
        return None
    if missing["NTK"].any():  # here the right answer lies far from rounding, so a wrong way is told by its numbers
        for says, step, how in REACH_WAYS:
            ends = np.array([last_inside(*case, **how) for case in cases["NTK"]])
            low, high = (np.floor(ends * (1 + by)) + step for by in (-1e-12, 1e-12))
            if ((low <= got["NTK"]) & (got["NTK"] <= high)).all():
                return says
        return "no_reach"
    if not all(np.isin(off, (0, 1)).all() for off in missing.values()):
        return "no_reach"
    return "on_the_edge" if missing["PI"][EXACT] else "last_digit"


UNGUARDED = (" * (1 + 1e-12)", "")


# mend_yarn -------------------------------------------------------------------------------------------------------

RAISE = "    base = base * factor ** (rotary_dim / (rotary_dim - 2))\n"
HEADS = [(128, 10000.0, 16.0, 2048), (64, 500000.0, 8.0, 8192)]
SHORT = (64, 10000.0, 4.0, 128)  # in 128 tokens no pair makes 32 turns


def by_parts(rotary_dim, base, factor, original_length):
    """Give the speeds of YaRN by the library."""
    return ntk_by_parts(rotary_dim, base, factor=factor, original_length=original_length).inv_freq


def yarn_probe(student):
    """Say what is wrong with the speeds: the ends, or the pairs between."""
    got = [student(*head, shape=(head[0] // 2,)) for head in HEADS]
    if all(close(one, by_parts(*head)) for one, head in zip(got, HEADS, strict=True)):
        return None if close(student(*SHORT, shape=(SHORT[0] // 2,)), by_parts(*SHORT)) else "below"
    rotary_dim, base, factor, _ = HEADS[0]
    ratio = got[0] / inverse_frequencies(rotary_dim, base)
    if close(ratio[-1], factor**-2.0):
        return "twice"
    if close(ratio[[0, -1]], [1 / factor, 1.0]):
        return "inverted"
    if not close(ratio[[0, -1]], [1.0, 1 / factor]):
        return "else"
    return "not_blended" if np.isclose(ratio, 1).sum() + np.isclose(ratio, 1 / factor).sum() == len(ratio) else "ramp"


EXERCISES = [
    exercise(
        "pi_angle",
        kind="predict",
        checker=numbers(8000 / 4),
        mistakes=[("plain", 8000), ("faster", 32000), ("twice", 500), ("remainder", 2000 % TURN)],
    ),
    exercise(
        "raised_base",
        kind="derive",
        checker=formula(
            lambda d, b, s: ntk_base(d, b, factor=s),
            lambda rng: (
                2 * int(rng.integers(3, 70)),
                float(rng.uniform(1000, 500000)),
                float(rng.uniform(1.5, 16)),
            ),
        ),
        mistakes=[
            ("factor_alone", returns("b * s")),
            ("upside_down", returns("b * s ** ((d - 2) / d)")),
            ("last_pair", returns("b * s ** (d / (d - 1))")),
            ("smaller", returns("b / s ** (d / (d - 2))")),
            ("multiplier", returns("s ** (d / (d - 2))")),
            ("no_factor", returns("b ** (d / (d - 2))")),
        ],
    ),
    exercise(
        "by_parts_counts",
        kind="predict",
        checker=numbers(parts(), rtol=0),
        mistakes=[
            ("from_zero", [16, 25, 23]),
            ("order", [23, 24, 17]),
            ("all_finished", [41, 0, 23]),
            ("radians", [44, 19, 1]),
            ("sum", [17, 24, 0]),
        ],
    ),
    exercise(
        "score_factor",
        kind="predict",
        checker=numbers((0.1 * np.log(16) + 1) ** 2),
        mistakes=[
            ("one_vector", 0.1 * np.log(16) + 1),
            ("added", 2 * (0.1 * np.log(16) + 1)),
            ("root", np.sqrt(0.1 * np.log(16) + 1)),
            ("log2", 1.4**2),
            ("log2_one", 1.4),
            ("log10", (0.1 * np.log10(16) + 1) ** 2),
        ],
    ),
    exercise(
        "cached_score",
        kind="code",
        checker=function(cache_probe),
        mistakes=[
            ("afresh", solution_with(("[n], then", "[n], now"))),
            ("frozen", solution_with(("[m], now", "[m], then"))),
            ("crossed", solution_with(("[m], now", "[m], then"), ("[n], then", "[n], now"))),
            ("other", solution_with(("[n], then", "[m], then"))),
        ],
    ),
    exercise(
        "xpos_zeta",
        kind="predict",
        checker=numbers(xpos_scales(512, 64)[0]),
        mistakes=[
            ("undivided", 0.4),
            ("no_shrinking", 1),
            ("keys", 3.5),
            ("no_constant", 0),
            ("last_of_64", xpos_scales(512, 64)[-1]),
            ("last_of_128", xpos_scales(512, 128)[-1]),
        ],
    ),
    exercise(
        "first_new_angle",
        kind="code",
        checker=function(reach_probe),
        mistakes=[
            ("all_hands", solution_with(("length * own < 2 * np.pi", "length * own > 0"))),
            ("one_late", solution_with(("(length - 1) * own", "length * own"))),
            ("last_hand", solution_with((".min()", ".max()"))),
            ("inside", solution_with(("int(inside) + 1", "int(inside)"))),
            ("no_reach", solution_with(("own[slow] / scaled[slow]", "scaled[slow] / own[slow]"))),
            ("last_digit", solution_with(UNGUARDED)),
            ("on_the_edge", solution_with(UNGUARDED, ("int(inside) + 1", "int(np.ceil(inside))"))),
        ],
    ),
    exercise(
        "mend_yarn",
        kind="repair",
        checker=function(yarn_probe),
        mistakes=[
            ("twice", starter_with()),
            ("ramp", starter_with(("    base = base *", "    raised = base *"), ("np.log(base)", "np.log(raised)"))),
            ("inverted", starter_with((RAISE, ""), ("keep = 1 - np", "keep = np"))),
            ("not_blended", starter_with((RAISE, ""), ("0, 1)\n", "0, 1) // 1\n"))),
            ("below", starter_with((RAISE, ""), ("max(np.floor(low), 0)", "np.floor(low)"))),
            ("else", starter_with((RAISE, ""), ("own / factor", "own"))),
        ],
    ),
    true_or_false("true_or_false_07", [False, False, True, True, False, False, False]),
]
