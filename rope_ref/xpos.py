r"""xPos: rotary embedding whose queries shrink and whose keys grow with position, so that old keys count less.

Pair j is multiplied by :math:`\zeta_j^{e}` in a query and by :math:`\zeta_j^{-e}` in a key, with
:math:`e = (m - center) / scale\_base` at position m. A query at m and a key at n then score :math:`\zeta_j^{(m - n) /
scale\_base}` times what they would: a matter of distance alone. Keys after the query would grow without limit: xPos is
for causal attention.
"""

import numpy as np

from rope_ref.checks import as_real, check_bool, check_positive, check_width
from rope_ref.frequencies import cos_sin
from rope_ref.rotation import apply_rope
from rope_ref.shapes import as_float_array

__all__ = ["apply_xpos", "xpos_scales"]

GAMMA = 0.4  # of the paper: 0 would shrink the fastest pair at once, and infinity none


def in_range(scales, dtype):
    """Tell where `scales`, and what is 1 over them, are normal numbers of a float dtype."""
    held = dtype if np.dtype(dtype).kind == "f" else np.float32  # bfloat16: as float32
    smallest = float(np.finfo(held).smallest_normal)
    return (scales >= smallest) & (scales <= 1 / smallest)


def xpos_scales(position_ids, rotary_dim, *, scale_base=512, center=0):
    r"""List by what xPos multiplies each pair of a query at each position.

    Parameters
    ----------
    position_ids : array_like of int or float, shape (..., seq_len) or ()
        Positions m, in tokens: of queries and of keys alike.
    rotary_dim : int
        Rotated width d of one head, even.
    scale_base : float, optional
        Tokens in which pair j shrinks by the factor :math:`\zeta_j`.
    center : float, optional
        Position at which the scale is 1, in tokens. Queries and keys must have the same one, cached keys too.

    Returns
    -------
    ndarray of float64, shape (..., seq_len, rotary_dim // 2) or (rotary_dim // 2,)
        :math:`\zeta_j^{(m - center) / scale\_base}` with :math:`\zeta_j = (2j/d + 0.4) / 1.4` [1]_; keys take 1 over
        it.

    Raises
    ------
    TypeError
        If `position_ids` or `center` does not hold real numbers, `rotary_dim` is not an integer, or `scale_base` not a
        number.
    ValueError
        If `rotary_dim` is odd or not positive, `scale_base` not positive, `center` not one number, a position not
        finite, or a position so far from `center` that float64 cannot hold its scale.

    Notes
    -----
    Scores do not depend on the centre, the turned vectors do. Public implementations put it in the middle of each
    input: torchscale at (length + 1) // 2 and lucidrains at length // 2, which differ for odd lengths, x-transformers
    at half of its largest position. A centre that moves with the length spoils cached keys: in lucidrains 0.9.1,
    ``rotate_queries_with_cached_keys`` centres new queries on the number of queries, and its scores are not those of
    the full pass. So the centre is an argument here.

    References
    ----------
    .. [1] Y. Sun et al., "A Length-Extrapolatable Transformer", arXiv:2212.10554, section 2.2, and its code in
       torchscale.

    Examples
    --------
    >>> xpos_scales([0, 512], 4).round(4)
    array([[1.    , 1.    ],
           [0.2857, 0.6429]])
    """
    position_ids, center = as_real(position_ids, "position_ids"), as_real(center, "center")
    if center.ndim:
        raise ValueError(f"center must be one number, got shape {center.shape}")
    rotary_dim, scale_base = check_width(rotary_dim), check_positive(scale_base, "scale_base")
    zeta = (np.arange(0, rotary_dim, 2) / rotary_dim + GAMMA) / (1 + GAMMA)
    with np.errstate(over="ignore", under="ignore"):
        scales = zeta ** ((position_ids - center) / scale_base)[..., None]
    if not in_range(scales, np.float64).all():
        far = position_ids[~in_range(scales, np.float64).all(axis=-1)].flat[0]
        raise ValueError(
            f"position_ids must be near enough to center for float64 to hold their scales, got {far:g} with center "
            f"{center:g} and scale_base {scale_base:g}"
        )
    return scales


def apply_xpos(x, angles, scales, *, downscale=False, pairing="interleaved"):
    r"""Turn queries or keys, and scale them as xPos does.

    Parameters
    ----------
    x : array_like of float, shape (..., seq_len, head_dim)
        Queries or keys; left unchanged.
    angles : array_like of float, shape (..., seq_len, pairs)
        Angle :math:`m \theta_i` of each pair, in radians.
    scales : array_like of float, shape of `angles`
        What `xpos_scales` returns for the same positions.
    downscale : bool, optional
        False for queries, which are multiplied by `scales`; True for keys, which are divided by them.
    pairing : {"interleaved", "half"}, optional
        Pair i is features (2i, 2i + 1), or (i, i + pairs).

    Returns
    -------
    ndarray, shape and dtype of `x`
        ``apply_rope(x, scales * cos, scales * sin)``, or with 1 / scales [1]_; features beyond the pairs are copied.

    Raises
    ------
    TypeError
        If `x` is not of a float dtype, `angles` or `scales` do not hold real numbers, or `downscale` is not a boolean.
    ValueError
        If the shapes do not meet, a scale is not positive, or the dtype of `x` cannot hold a scale, 1 over it, or a
        result: with scale_base 512 and center 0 float16 ends at position 3,966 and float32 at 35,694.

    Notes
    -----
    The scale must be laid out as the pairing is. lucidrains' package up to 0.6.5 laid it out in halves and turned
    interleaved pairs: its scores were wrong by a little and depended on more than distance.

    A range twice as long fits with `center` in the middle. No numbers are lost in silence: a scale among the subnormal
    numbers, with few digits left, is refused as well.

    References
    ----------
    .. [1] Y. Sun et al., "A Length-Extrapolatable Transformer", arXiv:2212.10554, algorithm 1.

    Examples
    --------
    >>> from rope_ref.frequencies import inverse_frequencies, rotation_angles
    >>> angles, scales = rotation_angles([512], inverse_frequencies(2)), xpos_scales([512], 2)
    >>> q, k = apply_xpos([[1.0, 0.0]], angles, scales), apply_xpos([[1.0, 0.0]], angles, scales, downscale=True)
    >>> np.linalg.norm([q, k], axis=-1).ravel().round(4)
    array([0.2857, 3.5   ])
    """
    x, angles, scales = as_float_array(x), as_real(angles, "angles"), as_real(scales, "scales")
    check_bool(downscale, "downscale", "True (keys) or False (queries)")
    if scales.shape != angles.shape:
        raise ValueError(f"scales must have the shape of angles, {angles.shape}, got {scales.shape}")
    if not (scales > 0).all():
        raise ValueError(f"scales must be positive, got {scales[~(scales > 0)][0]}")
    fits = in_range(scales, x.dtype)
    if not fits.all():
        raise ValueError(
            f"scales must be numbers that {x.dtype} holds, and 1 over them too, got {scales[~fits][0]:.3g}: "
            "give a center nearer to the positions, or a wider dtype"
        )
    cos, sin = cos_sin(angles)
    sizes = 1 / scales if downscale else scales
    with np.errstate(over="ignore"):
        turned = apply_rope(x, sizes * cos, sizes * sin, pairing=pairing)
    if not np.isfinite(turned).all() and np.isfinite(x).all():
        raise ValueError(f"x must be small enough for {x.dtype} to hold the result, got one that overflows")
    return turned
