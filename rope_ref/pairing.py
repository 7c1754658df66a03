"""Which features of a head form a pair: the only file that knows.

Pair i of a head of width d is features (2i, 2i + 1) in the "interleaved" pairing, and features
(i, i + d // 2) in the "half" pairing. The two differ by one fixed reordering of the features.
"""

import numpy as np

from rope_ref.checks import as_array, as_features, check_axis, check_choice, check_count, check_rotary_dim, check_width

__all__ = [
    "PAIRINGS",
    "join_pairs",
    "pair_features",
    "permute_projection",
    "split_pairs",
    "tables",
    "to_half",
    "to_interleaved",
]

PAIRINGS = ("interleaved", "half")


def check_pairing(pairing):
    """Return `pairing`, or raise a ValueError that lists the two there are."""
    return check_choice(pairing, PAIRINGS, "pairing")


def pair_features(rotary_dim, pairing="interleaved"):
    """Number the two features of each pair.

    Parameters
    ----------
    rotary_dim : int
        Number of features, even.
    pairing : {"interleaved", "half"}, optional
        Pair i is features (2i, 2i + 1), or (i, i + rotary_dim // 2).

    Returns
    -------
    first, second : ndarray of int, shape (rotary_dim // 2,)
        Feature numbers: pair i is features ``(first[i], second[i])``.

    Raises
    ------
    TypeError, ValueError
        If `rotary_dim` is not a positive even integer, or `pairing` is unknown.

    Examples
    --------
    >>> pair_features(6, "half")
    (array([0, 1, 2]), array([3, 4, 5]))
    """
    pairs = np.arange(check_width(rotary_dim) // 2)
    if check_pairing(pairing) == "interleaved":
        return 2 * pairs, 2 * pairs + 1
    return pairs, pairs + len(pairs)


def split_pairs(x, pairing="interleaved"):
    """Split the last axis into the first and the second feature of each pair.

    Parameters
    ----------
    x : array_like, shape (..., head_dim)
        Any array whose last axis is even and not empty.
    pairing : {"interleaved", "half"}, optional
        Pair i is features (2i, 2i + 1), or (i, i + head_dim // 2).

    Returns
    -------
    first, second : ndarray, shape (..., head_dim // 2)
        Views of `x`, not copies.

    Raises
    ------
    ValueError
        If `x` has no axis or an odd last one, or `pairing` is unknown.

    Examples
    --------
    >>> split_pairs([1, 2, 3, 4])
    (array([1, 3]), array([2, 4]))
    >>> split_pairs([1, 2, 3, 4], "half")
    (array([1, 2]), array([3, 4]))
    """
    x = as_features(x)
    pairs = check_width(x.shape[-1], "the last axis of x") // 2
    if check_pairing(pairing) == "interleaved":
        return x[..., 0::2], x[..., 1::2]
    return x[..., :pairs], x[..., pairs:]


def join_pairs(first, second, pairing="interleaved"):
    """Put the features of each pair back in order; the inverse of `split_pairs`.

    Parameters
    ----------
    first, second : array_like, shape (..., pairs)
        First and second feature of each pair, of one shape.
    pairing : {"interleaved", "half"}, optional
        Pair i becomes features (2i, 2i + 1), or (i, i + pairs).

    Returns
    -------
    ndarray, shape (..., 2 * pairs)
        A new array.

    Raises
    ------
    ValueError
        If the shapes differ or `pairing` is unknown.

    Examples
    --------
    >>> join_pairs([1, 3], [2, 4])
    array([1, 2, 3, 4])
    >>> join_pairs([1, 3], [2, 4], "half")
    array([1, 3, 2, 4])
    """
    first, second = as_array(first, "first"), as_array(second, "second")
    if first.ndim == 0 or first.shape != second.shape:
        raise ValueError(f"first and second must have one shape (..., pairs), got {first.shape} and {second.shape}")
    if check_pairing(pairing) == "interleaved":
        return np.stack((first, second), axis=-1).reshape(*first.shape[:-1], 2 * first.shape[-1])
    return np.concatenate((first, second), axis=-1)


def reorder(x, rotary_dim, source, target):
    """Move the first `rotary_dim` features from one pairing's order to the other's; copy the rest."""
    x = as_features(x)
    width = check_rotary_dim(rotary_dim, x.shape[-1])
    turned = join_pairs(*split_pairs(x[..., :width], source), target)
    return np.concatenate((turned, x[..., width:]), axis=-1).astype(x.dtype, copy=False)  # keeps the byte order


def to_half(x, rotary_dim=None):
    """Reorder interleaved features to half-split order.

    Parameters
    ----------
    x : array_like, shape (..., head_dim)
        Features in which pair i is (2i, 2i + 1).
    rotary_dim : int, optional
        How many leading features to reorder, even; the whole head by default.

    Returns
    -------
    ndarray, shape and dtype of `x`
        A new array in which pair i is (i, i + rotary_dim // 2).

    Raises
    ------
    TypeError, ValueError
        If `rotary_dim` is not a positive even integer, or is wider than the head.

    See Also
    --------
    to_interleaved : The way back.

    Examples
    --------
    >>> to_half([0, 1, 2, 3, 4, 5, 6, 7])
    array([0, 2, 4, 6, 1, 3, 5, 7])
    """
    return reorder(x, rotary_dim, "interleaved", "half")


def to_interleaved(x, rotary_dim=None):
    """Reorder half-split features to interleaved order.

    Parameters
    ----------
    x : array_like, shape (..., head_dim)
        Features in which pair i is (i, i + rotary_dim // 2).
    rotary_dim : int, optional
        How many leading features to reorder, even; the whole head by default.

    Returns
    -------
    ndarray, shape and dtype of `x`
        A new array in which pair i is (2i, 2i + 1).

    Raises
    ------
    TypeError, ValueError
        If `rotary_dim` is not a positive even integer, or is wider than the head.

    See Also
    --------
    to_half : The way back.

    Examples
    --------
    >>> to_interleaved([0, 1, 2, 3, 4, 5, 6, 7])
    array([0, 4, 1, 5, 2, 6, 3, 7])
    """
    return reorder(x, rotary_dim, "half", "interleaved")


def permute_projection(weight, num_heads, *, to, rotary_dim=None, axis=0):
    r"""Reorder a projection so that queries or keys come out in the other pairing.

    Parameters
    ----------
    weight : array_like
        :math:`W_q` or :math:`W_k`, its bias, or the gain of a norm after it. The axis `axis` holds the features of all
        heads, one head after the other.
    num_heads : int
        How many heads `weight` holds: the key heads for :math:`W_k`, 1 for a gain that all heads share.
    to : {"half", "interleaved"}
        Pairing of the result; `weight` is in the other one.
    rotary_dim : int, optional
        How many leading features of each head are turned, even; the whole head by default. The rest stays in place.
    axis : int, optional
        Axis of the output features: 0 as PyTorch stores a weight, and for a bias; 1 for a weight in ``x @ W``.

    Returns
    -------
    ndarray, shape and dtype of `weight`
        A new array. Turned in the new pairing, its queries and keys give the scores of the old.

    Raises
    ------
    TypeError
        If `num_heads`, `rotary_dim` or `axis` is not an integer.
    ValueError
        If `to` is unknown, `weight` has no such axis, its length is no multiple of `num_heads`, or a head is odd or
        narrower than `rotary_dim`.

    See Also
    --------
    to_half, to_interleaved : The same for queries and keys themselves.

    Notes
    -----
    Queries and keys alone are turned, so :math:`W_v` and the output projection stay as they are. Split a fused weight
    into its three parts first.

    Examples
    --------
    Rows of two heads of six:

    >>> rows = np.arange(12)
    >>> permute_projection(rows, 2, to="half")
    array([ 0,  2,  4,  1,  3,  5,  6,  8, 10,  7,  9, 11])
    >>> permute_projection(permute_projection(rows, 2, to="half"), 2, to="interleaved")
    array([ 0,  1,  2,  3,  4,  5,  6,  7,  8,  9, 10, 11])
    """
    check_choice(to, PAIRINGS[::-1], "to")
    weight, num_heads = as_array(weight, "weight"), check_count(num_heads, "num_heads")
    features = weight.shape[check_axis(axis, weight.ndim)]
    if features == 0 or features % num_heads:
        raise ValueError(
            f"weight must have a multiple of num_heads = {num_heads} features along axis {axis}, got {features}"
        )
    rows = np.arange(features).reshape(num_heads, -1)
    rows = to_half(rows, rotary_dim) if to == "half" else to_interleaved(rows, rotary_dim)
    return weight.take(rows.ravel(), axis=axis)


def tables(cos, layout):
    """Lay out cos or sin as other libraries store them.

    Parameters
    ----------
    cos : array_like, shape (..., pairs)
        One value a pair: what `cos_sin` returns, its cosines or its sines.
    layout : {"pairs", "concatenated", "repeated"}
        One value a pair; or one a feature, in the order of half-split pairs (all values, then all again) or of
        interleaved pairs (each value twice in a row).

    Returns
    -------
    ndarray, shape (..., pairs) or (..., 2 * pairs)
        A new array.

    Raises
    ------
    ValueError
        If `layout` is unknown or `cos` has no axis.

    Examples
    --------
    >>> tables([1, 2, 3], "concatenated")
    array([1, 2, 3, 1, 2, 3])
    >>> tables([1, 2, 3], "repeated")
    array([1, 1, 2, 2, 3, 3])
    """
    cos = as_array(cos, "cos")
    if cos.ndim == 0:
        raise ValueError("cos must have shape (..., pairs), got a scalar")
    if layout == "pairs":
        return cos.copy()
    if layout == "concatenated":
        return join_pairs(cos, cos, "half")
    if layout == "repeated":
        return join_pairs(cos, cos, "interleaved")
    raise ValueError(f"layout must be 'pairs', 'concatenated' or 'repeated', got {layout!r}")
