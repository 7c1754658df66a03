"""The checks that should find a wrong rotation, and which of them one fails."""

from collections import namedtuple

import numpy as np

from rope_ref.decay import decay_curve
from rope_ref.frequencies import inverse_frequencies

__all__ = ["CHECKS", "caught_by"]

CHECKS = {}  # name: Check

Check = namedtuple("Check", "name what holds")
Check.__doc__ = """A check: its name, what a right rotation keeps, and ``holds(rotate)``: whether it does."""

SEED = 20241127
TOLERANCE = 1e-9  # wide of rounding at the positions used, far below any fault


def check(holds):
    """Register a check under the name of its function."""
    name = holds.__name__.replace("_", " ")
    CHECKS[name] = Check(name, holds.__doc__ or "", holds)
    return holds


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
    >>> from rope_ref.faults import FAULTS, rotate_correctly
    >>> caught_by(rotate_correctly)
    []
    >>> caught_by(FAULTS["opposite direction"].rotate)
    ['case by hand']
    """
    return [name for name, each in CHECKS.items() if not each.holds(rotate)]
