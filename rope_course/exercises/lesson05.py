"""Exercises of notebook 05, Why rotate? Against adding."""

import numpy as np

from rope_course.exercises.checkers import close, formula, function, numbers, say, true_or_false
from rope_course.exercises.entry import exercise, returns, solution_with, starter_with
from rope_ref.attention import attention_scores, attention_weights
from rope_ref.frequencies import inverse_frequencies, rotation_angles
from rope_ref.rotation import rotate_expanded

__all__ = ["EXERCISES"]

SPEEDS = inverse_frequencies(8)


def at_places(x, position_ids):
    """Turn rows of eight features, each to its own position."""
    return rotate_expanded(x, rotation_angles(position_ids, SPEEDS))


# multiply_out ----------------------------------------------------------------------------------------------------


def four_terms(x, y, p_m, p_n, w_q, w_k):
    """Multiply out the score of two tokens with a position added to each."""
    queries, keys = np.stack((x, p_m)) @ w_q, np.stack((y, p_n)) @ w_k
    return (queries @ keys.T).ravel()


def two_places(rng):
    """Draw two tokens of six features, two positions, and projections to four features."""
    return *rng.standard_normal((4, 6)), *rng.standard_normal((2, 6, 4))


# relative_values -------------------------------------------------------------------------------------------------

BACK = "rotate_expanded(weights @ turned, rotation_angles(-position_ids, inv_freq))"


def draw_attention():
    """Draw the attention weights and the values of six tokens."""
    q, k, v = np.random.default_rng(5).standard_normal((3, 6, 8))
    places = np.arange(6)
    return attention_weights(attention_scores(at_places(q, places), at_places(k, places)), causal=False), v


WEIGHTS, VALUES = draw_attention()
HERE, FAR = np.arange(6), np.arange(6) + 1000


def mixed(student, position_ids):
    """Call the student's function with the weights and values above."""
    return student(WEIGHTS, VALUES, position_ids, SPEEDS, shape=(6, 8))


def values_probe(student):
    """Say what the output still holds: the absolute position, or no position at all."""
    got, moved = mixed(student, HERE), mixed(student, FAR)
    plain = WEIGHTS @ VALUES
    right = at_places(WEIGHTS @ at_places(VALUES, HERE), -HERE)
    if close(got, WEIGHTS @ at_places(VALUES, HERE)):
        return say("still_absolute", change=CHANGE)
    if close(got, at_places(WEIGHTS @ at_places(VALUES, HERE), HERE)):
        return "twice_forward"
    if close(got, plain):
        return "no_position"
    if not close(got, moved):
        return say("absolute", change=f"{np.abs(got - moved).max():.2f}")
    return None if close(got, right) else "other_sum"


CHANGE = f"{np.abs(WEIGHTS @ (at_places(VALUES, FAR) - at_places(VALUES, HERE))).max():.2f}"


# turned_twice and mend_cache -------------------------------------------------------------------------------------

KEYS = np.random.default_rng(6).standard_normal((5, 8))
PLACES = np.arange(5)


def cache_probe(student):
    """Say at which positions the cached keys stand, where they do not stand at their own."""
    got = student(KEYS, SPEEDS, shape=KEYS.shape)
    wrong = {
        "every_step": PLACES * (5 - PLACES),
        "all_at_zero": 0 * PLACES,
        "one_late": PLACES + 1,
        "last": 0 * PLACES + 4,
    }
    for says, places in (wrong | {"other_way": -PLACES, "twice": 2 * PLACES}).items():
        if close(got, at_places(KEYS, places)):
            return says
    longer = np.random.default_rng(7).standard_normal((9, 8))
    if not close(got, at_places(KEYS, PLACES)):
        return "own_position"
    return None if close(student(longer, SPEEDS, shape=longer.shape), at_places(longer, np.arange(9))) else "only_five"


EXERCISES = [
    exercise(
        "one_matrix",
        kind="derive",
        checker=formula(
            lambda theta: np.array([[np.cos(theta), np.sin(theta)], [-np.sin(theta), np.cos(theta)]]),
            lambda rng: (float(rng.uniform(0.1, 1.4)),),
            shape=(2, 2),
        ),
        mistakes=[
            ("backwards", returns("[[np.cos(theta), -np.sin(theta)], [np.sin(theta), np.cos(theta)]]")),
            ("minus_missing", returns("[[np.cos(theta), np.sin(theta)], [np.sin(theta), np.cos(theta)]]")),
            ("columns", returns("[[np.sin(theta), np.cos(theta)], [np.cos(theta), -np.sin(theta)]]")),
            ("only_at_zero", returns("[[1, np.sin(theta)], [0, np.cos(theta)]]")),
        ],
    ),
    exercise(
        "multiply_out",
        kind="code",
        checker=formula(four_terms, two_places, shape=(4,)),
        mistakes=[
            ("mixed_swapped", solution_with(("q @ k_place, q_place @ k,", "q_place @ k, q @ k_place,"))),
            ("no_projections", returns("[x @ y, x @ p_n, p_m @ y, p_m @ p_n]")),
            ("own_projection", solution_with(("y @ w_k", "y @ w_q"), ("p_n @ w_k", "p_n @ w_q"))),
            ("key_position", solution_with(("p_m @ w_q, p_n @ w_k", "p_m @ w_q, p_m @ w_k"))),
            ("mixed_zero", solution_with(("q @ k_place, q_place @ k,", "0, 0,"))),
        ],
    ),
    true_or_false("terms_that_stay", [False, True, True, False]),
    exercise(
        "turn_before",
        kind="predict",
        checker=numbers([2, 1]),
        mistakes=[
            ("projected_first", [2, 2]),
            ("only_the_first", [2, 4]),
            ("same_way", [2, 0]),
            ("swapped", [1, 2]),
            ("query_projection", [1, 1]),
        ],
    ),
    true_or_false("add_a_thousand", [False, True, False]),
    exercise(
        "turned_twice",
        kind="predict",
        checker=numbers([14, -4], rtol=0),
        mistakes=[
            ("without_bug", [7, 3]),
            ("product", [49, -39]),
            ("sign", [14, 4]),
            ("old_place", [14, 3]),
            ("undone", [0, 10]),
        ],
    ),
    exercise(
        "relative_values",
        kind="repair",
        checker=function(values_probe),
        mistakes=[
            ("still_absolute", starter_with(), {"change": CHANGE}),
            ("twice_forward", starter_with(("weights @ turned", BACK.replace("-position", "position")))),
            ("no_position", starter_with(("weights @ turned", "weights @ v"))),
            (
                "no_position",
                starter_with(
                    ("weights @ turned", "weights @ rotate_expanded(turned, rotation_angles(-position_ids, inv_freq))")
                ),
            ),
        ],
    ),
    exercise(
        "mend_cache",
        kind="repair",
        checker=function(cache_probe),
        mistakes=[
            ("every_step", starter_with()),
            ("all_at_zero", solution_with(("[m]", "[0]"))),
            ("one_late", solution_with(("[m]", "[m + 1]"))),
            ("last", solution_with(("[m]", "[len(keys) - 1]"))),
            ("other_way", solution_with(("[m]", "[-m]"))),
            ("twice", solution_with(("[m]", "[2 * m]"))),
            ("only_five", solution_with(("[m]", "[min(m, 4)]"))),
        ],
    ),
    true_or_false("true_or_false_05", [False, True, False, True, False, False]),
]
