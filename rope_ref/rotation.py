"""The turn: one rotation, written in four forms to read and one fast form to use.

`rotate_expanded` writes the products out. The other three forms compute the same thing, each in its own way;
`rotation_matrix` is the definition and shares no arithmetic with them, so that they can be held against it.
`apply_rope` takes cos and sin.
"""

import numpy as np

from rope_ref.checks import as_real
from rope_ref.kernel import turn_into
from rope_ref.pairing import check_pairing, join_pairs, pair_features, split_pairs
from rope_ref.shapes import align_angles, align_table, as_float_array, computing_dtype

__all__ = [
    "FORMS",
    "apply_rope",
    "rotate_by_matrix",
    "rotate_complex",
    "rotate_expanded",
    "rotate_vector",
    "rotation_matrix",
]


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
    .. [1] J. Su et al., "RoFormer", arXiv:2104.09864: section 3.2.1, eq. (12), as complex numbers; section 3.2.2,
       eq. (14) and (15), by matrices; section 3.4.2, eq. (34), as products.

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


def form(rotate):
    """Give another form the parameters, result, errors and source of `rotate_expanded`: they are the same."""
    if rotate.__doc__ and rotate_expanded.__doc__:  # python -OO has none
        shared = rotate_expanded.__doc__.partition("    Parameters\n")[2].partition("    Examples\n")[0]
        words, _, example = rotate.__doc__.partition("    Examples\n")
        rotate.__doc__ = f"{words}    Parameters\n{shared}    Examples\n{example}"
    return rotate


@form
def rotate_complex(x, angles, *, pairing="interleaved"):
    r"""Turn each feature pair as one complex number.

    Pair (a, b) is read as a + bi and multiplied by :math:`e^{\mathrm{i} t}`, t its angle.

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


@form
def rotate_vector(x, angles, *, pairing="interleaved"):
    r"""Turn each feature pair as ``x * cos + rotate(x) * sin``.

    The pairing lays out the angles and the quarter turn alike: mixed, they are no rotation.

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


@form
def rotate_by_matrix(x, angles, *, pairing="interleaved"):
    r"""Turn each feature pair by a product with the block-diagonal matrix: the paper's definition.

    Slow and plain: it costs head_dim squared products a token, and a nan or inf spreads over all of its head.

    Examples
    --------
    >>> rotate_by_matrix([[2.0, 0.0]], [[np.pi / 2]]).round(6)
    array([[0., 2.]])
    """
    x = as_float_array(x)
    matrix = rotation_matrix(align_angles(angles, x), pairing=pairing)
    return (matrix @ x.astype(np.float64)[..., None])[..., 0].astype(x.dtype)


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


FORMS = {
    "matrix": rotate_by_matrix,
    "expanded": rotate_expanded,
    "complex": rotate_complex,
    "vector": rotate_vector,
}


def apply_rope(x, cos, sin, *, pairing="interleaved", rotary_dim=None, out=None):
    r"""Turn the first ``2 * pairs`` features of each head by given cosines and sines: the fast form.

    The products are those of `rotate_expanded`, done in blocks that stay in the processor's cache: see `kernel.py`.

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
    cos, sin = align_table(cos, sin, x, rotary_dim, work)
    return turn_into(out, x, cos, sin, check_pairing(pairing), work)
