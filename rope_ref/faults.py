"""Wrong rotations, planted by name, and the checks that should find them.

They are of the kinds that public fault reports describe. Tests, figures and exercises read them from here. None of
them is for use.
"""

from collections import namedtuple

import numpy as np

from rope_ref.checks import check_positive
from rope_ref.decay import decay_curve
from rope_ref.frequencies import cos_sin, inverse_frequencies, rotation_angles
from rope_ref.pairing import join_pairs, split_pairs
from rope_ref.rotation import rotate_expanded

__all__ = ["CHECKS", "FAULTS", "caught_by", "rotate_correctly"]

FAULTS = {}  # name: Fault
CHECKS = {}  # name: Check

Fault = namedtuple("Fault", "name what rotate")
Fault.__doc__ = """A wrong rotation: its name, what it does wrong, and ``rotate(x, position_ids, base=10000.0)``."""

Check = namedtuple("Check", "name what holds")
Check.__doc__ = (
    """A check: its name, what a right rotation keeps, and ``holds(rotate)``, which tells whether it does."""
)


def rotate_correctly(x, position_ids, base=10000.0):
    """Turn `x` as the package does by default: interleaved pairs, full width.

    Parameters
    ----------
    x : array_like of float, shape (..., seq_len, head_dim)
        Queries or keys.
    position_ids : array_like of int or float, shape (seq_len,)
        Positions, in tokens.
    base : float, optional
        Base of the frequencies.

    Returns
    -------
    ndarray, shape and dtype of `x`
        What every fault gets wrong in one way.

    Examples
    --------
    >>> rotate_correctly([[1.0, 2.0, 3.0, 4.0]], [1]).round(4)
    array([[-1.1426,  1.9221,  2.9599,  4.0298]])
    """
    return rotate_expanded(x, rotation_angles(position_ids, inverse_frequencies(np.shape(x)[-1], base)))


def fault(rotate):
    """Register a planted fault under the name of its function."""
    name = rotate.__name__.replace("_", " ")
    FAULTS[name] = Fault(name, rotate.__doc__ or "", rotate)
    return rotate


def check(holds):
    """Register a check under the name of its function."""
    name = holds.__name__.replace("_", " ")
    CHECKS[name] = Check(name, holds.__doc__ or "", holds)
    return holds


def parts(x, position_ids, base):
    """Return what a hand-written rotation starts from: the pairs of x, and cos and sin of its angles."""
    x = np.asarray(x)
    cos, sin = cos_sin(rotation_angles(position_ids, inverse_frequencies(x.shape[-1], check_positive(base, "base"))))
    return *split_pairs(x), cos, sin


def turn_with(x, position_ids, inv_freq):
    """Turn `x` with frequencies of one's own."""
    return rotate_expanded(x, rotation_angles(position_ids, inv_freq))


# Where the numbers go --------------------------------------------------------------------------------------------


@fault
def concatenated_output(x, position_ids, base=10000.0):
    """All first features are written out before all second ones."""
    first, second, cos, sin = parts(x, position_ids, base)
    return np.concatenate((first * cos - second * sin, first * sin + second * cos), axis=-1)


@fault
def other_pairing(x, position_ids, base=10000.0):
    """Pairs (i, i + d/2) where the weights expect (2i, 2i + 1)."""
    return rotate_expanded(x, rotation_angles(position_ids, inverse_frequencies(np.shape(x)[-1], base)), pairing="half")


@fault
def table_of_the_other_pairing(x, position_ids, base=10000.0):
    """A table for half-split pairs beside a quarter turn for interleaved ones."""
    first, second, cos, sin = parts(x, position_ids, base)
    cos, sin = join_pairs(cos, cos, "half"), join_pairs(sin, sin, "half")
    return x * cos + join_pairs(-second, first) * sin


@fault
def quarter_turn_of_the_other_pairing(x, position_ids, base=10000.0):
    """A quarter turn for half-split pairs beside a table for interleaved ones."""
    _, _, cos, sin = parts(x, position_ids, base)
    first, second = split_pairs(x, "half")
    return x * join_pairs(cos, cos) + join_pairs(-second, first, "half") * join_pairs(sin, sin)


