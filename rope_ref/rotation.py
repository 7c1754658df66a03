"""The turn: four forms of one rotation to read, and one fast form to use.

All four forms compute the same thing, each in its own way. `rotation_matrix` is the definition; it shares no
arithmetic with the others, so that they can be held against it. `apply_rope` takes cos and sin.
"""

import numpy as np

from rope_ref.frequencies import as_real
from rope_ref.kernel import turn_into
from rope_ref.pairing import as_array, check_pairing, check_rotary_dim, join_pairs, pair_features, split_pairs

__all__ = [
    "FORMS",
    "apply_rope",
    "rotate_by_matrix",
    "rotate_complex",
    "rotate_expanded",
    "rotate_vector",
    "rotation_matrix",
]

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


def rotation_matrix(angles, *, pairing="interleaved"):
    r"""Build the matrix that turns all pairs of one head at once.

    Parameters
    ----------
    angles : array_like of float, shape (..., pairs)
        Angle of each pair, in radians.
    pairing : {"interleaved", "half"}, optional
        Pair i is features (2i, 2i + 1), or (i, i + pairs).

    Returns
    -------
    ndarray of float64, shape (..., 2 * pairs, 2 * pairs)
        Zero but for :math:`\begin{pmatrix} \cos t & -\sin t \\ \sin t & \cos t \end{pmatrix}` where the rows and
        columns of one pair cross [1]_.

    Raises
    ------
    TypeError, ValueError
        If `angles` are not finite real numbers, or `pairing` is unknown.

    References
    ----------
    .. [1] J. Su et al., "RoFormer", arXiv:2104.09864, section 3.2.2, eq. (15).

    Examples
    --------
    >>> rotation_matrix([np.pi / 2]).round(6) + 0.0
    array([[ 0., -1.],
           [ 1.,  0.]])
    """
    angles = as_real(angles, "angles")
    if angles.ndim == 0 or angles.shape[-1] == 0:
        raise ValueError(f"angles must have shape (..., pairs) with at least one pair, got {angles.shape}")
    width = 2 * angles.shape[-1]
    first, second = pair_features(width, pairing)
    matrix = np.zeros((*angles.shape[:-1], width, width))
    matrix[..., first, first] = np.cos(angles)
    matrix[..., first, second] = -np.sin(angles)
    matrix[..., second, first] = np.sin(angles)
    matrix[..., second, second] = np.cos(angles)
    return matrix


def rotate_by_matrix(x, angles, *, pairing="interleaved"):
    r"""Turn each feature pair by a product with the block-diagonal matrix: the paper's definition.

    Slow and plain: it costs head_dim squared products a token, and a nan or inf spreads over all of its head.

    Parameters
    ----------
    x : array_like of float, shape (..., seq_len, head_dim)
        Queries or keys; left unchanged.
    angles : array_like of float, shape (..., seq_len, head_dim // 2)
        Angle :math:`m \theta_i` of each pair [1]_, in radians; met with `x` as `align` says.
    pairing : {"interleaved", "half"}, optional
        Pair i is features (2i, 2i + 1), or (i, i + head_dim // 2).

    Returns
    -------
    ndarray, shape and dtype of `x`
        Pair i, turned anticlockwise by its angle; computed in float64 and rounded once.

    Raises
    ------
    TypeError
        If `x` is not of a float dtype.
    ValueError
        If `angles` does not hold one angle for each pair of `x`, or meets no axes of `x`.

    References
    ----------
    .. [1] J. Su et al., "RoFormer", arXiv:2104.09864, section 3.2.2, eq. (14) and (15).

    Examples
    --------
    >>> rotate_by_matrix([[2.0, 0.0]], [[np.pi / 2]]).round(6)
    array([[0., 2.]])
    """
    x = as_float_array(x)
    matrix = rotation_matrix(align_angles(angles, x), pairing=pairing)
    return (matrix @ x.astype(np.float64)[..., None])[..., 0].astype(x.dtype)


