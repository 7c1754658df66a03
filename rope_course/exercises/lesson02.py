"""Exercises of notebook 02, One rotation, three forms."""

import numpy as np

from rope_course.exercises.checkers import (
    ALIKE,
    DIRECTION,
    FOUND,
    UNMOVED,
    by_angles,
    close,
    formula,
    function,
    must,
    numbers,
    rotation,
    true_or_false,
)
from rope_course.exercises.checkers import SAYS as OF_FAULT
from rope_course.exercises.entry import edit, exercise
from rope_ref.attention import relative_score
from rope_ref.frequencies import inverse_frequencies, rotation_angles
from rope_ref.pairing import to_half
from rope_ref.rotation import rotation_matrix

__all__ = ["EXERCISES"]


# matrix_form and clockwise_matrix --------------------------------------------------------------------------------

ANGLES = np.array([0.3, 1.1, 2.0, 0.7])  # a head of 8: of 4, half-split and its inverse would be the same


def built(matrix_form, angles=ANGLES):
    """Call the student's function for some angles."""
    return matrix_form(angles, shape=(2 * len(angles), 2 * len(angles)))


def is_identity_at_zero(matrix_form):
    """Tell whether angles of zero give the identity."""
    return close(built(matrix_form, 0 * ANGLES), np.eye(8))


def stays_in_pairs(matrix_form):
    """Tell whether all entries outside the blocks on the diagonal are zero."""
    return close(built(matrix_form) * (1 - np.kron(np.eye(4), np.ones((2, 2)))), np.zeros((8, 8)))


def keeps_length(matrix_form):
    """Tell whether the matrix times its transpose is the identity."""
    return close(built(matrix_form) @ built(matrix_form).T, np.eye(8))


def is_other_pairing(matrix_form):
    """Tell whether the matrix is that of half-split pairs."""
    return close(built(matrix_form), rotation_matrix(ANGLES, pairing="half"))


def is_transposed(matrix_form):
    """Tell whether the matrix turns clockwise."""
    return close(built(matrix_form), rotation_matrix(-ANGLES))


def is_swapped(matrix_form):
    """Tell whether cos and sin stand in each other's place."""
    return close(built(matrix_form), rotation_matrix(np.pi / 2 - ANGLES))


def is_right_matrix(matrix_form):
    """Tell whether the matrix is right for this and for another width."""
    more = np.array([0.5, 4.0, -1.0])
    return close(built(matrix_form), rotation_matrix(ANGLES)) and close(built(matrix_form, more), rotation_matrix(more))


MATRIX_SAYS = {
    "swapped": "At angle 0 the matrix is not the identity. Have cos and sin changed places?",
    "zero": "At angle 0 nothing may be turned: the matrix must be the identity there.",
    "half": OF_FAULT["other pairing"],
    "pairs": "There are numbers outside the blocks of two by two on the diagonal.",
    "length": "The matrix changes lengths: its columns are not of length 1, or not at right angles. Look at the signs.",
    "clockwise": "The matrix is that of the opposite turn: what it does to the column (1, 0) is a turn clockwise.",
    "angle": "Each block is a turn, but not by its own angle. Print the matrix of two pairs and look at each block.",
}

MATRIX_FORM = """
def matrix_form(angles):
    matrix = np.zeros((2 * len(angles), 2 * len(angles)))
    for i, angle in enumerate(angles):
        cos, sin = np.cos(angle), np.sin(angle)
        matrix[2 * i : 2 * i + 2, 2 * i : 2 * i + 2] = [[cos, -sin], [sin, cos]]
    return matrix
"""

# Numbers that a message shows: one query and one key of four features, at positions 5 and 3.
Q, K = np.array([1.0, 2.0, 3.0, 4.0]), np.array([-2.0, 3.0, 1.0, 2.0])
SPEEDS = inverse_frequencies(4)
RIGHT, MIRRORED = relative_score(Q, K, [2, -2], SPEEDS)
SHOWN = "For q = (1, 2, 3, 4), k = (-2, 3, 1, 2) and positions (5, 3)"


def score_by(turn, m, n):
    """Score the query and the key above, each turned by a student's function of x and angles."""
    turned = [turn(x[None], rotation_angles([p], SPEEDS), shape=(1, 4)) for x, p in [(Q, m), (K, n)]]
    return np.vdot(*turned)


