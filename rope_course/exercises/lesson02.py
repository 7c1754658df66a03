"""Exercises of notebook 02, One rotation, three forms."""

import numpy as np

from rope_course.exercises.checkers import (
    by_angles,
    close,
    formula,
    function,
    must,
    must_not,
    numbers,
    rotation,
    say,
    true_or_false,
)
from rope_course.exercises.entry import exercise, returns, solution_with, starter_with
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


# Numbers that messages show: one query and one key of four features, at positions 5 and 3.
Q, K = np.array([1.0, 2.0, 3.0, 4.0]), np.array([-2.0, 3.0, 1.0, 2.0])
SPEEDS = inverse_frequencies(4)
RIGHT, MIRRORED = relative_score(Q, K, [2, -2], SPEEDS)
SCORES = {"right": f"{RIGHT:.2f}", "mirrored": f"{MIRRORED:.2f}"}


def score_by(turn, m, n):
    """Score the query and the key above, each turned by a student's function of x and angles."""
    turned = [turn(x[None], rotation_angles([p], SPEEDS), shape=(1, 4)) for x, p in [(Q, m), (K, n)]]
    return np.vdot(*turned)


def says_clockwise(turn):
    """Say which score comes out where the turn is clockwise: that of swapped positions."""
    rests_at_zero = close(turn(Q[None], np.zeros((1, 2)), shape=(1, 4)), Q[None])
    return say("clockwise", **SCORES) if rests_at_zero and close(score_by(turn, 5, 3), MIRRORED) else None


IN_HALVES = [
    ("turned[..., 0::2]", "turned[..., : x.shape[-1] // 2]"),
    ("turned[..., 1::2]", "turned[..., x.shape[-1] // 2 :]"),
]

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
        return say("no_conjugate", **WITHOUT)
    if close(here, abs(product)):
        return "absolute"
    if close(here, product.imag):
        return "imaginary"
    if close(here, MIRRORED):
        return "swapped"
    if not close(here, shifted):
        return "more"
    if not close(level, Q @ K):
        return "level"
    return None


PRODUCTS = [(as_complex(Q, m) * as_complex(K, n)).sum().real for m, n in [(5, 3), (25, 23)]]
WITHOUT = {"here": f"{PRODUCTS[0]:.2f}", "shifted": f"{PRODUCTS[1]:.2f}"}