@fault
def in_place_overwrite(x, position_ids, base=10000.0):
    """The second feature is computed from the first one's new value."""
    first, second, cos, sin = parts(x, position_ids, base)
    first = first * cos - second * sin
    return join_pairs(first, first * sin + second * cos)


# Which way it turns ----------------------------------------------------------------------------------------------


@fault
def cos_and_sin_swapped(x, position_ids, base=10000.0):
    """Cos and sin change places."""
    first, second, cos, sin = parts(x, position_ids, base)
    return join_pairs(first * sin - second * cos, first * cos + second * sin)


@fault
def opposite_direction(x, position_ids, base=10000.0):
    """Every pair turns clockwise."""
    return turn_with(x, position_ids, -inverse_frequencies(np.shape(x)[-1], base))


@fault
def lost_minus(x, position_ids, base=10000.0):
    """The minus sign of the first feature is lost."""
    first, second, cos, sin = parts(x, position_ids, base)
    return join_pairs(first * cos + second * sin, first * sin + second * cos)


@fault
def applied_twice(x, position_ids, base=10000.0):
    """The turn is applied a second time to its own output."""
    return rotate_correctly(rotate_correctly(x, position_ids, base), position_ids, base)


@fault
def added_instead_of_rotated(x, position_ids, base=10000.0):
    """A vector of cosines and sines is added, nothing is turned."""
    _, _, cos, sin = parts(x, position_ids, base)
    return x + join_pairs(sin, cos)


# How fast it turns -----------------------------------------------------------------------------------------------


@fault
def exponent_too_small(x, position_ids, base=10000.0):
    """Exponent i/d instead of 2i/d."""
    return turn_with(x, position_ids, inverse_frequencies(np.shape(x)[-1], base) ** 0.5)


@fault
def exponent_too_large(x, position_ids, base=10000.0):
    """Exponent 4i/d instead of 2i/d."""
    return turn_with(x, position_ids, inverse_frequencies(np.shape(x)[-1], base) ** 2)


@fault
def index_from_one(x, position_ids, base=10000.0):
    """The index i runs from 1 to d/2, not from 0 to d/2 - 1."""
    inv_freq = inverse_frequencies(np.shape(x)[-1], base)
    return turn_with(x, position_ids, inv_freq * base ** (-2 / np.shape(x)[-1]))


@fault
def wrong_base(x, position_ids, base=10000.0):
    """The base of another model, fifty times larger."""
    return turn_with(x, position_ids, inverse_frequencies(np.shape(x)[-1], 50 * base))


@fault
def reversed_frequencies(x, position_ids, base=10000.0):
    """The last pair turns fastest."""
    return turn_with(x, position_ids, inverse_frequencies(np.shape(x)[-1], base)[::-1])


# Where the token stands ------------------------------------------------------------------------------------------


@fault
def positions_from_one(x, position_ids, base=10000.0):
    """Positions count from 1."""
    return rotate_correctly(x, np.asarray(position_ids) + 1, base)


