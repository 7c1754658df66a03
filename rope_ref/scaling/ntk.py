"""A higher base: NTK-aware scaling, and the version that follows the present length."""

import numpy as np

from rope_ref.checks import check_count, check_factor, check_positive, check_width
from rope_ref.frequencies import inverse_frequencies
from rope_ref.scaling.base import Method, Scaling

__all__ = ["dynamic_ntk", "ntk", "ntk_base"]


def ntk_base(rotary_dim, base=10000.0, *, factor):
    r"""Raise the base so that the slowest pair is slowed by exactly the factor, and the fastest not at all.

    Parameters
    ----------
    rotary_dim : int
        Rotated width d of one head, even and at least 4: the one pair of d = 2 cannot be both.
    base : float, optional
        Base b, positive.
    factor : float
        Factor s, at least 1.

    Returns
    -------
    float
        :math:`b \, s^{d / (d - 2)}`.

    Raises
    ------
    TypeError, ValueError
        If `rotary_dim` is not an even integer of at least 4, `base` not positive, `factor` below 1, or the new base
        beyond float64.

    Examples
    --------
    >>> round(ntk_base(128, factor=8), 2), round(ntk_base(64, factor=8), 2)
    (82684.62, 85550.38)
    """
    rotary_dim = check_width(rotary_dim)
    if rotary_dim < 4:
        raise ValueError(f"rotary_dim must be at least 4, for a slowest and a fastest pair, got {rotary_dim}")
    base, factor = check_positive(base, "base"), check_factor(factor)
    with np.errstate(over="ignore"):
        raised = base * np.float64(factor) ** (rotary_dim / (rotary_dim - 2))
    if not np.isfinite(raised):
        raise ValueError(f"factor must give a base that float64 can hold, got {factor} for base {base}")
    return float(raised)


def ntk(rotary_dim, base=10000.0, *, factor):
    r"""Slow the slowest pair by the factor, the fastest not at all, by a higher base: NTK-aware scaling.

    Parameters
    ----------
    rotary_dim : int
        Rotated width d of one head, even and at least 4.
    base : float, optional
        Base b, positive.
    factor : float
        Factor s, at least 1; some programs call it alpha.

    Returns
    -------
    Scaling
        :math:`(b \, s^{d / (d - 2)})^{-2i/d}` [1]_.

    Raises
    ------
    TypeError, ValueError
        If `rotary_dim` is not an even integer of at least 4, `base` not positive, or `factor` below 1.

    See Also
    --------
    ntk_base : The base alone.

    Notes
    -----
    A base of b s, without the exponent, slows the slowest pair less than s times. diffusers 0.42 multiplies so for its
    one-axis embedding, while its Cosmos has the exponent; the published definition has it.

    References
    ----------
    .. [1] B. Peng et al., "YaRN", arXiv:2309.00071, section 3.1, after bloc97, "NTK-Aware Scaled RoPE", 2023.

    Examples
    --------
    >>> ntk(4, factor=8).inv_freq
    array([1.     , 0.00125])
    """
    return Scaling(inverse_frequencies(rotary_dim, ntk_base(rotary_dim, base, factor=factor)))


def dynamic_ntk(rotary_dim, base=10000.0, *, factor, original_length, seq_len):
    r"""Raise the base as far as the present length needs: dynamic NTK scaling.

    Parameters
    ----------
    rotary_dim : int
        Rotated width d of one head, even and at least 4.
    base : float, optional
        Base b, positive.
    factor : float
        Factor s, at least 1; with 1 the slowest pair is slowed just by the growth of the length.
    original_length : int
        Length L that the model was trained on, in tokens.
    seq_len : int
        Present length, in tokens: the largest position so far plus 1.

    Returns
    -------
    Scaling
        :math:`(b \, t^{d / (d - 2)})^{-2i/d}` with :math:`t = s \, n / L - (s - 1)` [1]_, n the present length; up to
        the original length t is 1, and nothing changes.

    Raises
    ------
    TypeError, ValueError
        If `rotary_dim` is not an even integer of at least 4, a length not a positive integer, `base` not positive, or
        `factor` below 1.

    Notes
    -----
    The length is an argument. Public implementations keep it as a hidden state, and what they return depends on the
    calls before: transformers keeps the largest length until a call shorter than L, vLLM takes s L once for all.

    Each length has frequencies of its own. Keys turned by those of an earlier length and kept in a cache then meet
    queries turned by others, and the score no longer depends on the distance alone. Keep keys unturned, or one length.

    References
    ----------
    .. [1] B. Peng et al., "YaRN", arXiv:2309.00071, section 3.3, and emozilla, "Dynamically Scaled RoPE", 2023.

    Examples
    --------
    >>> dynamic_ntk(4, factor=2, original_length=8, seq_len=8).inv_freq
    array([1.  , 0.01])
    >>> dynamic_ntk(4, factor=2, original_length=8, seq_len=12).inv_freq
    array([1.   , 0.005])
    """
    factor = check_factor(factor)
    original, length = check_count(original_length, "original_length"), check_count(seq_len, "seq_len")
    stretch = 1 + factor * max(0, length - original) / original
    return Scaling(inverse_frequencies(rotary_dim, ntk_base(rotary_dim, base, factor=stretch)))


def read(entry, seq_len):
    """Read dynamic NTK; with a fixed alpha, as HunYuan has it, the length plays no part."""
    alpha, factor = entry.number("alpha"), entry.number("factor")
    if alpha is not None:
        if factor not in (None, 1):
            raise ValueError(f"{entry.name('factor')} must be left out or 1 beside 'alpha', got {factor}")
        return ntk, {"factor": alpha}
    factor, original = entry.need("factor"), entry.longest()
    length = original if seq_len is None else seq_len
    return dynamic_ntk, {"factor": factor, "original_length": original, "seq_len": length}


DYNAMIC = {"factor": 2.0, "original_length": 4096}
METHODS = (
    Method(ntk, title="NTK", vectors={"ntk": ("NTK-aware.", {"factor": 8.0})}),
    Method(
        dynamic_ntk,
        "dynamic",
        keys=("factor", "alpha"),
        read=read,
        title="Dynamic NTK",
        vectors={
            "dynamic_ntk_short": ("Dynamic NTK at the original length.", {**DYNAMIC, "seq_len": 4096}),
            "dynamic_ntk_long": ("Dynamic NTK beyond it.", {**DYNAMIC, "seq_len": 131073}),
        },
    ),
)
