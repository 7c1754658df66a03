"""Several axes: which one each pair reads, and the angles that come of it."""

import numpy as np

from rope_ref.checks import as_inv_freq, as_real, as_whole, check_positive, check_width
from rope_ref.frequencies import inverse_frequencies

__all__ = ["axial_angles", "axial_pairs", "axis_angles"]


def axis_angles(coordinates, inv_freq, axis):
    r"""Turn each pair by the coordinate of its own axis.

    Parameters
    ----------
    coordinates : array_like of int or float, shape (..., seq_len, axes)
        Where each token stands on each axis, in patches, frames or tokens; zeros for a token that must not turn.
    inv_freq : array_like of float, shape (pairs,)
        Radians per patch, frame or token.
    axis : array_like of int, shape (pairs,)
        Which axis turns pair i, from 0.

    Returns
    -------
    ndarray of float64, shape (..., seq_len, pairs)
        Angles :math:`c_{axis[i]} \theta_i`, in radians, rounded once.

    Raises
    ------
    TypeError
        If `coordinates` or `inv_freq` does not hold real numbers, or `axis` does not hold integers.
    ValueError
        If `axis` does not name one axis of `coordinates` for each pair, or a number is not finite.

    See Also
    --------
    axial_angles : Each axis with a block of pairs and a ladder of speeds of its own.
    mrope_angles : Three axes that share one ladder.

    Examples
    --------
    One ladder, shared out between row 1 and column 2 in blocks, then in turn:

    >>> axis_angles([1, 2], [1.0, 0.1, 0.01, 0.001], [0, 0, 1, 1])
    array([1.   , 0.1  , 0.02 , 0.002])
    >>> axis_angles([1, 2], [1.0, 0.1, 0.01, 0.001], [0, 1, 0, 1])
    array([1.   , 0.2  , 0.01 , 0.002])
    """
    coordinates, inv_freq = as_real(coordinates, "coordinates"), as_inv_freq(inv_freq)
    if coordinates.ndim == 0:
        raise ValueError("coordinates must have shape (..., seq_len, axes), got a scalar")
    axes, axis = coordinates.shape[-1], as_whole(axis, "axis")
    if axis.shape != inv_freq.shape:
        raise ValueError(f"axis must name one axis for each of the {inv_freq.size} pairs, got shape {axis.shape}")
    if axis.min() < 0 or axis.max() >= axes:
        worst = axis.min() if axis.min() < 0 else axis.max()
        raise ValueError(f"axis must be from 0 to {axes - 1} for the {axes} axes of coordinates, got {worst}")
    angles = np.take(coordinates, axis, axis=-1)
    with np.errstate(over="ignore"):
        angles *= inv_freq
    if not np.isfinite(angles).all():
        raise ValueError("coordinates times inv_freq must be angles that float64 can hold, got one beyond")
    return angles


