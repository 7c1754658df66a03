"""Exercises of notebook 05, Why rotate? Against adding."""

import numpy as np

from rope_course.exercises.checkers import close, formula, function, numbers, true_or_false
from rope_course.exercises.entry import edit, exercise
from rope_ref.attention import attention_scores, attention_weights
from rope_ref.frequencies import inverse_frequencies, rotation_angles
from rope_ref.rotation import rotate_expanded

__all__ = ["EXERCISES"]

SPEEDS = inverse_frequencies(8)


def at_places(x, position_ids):
    """Turn rows of eight features, each to its own position."""
    return rotate_expanded(x, rotation_angles(position_ids, SPEEDS))


# multiply_out ----------------------------------------------------------------------------------------------------

MULTIPLY_OUT = """
def multiply_out(x, y, p_m, p_n, w_q, w_k):
    q, k, q_place, k_place = x @ w_q, y @ w_k, p_m @ w_q, p_n @ w_k
    return [q @ k, q @ k_place, q_place @ k, q_place @ k_place]
"""


def four_terms(x, y, p_m, p_n, w_q, w_k):
    """Multiply out the score of two tokens with a position added to each."""
    queries, keys = np.stack((x, p_m)) @ w_q, np.stack((y, p_n)) @ w_k
    return (queries @ keys.T).ravel()


def two_places(rng):
    """Draw two tokens of six features, two positions, and projections to four features."""
    return *rng.standard_normal((4, 6)), *rng.standard_normal((2, 6, 4))


# relative_values -------------------------------------------------------------------------------------------------

TURNED_VALUES = """
def relative_values(weights, v, position_ids, inv_freq):
    turned = rotate_expanded(v, rotation_angles(position_ids, inv_freq))
    return weights @ turned
"""
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
        return STILL_ABSOLUTE
    if close(got, at_places(WEIGHTS @ at_places(VALUES, HERE), HERE)):
        return TWICE_FORWARD
    if close(got, plain):
        return NO_POSITION
    if not close(got, moved):
        return f"Add 1,000 to every position and your output still changes, by up to {np.abs(got - moved).max():.2f}."
    return None if close(got, right) else "Your output does not follow a shift, but it is not Σ a(m, n) R(n - m) v(n)."


CHANGE = np.abs(WEIGHTS @ (at_places(VALUES, FAR) - at_places(VALUES, HERE))).max()
STILL_ABSOLUTE = (
    f"Add 1,000 to every position and the output changes by up to {CHANGE:.2f}. "
    "Each value is turned by its own position: who could turn the sum back?"
)
TWICE_FORWARD = "You turn the sum on, by the position of the query. It must be turned back."
NO_POSITION = (
    "The output is the same at any place, but no value is turned any more: this is ordinary attention. "
    "Turn each value by its own position first, and only the sum back."
)


# turned_twice and mend_cache -------------------------------------------------------------------------------------

TURNED_EACH_STEP = """
def mend_cache(keys, inv_freq):
    cache = np.zeros((0, keys.shape[-1]))
    for m, key in enumerate(keys):
        cache = np.vstack([cache, key])
        cache = rotate_expanded(cache, rotation_angles(np.arange(m + 1), inv_freq))
    return cache
"""
MENDED_CACHE = """
def mend_cache(keys, inv_freq):
    cache = np.zeros((0, keys.shape[-1]))
    for m, key in enumerate(keys):
        turned = rotate_expanded(key[None], rotation_angles([m], inv_freq))
        cache = np.vstack([cache, turned])
    return cache
"""
KEYS = np.random.default_rng(6).standard_normal((5, 8))
PLACES = np.arange(5)


def cache_probe(student):
    """Say at which positions the cached keys stand, where they do not stand at their own."""
    got = student(KEYS, SPEEDS, shape=KEYS.shape)
    wrong = {EVERY_STEP: PLACES * (5 - PLACES), ALL_AT_ZERO: 0 * PLACES, ONE_LATE: PLACES + 1, LAST: 0 * PLACES + 4}
    for says, places in (wrong | {OTHER_WAY: -PLACES, TWICE: 2 * PLACES}).items():
        if close(got, at_places(KEYS, places)):
            return says
    longer = np.random.default_rng(7).standard_normal((9, 8))
    if not close(got, at_places(KEYS, PLACES)):
        return "Row n of the cache must be key n, turned to position n. Compare it with `rotate_expanded` of all keys."
    return None if close(student(longer, SPEEDS, shape=longer.shape), at_places(longer, np.arange(9))) else ONLY_FIVE


