r"""Frequencies for contexts longer than the one trained on: pure functions of explicit numbers.

Every function lists the speeds of one rotated width and returns a `Scaling`; none of them keeps a state, so a length
that matters is an argument. Where public implementations disagree the docstring says which definition is followed.
`from_config` picks the function and its numbers from a model's config.json.

In formulas b is the base, d the rotary width, :math:`\theta_i = b^{-2i/d}` the speed of pair i without scaling, s the
factor by which the context grows, and L the original length, in tokens, that the model was trained on.
"""

import math
from typing import NamedTuple

import numpy as np

from rope_ref.checks import (
    as_real,
    check_bool,
    check_choice,
    check_factor,
    check_positive,
    check_share,
    check_weight,
    check_width,
)
from rope_ref.config import check_count, read_config
from rope_ref.frequencies import inverse_frequencies

__all__ = [
    "RopeConfig",
    "Scaling",
    "dynamic_ntk",
    "from_config",
    "linear",
    "llama3",
    "longrope",
    "ntk",
    "ntk_base",
    "ntk_by_parts",
    "ntk_by_parts_v1",
    "proportional",
    "ramp_bounds",
    "yarn",
]

RAMPS = ("index", "rotations")
# Constants of the first release of NTK-by-parts, in rotations: where its two ramps begin and end.
FIRST_RAMP = (1.25, 0.75)
SECOND_RAMP = (16.0, 2.0)


class Scaling(NamedTuple):
    """The speeds of all pairs, and two numbers that some methods change with them.

    Parameters
    ----------
    inv_freq : ndarray of float64, shape (pairs,)
        Radians per token.
    attention_factor : float, optional
        Length factor of every turned query and key: `cos_sin` and `RotaryEmbedding` take it. Scores grow by its square.
    softmax_factor : float, optional
        What the scale of the scores, 1 / sqrt(head_dim), is multiplied by besides; DeepSeek's YaRN has one.

    Examples
    --------
    >>> Scaling(np.array([1.0, 0.01]))
    Scaling(inv_freq=array([1.  , 0.01]), attention_factor=1.0, softmax_factor=1.0)
    """

    inv_freq: np.ndarray
    attention_factor: float = 1.0
    softmax_factor: float = 1.0


def check_rotations(fast, slow):
    """Return the two ends of a ramp as floats, or raise: the fast end makes more rotations than the slow end."""
    fast, slow = check_positive(fast, "beta_fast"), check_positive(slow, "beta_slow")
    if fast < slow:
        raise ValueError(f"beta_fast must be at least beta_slow, got beta_fast {fast} and beta_slow {slow}")
    return fast, slow


def linear(rotary_dim, base=10000.0, *, factor):
    r"""Slow all pairs by one factor: position interpolation.

    Parameters
    ----------
    rotary_dim : int
        Rotated width d of one head, even.
    base : float, optional
        Base b, positive.
    factor : float
        Factor s, at least 1.

    Returns
    -------
    Scaling
        :math:`\theta_i / s` [1]_: position m turns every pair as position m / s did.

    Raises
    ------
    TypeError, ValueError
        If `rotary_dim` is not a positive even integer, `base` not positive, or `factor` below 1.

    Notes
    -----
    Some implementations divide the positions instead: the same angles. Done to both it divides twice, a known fault.

    References
    ----------
    .. [1] S. Chen et al., "Extending Context Window of Large Language Models via Positional Interpolation",
       arXiv:2306.15595, eq. (4).

    Examples
    --------
    >>> linear(4, factor=4).inv_freq
    array([0.25  , 0.0025])
    """
    return Scaling(inverse_frequencies(rotary_dim, base) / check_factor(factor))


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