def says_clockwise(turn):
    """Say which score comes out where the turn is clockwise: that of swapped positions."""
    rests_at_zero = close(turn(Q[None], np.zeros((1, 2)), shape=(1, 4)), Q[None])
    return CLOCKWISE if rests_at_zero and close(score_by(turn, 5, 3), MIRRORED) else None


CLOCKWISE = (
    f"{SHOWN} your score is {MIRRORED:.2f}, and it should be {RIGHT:.2f}. "
    "Yours is the right one for (3, 5): which way does the block turn?"
)

CLOCKWISE_MATRIX = """
def clockwise_matrix(x, angles):
    turned = np.zeros(x.shape)
    for i in range(x.shape[-1] // 2):
        cos, sin = np.cos(angles[..., i]), np.sin(angles[..., i])
        block = np.array([[cos, sin], [-sin, cos]])
        turned[..., 2 * i] = block[0, 0] * x[..., 2 * i] + block[0, 1] * x[..., 2 * i + 1]
        turned[..., 2 * i + 1] = block[1, 0] * x[..., 2 * i] + block[1, 1] * x[..., 2 * i + 1]
    return turned
"""


COMPLEX = "Your function must return an array of shape (2, 3, 8), got complex numbers. Take them apart."
CHANGED = (
    "The input was changed: after the call it does not hold what it held before. Write the result into a new array."
)
IN_HALVES = [
    ("turned[..., 0::2]", "turned[..., : x.shape[-1] // 2]"),
    ("turned[..., 1::2]", "turned[..., x.shape[-1] // 2 :]"),
]

# expanded_form, complex_form -------------------------------------------------------------------------------------

EXPANDED_FORM = """
def expanded_form(x, angles):
    cos, sin = np.cos(angles), np.sin(angles)
    first, second = x[..., 0::2], x[..., 1::2]
    turned = np.empty(x.shape)
    turned[..., 0::2] = first * cos - second * sin
    turned[..., 1::2] = first * sin + second * cos
    return turned
"""

COMPLEX_FORM = """
def complex_form(x, angles):
    z = x[..., 0::2] + 1j * x[..., 1::2]
    z = z * np.exp(1j * angles)
    turned = np.empty(x.shape)
    turned[..., 0::2], turned[..., 1::2] = z.real, z.imag
    return turned
"""


# lost_conjugate --------------------------------------------------------------------------------------------------


def as_complex(x, m):
    """Turn a vector, its pairs read as complex numbers, to position m."""
    return (x[0::2] + 1j * x[1::2]) * np.exp(1j * m * SPEEDS)


def conjugate_probe(student):
    """Say which demand the score fails, and with which numbers."""
    here, shifted, mirrored, level = (student(Q, K, m, n, SPEEDS) for m, n in [(5, 3), (25, 23), (3, 5), (4, 4)])
    if close([here, shifted, mirrored], [RIGHT, RIGHT, MIRRORED]):
        return None
    product = (as_complex(Q, 5) * as_complex(K, 3).conj()).sum()
    if close(here, PRODUCTS[0]):
        return NO_CONJUGATE
    if close(here, abs(product)):
        return ABSOLUTE
    if close(here, product.imag):
        return IMAGINARY
    if close(here, MIRRORED):
        return SWAPPED
    if not close(here, shifted):
        return MORE
    if not close(level, Q @ K):
        return LEVEL
    return None


PRODUCTS = [(as_complex(Q, m) * as_complex(K, n)).sum().real for m, n in [(5, 3), (25, 23)]]
NO_CONJUGATE = (
    f"{SHOWN} your score is {PRODUCTS[0]:.2f}, at (25, 23) it is {PRODUCTS[1]:.2f}: it depends on m + n. "
    "How does the dot product of two pairs read as a product of complex numbers?"
)
ABSOLUTE = "You took the length of a complex number. The score is another part of it: it can be negative."
IMAGINARY = "You took the imaginary part. At m = n that is not the dot product of q and k."
SWAPPED = f"{SHOWN} you have the score of (3, 5). Which of the two must be the conjugate one?"
MORE = "Your score depends on more than m - n: it changes from (5, 3) to (25, 23). Compare the two exponents."
LEVEL = "At m = n the score must be the dot product of q and k, and it is not."

LOST_CONJUGATE = """
def lost_conjugate(q, k, m, n, inv_freq):
    turned_q = (q[0::2] + 1j * q[1::2]) * np.exp(1j * m * inv_freq)
    turned_k = (k[0::2] + 1j * k[1::2]) * np.exp(1j * n * inv_freq)
    return (turned_q * turned_k).sum().real
"""
WITH_CONJUGATE = edit(LOST_CONJUGATE, ("turned_q * turned_k", "turned_q * turned_k.conj()"))