EXERCISES = [
    exercise(
        "nonzero_entries",
        kind="predict",
        checker=numbers(np.count_nonzero(rotation_matrix(rotation_angles(3, inverse_frequencies(64))))),
        mistakes=[("cosines", 64), ("pairs", 32), ("too_few_pairs", 256), ("all", 4096)],
    ),
    exercise(
        "real_part",
        kind="derive",
        checker=formula(
            lambda q1, q2, k1, k2: (lambda z: (z.real, z.imag))(complex(q1, q2) * complex(k1, -k2)),
            lambda rng: rng.uniform(-3, 3, 4).tolist(),
            shape=(2,),
        ),
        mistakes=[
            ("no_conjugate", returns("q1 * k1 - q2 * k2, q1 * k2 + q2 * k1")),
            ("other_conjugate", returns("q1 * k1 + q2 * k2, q1 * k2 - q2 * k1")),
            ("one_sign", returns("q1 * k1 + q2 * k2, q1 * k2 + q2 * k1")),
            ("swapped", returns("q2 * k1 - q1 * k2, q1 * k1 + q2 * k2")),
        ],
    ),
    exercise(
        "half_order",
        kind="predict",
        checker=numbers(to_half(np.arange(8))),
        mistakes=[
            ("way_back", [0, 4, 1, 5, 2, 6, 3, 7]),
            ("nothing_moved", [0, 1, 2, 3, 4, 5, 6, 7]),
            ("halves_swapped", [1, 3, 5, 7, 0, 2, 4, 6]),
            ("second_half", [0, 2, 4, 6, 7, 5, 3, 1]),
        ],
    ),
    true_or_false("other_layout", [False, True, False, True]),
    true_or_false("joined_halves", [True, True, True, False, False, False]),
    exercise(
        "matrix_form",
        kind="code",
        checker=function(
            must_not(is_swapped, "swapped"),
            must(is_identity_at_zero, "zero"),
            must_not(is_other_pairing, "other pairing"),
            must(stays_in_pairs, "pairs"),
            must(keeps_length, "length"),
            must_not(is_transposed, "clockwise"),
            must(is_right_matrix, "angle"),
        ),
        mistakes=[
            ("swapped", solution_with(("[[cos, -sin], [sin, cos]]", "[[sin, -cos], [cos, sin]]"))),
            ("zero", solution_with(("np.zeros", "np.ones"))),
            ("other pairing", returns("rotation_matrix(angles, pairing='half')")),
            ("pairs", returns("rotation_matrix(angles) @ rotation_matrix(angles, pairing='half')")),
            ("length", solution_with(("-sin", "sin"))),
            ("clockwise", solution_with(("[[cos, -sin], [sin, cos]]", "[[cos, sin], [-sin, cos]]"))),
            ("angle", solution_with(("enumerate(angles)", "enumerate(angles[::-1])"))),
        ],
    ),
    exercise(
        "expanded_form",
        kind="code",
        checker=rotation(by_angles),
        mistakes=[
            ("input_changed", solution_with(("np.empty(x.shape)", "x"))),
            (
                "in place overwrite",
                solution_with(("second = x", "second = x.copy()"), ("first * sin", "turned[..., 0::2] * sin")),
            ),
            ("other pairing", solution_with(("x[..., 0::2], x[..., 1::2]", "np.split(x, 2, axis=-1)"), *IN_HALVES)),
            ("concatenated output", solution_with(*IN_HALVES)),
            ("lost minus", solution_with(("- second", "+ second"))),
            ("opposite direction", solution_with(("- second", "+ second"), ("first * sin +", "-first * sin +"))),
            ("cos and sin swapped", solution_with(("cos, sin =", "sin, cos ="))),
            ("alike", solution_with(("np.cos(angles), np.sin(angles)", "np.cos(angles[0]), np.sin(angles[0])"))),
            ("unmoved", returns("1.0 * x")),
        ],
    ),
    exercise(
        "complex_form",
        kind="code",
        checker=rotation(by_angles),
        mistakes=[
            ("opposite direction", solution_with(("z * np.exp(1j", "z * np.exp(-1j"))),
            ("nothing at zero", solution_with(("z.real, z.imag", "z.imag, z.real"))),
            ("length kept", solution_with(("* np.exp(1j * angles)", "* (1 + 1j * angles)"))),
            ("concatenated output", solution_with(*IN_HALVES)),
            ("complex", returns("(x[..., 0::2] + 1j * x[..., 1::2]) * np.exp(1j * angles)")),
        ],
    ),
    exercise(
        "clockwise_matrix",
        kind="repair",
        checker=rotation(by_angles, says_clockwise),
        mistakes=[
            ("clockwise", starter_with(), SCORES),
            ("lost minus", starter_with(("-sin", "sin"))),
            ("cos and sin swapped", starter_with(("[[cos, sin], [-sin, cos]]", "[[sin, -cos], [cos, sin]]"))),
        ],
    ),
    exercise(
        "lost_conjugate",
        kind="repair",
        checker=function(conjugate_probe),
        mistakes=[
            ("no_conjugate", starter_with(), WITHOUT),
            (
                "absolute",
                solution_with(("(turned_q * turned_k.conj()).sum().real", "abs((turned_q * turned_k.conj()).sum())")),
            ),
            ("imaginary", solution_with((".real", ".imag"))),
            ("level", starter_with(("1j * m", "-1j * m"))),
            ("more", starter_with(("1j * k[1::2]", "-1j * k[1::2]"))),
            ("swapped", starter_with(("1j * q[1::2]", "-1j * q[1::2]"), ("1j * n", "-1j * n"))),
        ],
    ),
    exercise(
        "mixed_tables",
        kind="repair",
        checker=rotation(by_angles),
        mistakes=[
            ("table of the other pairing", starter_with()),
            (
                "quarter turn of the other pairing",
                solution_with(
                    (
                        "quarter[..., 0::2], quarter[..., 1::2] = -x[..., 1::2], x[..., 0::2]",
                        "quarter = np.concatenate((-x[..., x.shape[-1] // 2 :], x[..., : x.shape[-1] // 2]), -1)",
                    )
                ),
            ),
            (
                "other pairing",
                starter_with(
                    (
                        "quarter[..., 0::2], quarter[..., 1::2] = -x[..., 1::2], x[..., 0::2]",
                        "quarter = np.concatenate((-x[..., x.shape[-1] // 2 :], x[..., : x.shape[-1] // 2]), -1)",
                    )
                ),
            ),
            ("opposite direction", solution_with(("-x[..., 1::2], x[..., 0::2]", "x[..., 1::2], -x[..., 0::2]"))),
            ("lost minus", solution_with(("-x[..., 1::2]", "x[..., 1::2]"))),
        ],
    ),
]