def ramp_bounds(rotary_dim, base=10000.0, *, original_length, beta_fast=32.0, beta_slow=1.0, truncate=True):
    r"""Find between which pairs the index ramp of YaRN runs.

    Parameters
    ----------
    rotary_dim : int
        Rotated width d of one head, even.
    base : float, optional
        Base b, above 1.
    original_length : int
        Length L that the model was trained on, in tokens.
    beta_fast, beta_slow : float, optional
        Rotations that a pair makes in L tokens where the ramp begins and where it ends.
    truncate : bool, optional
        Whether the first is rounded down and the second up.

    Returns
    -------
    low, high : float
        Pair numbers :math:`d \ln(L / (2 \pi \beta)) / (2 \ln b)`, not whole ones without `truncate`; the first at least
        0, the second at most d - 1. Pairs up to `low` keep their speed, pairs from `high` are slowed by the whole
        factor; if both are one number, the pairs beyond it.

    Raises
    ------
    TypeError, ValueError
        If `rotary_dim` is not a positive even integer, `base` not above 1, `original_length` not a positive integer,
        `truncate` not a boolean, or `beta_fast` below `beta_slow`.

    Notes
    -----
    The upper limit is d - 1, as in the authors' code and transformers, though pairs end at d/2 - 1; litgpt and earlier
    keras-hub stop at d/2 - 1, which makes the ramp steeper where L is so long that no pair turns less than once.

    Where the two limits leave `low` above `high`, at an L of a few tokens or beyond about 200 b**2, released code runs
    the ramp backwards: it keeps all where it should slow all, and the reverse. Here both are then `high`, before the
    first pair or after the last.

    Examples
    --------
    >>> ramp_bounds(128, original_length=2048)
    (16.0, 41.0)
    """
    rotary_dim, base = check_width(rotary_dim), check_positive(base, "base")
    if base <= 1:
        raise ValueError(f"base must be above 1, so that pairs differ, got {base}")
    length = check_count(original_length, "original_length")
    betas = check_rotations(beta_fast, beta_slow)
    check_bool(truncate, "truncate")
    low, high = (rotary_dim * math.log(length / (2 * math.pi * beta)) / (2 * math.log(base)) for beta in betas)
    if truncate:
        low, high = math.floor(low), math.ceil(high)
    low, high = max(low, 0), min(high, rotary_dim - 1)
    return float(min(low, high)), float(high)


