"""Exercises of notebook 01, Derive it by hand."""

import numpy as np

from rope_course.exercises.checkers import choice, close, formula, function, must, must_not, numbers, true_or_false
from rope_course.exercises.entry import exercise, returns, solution_with, starter_with
from rope_ref.attention import relative_score

__all__ = ["EXERCISES"]

Q, K = np.array([1.0, 2.0]), np.array([3.0, 1.0])
FIRST, SECOND = np.eye(2)


# score_2d --------------------------------------------------------------------------------------------------------


def closed_form(q, k, m, n, theta):
    """Score by the formula at the end of the derivation."""
    return relative_score(q, k, m - n, [theta])


def ignores_position(score):
    """Tell whether the score is q . k wherever the two stand."""
    return all(close(score(Q, K, m, n, 0.7), Q @ K) for m, n in [(1, 0), (5, 2), (0, 3)])


def follows_the_sum(score):
    """Tell whether the score is kept when one position grows and the other shrinks, and only then."""
    return close(score(Q, K, 5, 2, 0.7), score(Q, K, 6, 1, 0.7)) and not follows_the_distance(score)


def follows_the_distance(score):
    """Tell whether the score is the same at positions that lie equally far apart."""
    return all(close(score(Q, K, 5 + far, 2 + far, 0.7), score(Q, K, 5, 2, 0.7)) for far in (1, 20, 100))


def turned(score, x, m):
    """Read a turned vector off the scores with (1, 0) and (0, 1) at position 0."""
    return np.array([score(x, FIRST, m, 0, 0.7), score(x, SECOND, m, 0, 0.7)])


def keeps_length(score):
    """Tell whether the turned vector is as long as before."""
    return all(close(np.hypot(*turned(score, x, 3)), np.hypot(*x)) for x in (Q, K))


def turns_add_up(score):
    """Tell whether a turn by 3 after a turn by 4 is a turn by 7."""
    return close(turned(score, turned(score, Q, 4), 3), turned(score, Q, 7))


def is_cosine_alone(score):
    """Tell whether the score is the dot product times a cosine."""
    return all(close(score(FIRST, SECOND, m, n, 0.7), 0) for m, n in [(5, 2), (0, 3)])


def tells_left_from_right(score):
    """Tell whether changing the places of q and k changes the score, as it should here."""
    return not close(score(Q, K, 5, 2, 0.7), score(Q, K, 2, 5, 0.7))


def is_mirrored(score):
    """Tell whether the score is the right one for positions that have changed places."""
    return all(close(score(Q, K, m, n, 0.7), closed_form(Q, K, n, m, 0.7)) for m, n in [(5, 2), (0, 3)])


def is_right(score):
    """Tell whether the score is that of the closed form."""
    return all(
        close(score(q, k, m, n, theta), closed_form(q, k, m, n, theta))
        for q, k in [(Q, K), (FIRST, SECOND)]
        for m, n, theta in [(5, 2, 0.7), (0, 9, 0.1), (1000, 3, np.pi / 6)]
    )


# fair_demo -------------------------------------------------------------------------------------------------------


def demo_rows():
    """Draw one query and one key for each of sixty positions."""
    return np.random.default_rng(7).standard_normal((2, 60, 2))


def shown(demo, m, n, shift):
    """Call the demo with rows for sixty positions."""
    return demo(*demo_rows(), m, n, shift, 0.7, shape=(2,))


def rows_at(m, n, row_m, row_n):
    """Score the query of one row at position m with the key of another row at position n."""
    q, k = demo_rows()
    return closed_form(q[row_m], k[row_n], m, n, 0.7)


def demo_probe(demo):
    """Say what is wrong with the demo: contents, turn, or rows."""
    first, second = shown(demo, 5, 2, 20)
    if close(second, rows_at(25, 22, 25, 22)):
        return "contents"
    if close(second, rows_at(25, 22, 5, 22)) or close(second, rows_at(25, 22, 25, 2)):
        return "one_content"
    q, k = demo_rows()
    if close(first, q[5] @ k[2]):
        return "not_turned"
    if close(first, second) and not close(first, rows_at(5, 2, 5, 2)):
        return "other_rows"
    if not close(second, rows_at(25, 22, 5, 2)) or not close(shown(demo, 2, 9, 3), [rows_at(2, 9, 2, 9)] * 2):
        return "unequal"
    return None