EVERY_STEP = (
    "Each key is turned again in every later step. Of five keys, key 1 comes out at position 4 and key 2 at position 6."
)
ALL_AT_ZERO = "No key is turned: each comes out at position 0. A new key is alone in its call, but it is not the first."
ONE_LATE = "Every key stands one position too late. Where does the counting start?"
LAST = "All keys stand at the last position. Each needs the position at which it came in."
OTHER_WAY = "Every key is turned the other way. Where does a minus sign stand?"
TWICE = "Every key is turned twice: position n acts as 2n."
ONLY_FIVE = "Right for five keys, but not for nine."


EXERCISES = [
    exercise(
        name="one_matrix",
        kind="derive",
        question="""
            One pair of a sinusoidal row at position m is (sin mθ, cos mθ). Read it as a column. Find the matrix M of
            two rows and two columns that carries it one position on, for every m: M times (sin mθ, cos mθ) is
            (sin (m + 1)θ, cos (m + 1)θ).
            """,
        hint="Expand sin(mθ + θ) and cos(mθ + θ). What stands before sin mθ, and what before cos mθ?",
        starter="""
            def one_matrix(theta):
                return [[..., ...], [..., ...]]
            """,
        checker=formula(
            lambda theta: np.array([[np.cos(theta), np.sin(theta)], [-np.sin(theta), np.cos(theta)]]),
            lambda rng: (float(rng.uniform(0.1, 1.4)),),
            shape=(2, 2),
        ),
        solution="""
            def one_matrix(theta):
                return [[np.cos(theta), np.sin(theta)], [-np.sin(theta), np.cos(theta)]]
            """,
        mistakes=[
            (
                "def one_matrix(theta): return [[np.cos(theta), -np.sin(theta)], [np.sin(theta), np.cos(theta)]]",
                "That goes one position back. Try m = 0: (0, 1) must become (sin θ, cos θ).",
            ),
            (
                "def one_matrix(theta): return [[np.cos(theta), np.sin(theta)], [np.sin(theta), np.cos(theta)]]",
                "At m = 0 it is right. At other places a minus is missing: look at the cosine of a sum.",
            ),
            (
                "def one_matrix(theta): return [[np.sin(theta), np.cos(theta)], [np.cos(theta), -np.sin(theta)]]",
                "The columns have changed places. In sin(mθ + θ), what is sin mθ multiplied by?",
            ),
            (
                "def one_matrix(theta): return [[1, np.sin(theta)], [0, np.cos(theta)]]",
                "Right at m = 0 and nowhere else. The first column is what stands before sin mθ.",
            ),
        ],
        advice="M may hold θ, but no m. Try it at m = 0, where the pair is (0, 1).",
        why="M is a turn, and clockwise: one and the same from 5 to 6 and from 105 to 106.",
    ),
    exercise(
        name="multiply_out",
        kind="code",
        question="""
            The token `x` at m and the token `y` at n each get a position added. The query is `(x + p_m) @ w_q`, the key
            `(y + p_n) @ w_k`. Multiply out their dot product, and return its four terms in this order: content with
            content, content with position, position with content, position with position; the part of the query first.
            """,
        hint="(a + b) · (c + d) = a · c + a · d + b · c + b · d. First find a, b, c and d.",
        starter="""
            def multiply_out(x, y, p_m, p_n, w_q, w_k):
                return [..., ..., ..., ...]
            """,
        checker=formula(four_terms, two_places, shape=(4,)),
        solution=MULTIPLY_OUT,
        mistakes=[
            (
                edit(MULTIPLY_OUT, ("q @ k_place, q_place @ k,", "q_place @ k, q @ k_place,")),
                "The two mixed terms have changed places. The part of the query comes first.",
            ),
            (
                "def multiply_out(x, y, p_m, p_n, w_q, w_k): return [x @ y, x @ p_n, p_m @ y, p_m @ p_n]",
                "The projections are missing: a position goes through `w_q` or `w_k` together with its token.",
            ),
            (
                edit(MULTIPLY_OUT, ("y @ w_k", "y @ w_q"), ("p_n @ w_k", "p_n @ w_q")),
                "The key has a projection of its own, `w_k`.",
            ),
            (
                edit(MULTIPLY_OUT, ("p_m @ w_q, p_n @ w_k", "p_m @ w_q, p_m @ w_k")),
                "Which position does the key have?",
            ),
            (
                edit(MULTIPLY_OUT, ("q @ k_place, q_place @ k,", "0, 0,")),
                "The two mixed terms are not zero. Nothing says that contents and positions stand at right angles.",
            ),
        ],
        advice="The sum of your four terms must be ((x + p_m) @ w_q) @ ((y + p_n) @ w_k).",
        why="Four terms, and only the first does without any position.",
    ),
    true_or_false(
        name="terms_that_stay",
        question="""\
Now positions are sinusoids, and both tokens move from (5, 3) to (105, 103). Predict which of these sentences are true.
"Without projections" means that `w_q` and `w_k` are the identity; "with projections", that they
are drawn at random.""",
        sentences=[
            (
                "Without projections, content with position stays as it was.",
                False,
                "The word is still the same. Is the position row?",
            ),
            (
                "Without projections, position with position stays as it was.",
                True,
                "Both rows are turned by the same angles. What does that do to their dot product?",
            ),
            (
                "With projections, content with content stays as it was.",
                True,
                "Does any position enter this term?",
            ),
            (
                "With projections, position with position stays as it was.",
                False,
                "It is p_m W p_n with W = w_q times w_k transposed. Does a general W leave angles between rows alone?",
            ),
        ],
        hint="A row p_m is the row p_0, turned. Which dot products do not notice that both are turned on?",
        why="With projections, three of the four terms depend on the places themselves.",
    ),
    exercise(
        name="turn_before",
        kind="predict",
        question="""
            Somebody turns the tokens first and projects them afterwards. Take two equal tokens x = y = (1, 0) and a
            quarter turn (90 degrees) for each position. `w_q` doubles the first feature and leaves the second alone;
            `w_k` changes nothing. Work out the score by hand at positions (0, 0) and at positions (1, 1).
            """,
        hint="At position 1 the token (1, 0) has become (0, 1). What does `w_q` make of it?",
        starter="answer = [..., ...]  # the score at (0, 0), then at (1, 1)",
        checker=numbers([2, 1]),
        solution="answer = [2, 1]",
        mistakes=[
            ([2, 2], "That comes out if you project first and turn afterwards. Here the turn comes first."),
            ([2, 4], "At (1, 1) the tokens are (0, 1). Only the first feature is doubled, and only in the query."),
            ([2, 0], "At (1, 1) both tokens are turned, so they still point the same way."),
            ([1, 2], "The two places have changed places. Where does the token (1, 0) stand unturned?"),
            ([1, 1], "The query still goes through `w_q`, which doubles its first feature."),
        ],
        advice="Write down four vectors: the query and the key at (0, 0), the query and the key at (1, 1).",
        why="The distance is 0 at both places, yet the scores differ: the turn must come after the projection.",
    ),
    true_or_false(
        name="add_a_thousand",
        question="""\
You add 1,000 to the position of every token of a text, in a head with RoPE. Which of these sentences are true, up to
rounding?""",
        sentences=[
            ("The scores change.", False, "What becomes of m - n when both grow by 1,000?"),
            ("The turned queries and keys change.", True, "By which angle is a key at 1,003 turned, and one at 3?"),
            (
                "The outputs of the head change.",
                False,
                "An output is made of weights and of values. Which of them know a position?",
            ),
        ],
        hint="Follow one token through the figure of the layer, box by box.",
        why="Only the turned vectors change. What they are used for does not.",
    ),
    exercise(
        name="turned_twice",
        kind="predict",
        question="""
            A key at position 7 is turned and stored. A bug in the cache turns it by its position once more. A query at
            position 10 then asks. At which position does the key act, and what distance m - n does the score see? Give
            both numbers.
            """,
        hint="Turns add up. The distance is the position of the query minus that of the key, with its sign.",
        starter="answer = [..., ...]  # position, distance",
        checker=numbers([14, -4], rtol=0),
        solution="answer = [14, 10 - 14]",
        mistakes=[
            ([7, 3], "That would be so without the bug. By how much is the key turned in all?"),
            ([49, -39], "Turns add up, they do not multiply."),
            ([14, 4], "The position is right. Where does this key seem to stand, before the query or after it?"),
            ([14, 3], "The position is right, but the score sees the key at that position and no longer at 7."),
            ([0, 10], "The second turn goes the same way as the first. It does not undo it."),
        ],
        advice="Write the angle of a pair after each of the two turns, as a multiple of θ.",
        why="Position n acts as 2n, and here the past looks like the future.",
    ),
    exercise(
        name="relative_values",
        kind="repair",
        question="""
            Somebody turns the values too, each by its own position. `weights` holds the attention weights, one row for
            each query, and the queries stand at `position_ids` as the values do. The output then depends on where
            the text stands. Repair the function so that it depends on distances alone, with the values still turned.
            """,
        hint="R(-m) Σ a(m, n) R(n) v(n) = Σ a(m, n) R(n - m) v(n). Which row of the sum belongs to which m?",
        starter=TURNED_VALUES,
        checker=function(values_probe),
        solution=edit(TURNED_VALUES, ("weights @ turned", BACK)),
        mistakes=[
            (TURNED_VALUES, STILL_ABSOLUTE),
            (edit(TURNED_VALUES, ("weights @ turned", BACK.replace("-position", "position"))), TWICE_FORWARD),
            (edit(TURNED_VALUES, ("weights @ turned", "weights @ v")), NO_POSITION),
            (
                edit(
                    TURNED_VALUES,
                    ("weights @ turned", "weights @ rotate_expanded(turned, rotation_angles(-position_ids, inv_freq))"),
                ),
                NO_POSITION,
            ),
        ],
        advice="",
        why="A variant called RoPER does this. Most models leave their values unturned.",
    ),
    exercise(
        name="mend_cache",
        kind="repair",
        question="""
            While a model writes, keys come in one after the other and are kept in a cache. This one spoils old keys.
            Repair it: at the end, row n must be key n turned to position n, for any number of keys.
            """,
        hint="How often is key 0 turned, and how often key 1? How often should they be?",
        starter=TURNED_EACH_STEP,
        checker=function(cache_probe),
        solution=MENDED_CACHE,
        mistakes=[
            (TURNED_EACH_STEP, EVERY_STEP),
            (edit(MENDED_CACHE, ("[m]", "[0]")), ALL_AT_ZERO),
            (edit(MENDED_CACHE, ("[m]", "[m + 1]")), ONE_LATE),
            (edit(MENDED_CACHE, ("[m]", "[len(keys) - 1]")), LAST),
            (edit(MENDED_CACHE, ("[m]", "[-m]")), OTHER_WAY),
            (edit(MENDED_CACHE, ("[m]", "[2 * m]")), TWICE),
            (edit(MENDED_CACHE, ("[m]", "[min(m, 4)]")), ONLY_FIVE),
        ],
        advice="",
        why="Each key is turned once, when it comes in, and never again.",
    ),
    true_or_false(
        name="true_or_false_05",
        question="Which of these sentences are true?",
        sentences=[
            (
                "RoPE turns the token embeddings once, before the first layer.",
                False,
                "Look for the boxes in the figure of the layer: what do they turn, and how often?",
            ),
            (
                "A causal mask alone already lets a layer tell first tokens from later ones.",
                True,
                "Look at the four tokens without any position, under the mask.",
            ),
            (
                "Two keys with the same dot product q · k get the same RoPE score at the same distance.",
                False,
                "The score is A cos + B sin for each pair. Which of the two is the dot product?",
            ),
            (
                "Of two texts in a batch, one may be counted from 0 and the other from 37: all scores stay.",
                True,
                "Does any query look at a key of the other text?",
            ),
            (
                "Within one text, some tokens may be counted from 0 and the others from 37: all scores stay.",
                False,
                "What becomes of the distance between one of the first kind and one of the second?",
            ),
            (
                "With RoPE, a new paragraph in front of a text leaves the outputs for the old tokens as they were.",
                False,
                "The indices are shifted, and that does no harm. What else do the old tokens now see?",
            ),
        ],
        hint="Each of them was met on this page. Two say nearly the same about counting: find the difference.",
        why="RoPE is relative in indices. That is less than it sounds, and exactly as much as was proved.",
    ),
]