def axial_pairs(rotary_dims, base=10000.0, *, alternating=False):
    r"""Say which axis each pair reads, and how fast it turns, where each axis has a ladder of its own.

    Parameters
    ----------
    rotary_dims : sequence of int
        Features of each axis, each even.
    base : float or sequence of float, optional
        Base of the ladders: one for all axes, or one an axis.
    alternating : bool, optional
        Deal the pairs out in turn, (0, 1, 0, 1, ...), instead of one block an axis, (0, 0, ..., 1, 1, ...). An axis
        whose pairs are used up is passed over.

    Returns
    -------
    inv_freq : ndarray of float64, shape (pairs,)
        Radians per patch: :math:`b^{-2i/n}` for pair i of an axis with n features. Each axis starts at 1.
    axis : ndarray of int64, shape (pairs,)
        The axis of each pair, from 0.

    Raises
    ------
    TypeError
        If a width is not an integer, or a base not a number.
    ValueError
        If a width is odd or not positive, a base is not positive and finite, or there is not one base an axis.

    See Also
    --------
    axial_angles : The angles these pairs turn by.

    Examples
    --------
    >>> inv_freq, axis = axial_pairs((4, 4, 2))
    >>> inv_freq, axis
    (array([1.  , 0.01, 1.  , 0.01, 1.  ]), array([0, 0, 1, 1, 2]))
    >>> axial_pairs((4, 4, 2), alternating=True)[1]
    array([0, 1, 2, 0, 1])
    """
    if isinstance(rotary_dims, str) or not np.iterable(rotary_dims):
        raise TypeError(f"rotary_dims must be one width an axis, got {rotary_dims!r}")
    widths = [check_width(width, "rotary_dims") for width in rotary_dims]
    if not widths:
        raise ValueError("rotary_dims must name the width of at least one axis, got none")
    bases = [base] * len(widths) if np.ndim(base) == 0 else list(base)
    if len(bases) != len(widths):
        raise ValueError(f"base must be one number, or one for each of the {len(widths)} axes, got {len(bases)}")
    ladders = [inverse_frequencies(width, check_positive(b, "base")) for width, b in zip(widths, bases, strict=True)]
    inv_freq = np.concatenate(ladders)
    axis = np.repeat(np.arange(len(widths)), [len(ladder) for ladder in ladders])
    if alternating:
        step = np.concatenate([np.arange(len(ladder)) for ladder in ladders])
        turn = np.argsort(step, kind="stable")  # all first pairs, then all second pairs, ...
        inv_freq, axis = inv_freq[turn], axis[turn]
    return inv_freq, axis


def axial_angles(coordinates, rotary_dims, base=10000.0, *, alternating=False):
    r"""Give each axis its own pairs and its own ladder of speeds.

    Parameters
    ----------
    coordinates : array_like of int or float, shape (..., seq_len, axes)
        Where each token stands on each axis, in patches or frames; zeros for a token that must not turn.
    rotary_dims : sequence of int, one an axis
        Features of each axis, each even; they add up to the rotated width of the head.
    base : float or sequence of float, optional
        Base of the ladders: one for all axes, or one an axis.
    alternating : bool, optional
        Deal the pairs out in turn instead of one block an axis.

    Returns
    -------
    ndarray of float64, shape (..., seq_len, pairs)
        Angles, in radians: :math:`c \, b^{-2i/n}` for pair i of an axis with n features and coordinate c.

    Raises
    ------
    TypeError
        If a number is not real, or a width not an integer.
    ValueError
        If the widths or bases are not one for each axis of `coordinates`, or a width is odd or not positive.

    See Also
    --------
    axial_pairs : The axis and the speed of each pair.
    video_grid : Coordinates of a video.

    Notes
    -----
    The pairing is chosen when turning. Some heads are turned axis by axis, "half" inside the features of each: a view
    of one axis is turned by the pairs of that axis. For two axes with d/2 features each (Gemma 4 vision)::

        out = np.empty_like(x)
        for axis in range(2):
            part, pairs = slice(axis * d // 2, (axis + 1) * d // 2), slice(axis * d // 4, (axis + 1) * d // 4)
            apply_rope(x[..., part], cos[..., pairs], sin[..., pairs], pairing="half", out=out[..., part])

    Examples
    --------
    A vision tower, two axes with one ladder each, at row 1 and column 2; then the pairs dealt out in turn:

    >>> axial_angles([[1, 2]], (4, 4))
    array([[1.  , 0.01, 2.  , 0.02]])
    >>> axial_angles([[1, 2]], (4, 4), alternating=True)
    array([[1.  , 2.  , 0.01, 0.02]])

    Two text tokens, which do not turn, before a video:

    >>> from rope_ref.positions.grid import video_grid, video_split
    >>> grid = video_grid(13, 30, 45)
    >>> axial_angles(np.concatenate((np.zeros((2, 3)), grid)), video_split(64)).shape
    (17552, 32)
    """
    coordinates = as_real(coordinates, "coordinates")
    inv_freq, axis = axial_pairs(rotary_dims, base, alternating=alternating)
    axes = axis.max() + 1
    if coordinates.shape[-1:] != (axes,):
        raise ValueError(
            f"rotary_dims must hold one width for each axis of coordinates, got {axes} widths for coordinates of shape "
            f"{coordinates.shape}"
        )
    return axis_angles(coordinates, inv_freq, axis)
