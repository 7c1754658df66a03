"""LongRoPE: a number for each pair, from one of two lists."""

import math

from rope_ref.checks import as_real, check_count, check_factor, check_positive
from rope_ref.frequencies import inverse_frequencies
from rope_ref.scaling.base import Method, Scaling

__all__ = ["longrope"]


def as_divisors(values, pairs, name):
    """Return one list of LongRoPE as float64, or raise: one positive number for each pair."""
    values = as_real(values, name)
    if values.shape != (pairs,):
        found = f"{values.size} entries" if values.ndim == 1 else f"shape {values.shape}"
        raise ValueError(f"{name} must have rotary_dim / 2 = {pairs} entries, one for each pair, got {found}")
    if not (values > 0).all():
        raise ValueError(f"{name} must hold positive numbers, got {values[~(values > 0)][0]}")
    return values


def longrope(
    rotary_dim,
    base=10000.0,
    *,
    factor=1.0,
    short_factor,
    long_factor,
    original_length,
    seq_len,
    attention_factor=None,
):
    r"""Slow each pair by a number of its own, from one of two lists: LongRoPE.

    Parameters
    ----------
    rotary_dim : int
        Rotated width d of one head, even.
    base : float, optional
        Base b, positive.
    factor : float, optional
        Factor s, at least 1: the extended length over the original one. It sets the length factor alone.
    short_factor, long_factor : array_like of float, shape (rotary_dim // 2,)
        What the speed of each pair is divided by, up to the original length and beyond.
    original_length : int
        Length L that the model was trained on, in tokens.
    seq_len : int
        Present length, in tokens: the largest position so far plus 1. A length of exactly L is short.
    attention_factor : float, optional
        The length factor itself, in place of what `factor` gives.

    Returns
    -------
    Scaling
        :math:`\theta_i / \lambda_i`, :math:`\lambda` the list chosen [1]_, with the length factor
        :math:`\sqrt{1 + \ln s / \ln L}`, the same for both lists [2]_.

    Raises
    ------
    TypeError, ValueError
        If `rotary_dim` is not a positive even integer, `base` not positive, `factor` below 1, a length not a positive
        integer (at least 2 for the formula of the length factor), `attention_factor` not positive, or a list not made
        of rotary_dim / 2 positive numbers.

    Notes
    -----
    The list is chosen by the largest position, as in transformers, on each call. keras-hub chooses by the length of the
    input, so that decoding one token with cached keys always takes the short list; vLLM chooses once for all by the
    longest length it is set up for. Crossing L leaves cached keys turned by the other list.

    References
    ----------
    .. [1] Y. Ding et al., "LongRoPE", arXiv:2402.13753, section 3.
    .. [2] M. Abdin et al., "Phi-3 Technical Report", arXiv:2404.14219, and its released code.

    Examples
    --------
    >>> lists = {"short_factor": [1.0, 1.25], "long_factor": [2.0, 32.0]}
    >>> longrope(4, **lists, original_length=4096, seq_len=4096).inv_freq
    array([1.   , 0.008])
    >>> longrope(4, **lists, original_length=4096, seq_len=4097).inv_freq
    array([5.000e-01, 3.125e-04])
    """
    own, factor = inverse_frequencies(rotary_dim, base), check_factor(factor)
    short = as_divisors(short_factor, len(own), "short_factor")
    long = as_divisors(long_factor, len(own), "long_factor")
    original, length = check_count(original_length, "original_length"), check_count(seq_len, "seq_len")
    if attention_factor is not None:
        attention_factor = check_positive(attention_factor, "attention_factor")
    elif original == 1:
        raise ValueError("original_length must be at least 2, whose logarithm is not 0, got 1")
    else:
        attention_factor = math.sqrt(1 + math.log(factor) / math.log(original))
    return Scaling(own / (long if length > original else short), attention_factor)


LISTS = ("short_factor", "long_factor")


def read(entry, seq_len):
    """Read LongRoPE; Phi-3.5-MoE gives the length factor of each list."""
    original = entry.original_length()
    length = original if seq_len is None else seq_len
    # The lists are checked where they are used: their length depends on rotary_dim.
    arguments = {key: entry.need(key, check=lambda values, name: values) for key in LISTS}
    given = entry.number("attention_factor", "long_mscale" if length > original else "short_mscale")
    if given is None:
        arguments["factor"] = entry.growth(original)
    else:
        arguments["attention_factor"] = given
    return longrope, arguments | {"original_length": original, "seq_len": length}


SIXTEEN = {"short_factor": [1 + i / 16 for i in range(16)], "long_factor": [1 + i * i / 8 for i in range(16)]}
LONGER = {**SIXTEEN, "factor": 32.0, "original_length": 4096}
METHODS = (
    Method(
        longrope,
        "longrope",
        keys=("factor", *LISTS, "attention_factor", "short_mscale", "long_mscale"),
        read=read,
        title="LongRoPE",
        vectors={
            "longrope_short": ("LongRoPE at the original length.", {**LONGER, "seq_len": 4096}),
            "longrope_long": ("LongRoPE beyond it.", {**LONGER, "seq_len": 131073}),
        },
    ),
)
