"""Exercises of notebook 01, Derive it by hand."""

import numpy as np

from rope_course.exercises.checkers import (
    DIRECTION,
    LENGTH,
    choice,
    close,
    formula,
    function,
    must,
    numbers,
    true_or_false,
)
from rope_course.exercises.entry import edit, exercise
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


IGNORES = "Your score ignores the positions: it is q . k everywhere. What is turned?"
SUM = "Your score depends on m + n: check the sign on k."
MORE = (
    "Your score depends on more than m - n: it changes when both positions grow by 20. "
    "Is each vector turned by its own position?"
)
COSINE = "Your score has only one of its two parts: (1, 0) and (0, 1) score zero wherever they stand. Turn each vector."
EVEN = "Your score does not tell left from right: (5, 2) and (2, 5) give the same. The sign of m - n must count."
ADDS = "A turn by 3 after a turn by 4 is not a turn by 7. By which angle does position m turn?"
ANGLE = (
    "All demands are met, but the angle is not m times theta. Try m = 1, n = 0, theta = pi / 2 by hand: a quarter turn."
)

SCORE_2D = """
def score_2d(q, k, m, n, theta):
    def turn(x, angle):
        cos, sin = np.cos(angle), np.sin(angle)
        return np.array([x[0] * cos - x[1] * sin, x[0] * sin + x[1] * cos])

    return turn(q, m * theta) @ turn(k, n * theta)
"""


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


CONTENTS = (
    "The two scores differ, though the distance is the same: the contents change with the position. "
    "Which query and which key does the second score use?"
)
ONE_CONTENT = "One of the two contents still changes with the position. Look at q and at k."
NOT_TURNED = "The two scores are equal, but nothing depends on the distance any more. The vectors must still be turned."
OTHER_ROWS = "The two scores are equal, but they are not those of the query at row m and the key at row n."


def demo_probe(demo):
    """Say what is wrong with the demo: contents, turn, or rows."""
    first, second = shown(demo, 5, 2, 20)
    if close(second, rows_at(25, 22, 25, 22)):
        return CONTENTS
    if close(second, rows_at(25, 22, 5, 22)) or close(second, rows_at(25, 22, 25, 2)):
        return ONE_CONTENT
    q, k = demo_rows()
    if close(first, q[5] @ k[2]):
        return NOT_TURNED
    if close(first, second) and not close(first, rows_at(5, 2, 5, 2)):
        return OTHER_ROWS
    if not close(second, rows_at(25, 22, 5, 2)) or not close(shown(demo, 2, 9, 3), [rows_at(2, 9, 2, 9)] * 2):
        return "The two scores must be equal: the same query, the same key, the same distance. Print both and compare."
    return None


UNFAIR = """
def fair_demo(q, k, m, n, shift, theta):
    scores = []
    for a, b in [(m, n), (m + shift, n + shift)]:
        turned_q = rotate_expanded(q[[a]], [[a * theta]])
        turned_k = rotate_expanded(k[[b]], [[b * theta]])
        scores.append((turned_q * turned_k).sum())
    return scores
"""
FAIR = edit(UNFAIR, ("q[[a]]", "q[[m]]"), ("k[[b]]", "k[[n]]"))