@fault
def positions_along_the_head_axis(x, position_ids, base=10000.0):
    """The angle follows the head, not the token: position 0 where there is one head."""
    x = np.asarray(x)
    heads = x.shape[-3] if x.ndim >= 3 else 1
    angles = rotation_angles(np.arange(heads), inverse_frequencies(x.shape[-1], base))[:, None]
    return rotate_expanded(x, np.broadcast_to(angles if x.ndim >= 3 else angles[0], (*x.shape[:-1], x.shape[-1] // 2)))


def round_to_bits(values, bits):
    """Round numbers to a significand of some bits, ties to even, as narrow floats do."""
    fraction, exponent = np.frexp(np.asarray(values, np.float64))
    return np.ldexp(np.rint(np.ldexp(fraction, bits)), exponent - bits)


@fault
def bfloat16_positions(x, position_ids, base=10000.0):
    """Positions are held in bfloat16, which counts only to 256."""
    return rotate_correctly(x, round_to_bits(position_ids, 8), base)


@fault
def float16_angles(x, position_ids, base=10000.0):
    """Angles are held in float16, too coarse from a thousand radians on."""
    return rotate_expanded(
        x, round_to_bits(rotation_angles(position_ids, inverse_frequencies(np.shape(x)[-1], base)), 11)
    )


# The checks ------------------------------------------------------------------------------------------------------

SEED = 20241127
TOLERANCE = 1e-9  # wide of rounding at the positions used, far below any fault


def random_pair(head_dim=64):
    """Draw the query and the key that the checks share."""
    return np.random.default_rng(SEED).standard_normal((2, 1, head_dim))


def agree(got, want):
    """Tell whether two results are equal to rounding, in shape as well."""
    got, want = np.asarray(got, np.float64), np.asarray(want, np.float64)
    return got.shape == want.shape and bool(np.allclose(got, want, rtol=TOLERANCE, atol=TOLERANCE))


def score(rotate, m, n):
    """Score the shared query at position m with the shared key at position n."""
    q, k = random_pair()
    return float((rotate(q, [m]) * rotate(k, [n])).sum())


@check
def length_kept(rotate):
    """Every vector keeps its length."""
    q, _ = random_pair()
    return all(agree(np.linalg.norm(rotate(q, [m])), np.linalg.norm(q)) for m in (1, 5, 300))


@check
def distance_alone(rotate):
    """The score of positions 5 and 2 is that of 25 and 22."""
    return agree(score(rotate, 25, 22), score(rotate, 5, 2))


@check
def distance_alone_far_out(rotate):
    """The score of positions 5 and 2 is that of 3005 and 3002."""
    return agree(score(rotate, 3005, 3002), score(rotate, 5, 2))


@check
def nothing_at_zero(rotate):
    """Position 0 changes nothing."""
    q, _ = random_pair()
    return agree(rotate(q, [0]), q)


@check
def turns_add_up(rotate):
    """A turn to 3 after a turn to 4 is a turn to 7."""
    q, _ = random_pair()
    return agree(rotate(rotate(q, [4]), [3]), rotate(q, [7]))


@check
def pairs_stay_apart(rotate):
    """A vector in one pair stays in that pair."""
    x = np.zeros((1, 8))
    x[0, 2:4] = 1.0, 2.0
    turned = np.array(rotate(x, [3]), np.float64)
    turned[0, 2:4] = 0.0
    return agree(turned, np.zeros((1, 8)))


@check
def curve_of_ones(rotate):
    """Equal vectors of ones score as the mean cosine says."""
    ones, distances = np.ones((1, 64)), (1, 2, 5, 40)
    scores = [(rotate(ones, [m]) * rotate(ones, [0])).sum() / 64 for m in distances]
    return agree(scores, decay_curve(distances, inverse_frequencies(64)))


@check
def case_by_hand(rotate):
    """(1, 2, 3, 4) at position 1 comes out as worked by hand."""
    # 1 cos 1 - 2 sin 1, 1 sin 1 + 2 cos 1, 3 cos 0.01 - 4 sin 0.01, 3 sin 0.01 + 4 cos 0.01
    want = [[-1.1426396637476532, 1.922075596544176, 2.959850667913329, 4.029799501669161]]
    return agree(rotate(np.array([[1.0, 2.0, 3.0, 4.0]]), [1]), want)


def caught_by(rotate):
    """List which checks a rotation fails.

    Parameters
    ----------
    rotate : callable
        Takes `x` of shape (seq_len, head_dim) and `position_ids` of shape (seq_len,), returns `x` turned.

    Returns
    -------
    list of str
        Names in `CHECKS` that do not hold, in their order; empty for a right rotation.

    Examples
    --------
    >>> caught_by(rotate_correctly)
    []
    >>> caught_by(FAULTS["opposite direction"].rotate)
    ['case by hand']
    """
    return [name for name, each in CHECKS.items() if not each.holds(rotate)]
