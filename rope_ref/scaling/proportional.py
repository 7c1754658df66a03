"""Gemma 4's full attention: the fastest share of the pairs of a whole head."""

import numpy as np

from rope_ref.checks import check_factor, check_share
from rope_ref.frequencies import inverse_frequencies
from rope_ref.scaling.base import Method, Scaling

__all__ = ["proportional"]


def proportional(rotary_dim, base=10000.0, *, factor=1.0, partial_rotary_factor=1.0):
    r"""Turn the fastest share of the pairs of a whole head, and leave the others still: Gemma 4's full attention.

    Parameters
    ----------
    rotary_dim : int
        Width d of the whole head, even.
    base : float, optional
        Base b, positive.
    factor : float, optional
        Factor s, at least 1.
    partial_rotary_factor : float, optional
        Share p of the pairs that turn, above 0 and at most 1.

    Returns
    -------
    Scaling
        :math:`\theta_i / s` for the first :math:`\lfloor p \, d / 2 \rfloor` pairs, and 0 for the others [1]_: their
        wavelength is inf.

    Raises
    ------
    TypeError, ValueError
        If `rotary_dim` is not a positive even integer, `base` not positive, `factor` below 1, or
        `partial_rotary_factor` not above 0, above 1, or too small for one pair.

    Notes
    -----
    This is not partial rotary with a narrower width: the exponent is divided by the width of the whole head, and in the
    half pairing the partner of feature i stands half a head away.

    References
    ----------
    .. [1] huggingface/transformers 5.24, rope type "proportional" of Gemma 4.

    Examples
    --------
    >>> proportional(8, partial_rotary_factor=0.5).inv_freq
    array([1. , 0.1, 0. , 0. ])
    """
    own, factor = inverse_frequencies(rotary_dim, base), check_factor(factor)
    turning = int(check_share(partial_rotary_factor, "partial_rotary_factor") * rotary_dim // 2)
    if turning == 0:
        raise ValueError(
            f"partial_rotary_factor must turn at least one of {len(own)} pairs, got {partial_rotary_factor}"
        )
    return Scaling(np.where(np.arange(len(own)) < turning, own / factor, 0.0))


def read(entry, seq_len):
    """Read the type of Gemma 4; the share of pairs that turn is read with the widths."""
    return proportional, {"factor": entry.number("factor") or 1.0, "partial_rotary_factor": entry.share}


METHODS = (
    Method(
        proportional,
        "proportional",
        keys=("factor",),
        read=read,
        title="Proportional RoPE",
        vectors={"proportional": ("A quarter of the pairs turns.", {"partial_rotary_factor": 0.25}, {"base": 1e6})},
    ),
)
