"""Which dtypes are turned, and how angles, or cos and sin, meet the axes of what they turn."""

import numpy as np

from rope_ref.checks import as_array, as_real, check_rotary_dim

__all__ = []

FLOATS = (np.float16, np.float32, np.float64)


def as_float_array(x, name="x"):
    """Return `x` as an array of a float dtype, or raise a TypeError: integers would be cut short."""
    x = as_array(x, name)
    if x.dtype.type not in FLOATS and x.dtype.name != "bfloat16":
        raise TypeError(f"{name} must be of float16, bfloat16, float32 or float64, got dtype {x.dtype}")
    return x


def computing_dtype(dtype):
    """Return the dtype in which values of `dtype` are turned: float64 for float64, float32 for all others."""
    return np.dtype(np.float64 if dtype.type is np.float64 else np.float32)


def check_table_dtype(dtype):
    """Return `dtype` as a NumPy dtype, or raise: a table of cos or sin is of float64 or float32."""
    try:
        if dtype is not None and np.dtype(dtype) in (np.float64, np.float32):
            return np.dtype(dtype)
    except (TypeError, ValueError):  # no dtype at all
        pass
    raise TypeError(f"dtype must be float64 or float32, got {dtype!r}")


def as_table(values, name, work):
    """Return cos or sin as an array of float32 or float64, or raise a TypeError where that is too coarse."""
    values = as_array(values, name)
    if values.dtype.kind in "iu":
        values = as_real(values, name)
    if values.dtype.type not in (work.type, np.float64):
        fine = "float64" if work.type is np.float64 else "float32 or float64"
        raise TypeError(f"{name} must be of {fine} for this x, got dtype {values.dtype}")
    return values


def align(table, x, name="angles"):
    """Give `table` one axis for each axis of `x`, or raise a ValueError.

    Parameters
    ----------
    table : ndarray, shape (pairs,), (seq_len, pairs) or (..., seq_len, pairs)
        Angles, or cos, or sin. With as many axes as `x` they meet axis by axis; with three against four or more the
        first is the batch.
    x : ndarray, shape (..., seq_len, head_dim)
        What is to be turned.
    name : str, optional
        What the error calls `table`.

    Returns
    -------
    ndarray
        A view of `table` with `x.ndim` axes, each 1 or as long as that axis of `x`; the last one counts pairs.

    Raises
    ------
    ValueError
        If the shapes do not meet: the message names every reading there is.

    Examples
    --------
    >>> align(np.zeros((2, 5, 4)), np.zeros((2, 3, 5, 8))).shape
    (2, 1, 5, 4)
    """
    shape, axes, lead = table.shape, x.ndim, None
    if table.ndim == axes and all(t in (1, n) for t, n in zip(shape[:-1], x.shape[:-1], strict=True)):
        lead = shape[:-1]
    elif table.ndim == 1:
        lead = (1,) * (axes - 1)
    elif table.ndim == 2 < axes and shape[0] == x.shape[-2]:
        lead = (1,) * (axes - 2) + shape[:1]
    elif table.ndim == 3 < axes and shape[0] in (1, x.shape[0]) and shape[1] == x.shape[-2]:
        lead = shape[:1] + (1,) * (axes - 3) + shape[1:2]
    if lead is None:
        raise ValueError(
            f"{name} must have shape (pairs,), (seq_len, pairs), (batch, seq_len, pairs) against an x of four axes or "
            f"more, or one axis for each axis of x, of its length or 1; got {shape} for x of shape {x.shape}. "
            "Three axes are read as (batch, seq_len, pairs), never as (heads, seq_len, pairs): "
            "for angles that differ between heads write (1, heads, seq_len, pairs)"
        )
    return table.reshape(*lead, shape[-1])


def align_angles(angles, x):
    """Return `angles` as float64 with one axis for each axis of `x`, one angle for each pair, or raise."""
    if x.ndim == 0:
        raise ValueError("x must have at least one axis, the features, got a scalar")
    angles, width = as_real(angles, "angles"), check_rotary_dim(None, x.shape[-1])
    if angles.ndim == 0 or 2 * angles.shape[-1] != width:
        raise ValueError(
            f"angles must hold one angle for each pair of x, {width // 2} in its last axis, got shape {angles.shape}"
        )
    return align(angles, x)


def align_table(cos, sin, x, rotary_dim, work):
    """Return cos and sin with one axis for each axis of `x`, fine enough for a turn in dtype `work`, or raise."""
    cos, sin = as_table(cos, "cos", work), as_table(sin, "sin", work)
    if x.ndim == 0 or cos.ndim == 0 or cos.shape != sin.shape:
        raise ValueError(
            "x must have shape (..., seq_len, head_dim), cos and sin one shape (..., seq_len, pairs), "
            f"got {x.shape}, {cos.shape} and {sin.shape}"
        )
    width = 2 * cos.shape[-1]
    if rotary_dim is not None and check_rotary_dim(rotary_dim, x.shape[-1]) != width:
        raise ValueError(f"rotary_dim must be twice the {cos.shape[-1]} pairs of cos and sin, got {rotary_dim}")
    if not 0 < width <= x.shape[-1]:
        raise ValueError(
            f"cos and sin must have from 1 to head_dim // 2 pairs, got {cos.shape[-1]} for a head_dim of {x.shape[-1]}"
        )
    cos = align(cos, x, "cos and sin")
    return cos, sin.reshape(cos.shape)
