"""Exercises of notebook 09, Bug hunt in real code: eight defects to repair, and the invariants that may find them."""

import numpy as np

from rope_course.exercises.checkers import by_solution, close, formula, function, rotation, say, true_or_false
from rope_course.exercises.entry import exercise, returns, solution_with, starter_with
from rope_ref.frequencies import inverse_frequencies
from rope_ref.pairing import permute_projection

__all__ = ["EXERCISES"]


# Checkers of the repairs -----------------------------------------------------------------------------------------


def tokens_first(student, x, position_ids):
    """Call a function of x as (tokens, heads, d), and of one head where x has no axis of heads."""
    rows = np.asarray(x)
    rows = np.swapaxes(rows if rows.ndim == 3 else rows[None], 0, 1)
    turned = np.swapaxes(student(rows, np.asarray(position_ids), shape=rows.shape), 0, 1)
    return turned if np.ndim(x) == 3 else turned[0]


def directly(student, x, position_ids):
    """Call a function of x and positions."""
    return student(x, np.asarray(position_ids), shape=np.shape(x))


# half_precision

LONG, NARROW = 4096, 16  # past 2,048, where float16 no longer holds every whole number


def rounded(values, yes):
    """Round to float16 and back, if asked."""
    return np.asarray(values, np.float16).astype(np.float64) if yes else np.asarray(values, np.float64)


def table_with(positions=False, speeds=False, angles=False):
    """Make the table with some of its parts rounded to half precision."""
    turns = np.multiply.outer(rounded(np.arange(LONG), positions), rounded(inverse_frequencies(NARROW), speeds))
    turns = rounded(turns, angles)
    return np.stack((np.cos(turns), np.sin(turns)))