def rotate_expanded(x, angles, *, pairing="interleaved"):
    r"""Turn each feature pair, written out as products.

    Parameters
    ----------
    x : array_like of float, shape (..., seq_len, head_dim)
        Queries or keys; left unchanged.
    angles : array_like of float, shape (..., seq_len, head_dim // 2)
        Angle :math:`m \theta_i` of each pair [1]_, in radians; met with `x` as `align` says.
    pairing : {"interleaved", "half"}, optional
        Pair i is features (2i, 2i + 1), or (i, i + head_dim // 2).

    Returns
    -------
    ndarray, shape and dtype of `x`
        Pair i, turned anticlockwise by its angle; computed in float64 and rounded once.

    Raises
    ------
    TypeError
        If `x` is not of a float dtype: integers would be cut short.
    ValueError
        If `angles` does not hold one angle for each pair of `x`, or meets no axes of `x`.

    References
    ----------
    .. [1] J. Su et al., "RoFormer", arXiv:2104.09864, section 3.4.2, eq. (34).

    Examples
    --------
    >>> rotate_expanded([[2.0, 0.0]], [[np.pi / 2]]).round(6)
    array([[0., 2.]])
    """
    x = as_float_array(x)
    angles = align_angles(angles, x)
    first, second = split_pairs(x, pairing)
    cos, sin = np.cos(angles), np.sin(angles)
    return join_pairs(first * cos - second * sin, first * sin + second * cos, pairing).astype(x.dtype, copy=False)


def rotate_complex(x, angles, *, pairing="interleaved"):
    r"""Turn each feature pair as one complex number.

    Parameters
    ----------
    x : array_like of float, shape (..., seq_len, head_dim)
        Queries or keys; left unchanged.
    angles : array_like of float, shape (..., seq_len, head_dim // 2)
        Angle :math:`m \theta_i` of each pair [1]_, in radians; met with `x` as `align` says.
    pairing : {"interleaved", "half"}, optional
        Pair i is features (2i, 2i + 1), or (i, i + head_dim // 2).

    Returns
    -------
    ndarray, shape and dtype of `x`
        Pair (a, b), read as a + bi and multiplied by :math:`e^{\mathrm{i} t}`, t its angle; computed in float64 and
        rounded once.

    Raises
    ------
    TypeError
        If `x` is not of a float dtype.
    ValueError
        If `angles` does not hold one angle for each pair of `x`, or meets no axes of `x`.

    References
    ----------
    .. [1] J. Su et al., "RoFormer", arXiv:2104.09864, section 3.2.1, eq. (12).

    Examples
    --------
    >>> rotate_complex([[2.0, 0.0]], [[np.pi / 2]]).round(6)
    array([[0., 2.]])
    """
    x = as_float_array(x)
    angles = align_angles(angles, x)
    first, second = split_pairs(x.astype(np.float64), pairing)
    turned = (first + 1j * second) * np.exp(1j * angles)
    return join_pairs(turned.real, turned.imag, pairing).astype(x.dtype, copy=False)


def rotate_vector(x, angles, *, pairing="interleaved"):
    r"""Turn each feature pair as ``x * cos + rotate(x) * sin``.

    Parameters
    ----------
    x : array_like of float, shape (..., seq_len, head_dim)
        Queries or keys; left unchanged.
    angles : array_like of float, shape (..., seq_len, head_dim // 2)
        Angle :math:`m \theta_i` of each pair [1]_, in radians; met with `x` as `align` says.
    pairing : {"interleaved", "half"}, optional
        Pair i is features (2i, 2i + 1), or (i, i + head_dim // 2). It lays out the table and the quarter turn alike:
        mixed, they are no rotation.

    Returns
    -------
    ndarray, shape and dtype of `x`
        Pair i, turned anticlockwise by its angle; computed in float64 and rounded once.

    Raises
    ------
    TypeError
        If `x` is not of a float dtype.
    ValueError
        If `angles` does not hold one angle for each pair of `x`, or meets no axes of `x`.

    References
    ----------
    .. [1] J. Su et al., "RoFormer", arXiv:2104.09864, section 3.4.2, eq. (34).

    Examples
    --------
    >>> rotate_vector([[2.0, 0.0]], [[np.pi / 2]]).round(6)
    array([[0., 2.]])
    """
    x = as_float_array(x)
    angles = align_angles(angles, x)
    every = join_pairs(angles, angles, pairing)  # each angle stands at both features of its pair
    first, second = split_pairs(x, pairing)
    quarter = join_pairs(-second, first, pairing)  # x turned by a quarter of a circle
    return (x * np.cos(every) + quarter * np.sin(every)).astype(x.dtype, copy=False)


