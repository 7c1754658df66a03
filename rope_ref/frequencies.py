"""How fast each pair turns, and the angle it has reached at a position."""

import numpy as np

from rope_ref.checks import as_inv_freq, as_real, check_positive, check_width
from rope_ref.shapes import check_table_dtype

__all__ = ["cos_sin", "inverse_frequencies", "rotation_angles", "wavelengths"]


def angles_at(positions, inv_freq, name):
    """Return every position times every speed, rounded once, or raise where a product is beyond float64."""
    positions, inv_freq = as_real(positions, name), as_inv_freq(inv_freq)
    with np.errstate(over="ignore"):
        angles = np.multiply.outer(positions, inv_freq)
    if not np.isfinite(angles).all():
        raise ValueError(f"{name} times inv_freq must be angles that float64 can hold, got one beyond")
    return angles


def inverse_frequencies(rotary_dim, base=10000.0):
    r"""List how fast each pair turns, in radians per token.

    Parameters
    ----------
    rotary_dim : int
        Rotated width d of one head, even.
    base : float, optional
        Base b, positive; configuration files call it ``rope_theta``.

    Returns
    -------
    ndarray of float64, shape (rotary_dim // 2,)
        :math:`\theta_i = b^{-2i/d}` for i = 0 ... d/2 - 1 [1]_, in radians per token, within a
        factor :math:`1 \pm (2 + |\ln b|) 2^{-53}` of the exact value.

    Raises
    ------
    TypeError
        If `rotary_dim` is not an integer or `base` not a number.
    ValueError
        If `rotary_dim` is odd or not positive, or `base` is not positive and finite.

    See Also
    --------
    wavelengths : The same speeds as tokens per turn.

    References
    ----------
    .. [1] J. Su et al., "RoFormer", arXiv:2104.09864, section 3.2.2, eq. (15).

    Examples
    --------
    >>> inverse_frequencies(8)
    array([1.   , 0.1  , 0.01 , 0.001])
    """
    rotary_dim = check_width(rotary_dim)
    base = check_positive(base, "base")
    with np.errstate(over="ignore"):
        inv_freq = base ** (-np.arange(0, rotary_dim, 2) / rotary_dim)
    if not np.isfinite(inv_freq).all():
        raise ValueError(f"base must give frequencies that float64 can hold, got {base}")
    return inv_freq


def wavelengths(inv_freq):
    r"""Count the tokens in which each pair makes one full turn.

    Parameters
    ----------
    inv_freq : array_like of float, shape (pairs,)
        Radians per token.

    Returns
    -------
    ndarray of float64, shape (pairs,)
        :math:`2 \pi / |\theta_i|`, in tokens; inf where a pair does not turn, or too slowly for float64.

    Raises
    ------
    TypeError, ValueError
        If `inv_freq` is not a one-dimensional array of finite real numbers.

    Examples
    --------
    >>> wavelengths([1.0, 0.1, 0.0]).round(4)
    array([ 6.2832, 62.8319,     inf])
    """
    with np.errstate(divide="ignore", over="ignore"):
        return 2 * np.pi / np.abs(as_inv_freq(inv_freq))


def rotation_angles(position_ids, inv_freq):
    r"""Multiply each position by each speed.

    Parameters
    ----------
    position_ids : array_like of int or float, shape (..., seq_len) or ()
        Positions m, in tokens: any finite numbers, negative ones too.
    inv_freq : array_like of float, shape (pairs,)
        Radians per token.

    Returns
    -------
    ndarray of float64, shape (..., seq_len, pairs) or (pairs,)
        Angles :math:`m \theta_i`, in radians, rounded once.

    Raises
    ------
    TypeError
        If an argument does not hold real numbers (a mask of booleans is not positions).
    ValueError
        If a position, frequency or angle is not finite, or `inv_freq` not one-dimensional.

    Examples
    --------
    >>> rotation_angles([0, 1, 2], [1.0, 0.01])
    array([[0.  , 0.  ],
           [1.  , 0.01],
           [2.  , 0.02]])
    """
    return angles_at(position_ids, inv_freq, "position_ids")


def cos_sin(angles, *, attention_factor=1.0, dtype=np.float64):
    r"""Take the cosine and the sine of every angle.

    Parameters
    ----------
    angles : array_like of float, shape (..., seq_len, pairs)
        Angles, in radians.
    attention_factor : float, optional
        Length factor a that scales both; YaRN's is above 1.
    dtype : {np.float64, np.float32}, optional
        What the float64 values are rounded to. Coarser tables are a known fault [1]_ and refused.

    Returns
    -------
    cos, sin : ndarray of `dtype`, shape of `angles`
        :math:`a \cos(m \theta_i)` and :math:`a \sin(m \theta_i)`.

    Raises
    ------
    TypeError
        If `angles` are not real numbers or `dtype` is neither float64 nor float32.
    ValueError
        If an angle is not finite, or `attention_factor` is not positive and finite in `dtype`.

    References
    ----------
    .. [1] EleutherAI/gpt-neox, issue 1003.

    Examples
    --------
    >>> cos, sin = cos_sin([0.0, np.pi / 2])
    >>> cos.round(6), sin.round(6)
    (array([1., 0.]), array([0., 1.]))
    """
    dtype = check_table_dtype(dtype)
    factor = check_positive(attention_factor, "attention_factor")
    if not float(np.finfo(dtype).tiny) <= factor <= float(np.finfo(dtype).max):
        raise ValueError(f"attention_factor must be a number that {dtype} can hold, got {attention_factor!r}")
    angles = as_real(angles, "angles")
    cos, sin = np.cos(angles), np.sin(angles)
    if factor != 1.0:
        cos, sin = cos * factor, sin * factor
    return cos.astype(dtype, copy=False), sin.astype(dtype, copy=False)