def table_probe(student):
    """Say which part of the table is still rounded too early."""
    got = student(LONG, NARROW, shape=(2, LONG, NARROW // 2))
    off = np.abs(got - table_with()).max()
    if off < 1e-3:  # the table itself may be kept in half precision: half a unit is 2.4e-4
        return None
    for says, parts in TABLE_SAYS.items():
        if np.abs(got - table_with(**parts)).max() < 1e-3:
            return says
    return say("off", length=f"{LONG:,}", off=f"{off:.2f}")


TABLE_SAYS = {
    "all_half": {"positions": True, "speeds": True, "angles": True},
    "half_positions": {"positions": True},
    "half_speeds": {"speeds": True},
    "half_angles": {"angles": True},
}

# shifted_speeds


def first_speed_probe(student):
    """Say what the speed of pair 0 shows, in a head of eight."""
    x = np.zeros((1, 8))
    x[0, 0] = 1.0
    turned = directly(student, x, [1])
    speed = np.arctan2(turned[0, 1], turned[0, 0])
    return next((says for says, first in FIRST_SAYS.items() if close(speed, first)), None)


FIRST_SAYS = {"half_step_slow": 10000 ** (-1 / 8), "half_step_fast": np.angle(np.exp(1j * 10000 ** (1 / 8)))}


# What the formulas are checked with


def draw_cache(rng):
    """Draw five queries and keys, positions from anywhere, and speeds."""
    return *rng.standard_normal((2, 5, 8)), int(rng.integers(3, 50)) + np.arange(5), inverse_frequencies(8)


def draw_yarn(rng):
    """Draw the arguments of YaRN's speeds: a width, a base, a factor and a ramp."""
    width = int(rng.choice([16, 32, 64]))
    return (
        width,
        float(rng.choice([1e4, 5e5])),
        float(rng.integers(2, 40)),
        np.sort(rng.uniform(-0.5, 1.5, width // 2).clip(0, 1)),
    )


def draw_part(rng):
    """Draw five tokens of a head of sixteen, of which six features turn."""
    return rng.standard_normal((5, 16)), int(rng.integers(2, 50)) + np.arange(5), 6


def draw_head(rng):
    """Draw a head of five tokens."""
    return *rng.standard_normal((3, 5, 8)), int(rng.integers(2, 50)) + np.arange(5), inverse_frequencies(8)


def draw_weight(rng):
    """Draw a projection of five inputs to two heads of six, or of eight."""
    return rng.standard_normal((2 * int(rng.choice([6, 8])), 5)), 2


EXERCISES = [
    true_or_false("catch_axis", [False, False, True, True, False]),
    exercise(
        "wrong_axis",
        kind="repair",
        checker=rotation(tokens_first),
        mistakes=[
            ("positions along the head axis", starter_with()),
            ("unmoved", solution_with(("rotation_angles(position_ids", "rotation_angles(np.arange(len(x))"))),
            (
                "one_head_back",
                starter_with(
                    ("np.arange(x.shape[-2])", "position_ids"),
                    ("rotate_expanded(x, angles)", "rotate_expanded(np.swapaxes(x, 0, 1), angles)"),
                ),
            ),
            ("positions from one", solution_with(("(position_ids,", "(position_ids + 1,"))),
        ],
    ),
    true_or_false("catch_layout", [True, True, True, False, True]),
    exercise(
        "mixed_layout",
        kind="repair",
        checker=rotation(directly),
        mistakes=[
            ("quarter turn of the other pairing", starter_with()),
            (
                "other pairing",
                starter_with(
                    ("np.repeat(np.cos(angles), 2, axis=-1)", "np.concatenate((np.cos(angles),) * 2, axis=-1)"),
                    ("np.repeat(np.sin(angles), 2, axis=-1)", "np.concatenate((np.sin(angles),) * 2, axis=-1)"),
                ),
            ),
            ("lost minus", solution_with(("-second, first", "second, first"))),
            ("opposite direction", solution_with(("-second, first", "second, -first"))),
        ],
    ),
    true_or_false("catch_cache", [True, False, False, False, False]),
    exercise(
        "cached_scores",
        kind="repair",
        checker=by_solution(draw_cache, (5,)),
        mistakes=[
            ("twice", starter_with()),
            ("newest_first", starter_with(("    keys = rope.rotate(keys, position_ids)\n", ""))),
            ("older_unturned", solution_with(("cache = rope.rotate(k[:-1], position_ids[:-1])", "cache = k[:-1]"))),
        ],
    ),
    true_or_false("catch_half", [True, False, False, False, False]),
    exercise(
        "half_precision",
        kind="repair",
        checker=function(table_probe),
        mistakes=[
            ("all_half", starter_with()),
            ("half_positions", solution_with(("np.arange(seq_len)", "np.arange(seq_len).astype(np.float16)"))),
            (
                "half_speeds",
                solution_with(("inverse_frequencies(rotary_dim)", "np.float16(inverse_frequencies(rotary_dim))")),
            ),
            ("half_angles", solution_with(("np.outer(positions, speeds)", "np.float16(np.outer(positions, speeds))"))),
        ],
    ),
    true_or_false("catch_speeds", [False, False, False, False, False]),
    exercise(
        "shifted_speeds",
        kind="repair",
        checker=rotation(directly, first_speed_probe),
        mistakes=[
            ("half_step_slow", starter_with()),
            ("half_step_fast", starter_with(("np.arange(1, d // 2 + 1)", "np.arange(d // 2)"))),
            ("index from one", starter_with(("2 * pairs - 1", "2 * pairs"))),
            ("exponent too small", starter_with(("(2 * pairs - 1)", "(pairs - 1)"))),
            ("exponent too large", solution_with(("2 * (pairs - 1)", "4 * (pairs - 1)"))),
        ],
    ),
    exercise(
        "yarn_speeds",
        kind="repair",
        checker=by_solution(draw_yarn, lambda width, *_: (width // 2,)),
        mistakes=[
            ("raised", starter_with()),
            ("both_raised", starter_with(("(rotary_dim, base)", "(rotary_dim, raised)"))),
            ("swapped", solution_with(("kept * (1 - slow) + slowed * slow", "kept * slow + slowed * (1 - slow)"))),
            ("faster", solution_with((" / factor", " * factor"))),
        ],
    ),
    exercise(
        "partial_turn",
        kind="repair",
        checker=by_solution(draw_part, (5, 16)),
        mistakes=[
            ("head_width", starter_with()),
            ("all_features", starter_with(("np.arange(rotary_dim // 2)", "np.arange(x.shape[-1] // 2)"))),
            ("two_lost", solution_with(("-2 * pairs", "-pairs"))),
        ],
    ),
    true_or_false("catch_values", [True, False, False, False, False]),
    exercise(
        "turned_values",
        kind="repair",
        checker=by_solution(draw_head, (5, 8)),
        mistakes=[
            ("values_turned", starter_with()),
            ("turned_back", starter_with(("return weights @ v", "return rope.rotate(weights @ v, -position_ids)"))),
            ("keys_alone", solution_with(("q, k = (rope", "_, k = (rope"))),
            (
                "nothing_turned",
                solution_with(("    q, k = (rope.rotate(part, position_ids) for part in (q, k))\n", "")),
            ),
        ],
    ),
    exercise(
        "convert_rows",
        kind="repair",
        checker=formula(lambda w, heads: permute_projection(w, heads, to="half"), draw_weight, lambda w, _: w.shape),
        mistakes=[
            ("way_back", starter_with()),
            ("not_moved", returns("1.0 * weight")),
            ("across_heads", solution_with(("(num_heads, -1, 2, columns)", "(1, -1, 2, columns)"))),
        ],
    ),
]