# mixed_tables ----------------------------------------------------------------------------------------------------

MIXED_TABLES = """
def mixed_tables(x, angles):
    cos = np.concatenate((np.cos(angles), np.cos(angles)), axis=-1)
    sin = np.concatenate((np.sin(angles), np.sin(angles)), axis=-1)
    quarter = np.empty(x.shape)
    quarter[..., 0::2], quarter[..., 1::2] = -x[..., 1::2], x[..., 0::2]
    return x * cos + quarter * sin
"""
MATCHED_TABLES = """
def mixed_tables(x, angles):
    cos = np.repeat(np.cos(angles), 2, axis=-1)
    sin = np.repeat(np.sin(angles), 2, axis=-1)
    quarter = np.empty(x.shape)
    quarter[..., 0::2], quarter[..., 1::2] = -x[..., 1::2], x[..., 0::2]
    return x * cos + quarter * sin
"""


EXERCISES = [
    exercise(
        name="nonzero_entries",
        kind="predict",
        question="""
            The matrix that turns a head of width 64 has 64 × 64 = 4,096 entries. At position 3, how many of them are
            not zero? Count before you build it.
            """,
        hint="How many blocks of two by two stand on the diagonal, and how many numbers does one block hold?",
        checker=numbers(np.count_nonzero(rotation_matrix(rotation_angles(3, inverse_frequencies(64))))),
        solution="""
            matrix = rotation_matrix(rotation_angles(3, inverse_frequencies(64)))
            answer = np.count_nonzero(matrix)
            """,
        mistakes=[
            (64, "Those are the cosines on the diagonal. What else stands in a block?"),
            (32, "That is the number of pairs. How many numbers does one block hold?"),
            (256, "Each pair has a block of two by two, and there are half as many pairs as features."),
            (4096, "Most entries join features of different pairs. What do they hold?"),
        ],
        advice="Draw the matrix for a width of 4, then of 8, and count.",
        why="Four numbers a pair: this is why nobody multiplies by the whole matrix.",
    ),
    exercise(
        name="real_part",
        kind="derive",
        question="""
            Read one pair of the query and of the key as complex numbers, z = q1 + q2 i and w = k1 + k2 i. The
            conjugate of a + bi is a - bi. Multiply z by the conjugate of w. What are the real and the imaginary part
            of the product?
            """,
        hint="The conjugate of w is k1 - k2 i. Multiply term by term and use i² = -1.",
        starter="""
            def real_part(q1, q2, k1, k2):
                real = ...
                imaginary = ...
                return real, imaginary
            """,
        checker=formula(
            lambda q1, q2, k1, k2: (lambda z: (z.real, z.imag))(complex(q1, q2) * complex(k1, -k2)),
            lambda rng: rng.uniform(-3, 3, 4).tolist(),
            shape=(2,),
        ),
        solution="""
            def real_part(q1, q2, k1, k2):
                real = q1 * k1 + q2 * k2
                imaginary = q2 * k1 - q1 * k2
                return real, imaginary
            """,
        mistakes=[
            (
                "def real_part(q1, q2, k1, k2): return q1 * k1 - q2 * k2, q1 * k2 + q2 * k1",
                "That is z times w, without the conjugate. Its real part is not the dot product.",
            ),
            (
                "def real_part(q1, q2, k1, k2): return q1 * k1 + q2 * k2, q1 * k2 - q2 * k1",
                "The real part is right. The imaginary part is that of w times the conjugate of z: check its sign.",
            ),
            (
                "def real_part(q1, q2, k1, k2): return q1 * k1 + q2 * k2, q1 * k2 + q2 * k1",
                "The real part is right. In the imaginary part one product has the wrong sign.",
            ),
            (
                "def real_part(q1, q2, k1, k2): return q2 * k1 - q1 * k2, q1 * k1 + q2 * k2",
                "The two parts have changed places.",
            ),
        ],
        advice="Try z = w = 1 + 2i: a number times its own conjugate is its length squared, 5.",
        why="The real part is the dot product of the pairs, and the imaginary part is -B of the derivation by hand.",
    ),
    exercise(
        name="half_order",
        kind="predict",
        question="""
            Eight features stand in interleaved order: pair i is features 2i and 2i + 1. You reorder them so that pair
            i is features i and i + 4, as in the half-split pairing. Which old feature stands at each of the eight new
            places? Give a list of eight numbers.
            """,
        hint="The first four places hold the first feature of each pair.",
        starter="answer = [...]  # eight numbers",
        checker=numbers(to_half(np.arange(8))),
        solution="answer = [0, 2, 4, 6, 1, 3, 5, 7]",
        mistakes=[
            ([0, 4, 1, 5, 2, 6, 3, 7], "That is the way back, from half-split to interleaved order."),
            ([0, 1, 2, 3, 4, 5, 6, 7], "Nothing has moved. Where must feature 1 go, the partner of feature 0?"),
            ([1, 3, 5, 7, 0, 2, 4, 6], "The halves have changed places: which feature of a pair comes first?"),
            ([0, 2, 4, 6, 7, 5, 3, 1], "The first half is right. In the second half pairs must keep their order."),
        ],
        advice="Write the numbers of the features on eight cards, and lay out the first feature of each pair.",
        why="This fixed reordering is all that separates the two pairings.",
    ),
    true_or_false(
        name="other_layout",
        question="""\
A model was trained with interleaved pairs. You run it with half-split pairs (i, i + d/2). Which sentences are true?""",
        sentences=[
            (
                "With the same weights the scores stay the same.",
                False,
                "Which features share a pair now? Score one q and one k in both pairings.",
            ),
            (
                "If q and k are reordered first, both by `to_half`, the scores are the same as before.",
                True,
                "A dot product does not mind in which order its products are added.",
            ),
            (
                "Half-split is an approximation of the formula in the paper.",
                False,
                "Reorder q and k, then look at how large the difference of the two scores is.",
            ),
            (
                "For a model that is trained from the start, either pairing is fine.",
                True,
                "Can the weights that make q and k learn the one order as well as the other?",
            ),
        ],
        hint="Take d = 8 and one random q and k, and try both pairings with `relative_score`.",
        why="Two names for the features, one rotation.",
    ),
    true_or_false(
        name="joined_halves",
        question="""\
The function of one document turns interleaved pairs and returns `np.concatenate((first, second), axis=-1)`: all first
features, then all second ones. It is used for q and for k. Which properties still hold?""",
        sentences=[
            ("The score of q and k is right.", True, "A dot product does not mind the order, if both sides share it."),
            ("Every vector keeps its length.", True, "Does moving numbers to other places change a length?"),
            (
                "The score depends on m - n alone.",
                True,
                "Think of one fixed reordering after the right rotation, on both sides.",
            ),
            ("Position 0 leaves x as it is.", False, "Turn (1, 2, 3, 4, 5, 6) by nothing and look at the output."),
            (
                "A turn to 3 after a turn to 4 is a turn to 7.",
                False,
                "Where do the features stand when the second turn begins?",
            ),
            (
                "A key turned by this function can be scored against a query turned by `rotate_expanded`.",
                False,
                "Is the first feature of pair 1 at the same place on both sides?",
            ),
        ],
        hint=(
            "The output stands in another order than the input. In which of the six does an output meet something "
            'that has, or expects, the old order? `FAULTS["concatenated output"].rotate(x, position_ids)` is it.'
        ),
        why="Safe where the turned vectors stay inside one attention call, unsafe where they leave it or turn again.",
    ),
    exercise(
        name="matrix_form",
        kind="code",
        question="""
            Build the matrix that turns one vector. `angles` holds one angle for each pair, and the matrix has two
            rows and two columns for each. It is multiplied from the left, `matrix @ x`, and turns features 2i and
            2i + 1 anticlockwise by angle i.
            """,
        hint="Start from zeros, then write one block of two by two for each pair.",
        starter="""
            def matrix_form(angles):
                return ...
            """,
        checker=function(
            must(lambda student: not is_swapped(student), MATRIX_SAYS["swapped"]),
            must(is_identity_at_zero, MATRIX_SAYS["zero"]),
            must(lambda student: not is_other_pairing(student), MATRIX_SAYS["half"]),
            must(stays_in_pairs, MATRIX_SAYS["pairs"]),
            must(keeps_length, MATRIX_SAYS["length"]),
            must(lambda student: not is_transposed(student), MATRIX_SAYS["clockwise"]),
            must(is_right_matrix, MATRIX_SAYS["angle"]),
        ),
        solution=MATRIX_FORM,
        mistakes=[
            (edit(MATRIX_FORM, ("[[cos, -sin], [sin, cos]]", "[[sin, -cos], [cos, sin]]")), MATRIX_SAYS["swapped"]),
            (edit(MATRIX_FORM, ("np.zeros", "np.ones")), MATRIX_SAYS["zero"]),
            (
                "def matrix_form(angles): return rotation_matrix(angles, pairing='half')",
                MATRIX_SAYS["half"],
            ),
            (
                "def matrix_form(angles): return rotation_matrix(angles) @ rotation_matrix(angles, pairing='half')",
                MATRIX_SAYS["pairs"],
            ),
            (edit(MATRIX_FORM, ("-sin", "sin")), MATRIX_SAYS["length"]),
            (edit(MATRIX_FORM, ("[[cos, -sin], [sin, cos]]", "[[cos, sin], [-sin, cos]]")), MATRIX_SAYS["clockwise"]),
            (edit(MATRIX_FORM, ("enumerate(angles)", "enumerate(angles[::-1])")), MATRIX_SAYS["angle"]),
        ],
        advice="",
        why="This is the definition. The other forms must agree with it.",
    ),
    exercise(
        name="expanded_form",
        kind="code",
        question="""
            Turn every pair of `x` with real numbers only. `x` has shape (..., seq_len, d), `angles` has shape
            (seq_len, d/2), and features 2i and 2i + 1 of a token turn by its angle i. Return an array of the shape of
            `x` and leave `x` as it is.
            """,
        hint="`x[..., 0::2]` is the first feature of every pair. The same slices of a new array take the results.",
        starter="""
            def expanded_form(x, angles):
                return ...
            """,
        checker=rotation(by_angles),
        solution=EXPANDED_FORM,
        mistakes=[
            (edit(EXPANDED_FORM, ("np.empty(x.shape)", "x")), CHANGED),
            (
                edit(EXPANDED_FORM, ("second = x", "second = x.copy()"), ("first * sin", "turned[..., 0::2] * sin")),
                OF_FAULT["in place overwrite"],
            ),
            (
                edit(EXPANDED_FORM, ("x[..., 0::2], x[..., 1::2]", "np.split(x, 2, axis=-1)"), *IN_HALVES),
                OF_FAULT["other pairing"],
            ),
            (edit(EXPANDED_FORM, *IN_HALVES), OF_FAULT["concatenated output"]),
            (edit(EXPANDED_FORM, ("- second", "+ second")), OF_FAULT["lost minus"]),
            (edit(EXPANDED_FORM, ("- second", "+ second"), ("first * sin +", "-first * sin +")), DIRECTION),
            (edit(EXPANDED_FORM, ("cos, sin =", "sin, cos =")), OF_FAULT["cos and sin swapped"]),
            (edit(EXPANDED_FORM, ("np.cos(angles), np.sin(angles)", "np.cos(angles[0]), np.sin(angles[0])")), ALIKE),
            ("def expanded_form(x, angles): return 1.0 * x", UNMOVED),
        ],
        advice="Compare with `rotate_by_matrix` on one token of width 4.",
        why="Four products a pair instead of a whole matrix.",
    ),
    exercise(
        name="complex_form",
        kind="code",
        question="""
            Turn every pair of `x` as one complex number. `x` has shape (..., seq_len, d), `angles` has shape
            (seq_len, d/2), and the pair of features 2i and 2i + 1 is multiplied by one number of length 1. Return
            real numbers in the shape of `x`.
            """,
        hint="The number that turns by the angle t is cos t + i sin t, in NumPy `np.exp(1j * t)`.",
        starter="""
            def complex_form(x, angles):
                return ...
            """,
        checker=rotation(by_angles),
        solution=COMPLEX_FORM,
        mistakes=[
            (edit(COMPLEX_FORM, ("z * np.exp(1j", "z * np.exp(-1j")), DIRECTION),
            (edit(COMPLEX_FORM, ("z.real, z.imag", "z.imag, z.real")), FOUND["nothing at zero"]),
            (edit(COMPLEX_FORM, ("* np.exp(1j * angles)", "* (1 + 1j * angles)")), FOUND["length kept"]),
            (edit(COMPLEX_FORM, *IN_HALVES), OF_FAULT["concatenated output"]),
            ("def complex_form(x, angles): return (x[..., 0::2] + 1j * x[..., 1::2]) * np.exp(1j * angles)", COMPLEX),
        ],
        advice="Compare with `rotate_by_matrix` on one token of width 4.",
        why="One complex product is the four real ones: cos with cos, sin with sin, and the minus from i² = -1.",
    ),
    exercise(
        name="clockwise_matrix",
        kind="repair",
        question="""
            This is how one article prints the rotation matrix, block by block. Lengths are kept and the score depends
            on m - n alone, yet most scores differ from that of the paper. Repair it.
            """,
        hint="Multiply one block by the column (1, 0) at a quarter turn. Where should the vector point?",
        starter=CLOCKWISE_MATRIX,
        checker=rotation(by_angles, says_clockwise),
        solution=edit(CLOCKWISE_MATRIX, ("[[cos, sin], [-sin, cos]]", "[[cos, -sin], [sin, cos]]")),
        mistakes=[
            (CLOCKWISE_MATRIX, CLOCKWISE),
            (edit(CLOCKWISE_MATRIX, ("-sin", "sin")), OF_FAULT["lost minus"]),
            (
                edit(CLOCKWISE_MATRIX, ("[[cos, sin], [-sin, cos]]", "[[sin, -cos], [cos, sin]]")),
                OF_FAULT["cos and sin swapped"],
            ),
        ],
        advice="Compare with `rotate_by_matrix` on one token of width 4.",
        why="Either direction is a rotation, but weights are trained for one of them.",
    ),
    exercise(
        name="lost_conjugate",
        kind="repair",
        question="""
            A page scores a query and a key as complex numbers. `q` and `k` hold d features in interleaved order,
            `inv_freq` the d/2 speeds. At m = n = 0 the result should be the dot product of q and k, and it is not.
            Repair it.
            """,
        hint="Look at your answer to real_part.",
        starter=LOST_CONJUGATE,
        checker=function(conjugate_probe),
        solution=WITH_CONJUGATE,
        mistakes=[
            (LOST_CONJUGATE, NO_CONJUGATE),
            (
                edit(
                    WITH_CONJUGATE,
                    ("(turned_q * turned_k.conj()).sum().real", "abs((turned_q * turned_k.conj()).sum())"),
                ),
                ABSOLUTE,
            ),
            (edit(WITH_CONJUGATE, (".real", ".imag")), IMAGINARY),
            (edit(LOST_CONJUGATE, ("1j * m", "-1j * m")), LEVEL),
            (edit(LOST_CONJUGATE, ("1j * k[1::2]", "-1j * k[1::2]")), MORE),
            (edit(LOST_CONJUGATE, ("1j * q[1::2]", "-1j * q[1::2]"), ("1j * n", "-1j * n")), SWAPPED),
        ],
        advice="",
        why="The score is the real part of the sum of z conj(w), turned by (m - n) times each speed.",
    ),
    exercise(
        name="mixed_tables",
        kind="repair",
        question="""
            This form is `x * cos + quarter * sin`, where `quarter` is x turned by a quarter of a circle. Pairs are
            features 2i and 2i + 1, and `angles` has shape (seq_len, d/2). Something does not fit: vectors change
            their length. Repair it, for these pairs.
            """,
        hint="For d = 4 write out which angle stands beside each feature in `cos`, and which partner in `quarter`.",
        starter=MIXED_TABLES,
        checker=rotation(by_angles),
        solution=MATCHED_TABLES,
        mistakes=[
            (MIXED_TABLES, OF_FAULT["table of the other pairing"]),
            (
                edit(
                    MATCHED_TABLES,
                    (
                        "quarter[..., 0::2], quarter[..., 1::2] = -x[..., 1::2], x[..., 0::2]",
                        "quarter = np.concatenate((-x[..., x.shape[-1] // 2 :], x[..., : x.shape[-1] // 2]), -1)",
                    ),
                ),
                OF_FAULT["quarter turn of the other pairing"],
            ),
            (
                edit(
                    MIXED_TABLES,
                    (
                        "quarter[..., 0::2], quarter[..., 1::2] = -x[..., 1::2], x[..., 0::2]",
                        "quarter = np.concatenate((-x[..., x.shape[-1] // 2 :], x[..., : x.shape[-1] // 2]), -1)",
                    ),
                ),
                OF_FAULT["other pairing"],
            ),
            (edit(MATCHED_TABLES, ("-x[..., 1::2], x[..., 0::2]", "x[..., 1::2], -x[..., 0::2]")), DIRECTION),
            (edit(MATCHED_TABLES, ("-x[..., 1::2]", "x[..., 1::2]")), OF_FAULT["lost minus"]),
        ],
        advice="Compare with `rotate_by_matrix` on one token of width 4.",
        why="Either layout of the table is right beside the quarter turn of the same pairing.",
    ),
]