FORMS = {
    "matrix": rotate_by_matrix,
    "expanded": rotate_expanded,
    "complex": rotate_complex,
    "vector": rotate_vector,
}


def as_table(values, name, work):
    """Return cos or sin as an array of float32 or float64, or raise a TypeError where that is too coarse."""
    values = as_array(values, name)
    if values.dtype.kind in "iu":
        values = as_real(values, name)
    if values.dtype.type not in (work.type, np.float64):
        fine = "float64" if work.type is np.float64 else "float32 or float64"
        raise TypeError(f"{name} must be of {fine} for this x, got dtype {values.dtype}")
    return values


def check_table(x, cos, sin, rotary_dim):
    """Raise unless cos and sin agree with each other, with `x` and with `rotary_dim`."""
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


def apply_rope(x, cos, sin, *, pairing="interleaved", rotary_dim=None, out=None):
    r"""Turn the first ``2 * pairs`` features of each head by given cosines and sines: the fast form.

    Parameters
    ----------
    x : array_like of float, shape (..., seq_len, head_dim)
        Queries or keys; left unchanged unless it is also `out`.
    cos, sin : array_like of float32 or float64, shape (..., seq_len, pairs)
        What `cos_sin` returns, or any other numbers of one shape; met with `x` as `align` says. At least as fine as
        the turn: float64 for float64 `x`, float32 or float64 else.
    pairing : {"interleaved", "half"}, optional
        Pair i is features (2i, 2i + 1), or (i, i + pairs).
    rotary_dim : int, optional
        Checked to be ``2 * pairs``; the features beyond are copied.
    out : ndarray, shape and dtype of `x`, optional
        Where the result is written; it may be `x` itself but not overlap it otherwise.

    Returns
    -------
    ndarray, shape and dtype of `x`
        Features (a, b) of pair i become :math:`(a \cos - b \sin, a \sin + b \cos)`. With `cos_sin` of angles
        :math:`m \theta_i` and attention factor f, a pair of length r at position m comes out within
        :math:`f r (5 + |m| \theta_i) 2^{-53}` for float64 `x`, and :math:`3.4 f r 2^{-24}` for float32 up to position
        2**26. float16 and bfloat16 are turned in float32 and rounded once, half a unit of the result more. All this
        where no number overflows or is too small to be normal.

    Raises
    ------
    TypeError
        If `x` is not of a float dtype, `cos` or `sin` is too coarse for it, or `out` is no array of its dtype.
    ValueError
        If the shapes do not meet, `rotary_dim` is not ``2 * pairs``, the head is too narrow, `pairing` is unknown, or
        `out` has another shape, cannot be written or overlaps an input.

    See Also
    --------
    rotate_expanded : The same rotation, plain, from angles.

    Notes
    -----
    The inverse rotation, and the gradient with respect to `x`, turn by the opposite angle: give ``-sin``. With an
    attention factor f the gradient is multiplied by f, as the table has it, and the inverse by 1 / f: give
    ``cos / f**2`` and ``-sin / f**2``.

    A block at an offset is a view, ``apply_rope(x[..., 2:6], cos, sin, out=out[..., 2:6])``, and so is the layout
    (batch, seq_len, heads, head_dim): ``np.swapaxes(x, 1, 2)``.

    Examples
    --------
    >>> cos, sin = np.cos([[np.pi / 2]]), np.sin([[np.pi / 2]])
    >>> apply_rope([[2.0, 0.0, 7.0]], cos, sin).round(6)
    array([[0., 2., 7.]])
    """
    x = as_float_array(x)
    work = computing_dtype(x.dtype)
    cos, sin = as_table(cos, "cos", work), as_table(sin, "sin", work)
    check_table(x, cos, sin, rotary_dim)
    cos = align(cos, x, "cos and sin")
    sin = sin.reshape(cos.shape)
    check_pairing(pairing)
    return turn_into(out, x, cos, sin, pairing, work)
