r"""The curves behind "long-distance decay".

``decay_curve`` is what the score of equal vectors looks like on average; ``decay_bound`` is the factor in
the RoFormer paper's upper bound. Neither says that attention falls with distance: notebook 04 shows what they say.
"""

import numpy as np

from rope_ref.checks import as_inv_freq, as_real, check_count
from rope_ref.frequencies import angles_at

__all__ = ["decay_bound", "decay_curve", "first_negative"]

BLOCK = 2**18  # angles held at once: 2 MB
STRIDE = 64  # distances that share one far angle
PRODUCTS = 2**18  # multiplications in one matrix product; from there on BLAS starts threads, at a loss here


def in_blocks(reduce, distances, inv_freq):
    """Apply `reduce` to the angles of some distances at a time, so that long ranges need little memory."""
    distances, inv_freq = as_real(distances, "distances"), as_inv_freq(inv_freq)
    flat = distances.ravel()
    values = np.empty(flat.shape)
    rows = max(1, BLOCK // len(inv_freq))
    for start in range(0, len(flat), rows):
        values[start : start + rows] = reduce(angles_at(flat[start : start + rows], inv_freq, "distances"))
    return values.reshape(distances.shape)[()]


def decay_curve(distances, inv_freq):
    r"""Average the cosine of every pair's angle at some distances.

    This is the score of q = k = (1, ..., 1) divided by its width, and the mean of q . R k / d over
    random q = k with independent features of mean 0 and variance 1. It is not the score of a trained model.

    Parameters
    ----------
    distances : array_like of int or float, shape (...)
        Query position minus key position, in tokens.
    inv_freq : array_like of float, shape (pairs,)
        Radians per token.

    Returns
    -------
    ndarray of float64, shape (...), or float64
        :math:`\frac{2}{d} \sum_i \cos(r \theta_i)` at each distance r; 1 at r = 0.

    Raises
    ------
    TypeError, ValueError
        If an argument does not hold finite real numbers, or `inv_freq` is not one-dimensional.

    Examples
    --------
    >>> from rope_ref.frequencies import inverse_frequencies
    >>> decay_curve([0, 1, 100, 1707], inverse_frequencies(128)).round(4)
    array([ 1.    ,  0.9702,  0.4772, -0.0078])
    """
    return in_blocks(lambda angles: np.cos(angles).mean(axis=-1), distances, inv_freq)


def decay_bound(distances, inv_freq):
    r"""Average the length of the partial sums in the paper's upper bound.

    The score of any q and k is at most ``max|h[i+1] - h[i]| * pairs`` times this number, h[i] being the complex
    product of pair i (and h[pairs] = 0) [1]_. It says nothing of the score's own size.

    Parameters
    ----------
    distances : array_like of int or float, shape (...)
        Query position minus key position, in tokens.
    inv_freq : array_like of float, shape (pairs,)
        Radians per token.

    Returns
    -------
    ndarray of float64, shape (...), or float64
        :math:`\frac{2}{d} \sum_{j=1}^{d/2} |S_j|` with :math:`S_j = \sum_{i<j} e^{\mathrm{i} r \theta_i}`;
        (pairs + 1) / 2 at r = 0.

    Raises
    ------
    TypeError, ValueError
        If an argument does not hold finite real numbers, or `inv_freq` is not one-dimensional.

    References
    ----------
    .. [1] J. Su et al., "RoFormer", arXiv:2104.09864, section 3.4.3, eq. (35) to (37).

    Examples
    --------
    >>> from rope_ref.frequencies import inverse_frequencies
    >>> decay_bound([0, 10, 100], inverse_frequencies(128)).round(2)
    array([32.5 , 17.95, 10.23])
    """
    return in_blocks(lambda angles: np.abs(np.cumsum(np.exp(1j * angles), axis=-1)).mean(axis=-1), distances, inv_freq)


def first_negative(inv_freq, limit=1_000_000):
    """Find the first whole distance at which `decay_curve` is below zero.

    Parameters
    ----------
    inv_freq : array_like of float, shape (pairs,)
        Radians per token.
    limit : int, optional
        The last distance looked at, in tokens.

    Returns
    -------
    int or None
        The distance, in tokens; None where the curve stays at or above zero up to `limit`.

    Raises
    ------
    TypeError, ValueError
        If `limit` is not a positive integer, or `inv_freq` is not a one-dimensional array of real numbers.

    Examples
    --------
    >>> from rope_ref.frequencies import inverse_frequencies
    >>> first_negative(inverse_frequencies(64)), first_negative(inverse_frequencies(128), limit=1000)
    (725, None)
    """
    limit, inv_freq = check_count(limit, "limit"), as_inv_freq(inv_freq)
    stride = min(STRIDE, limit + 1)
    near = angles_at(np.arange(stride), inv_freq, "distances")
    table = np.hstack((np.cos(near), -np.sin(near))).T / len(inv_freq)
    step = stride * max(1, PRODUCTS // table.size)
    for start in range(0, limit + 1, step):
        # cos(x + y) = cos x cos y - sin x sin y: a few far and a few near angles make the curve at all their sums.
        far = angles_at(np.arange(start, min(start + step, limit + 1), stride), inv_freq, "distances")
        curve = np.hstack((np.cos(far), np.sin(far))) @ table
        # That rounds in other places than decay_curve, which decides wherever the sign is in doubt.
        slack = 2.0**-50 * (len(inv_freq) + np.abs(near).max()) + 2.0**-50 * np.abs(far).max()
        doubtful = start + np.flatnonzero(curve < slack)
        doubtful = doubtful[doubtful <= limit]
        below = doubtful[decay_curve(doubtful, inv_freq) < 0]
        if below.size:
            return int(below[0])
    return None