EXERCISES = [
    exercise(
        "eight_signs",
        kind="derive",
        checker=numbers([1, -1, -1, 1, 1, 1, 1, 1]),
        mistakes=[
            ("minus_times_minus", [1, -1, -1, -1, 1, 1, 1, 1]),
            ("p1_brackets", [1, 1, 1, 1, 1, 1, 1, 1]),
            ("places_changed", [1, 1, 1, 1, 1, -1, -1, 1]),
            ("p2_brackets", [1, -1, -1, 1, 1, -1, -1, 1]),
        ],
    ),
    exercise(
        "coefficients",
        kind="derive",
        checker=formula(
            lambda q1, q2, k1, k2: relative_score([q1, q2], [k1, k2], [0.0, np.pi / 2], [1.0]),
            lambda rng: rng.uniform(-3, 3, 4).tolist(),
            shape=(2,),
        ),
        mistakes=[
            ("b_mirrored", returns("q1 * k1 + q2 * k2, q2 * k1 - q1 * k2")),
            ("b_one_sign", returns("q1 * k1 + q2 * k2, q1 * k2 + q2 * k1")),
            ("b_zero", returns("q1 * k1 + q2 * k2, 0 * q1")),
            ("sum", returns("q1 * k1 - q2 * k2, q1 * k2 + q2 * k1")),
            ("swapped", returns("q1 * k2 - q2 * k1, q1 * k1 + q2 * k2")),
        ],
    ),
    exercise(
        "mirror_score",
        kind="predict",
        checker=numbers(relative_score(Q, K, -3, [np.pi / 6])),
        mistakes=[("even", -5), ("right_angle", 0)],
    ),
    exercise(
        "score_2d",
        kind="code",
        checker=function(
            must_not(ignores_position, "ignores"),
            must_not(follows_the_sum, "sum"),
            must_not(is_cosine_alone, "cosine"),
            must(keeps_length, "length"),
            must(tells_left_from_right, "even"),
            must(follows_the_distance, "more"),
            must(turns_add_up, "adds"),
            must_not(is_mirrored, "opposite direction"),
            must(is_right, "angle"),
        ),
        mistakes=[
            ("ignores", returns("q @ k")),
            ("sum", solution_with(("n * theta", "-n * theta"))),
            ("cosine", returns("(q @ k) * np.cos((m - n) * theta)")),
            ("even", solution_with(("turn(q, m * theta) @ turn(k, n * theta)", "turn(q, abs(m - n) * theta) @ k"))),
            ("length", solution_with(("x[0] * cos - x[1]", "x[0] * cos + x[1]"))),
            ("more", solution_with(("turn(k, n * theta)", "k"))),
            ("opposite direction", solution_with(("cos - x[1]", "cos + x[1]"), ("x[0] * sin + ", "-x[0] * sin + "))),
            ("angle", solution_with(("np.cos(angle), np.sin(angle)", "np.cos(2 * angle), np.sin(2 * angle)"))),
        ],
    ),
    exercise(
        "where_zero_counts",
        kind="predict",
        checker=choice("e", "a", "b", "c", "d"),
        mistakes=[("dot_product", "a"), ("turning", "b"), ("distance", "c"), ("any_start", "d")],
    ),
    exercise(
        "turning_law",
        kind="derive",
        checker=formula(lambda m, theta: m * theta, lambda rng: (int(rng.integers(2, 50)), float(rng.uniform(0.1, 2)))),
        mistakes=[
            ("step_of_one", returns("m + theta")),
            ("constant", returns("theta")),
            ("ratio", returns("theta**m")),
            ("start", returns("(m - 1) * theta")),
            ("start", returns("(m + 1) * theta")),
        ],
    ),
    exercise(
        "fair_demo",
        kind="repair",
        checker=function(demo_probe),
        mistakes=[
            ("contents", starter_with()),
            ("one_content", starter_with(("q[[a]]", "q[[m]]"))),
            ("one_content", starter_with(("k[[b]]", "k[[n]]"))),
            ("not_turned", solution_with(("a * theta", "0"), ("b * theta", "0"))),
            ("other_rows", solution_with(("q[[m]]", "q[[0]]"), ("k[[n]]", "k[[0]]"))),
        ],
    ),
    true_or_false("true_or_false_01", [False, True, False, False, True, False]),
]
