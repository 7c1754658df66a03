"""NTK-by-parts: fast pairs keep their speed, slow ones are slowed, and a ramp leads from one to the other."""

import math

import numpy as np

from rope_ref.checks import (
    check_bool,
    check_choice,
    check_count,
    check_factor,
    check_positive,
    check_share,
    check_width,
)
from rope_ref.frequencies import inverse_frequencies
from rope_ref.scaling.base import Method, Scaling, blend
from rope_ref.scaling.ntk import ntk

__all__ = ["ntk_by_parts", "ntk_by_parts_v1", "ramp_bounds"]

RAMPS = ("index", "rotations")
# Constants of the first release, in rotations: where its two ramps begin and end.
FIRST_RAMP = (1.25, 0.75)
SECOND_RAMP = (16.0, 2.0)


def check_rotations(fast, slow):
    """Return the two ends of a ramp as floats, or raise: the fast end makes more rotations than the slow end."""
    fast, slow = check_positive(fast, "beta_fast"), check_positive(slow, "beta_slow")
    if fast < slow:
        raise ValueError(f"beta_fast must be at least beta_slow, got beta_fast {fast} and beta_slow {slow}")
    return fast, slow


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


PARTS = {"factor": 8.0, "original_length": 2048}
ROTATIONS = {**PARTS, "ramp": "rotations"}
LIMITS = {"beta_fast": 16.0, "beta_slow": 2.0, "extrapolation_factor": 0.5}
METHODS = (
    Method(
        ntk_by_parts,
        title="NTK-by-parts",
        vectors={
            "ntk_by_parts": ("NTK-by-parts as released, the ramp in pair numbers.", PARTS),
            "ntk_by_parts_rotations": ("NTK-by-parts as published, the ramp in rotations.", ROTATIONS),
            "ntk_by_parts_limits": ("NTK-by-parts with other limits.", {**PARTS, **LIMITS}),
        },
    ),
    Method(
        ntk_by_parts_v1,
        title="NTK-by-parts, first release",
        vectors={"ntk_by_parts_v1": ("The first release of NTK-by-parts.", PARTS, {"head_dim": 64})},
    ),
)
