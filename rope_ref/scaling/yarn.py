"""YaRN: NTK-by-parts, and longer queries and keys."""

import math

from rope_ref.checks import check_bool, check_positive, check_weight
from rope_ref.scaling.base import Method, Scaling
from rope_ref.scaling.by_parts import ntk_by_parts

__all__ = ["yarn"]


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
    ends = {"beta_fast": beta_fast, "beta_slow": beta_slow, "truncate": truncate, "ramp": ramp}
    parts = {"factor": factor, "original_length": original_length, "extrapolation_factor": extrapolation_factor}
    inv_freq = ntk_by_parts(rotary_dim, base, **parts, **ends).inv_freq
    over = check_weight(0.0 if mscale is None else mscale, "mscale")
    under = check_weight(0.0 if mscale_all_dim is None else mscale_all_dim, "mscale_all_dim")
    if attention_factor is not None:
        attention_factor = check_positive(attention_factor, "attention_factor")
    elif over and under:
        attention_factor = growth(factor, over) / growth(factor, under)
    else:
        attention_factor = growth(factor, 1)
    return Scaling(inv_freq, attention_factor, growth(factor, under) ** 2)


NUMBERS = ("mscale", "mscale_all_dim", "attention_factor", "extrapolation_factor")


def read(entry, seq_len):
    """Read YaRN."""
    original = entry.original_length()
    arguments = {"factor": entry.growth(original), "original_length": original}
    if entry.get("attn_factor") not in (None, 1):
        raise ValueError(
            f"{entry.name('attn_factor')} must be 1, since some programs multiply by it and others ignore it; "
            f"'attention_factor' gives the length factor, got {entry.get('attn_factor')!r}"
        )
    arguments |= {key: entry.get(key) for key in NUMBERS if entry.get(key) is not None}
    arguments |= {key: entry.get(key) for key in ("beta_fast", "beta_slow") if entry.get(key)}  # 0 is as good as null
    if entry.get("truncate") is not None:
        arguments["truncate"] = check_bool(entry.get("truncate"), entry.name("truncate"))
    return yarn, arguments


PARTS = {"factor": 8.0, "original_length": 2048}
GPT_OSS = {"factor": 32.0, "original_length": 4096, "truncate": False}, {"head_dim": 64, "base": 150000.0}
DEEPSEEK = {"factor": 40.0, "original_length": 4096}
METHODS = (
    Method(
        yarn,
        "yarn",
        keys=("factor", *NUMBERS, "attn_factor", "beta_fast", "beta_slow", "truncate"),
        read=read,
        title="YaRN",
        suspects=({}, {"truncate": False}, {"ramp": "rotations"}),
        vectors={
            "yarn": ("YaRN as released.", PARTS),
            "yarn_interleaved": ("YaRN as released, pairs (2i, 2i + 1).", PARTS, {"pairing": "interleaved"}),
            "yarn_rotations": ("YaRN as published.", {**PARTS, "ramp": "rotations"}),
            "yarn_gpt_oss": ("YaRN with a ramp between fractions of pairs, as in gpt-oss.", *GPT_OSS),
            "yarn_deepseek": (
                "YaRN with equal weights, as in DeepSeek-V3: no length factor, but a softmax factor.",
                {**DEEPSEEK, "mscale": 1.0, "mscale_all_dim": 1.0},
                {"head_dim": 64, "pairing": "interleaved"},
            ),
            "yarn_weights": ("YaRN with two weights.", {**DEEPSEEK, "mscale": 1.0, "mscale_all_dim": 0.5}),
            "yarn_given_length": ("YaRN with its length factor given.", {**PARTS, "attention_factor": 1.25}),
        },
    ),
)