EXERCISES = [
    exercise(
        name="eight_signs",
        kind="derive",
        question="""
            With α = mθ and β = nθ, multiply out the two products of the dot product,
            P1 = (q1 cos α - q2 sin α) (k1 cos β - k2 sin β) and P2 = (q1 sin α + q2 cos α) (k1 sin β + k2 cos β).
            Write each as four terms, in the order q1 k1, q1 k2, q2 k1, q2 k2. Type the sign of each term, 1 or -1: the
            four of P1, then the four of P2.
            """,
        hint="Each term is one piece of each bracket, multiplied. Its sign is the product of the two signs.",
        starter="answer = [..., ..., ..., ..., ..., ..., ..., ...]",
        checker=numbers([1, -1, -1, 1, 1, 1, 1, 1]),
        solution="answer = [1, -1, -1, 1, 1, 1, 1, 1]",
        mistakes=[
            ([1, -1, -1, -1, 1, 1, 1, 1], "One sign of P1 is wrong: what is a minus times a minus?"),
            ([1, 1, 1, 1, 1, 1, 1, 1], "P2 is right. In P1, both brackets hold a minus: where does it go?"),
            ([1, 1, 1, 1, 1, -1, -1, 1], "P1 and P2 have changed places. P1 is the product of the first features."),
            ([1, -1, -1, 1, 1, -1, -1, 1], "P1 is right. Look at the brackets of P2: do they hold a minus at all?"),
        ],
        advice="Put in angles that leave one term: with α = 0 and β = 90 degrees P1 is one term only. Is it minus?",
        why="Sort these eight terms by the products of q and k, and the cosine and the sine of α - β stand before you.",
    ),
    exercise(
        name="coefficients",
        kind="derive",
        question="""
            Multiply out the score of `q = (q1, q2)` at position m and `k = (k1, k2)` at position n, and collect it as
            `A cos(rθ) + B sin(rθ)` with r = m - n. What are A and B?
            """,
        hint="""
            Put r = 0: the sine vanishes and the score is A. For B, collect the two products that carry sin(mθ)
            cos(nθ) - cos(mθ) sin(nθ).
            """,
        starter="""
            def coefficients(q1, q2, k1, k2):
                A = ...
                B = ...
                return A, B
            """,
        checker=formula(
            lambda q1, q2, k1, k2: relative_score([q1, q2], [k1, k2], [0.0, np.pi / 2], [1.0]),
            lambda rng: rng.uniform(-3, 3, 4).tolist(),
            shape=(2,),
        ),
        solution="""
            def coefficients(q1, q2, k1, k2):
                A = q1 * k1 + q2 * k2
                B = q1 * k2 - q2 * k1
                return A, B
            """,
        mistakes=[
            (
                "def coefficients(q1, q2, k1, k2): return q1 * k1 + q2 * k2, q2 * k1 - q1 * k2",
                "A is right and B has the wrong sign. Is your r the position of the query minus that of the key?",
            ),
            (
                "def coefficients(q1, q2, k1, k2): return q1 * k1 + q2 * k2, q1 * k2 + q2 * k1",
                "A is right. In B one product has the wrong sign: which of the four terms carries a minus?",
            ),
            (
                "def coefficients(q1, q2, k1, k2): return q1 * k1 + q2 * k2, 0 * q1",
                "A is right, but B is not zero. Which products are left when all that belongs to the cosine is gone?",
            ),
            (
                "def coefficients(q1, q2, k1, k2): return q1 * k1 - q2 * k2, q1 * k2 + q2 * k1",
                "These are the coefficients for m + n. Check the signs in the turn of k.",
            ),
            (
                "def coefficients(q1, q2, k1, k2): return q1 * k2 - q2 * k1, q1 * k1 + q2 * k2",
                "A and B have changed places. Put r = 0 and see which of them is left.",
            ),
        ],
        advice="Put in numbers: for q = k = (1, 0) the score is cos(rθ), so A and B must be 1 and 0.",
        why="A is the dot product; B makes left differ from right. For q = (1, 2) and k = (3, 1): 5 and -5.",
    ),
    exercise(
        name="mirror_score",
        kind="predict",
        question="""
            The query `q = (1, 2)` stands at position m = 5 and the key `k = (3, 1)` at position n = 2. Each is turned
            by its position times θ = π/6, and their score is -5. Now they change places: m = 2 and n = 5, with the
            same `q` and `k`. What is the score? Decide before you compute.
            """,
        hint="""
            Draw both arrows before they are turned: q is ahead of k by 45 degrees. The turns add (m - n) θ to that
            angle, with its sign.
            """,
        checker=numbers(relative_score(Q, K, -3, [np.pi / 6])),
        solution="answer = relative_score([1.0, 2.0], [3.0, 1.0], 2 - 5, [np.pi / 6])",
        mistakes=[
            (-5, "That would be so if only the size of the distance counted. What does its sign do to the arc?"),
            (0, "The turned arrows are not at a right angle here. Draw q and k, then turn each of them."),
        ],
        advice="Turn both arrows on paper, q by 2 θ and k by 5 θ, and take the dot product.",
        why="Left is not right: the score depends on m - n together with its sign.",
    ),
    exercise(
        name="score_2d",
        kind="code",
        question="""
            Write the score of a query at position `m` and a key at position `n`. `q` and `k` are arrays of two
            numbers. Turn each by its position times `theta`, anticlockwise, and return the dot product.
            """,
        hint="""
            Turning (a, b) by the angle t gives (a cos t - b sin t, a sin t + b cos t). Compute both new numbers from
            the old ones.
            """,
        starter="""
            def score_2d(q, k, m, n, theta):
                return ...
            """,
        checker=function(
            must(lambda score: not ignores_position(score), IGNORES),
            must(lambda score: not follows_the_sum(score), SUM),
            must(lambda score: not is_cosine_alone(score), COSINE),
            must(keeps_length, LENGTH),
            must(tells_left_from_right, EVEN),
            must(follows_the_distance, MORE),
            must(turns_add_up, ADDS),
            must(lambda score: not is_mirrored(score), DIRECTION),
            must(is_right, ANGLE),
        ),
        solution=SCORE_2D,
        mistakes=[
            ("def score_2d(q, k, m, n, theta): return q @ k", IGNORES),
            (edit(SCORE_2D, ("n * theta", "-n * theta")), SUM),
            ("def score_2d(q, k, m, n, theta): return (q @ k) * np.cos((m - n) * theta)", COSINE),
            (edit(SCORE_2D, ("turn(q, m * theta) @ turn(k, n * theta)", "turn(q, abs(m - n) * theta) @ k")), EVEN),
            (edit(SCORE_2D, ("x[0] * cos - x[1]", "x[0] * cos + x[1]")), LENGTH),
            (edit(SCORE_2D, ("turn(k, n * theta)", "k")), MORE),
            (edit(SCORE_2D, ("cos - x[1]", "cos + x[1]"), ("x[0] * sin + ", "-x[0] * sin + ")), DIRECTION),
            (edit(SCORE_2D, ("np.cos(angle), np.sin(angle)", "np.cos(2 * angle), np.sin(2 * angle)")), ANGLE),
        ],
        advice="",
        why="You turned by absolute positions, and the score depends on their difference alone.",
    ),
    exercise(
        name="where_zero_counts",
        kind="predict",
        question="""
            The demand "position 0 changes nothing", f(x, 0) = x, is used in one of these steps only. Which one?

            - `"a"` The score of two arrows is given by their lengths and by the angle between them.
            - `"b"` If each arrow is turned, by φ(m) and φ(n), the angle between them changes by φ(m) - φ(n).
            - `"c"` The score may depend on m - n alone, so φ(m) - φ(m - 1) is one number θ, up to full turns.
            - `"d"` Adding up these steps gives φ(m) = φ(0) + mθ.
            - `"e"` φ(m) = mθ.
            """,
        hint="In each step, put x at position 0 and ask whether anything is said about it that was not said before.",
        starter="answer = ...  # one letter, in quotes",
        checker=choice("e", "a", "b", "c", "d"),
        solution='answer = "e"',
        mistakes=[
            ("a", "That is the dot product itself. It holds for any two arrows, turned or not."),
            ("b", "That is what turning does to an angle. It holds for any φ, also if φ(0) is not zero."),
            ("c", "That is the demand on the distance. It speaks of differences, which do not know where φ starts."),
            ("d", "Here φ(0) may still be any angle. Which step says more about it?"),
        ],
        advice="",
        why="Without that demand all arrows could be turned by one more fixed angle, and no score would notice.",
    ),
    exercise(
        name="turning_law",
        kind="derive",
        question="""
            A vector at position m is turned by an angle φ(m). You know that φ(m) - φ(m - 1) is the same number θ for
            every m, and that φ(0) = 0. Write φ as a function of m and θ.
            """,
        hint="Write down φ(1), then φ(2), then φ(3).",
        starter="""
            def turning_law(m, theta):
                return ...
            """,
        checker=formula(lambda m, theta: m * theta, lambda rng: (int(rng.integers(2, 50)), float(rng.uniform(0.1, 2)))),
        solution="""
            def turning_law(m, theta):
                return m * theta
            """,
        mistakes=[
            ("def turning_law(m, theta): return m + theta", "Your steps are all 1: compare φ(3) - φ(2) with θ."),
            ("def turning_law(m, theta): return theta", "Your φ does not depend on m: every position is turned alike."),
            (
                "def turning_law(m, theta): return theta**m",
                "You have a constant ratio. The demand is a constant difference.",
            ),
            (
                "def turning_law(m, theta): return (m - 1) * theta",
                "The steps are right, the start is not: look at φ(0).",
            ),
            (
                "def turning_law(m, theta): return (m + 1) * theta",
                "The steps are right, the start is not: look at φ(0).",
            ),
        ],
        advice="Check your φ with m = 0, then take the difference of m = 3 and m = 2.",
        why="So one number θ settles everything in two dimensions.",
    ),
    exercise(
        name="fair_demo",
        kind="repair",
        question="""
            A page on the web wants to show that only the distance counts. It scores the positions (m, n), then (m +
            shift, n + shift), and finds two different numbers. The arrays `q` and `k` hold one row for each position.
            Repair the demo: both scores must be those of the query in row m and the key in row n.
            """,
        hint="Two things change between the first and the second score. Only one of them is meant to.",
        starter=UNFAIR,
        checker=function(demo_probe),
        solution=FAIR,
        mistakes=[
            (UNFAIR, CONTENTS),
            (edit(UNFAIR, ("q[[a]]", "q[[m]]")), ONE_CONTENT),
            (edit(UNFAIR, ("k[[b]]", "k[[n]]")), ONE_CONTENT),
            (edit(FAIR, ("a * theta", "0"), ("b * theta", "0")), NOT_TURNED),
            (edit(FAIR, ("q[[m]]", "q[[0]]"), ("k[[n]]", "k[[0]]")), OTHER_ROWS),
        ],
        advice="",
        why="The same distance gives the same score only for the same query and the same key.",
    ),
    true_or_false(
        name="true_or_false_01",
        question="Which of these sentences about RoPE are true?",
        sentences=[
            (
                "Two different pairs of tokens at the same distance get the same score.",
                False,
                "Compare the score grid of one q and one k with the grid of new vectors at each position.",
            ),
            (
                "Adding 1,000 to every position leaves every score as it was, up to rounding.",
                True,
                "What does m - n do when both positions grow by 1,000?",
            ),
            (
                "Adding 1,000 to every position leaves every turned vector as it was.",
                False,
                "Look at the two arrows, not at the arc between them.",
            ),
            (
                "score(5, 2) = score(2, 5), whatever q and k are.",
                False,
                "Compare with the exercise mirror_score.",
            ),
            (
                "If q and k point the same way, score(5, 2) = score(2, 5).",
                True,
                "Work out B for k = 2 q.",
            ),
            (
                "The derivation shows that nothing but this rotation can meet the demand.",
                False,
                "Which assumptions were made on the way? It found one answer under them.",
            ),
        ],
        hint="For each sentence look for one example that breaks it. Two of them are theorems.",
        why="Applied by absolute position, felt as relative: that is RoPE.",
    ),
]