def index_ramp(rotary_dim, base, **bounds):
    """Give the share of its own speed that each pair keeps: linear in the pair number, as released code has it."""
    low, high = ramp_bounds(rotary_dim, base, **bounds)
    if low == high:
        high += 0.001  # a step, as in all released code
    return 1 - np.clip((np.arange(rotary_dim // 2) - low) / (high - low), 0, 1)


def rotation_ramp(inv_freq, length, fast, slow):
    """Give the share of its own speed that each pair keeps: linear in its rotations over `length`, as in the paper."""
    rotations = length * inv_freq / (2 * np.pi)
    if fast == slow:
        return (rotations > fast).astype(np.float64)
    return np.clip((rotations - slow) / (fast - slow), 0, 1)


def blend(slowed, own, keep):
    """Mix two ladders of speeds; where the whole of one is kept, it is kept to the bit."""
    return slowed * (1 - keep) + own * keep


def ntk_by_parts(
    rotary_dim,
    base=10000.0,
    *,
    factor,
    original_length,
    beta_fast=32.0,
    beta_slow=1.0,
    truncate=True,
    extrapolation_factor=1.0,
    ramp="index",
):
    r"""Keep fast pairs, slow the slow ones by the factor, and blend between: NTK-by-parts.

    Parameters
    ----------
    rotary_dim : int
        Rotated width d of one head, even.
    base : float, optional
        Base b, above 1.
    factor : float
        Factor s, at least 1.
    original_length : int
        Length L that the model was trained on, in tokens; never the extended one.
    beta_fast, beta_slow : float, optional
        Pairs that make more rotations than `beta_fast` in L tokens keep their speed, those that make fewer than
        `beta_slow` are slowed by s.
    truncate : bool, optional
        Whether the index ramp begins and ends at whole pairs; the rotation ramp has no use for it.
    extrapolation_factor : float, optional
        What the shares kept are multiplied by, from 0 to 1.
    ramp : {"index", "rotations"}, optional
        Whether the share kept falls linearly in the pair number, as in released code, or in rotations, as in the paper.

    Returns
    -------
    Scaling
        :math:`(1 - k_i) \, \theta_i / s + k_i \, \theta_i` [1]_, k the share kept.

    Raises
    ------
    TypeError, ValueError
        If `rotary_dim` is not a positive even integer, `base` not above 1, `factor` below 1, `original_length` not a
        positive integer, `beta_fast` below `beta_slow`, `extrapolation_factor` outside 0 to 1, or `ramp` unknown.

    See Also
    --------
    ramp_bounds : The pairs between which the index ramp runs.
    yarn : The same speeds with a length factor.

    Notes
    -----
    The two ramps end at the same pairs and differ between them, up to threefold: at L = 2048, d = 128 by 2.34 at s = 8
    (pair 31) and by 3.08 at s = 16 (pair 33). Models in use were trained with the code, so "index" is the default.

    litgpt up to 0.5.13 blends the wrong way round, slowing the fast pairs; the paper and all others do as here.

    References
    ----------
    .. [1] B. Peng et al., "YaRN", arXiv:2309.00071, section 3.2; code at jquesnelle/yarn.

    Examples
    --------
    >>> ntk_by_parts(6, 1000.0, factor=4, original_length=64).inv_freq
    array([1.    , 0.0625, 0.0025])
    """
    factor, share = check_factor(factor), check_share(extrapolation_factor, "extrapolation_factor")
    check_choice(ramp, RAMPS, "ramp")
    own, length = inverse_frequencies(rotary_dim, base), check_count(original_length, "original_length")
    fast, slow = check_rotations(beta_fast, beta_slow)
    if ramp == "index":
        bounds = {"original_length": length, "beta_fast": fast, "beta_slow": slow, "truncate": truncate}
        keep = index_ramp(rotary_dim, base, **bounds)
    else:
        keep = rotation_ramp(own, length, fast, slow)
    return Scaling(blend(own / factor, own, keep * share))


def growth(factor, weight):
    """Give YaRN's temperature: 0.1 times weight times ln(factor), plus 1."""
    return 0.1 * weight * math.log(factor) + 1


def yarn(
    rotary_dim,
    base=10000.0,
    *,
    factor,
    original_length,
    beta_fast=32.0,
    beta_slow=1.0,
    truncate=True,
    extrapolation_factor=1.0,
    mscale=None,
    mscale_all_dim=None,
    attention_factor=None,
    ramp="index",
):
    r"""Blend speeds by parts, and lengthen queries and keys: YaRN.

    Parameters
    ----------
    rotary_dim : int
        Rotated width d of one head, even.
    base : float, optional
        Base b, above 1.
    factor : float
        Factor s, at least 1.
    original_length : int
        Length L that the model was trained on, in tokens; never the extended one.
    beta_fast, beta_slow : float, optional
        Pairs that make more rotations than `beta_fast` in L tokens keep their speed, those that make fewer than
        `beta_slow` are slowed by s.
    truncate : bool, optional
        Whether the index ramp begins and ends at whole pairs; gpt-oss has False.
    extrapolation_factor : float, optional
        What the shares kept are multiplied by, from 0 to 1.
    mscale, mscale_all_dim : float, optional
        DeepSeek's two weights, at least 0; 0 is the same as None. They count together or not at all.
    attention_factor : float, optional
        The length factor itself, in place of what the weights give.
    ramp : {"index", "rotations"}, optional
        As for `ntk_by_parts`.

    Returns
    -------
    Scaling
        Speeds of `ntk_by_parts`. With :math:`g(w) = 0.1 \, w \ln s + 1`, `attention_factor` is :math:`g(1)` [1]_, or
        :math:`g(mscale) / g(mscale\_all\_dim)` if both are given, or the one given; `softmax_factor` is
        :math:`g(mscale\_all\_dim)^2` if that weight is given [2]_, and 1 else.

    Raises
    ------
    TypeError, ValueError
        As `ntk_by_parts`; or if a weight is negative, or `attention_factor` not positive.

    Notes
    -----
    The length factor of the paper is :math:`\sqrt{1/t} = 0.1 \ln s + 1`, and the scores grow by its square.

    A single weight is read in several ways. As in transformers, `mscale` alone changes nothing here; litgpt and
    DeepSeek's own code take :math:`g(mscale)`. `mscale_all_dim` alone leaves the length factor :math:`g(1)`, as in
    transformers; DeepSeek's code divides by it. For these pass `attention_factor`.

    The authors' dynamic version is this function with s the present length over L, and plain RoPE up to L.

    The softmax factor is meant for the attention of DeepSeek-V2 and V3 and models built on it; others ignore it.
    torchtitan scales nothing but the softmax, by :math:`g(mscale)^2`: the same scores if both weights are equal.

    References
    ----------
    .. [1] B. Peng et al., "YaRN", arXiv:2309.00071, section 3.4.
    .. [2] DeepSeek-AI, "DeepSeek-V2", arXiv:2405.04434, section 3.1.4, and its released code.

    Examples
    --------
    >>> yarn(8, factor=4, original_length=64)[1:]
    (1.138629436111989, 1.0)
    >>> yarn(8, factor=40, original_length=64, mscale=0.707, mscale_all_dim=0.707)[1:]
    (1.0, 1.5896261651208736)
    """
    inv_freq = ntk_by_parts(
        rotary_dim,
        base,
        factor=factor,
        original_length=original_length,
        beta_fast=beta_fast,
        beta_slow=beta_slow,
        truncate=truncate,
        extrapolation_factor=extrapolation_factor,
        ramp=ramp,
    ).inv_freq
    over = check_weight(0.0 if mscale is None else mscale, "mscale")
    under = check_weight(0.0 if mscale_all_dim is None else mscale_all_dim, "mscale_all_dim")
    if attention_factor is not None:
        attention_factor = check_positive(attention_factor, "attention_factor")
    elif over and under:
        attention_factor = growth(factor, over) / growth(factor, under)
    else:
        attention_factor = growth(factor, 1)
    return Scaling(inv_freq, attention_factor, growth(factor, under) ** 2)


def ntk_by_parts_v1(rotary_dim, base=10000.0, *, factor, original_length, ntk_factor=1.0, extrapolation_factor=1.0):
    r"""Blend three ladders of speeds by two ramps: the first release of NTK-by-parts.

    Parameters
    ----------
    rotary_dim : int
        Rotated width d of one head, even and at least 4.
    base : float, optional
        Base b, above 1.
    factor : float
        Factor s, at least 1.
    original_length : int
        Length L that the model was trained on, in tokens.
    ntk_factor, extrapolation_factor : float, optional
        What the shares of the first and second ramp are multiplied by, from 0 to 1.

    Returns
    -------
    Scaling
        With p falling from 1 to 0 where pairs make 1.25 to 0.75 rotations in L tokens, and k where they make 16 to 2,
        both linear in the pair number from whole pair to whole pair: first :math:`x_i = (1 - p_i) \, \theta_i / s +
        p_i \, \theta^{ntk}_i`, then :math:`(1 - k_i) \, x_i + k_i \, \theta_i` [1]_.

    Raises
    ------
    TypeError, ValueError
        If `rotary_dim` is not an even integer of at least 4, `base` not above 1, `factor` below 1, `original_length`
        not a positive integer, or one of the last two outside 0 to 1.

    See Also
    --------
    ntk_by_parts : The form that the paper describes, in use since.

    Notes
    -----
    The authors' dynamic version is this function with s the present length over the trained one.

    References
    ----------
    .. [1] bloc97, "NTK-by-parts", 2023; class LlamaPartNTKScaledRotaryEmbedding of jquesnelle/yarn.

    Examples
    --------
    >>> ntk_by_parts_v1(6, 1000.0, factor=4, original_length=64).inv_freq
    array([1.    , 0.0375, 0.0025])
    """
    factor = check_factor(factor)
    shares = check_share(ntk_factor, "ntk_factor"), check_share(extrapolation_factor, "extrapolation_factor")
    own, raised = inverse_frequencies(rotary_dim, base), ntk(rotary_dim, base, factor=factor).inv_freq
    first, second = (
        index_ramp(rotary_dim, base, original_length=original_length, beta_fast=fast, beta_slow=slow) * share
        for (fast, slow), share in zip((FIRST_RAMP, SECOND_RAMP), shares, strict=True)
    )
    return Scaling(blend(blend(own / factor, raised, first), own, second))


def llama3(rotary_dim, base=10000.0, *, factor, low_freq_factor=1.0, high_freq_factor=4.0, original_length):
    r"""Keep short waves, slow long ones by the factor, and blend between: the scaling of Llama 3.1 and later.

    Parameters
    ----------
    rotary_dim : int
        Rotated width d of one head, even.
    base : float, optional
        Base b, positive; 500000 in Llama 3.
    factor : float
        Factor s, at least 1: 8 in Llama 3.1, 32 in 3.2.
    low_freq_factor, high_freq_factor : float, optional
        Turns in L tokens up to which a pair is slowed by s, and from which it keeps its speed.
    original_length : int
        Length L that the model was trained on, in tokens: 8192 in Llama 3.

    Returns
    -------
    Scaling
        :math:`(1 - t_i) \, \theta_i / s + t_i \, \theta_i` with :math:`t_i = (L \theta_i / 2 \pi - low) / (high - low)`
        held between 0 and 1 [1]_.

    Raises
    ------
    TypeError, ValueError
        If `rotary_dim` is not a positive even integer, `base` not positive, `factor` below 1, `original_length` not a
        positive integer, or `high_freq_factor` not above `low_freq_factor`.

    Notes
    -----
    This is `ntk_by_parts` with the ramp in rotations, with other limits. The original code tells three cases apart;
    holding t between 0 and 1 gives the same numbers. Equal limits are refused, where vLLM takes t = 0.

    References
    ----------
    .. [1] A. Grattafiori et al., "The Llama 3 Herd of Models", arXiv:2407.21783; code at meta-llama/llama-models.

    Examples
    --------
    >>> llama3(4, 500000.0, factor=8, original_length=8192).inv_freq.round(6)
    array([1.00e+00, 5.25e-04])
    """
    factor, length = check_factor(factor), check_count(original_length, "original_length")
    low = check_positive(low_freq_factor, "low_freq_factor")
    high = check_positive(high_freq_factor, "high_freq_factor")
    if high <= low:
        raise ValueError(f"high_freq_factor must be above low_freq_factor, got {high} and low_freq_factor {low}")
    own = inverse_frequencies(rotary_dim, base)
    return Scaling(blend(own / factor, own, rotation_ramp(own, length, high, low)))


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


class RopeConfig(NamedTuple):
    """What a model's configuration says of its RoPE.

    Parameters
    ----------
    scaling : Scaling
        Speeds, length factor and softmax factor.
    rotary_dim : int
        Rotated width, twice the number of pairs.
    head_dim : int
        Width of one query or key head. Where the rotated part is kept apart from the rest (multi-head latent
        attention of DeepSeek), the width of that part.
    pairing : {"interleaved", "half"} or None
        Which features form a pair, as the model's code in transformers reads its weights; None where the model family
        is not known.
    sections : tuple of int, or None
        How many pairs read each axis in M-RoPE (time, height, width); None for plain RoPE.
    sections_interleaved : bool, optional
        Whether the axes of M-RoPE alternate from pair to pair, as in Qwen3-VL.

    Examples
    --------
    >>> RopeConfig(Scaling(np.array([1.0])), 2, 4, "half", None).rotary_dim
    2
    """

    scaling: Scaling
    rotary_dim: int
    head_dim: int
    pairing: str | None
    sections: tuple | None
    sections_interleaved: bool = False


def plain(rotary_dim, base):
    """Keep the speeds of plain RoPE."""
    return Scaling(inverse_frequencies(rotary_dim, base))


METHODS = {
    "plain": plain,
    "linear": linear,
    "ntk": ntk,
    "dynamic_ntk": dynamic_ntk,
    "yarn": yarn,
    "llama3": llama3,
    "longrope": longrope,
    "proportional": proportional,
}


def from_config(mapping, seq_len=None, *, layer_type=None):
    r"""Read RoPE from a model's config.json.

    Parameters
    ----------
    mapping : mapping
        The parsed config.json, as published for transformers, of its version 5 (``rope_parameters``) or earlier
        (``rope_theta`` and ``rope_scaling``). Of a model with several parts the text part is read.
    seq_len : int, optional
        Present length, in tokens, for the types "dynamic" and "longrope", whose speeds depend on it. None is the
        length trained on: no change by "dynamic", and the short list of "longrope", as transformers does.
    layer_type : str, optional
        Which layers, such as "full_attention" or "sliding_attention", where these have a RoPE each.

    Returns
    -------
    RopeConfig
        Speeds, widths, pairing and M-RoPE sections.

    Raises
    ------
    TypeError
        If `mapping` is no mapping, or a value is not of its type.
    ValueError
        If a type is unknown (the message lists those known), a key is missing, unknown or contradicts another (the
        message names it), or layers differ and `layer_type` does not say which (it lists them).

    Notes
    -----
    Nothing is guessed. What a file of a known model family leaves out, because transformers' code for that family
    fixes it, is taken from there; where the family is not known, the missing key is an error.

    Where implementations read a file in several ways, transformers 5.24 is followed, but for two of its faults: inside
    a layer type, ``truncate`` is read where it stands; and an entry of YaRN, Llama 3 or LongRoPE without
    ``original_max_position_embeddings`` is an error, where transformers takes the extended length and then extends
    almost nothing. ``factor`` counts as it stands, also where it is not the ratio of the two lengths.

    Which layers are turned at all (``no_rope_layers`` and the like) is not read.

    Examples
    --------
    >>> config = {
    ...     "model_type": "llama", "hidden_size": 16, "num_attention_heads": 2, "rope_theta": 10000.0,
    ...     "max_position_embeddings": 8192, "rope_scaling": {"rope_type": "linear", "factor": 4.0},
    ... }
    >>> rope = from_config(config)
    >>> rope.scaling.inv_freq, rope.pairing
    (array([0.25   , 0.025  , 0.0025 , 0.00025]), 'half')
    """
    recipe = read_config(mapping, seq_len, layer_type)
    scaling = METHODS[recipe.method](recipe.rotary_dim, recipe.base, **recipe.arguments)
    if not recipe.has_softmax_factor:
        scaling = scaling._replace(softmax_factor=1.0)
    return RopeConfig(
        scaling, recipe.rotary_dim, recipe.head_dim, recipe.pairing, recipe.sections, recipe.sections_interleaved
    )
