"""Which features of a head form a pair: the only file that knows.

Pair i of a head of width d is features (2i, 2i + 1) in the "interleaved" pairing, and features
(i, i + d // 2) in the "half" pairing. The two differ by one fixed reordering of the features.
"""

import operator

import numpy as np

PAIRINGS = ("interleaved", "half")


def as_array(values, name="x"):
    """Return `values` as a plain array, or raise: every row must have one length, and no entry may be masked."""
    if isinstance(values, np.ndarray) and hasattr(values, "mask"):
        raise TypeError(f"{name} must be a plain array, got a masked one, whose mask would be lost")
    try:
        return np.asarray(values)
    except ValueError:
        raise ValueError(f"{name} must be an array, or lists that make one, got rows of several lengths") from None


def check_pairing(pairing):
    """Return `pairing`, or raise a ValueError that lists the two there are."""
    if not isinstance(pairing, str) or pairing not in PAIRINGS:
        raise ValueError(f"pairing must be 'interleaved' or 'half', got {pairing!r}")
    return pairing


def check_count(value, name):
    """Return `value` as an int, or raise: it must be a positive integer."""
    try:
        if isinstance(value, (bool, np.bool_)):
            raise TypeError
        count = operator.index(value)
    except TypeError:
        raise TypeError(f"{name} must be an integer, got {value!r}") from None
    if count <= 0:
        raise ValueError(f"{name} must be positive, got {count}")
    return count


def check_width(width, name="rotary_dim"):
    """Return `width` as an int, or raise: features come in pairs, so it must be a positive even integer."""
    width = check_count(width, name)
    if width % 2:
        raise ValueError(f"{name} must be even, got {width}")
    return width


def check_rotary_dim(rotary_dim, head_dim):
    """Return the width to turn in a head of `head_dim` features; None means the whole head."""
    if rotary_dim is None:
        return check_width(head_dim, "head_dim")
    rotary_dim = check_width(rotary_dim)
    if rotary_dim > head_dim:
        raise ValueError(f"rotary_dim must be at most head_dim, got rotary_dim {rotary_dim} and head_dim {head_dim}")
    return rotary_dim


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
    x = as_array(x)
    if x.ndim == 0:
        raise ValueError("x must have at least one axis, the features, got a scalar")
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
    x = as_array(x)
    if x.ndim == 0:
        raise ValueError("x must have at least one axis, the features, got a scalar")
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
