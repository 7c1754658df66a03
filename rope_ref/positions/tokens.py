"""Positions of the tokens of a text: in a row, padded, packed."""

import numpy as np

from rope_ref.checks import as_array, as_whole, check_count

__all__ = ["from_attention_mask", "packed", "sequential"]


def sequential(seq_len, offset=0):
    """Number the tokens of a sequence one after the other.

    Parameters
    ----------
    seq_len : int
        Number of tokens.
    offset : int or array_like of int, shape (...), optional
        Position of the first token: in a decoding step the number of tokens before it, also of those no longer kept.
        An array gives each sequence of a batch its own.

    Returns
    -------
    ndarray of int64, shape (..., seq_len)
        Positions offset, offset + 1, ..., in tokens; never in a narrower integer, which could wrap.

    Raises
    ------
    TypeError
        If `seq_len` or `offset` is not of integers.
    ValueError
        If `seq_len` is not positive.

    Examples
    --------
    >>> sequential(3, offset=5)
    array([5, 6, 7])
    >>> sequential(1, offset=[250, 7])
    array([[250],
           [  7]])
    """
    return as_whole(offset, "offset")[..., None] + np.arange(check_count(seq_len, "seq_len"))


def from_attention_mask(mask):
    """Number the real tokens of padded sequences from 0, whichever side the padding is on.

    Parameters
    ----------
    mask : array_like of int or bool, shape (..., seq_len)
        1 or True for a real token, 0 or False for padding.

    Returns
    -------
    ndarray of int64, shape (..., seq_len)
        How many real tokens of its sequence stand before each real token; 0 for padding.

    Raises
    ------
    TypeError
        If `mask` holds neither integers nor booleans.
    ValueError
        If `mask` has no axis or holds anything but 0 and 1.

    Examples
    --------
    >>> from_attention_mask([[0, 0, 1, 1, 1], [1, 1, 1, 0, 0]])
    array([[0, 0, 0, 1, 2],
           [0, 1, 2, 0, 0]])
    """
    mask = as_array(mask, "mask")
    if mask.dtype.kind not in "iub":
        raise TypeError(f"mask must hold 0 and 1 or booleans, got dtype {mask.dtype}")
    if mask.ndim == 0:
        raise ValueError("mask must have at least one axis, the tokens, got a scalar")
    real = mask.astype(bool)
    if (mask != real).any():
        raise ValueError(f"mask must hold only 0 and 1, got {mask[mask != real].flat[0]}")
    return np.where(real, np.cumsum(real, axis=-1, dtype=np.int64) - 1, 0)


def packed(lengths):
    """Number the tokens of several documents in one row, each document from 0.

    Parameters
    ----------
    lengths : array_like of int, shape (documents,)
        Tokens in each document, at least one.

    Returns
    -------
    ndarray of int64, shape (sum of lengths,)
        Positions, in tokens. A document starts wherever the position is 0, also after a document of one token.

    Raises
    ------
    TypeError
        If `lengths` does not hold integers.
    ValueError
        If `lengths` is empty, not one-dimensional, or holds a length that is not positive.

    Examples
    --------
    >>> packed([3, 1, 1, 2])
    array([0, 1, 2, 0, 0, 0, 1])
    >>> np.flatnonzero(packed([3, 1, 1, 2]) == 0)
    array([0, 3, 4, 5])
    """
    lengths = as_whole(lengths, "lengths")
    if lengths.ndim != 1 or not lengths.size:
        raise ValueError(f"lengths must have shape (documents,) with at least one, got {lengths.shape}")
    if lengths.min() <= 0:
        raise ValueError(f"lengths must be positive, got {lengths.min()}")
    starts = np.cumsum(lengths) - lengths
    return np.arange(lengths.sum()) - np.repeat(starts, lengths)
