"""Frequencies for longer contexts: by hand, against 50 digits, against what public implementations returned."""

import json
import math
import warnings

import numpy as np
import oracles
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from oracles import MP
from places import DATA

from rope_ref import apply_rope, attention_scores, cos_sin, inverse_frequencies, rotation_angles, wavelengths
from rope_ref.scaling import (
    Scaling,
    dynamic_ntk,
    linear,
    llama3,
    longrope,
    ntk,
    ntk_base,
    ntk_by_parts,
    ntk_by_parts_v1,
    proportional,
    ramp_bounds,
    yarn,
)


def read(name):
    """The cases of a data file, by name or id."""
    found = json.loads((DATA / f"{name}.json").read_text(encoding="utf-8"))["cases"]
    return {case.get("id") or case["name"]: case for case in found}


HF, FORWARD, YARN_REPO, CASES = read("hf_inv_freq"), read("hf_forward"), read("yarn_repo"), read("cases_scaling")
GPT_OSS = {"factor": 32, "original_length": 4096}

# By hand.


def test_linear_divides_every_speed():
    assert_array_equal(linear(4, factor=4).inv_freq, [0.25, 0.0025])


def test_ntk_slows_the_last_pair_by_the_factor_and_the_first_not_at_all():
    assert_allclose(ntk(6, 1000.0, factor=4).inv_freq, [1.0, 0.05, 0.0025], rtol=1e-15, atol=0)  # b' = 1000 * 4 ** 1.5


def test_dynamic_ntk_grows_from_the_original_length_on():
    for length, last in [(1, 0.01), (8, 0.01), (12, 0.005), (16, 0.01 / 3)]:  # t = 1, 1, 2, 3
        got = dynamic_ntk(4, factor=2, original_length=8, seq_len=length).inv_freq
        assert_allclose(got, [1.0, last], rtol=1e-15, atol=0)


def test_ramps_differ_by_hand():
    # d = 6, b = 1000: speeds 1, 0.1, 0.01. L = 64: bounds 0 and 2, so the index ramp keeps 1, 0.5, 0.
    assert_array_equal(ramp_bounds(6, 1000.0, original_length=64), [0, 2])
    assert_allclose(
        ntk_by_parts(6, 1000.0, factor=4, original_length=64).inv_freq, [1, 0.0625, 0.0025], rtol=1e-15, atol=0
    )
    # Rotations in 64 tokens: 10.19, 1.019, 0.1019, so the paper's ramp keeps 0.2964, 0.0006, 0.
    got = ntk_by_parts(6, 1000.0, factor=4, original_length=64, ramp="rotations").inv_freq
    keep = np.array([64 / (2 * np.pi) - 1, 6.4 / (2 * np.pi) - 1, 0]) / 31
    assert_allclose(got, [1, 0.1, 0.01] * (0.25 + 0.75 * keep), rtol=1e-15, atol=0)


def test_yarn_is_ntk_by_parts_with_a_length_factor():
    got, parts = yarn(64, **GPT_OSS), ntk_by_parts(64, **GPT_OSS)
    assert_array_equal(got.inv_freq, parts.inv_freq)
    assert parts[1:] == (1.0, 1.0)
    assert_allclose(got.attention_factor, 0.1 * math.log(32) + 1, rtol=1e-15, atol=0)
    assert got.softmax_factor == 1.0


def test_factor_one_changes_nothing():
    plain = inverse_frequencies(64)
    for scaling in [
        linear(64, factor=1),
        ntk(64, factor=1),
        dynamic_ntk(64, factor=1, original_length=8, seq_len=8),
        ntk_by_parts_v1(64, factor=1, original_length=2048),
        llama3(64, factor=1, original_length=2048),
        yarn(64, factor=1, original_length=2048),
        yarn(64, factor=1, original_length=2048, ramp="rotations"),
        yarn(64, factor=1, original_length=2048, mscale=0.5, mscale_all_dim=0.7),
        longrope(64, short_factor=[1] * 32, long_factor=[2] * 32, original_length=8, seq_len=8),
        proportional(64),
    ]:
        assert_allclose(scaling.inv_freq, plain, rtol=1e-15, atol=0)
        assert scaling[1:] == (1.0, 1.0)


def test_llama3_keeps_short_waves_and_slows_long_ones():
    # b = 10 ** 4, d = 8, L = 2000 pi: turns in L are 1000, 100, 10, 1; the limits 5 and 55 keep 1, 1, 0.1, 0.
    got = llama3(8, factor=4, low_freq_factor=5, high_freq_factor=55, original_length=6283).inv_freq
    keep = np.array([1, 1, (6283 * 0.01 / (2 * np.pi) - 5) / 50, 0])
    assert_allclose(got, [1, 0.1, 0.01, 0.001] * (0.25 + 0.75 * keep), rtol=1e-14, atol=0)


def test_proportional_pairs_that_stand_still_have_an_infinite_wavelength_without_a_warning():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        scaling = proportional(8, factor=2, partial_rotary_factor=0.5)
        assert_array_equal(scaling.inv_freq, [0.5, 0.05, 0, 0])
        assert_allclose(wavelengths(scaling.inv_freq), [4 * np.pi, 40 * np.pi, np.inf, np.inf], rtol=1e-15, atol=0)
        cos, sin = cos_sin(rotation_angles([7, 10**6], scaling.inv_freq))
    assert_array_equal(cos[:, 2:], 1.0)
    assert_array_equal(sin[:, 2:], 0.0)


def test_arguments_are_left_unchanged():
    lists = [np.array([1.0, 2.0]), np.array([4.0, 8.0])]
    for length in (3, 9):
        longrope(4, short_factor=lists[0], long_factor=lists[1], original_length=4, seq_len=length)
    assert_array_equal(lists, [[1.0, 2.0], [4.0, 8.0]])


# Against arithmetic of 50 digits. Each oracle returns speeds, length factor and softmax factor.


def mp_ladder(width, base):
    return [MP.mpf(base) ** (-MP.mpf(2 * i) / width) for i in range(width // 2)]


def mp_clip(value):
    return min(max(value, MP.mpf(0)), MP.mpf(1))


def mp_index_ramp(width, base, length, fast, slow, truncate=True):
    low, high = (
        width * MP.log(length / (2 * MP.pi * beta)) / (2 * MP.log(base)) for beta in (MP.mpf(fast), MP.mpf(slow))
    )
    if truncate:
        low, high = MP.floor(low), MP.ceil(high)
    low, high = max(low, MP.mpf(0)), min(high, MP.mpf(width - 1))
    if low == high:
        high += MP.mpf("0.001")
    return [1 - mp_clip((i - low) / (high - low)) for i in range(width // 2)]


def mp_turns_ramp(ladder, length, fast, slow):
    return [mp_clip((length * f / (2 * MP.pi) - slow) / (MP.mpf(fast) - slow)) for f in ladder]


def mp_mix(slow, fast, keep):
    return [a * (1 - k) + b * k for a, b, k in zip(slow, fast, keep, strict=True)]


def mp_temperature(factor, weight=1):
    return MP.mpf("0.1") * MP.mpf(weight) * MP.log(factor) + 1


def mp_ntk(width, base, factor):
    return mp_ladder(width, MP.mpf(base) * MP.mpf(factor) ** (MP.mpf(width) / (width - 2)))


def mp_by_parts(width, base, factor, original_length, beta_fast=32, beta_slow=1, truncate=True, share=1, ramp="index"):
    own = mp_ladder(width, base)
    if ramp == "index":
        keep = mp_index_ramp(width, base, original_length, beta_fast, beta_slow, truncate)
    else:
        keep = mp_turns_ramp(own, original_length, beta_fast, beta_slow)
    return mp_mix([f / MP.mpf(factor) for f in own], own, [k * MP.mpf(share) for k in keep])


def mp_v1(width, base, factor, original_length, first=1, second=1):
    own, raised = mp_ladder(width, base), mp_ntk(width, base, factor)
    keep = [
        [k * MP.mpf(share) for k in mp_index_ramp(width, base, original_length, *betas)]
        for betas, share in (((1.25, 0.75), first), ((16, 2), second))
    ]
    return mp_mix(mp_mix([f / MP.mpf(factor) for f in own], raised, keep[0]), own, keep[1])


def mp_llama3(width, base, factor, low, high, original_length):
    own = mp_ladder(width, base)
    return mp_mix([f / MP.mpf(factor) for f in own], own, mp_turns_ramp(own, original_length, high, low))


FORMULAS = {
    "linear": (linear(128, 500000.0, factor=7.3), [f / MP.mpf(7.3) for f in mp_ladder(128, 500000)]),
    "ntk": (ntk(128, 500000.0, factor=7.3), mp_ntk(128, 500000, 7.3)),
    "ntk, d = 4": (ntk(4, factor=7.3), mp_ntk(4, 10000, 7.3)),
    "dynamic_ntk": (
        dynamic_ntk(128, factor=2.5, original_length=4096, seq_len=10007),
        mp_ntk(128, 10000, MP.mpf(2.5) * 10007 / 4096 - MP.mpf(1.5)),
    ),
    "by parts": (ntk_by_parts(128, factor=16, original_length=2048), mp_by_parts(128, 10000, 16, 2048)),
    "by parts, not truncated": (
        ntk_by_parts(64, 150000.0, factor=32, original_length=4096, truncate=False, beta_fast=30.5, beta_slow=1.5),
        mp_by_parts(64, 150000, 32, 4096, 30.5, 1.5, truncate=False),
    ),
    "by parts, rotations": (
        ntk_by_parts(128, factor=16, original_length=2048, ramp="rotations"),
        mp_by_parts(128, 10000, 16, 2048, ramp="rotations"),
    ),
    "by parts, half kept": (
        ntk_by_parts(128, factor=16, original_length=2048, extrapolation_factor=0.5),
        mp_by_parts(128, 10000, 16, 2048, share=0.5),
    ),
    "first release": (
        ntk_by_parts_v1(64, factor=8, original_length=2048, ntk_factor=0.75, extrapolation_factor=0.25),
        mp_v1(64, 10000, 8, 2048, 0.75, 0.25),
    ),
    "first release, wide": (ntk_by_parts_v1(512, factor=8, original_length=3000), mp_v1(512, 10000, 8, 3000)),
    "llama3": (
        llama3(128, 500000.0, factor=8, low_freq_factor=1.5, high_freq_factor=4.5, original_length=8192),
        mp_llama3(128, 500000, 8, 1.5, 4.5, 8192),
    ),
    "longrope": (
        longrope(4, 500.0, short_factor=[1, 1.25], long_factor=[1.5, 3.7], original_length=9, seq_len=10),
        [f / MP.mpf(divisor) for f, divisor in zip(mp_ladder(4, 500), (1.5, 3.7), strict=True)],
    ),
    "proportional": (
        proportional(64, 1e6, factor=3, partial_rotary_factor=0.3),
        [f / 3 if i < 9 else MP.mpf(0) for i, f in enumerate(mp_ladder(64, 1000000))],
    ),
}


@pytest.mark.parametrize("name", FORMULAS)
def test_speeds_equal_the_formula_in_50_digits(name):
    scaling, want = FORMULAS[name]
    assert isinstance(scaling, Scaling)
    assert scaling.inv_freq.dtype == np.float64
    assert_allclose(scaling.inv_freq, np.array(want, float), rtol=1e-14, atol=0)


PHI_3 = {"factor": 32, "short_factor": [1], "long_factor": [2], "original_length": 4096}
FACTORS = [
    (yarn(64, factor=16, original_length=4096), mp_temperature(16), 1),
    (
        yarn(64, factor=40, original_length=4096, mscale=1, mscale_all_dim=0.707),
        mp_temperature(40) / mp_temperature(40, 0.707),
        mp_temperature(40, 0.707) ** 2,
    ),
    (yarn(64, factor=8, original_length=4096, attention_factor=1.3), 1.3, 1),
    (longrope(2, **PHI_3, seq_len=1), MP.sqrt(1 + MP.log(32) / MP.log(4096)), 1),
    (longrope(2, **PHI_3, seq_len=9999, attention_factor=1.1), 1.1, 1),
]


@pytest.mark.parametrize(("scaling", "attention", "softmax"), FACTORS)
def test_factors_equal_the_formula_in_50_digits(scaling, attention, softmax):
    assert_allclose(scaling[1:], [float(attention), float(softmax)], rtol=1e-15, atol=0)


SCALED = {
    "linear": linear(64, factor=8),
    "yarn": yarn(64, factor=16, original_length=4096),
    "llama3": llama3(64, 500000.0, factor=32, original_length=8192),
    "proportional": proportional(64, 1e6, partial_rotary_factor=0.25),
}


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("name", SCALED)
def test_error_bound_of_the_turn_holds_against_scaled_speeds(name, dtype):
    inv_freq, factor, _ = SCALED[name]
    positions = oracles.POSITIONS[::2]
    first, second = np.random.default_rng(0).standard_normal((2, len(positions), 32)).astype(dtype)
    cos, sin = oracles.table(positions, inv_freq)
    want = oracles.turn(first, second, MP.mpf(factor) * cos, MP.mpf(factor) * sin)
    want = [oracles.place(*parts, "half") for parts in zip(*want, strict=True)]
    angles = rotation_angles(positions, inv_freq)
    got = apply_rope(oracles.place(first, second, "half"), *cos_sin(angles, attention_factor=factor), pairing="half")
    lengths = np.hypot(first, second, dtype=np.float64)
    lengths, angles = (oracles.place(each, each, "half") for each in (lengths, angles))
    bound = oracles.fast_bound(want, lengths, angles, dtype, factor)
    assert (oracles.error(got, want) <= bound).all()


# Against what public implementations returned: their speeds are float32.


def from_numbers(params):
    """Call the function that a case of transformers names, with the numbers it names."""
    rope = dict(params["rope_parameters_after_standardize"])
    kind, base = rope.pop("rope_type"), rope.pop("rope_theta")
    share, width, longest = (
        rope.pop("partial_rotary_factor", 1.0),
        params["head_dim"],
        params["max_position_embeddings"],
    )
    if "original_max_position_embeddings" in rope:
        rope["original_length"] = rope.pop("original_max_position_embeddings")
        rope["factor"] = rope.get("factor") or longest / rope["original_length"]
    if kind == "proportional":
        return proportional(width, base, partial_rotary_factor=share)
    width = int(width * share)
    if kind == "default":
        return Scaling(inverse_frequencies(width, base))
    if kind == "dynamic":
        return dynamic_ntk(width, base, original_length=longest, seq_len=params["seq_len"], **rope)
    if kind == "longrope":
        return longrope(width, base, seq_len=params["seq_len"], **rope)
    return {"linear": linear, "yarn": yarn, "llama3": llama3}[kind](width, base, **rope)


@pytest.mark.parametrize("name", HF)
def test_transformers_returns_the_same(name):
    scaling, outputs = from_numbers(HF[name]["params"]), HF[name]["outputs"]
    assert_allclose(scaling.inv_freq, outputs["inv_freq"]["data"], rtol=4e-7, atol=0)
    assert_allclose(scaling.attention_factor, outputs["attention_factor"], rtol=1e-6, atol=0)


@pytest.mark.parametrize("name", ["default_d8", "llama3_d16"])
def test_tables_of_transformers_are_the_same(name):
    params, outputs = FORWARD[name]["params"], FORWARD[name]["outputs"]
    scaling = from_numbers({**params, "rope_parameters_after_standardize": params["rope_parameters"]})
    positions = np.array(FORWARD[name]["inputs"]["position_ids"])
    near = positions <= 127  # beyond, their float32 angles are further off
    assert near.sum() >= 6
    for got, key in zip(cos_sin(rotation_angles(positions, scaling.inv_freq)), ("cos", "sin"), strict=True):
        want = np.array(outputs[key]["data"]).reshape(outputs[key]["shape"])
        assert_allclose(np.concatenate((got, got), -1)[near], want[near], rtol=0, atol=3e-6)


def test_state_of_transformers_is_the_longest_length_since_the_last_short_call():
    case = FORWARD["dynamic_state_machine_d8_max16_x2"]
    original, longest = case["params"]["max_position_embeddings"], 0
    for step in case["steps"]:
        length = step["forward_with_positions_0_to"] + 1
        longest = length if length < original else max(longest, length)
        got = dynamic_ntk(8, factor=2, original_length=original, seq_len=longest).inv_freq
        assert_allclose(got, step["inv_freq_after"]["data"], rtol=4e-7, atol=0)


YARN_CALLS = {
    "linear_x4": linear(64, factor=4),
    "ntk_alpha4_d64": ntk(64, factor=4),
    "partntk_x8_d64_half_ntk": ntk_by_parts_v1(
        64, factor=8, original_length=2048, ntk_factor=0.5, extrapolation_factor=0.5
    ),
    "yarn_x8_d64": yarn(64, factor=8, original_length=2048),
    "ntk_by_parts_paper_x8_d64": ntk_by_parts(64, factor=8, original_length=2048),
    "dynamic_ntk2_after_100": dynamic_ntk(64, factor=2, original_length=32, seq_len=100),
    "dynamic_yarn_before": Scaling(inverse_frequencies(64)),
    "dynamic_partntk_after_256": ntk_by_parts_v1(64, factor=256 / 64, original_length=64),
}


@pytest.mark.parametrize("name", YARN_REPO)
def test_code_of_the_yarn_authors_returns_the_same(name):
    scaling, outputs = YARN_CALLS[name], YARN_REPO[name]["outputs"]
    factor = outputs["mscale"]
    if name != "linear_x4":  # it divides positions, and stores plain speeds
        assert_allclose(scaling.inv_freq, outputs["inv_freq"]["data"], rtol=4e-7, atol=0)
    if name != "ntk_by_parts_paper_x8_d64":  # stored with the length factor that the plain method does not have
        assert_allclose(scaling.attention_factor, factor, rtol=1e-6, atol=0)
    cos, _ = cos_sin(rotation_angles(3, scaling.inv_freq), attention_factor=factor)
    assert_allclose(cos, outputs["cos_row_3_first_half"]["data"], rtol=0, atol=3e-6)


# Cases of public fault reports.


def differs(got, wrong, tolerance):
    """Tell whether numbers differ from those of a fault by more than a case allows."""
    return not np.allclose(got, wrong, **tolerance)


def test_ri_032_proportional_is_not_partial_rotary():
    case = CASES["RI-032"]
    x, want = np.array([case["inputs"]["x"]]), case["expected"]
    angles = rotation_angles([2], proportional(8, partial_rotary_factor=0.5).inv_freq)
    got = apply_rope(x, *cos_sin(angles), pairing="half")
    assert_allclose(got[0], want, **case["tolerance"])
    assert differs(got[0], case["wrong_values"]["ordinary_partial"], case["tolerance"])


def test_ri_090_linear_scaling_turns_position_16_as_position_2():
    case = CASES["RI-090"]
    got = apply_rope([case["inputs"]["x"]], *cos_sin(rotation_angles([16], linear(4, factor=8).inv_freq)))
    assert_allclose(got[0], case["expected"], **case["tolerance"])
    for wrong in case["wrong_values"].values():
        assert differs(got[0], wrong, case["tolerance"])


def test_ri_092_base_of_ntk_slows_the_last_pair_by_alpha():
    case = CASES["RI-092"]
    base, inv_freq = ntk_base(128, factor=8), ntk(128, factor=8).inv_freq
    got = [base, inv_freq[0], inv_freq[-1], inverse_frequencies(128)[-1] / 8]
    assert_allclose(got, list(case["expected"].values()), **case["tolerance"])
    for wrong in case["wrong_values"].values():
        assert differs(got, list(wrong.values()), case["tolerance"])


def test_ri_094_dynamic_base_is_unchanged_up_to_the_original_length():
    case = CASES["RI-094"]
    speeds = [
        dynamic_ntk(64, 1000.0, factor=2, original_length=2048, seq_len=length).inv_freq
        for length in case["inputs"]["lengths"]
    ]
    bases = [each[1] ** -32 for each in speeds]  # the speed of pair 1 is b ** (-2 / 64)
    assert_allclose(bases, case["expected"], **case["tolerance"])
    for wrong in case["wrong_values"].values():
        assert differs(bases, wrong, case["tolerance"])


def test_ri_096_cached_keys_need_the_speeds_of_the_query():
    case = CASES["RI-096"]
    now, then = (dynamic_ntk(4, factor=2, original_length=8, seq_len=length).inv_freq for length in (12, 8))
    ones, tolerance = np.ones((1, 4)), case["tolerance"]
    query = apply_rope(ones, *cos_sin(rotation_angles([11], now)))
    scores = [
        attention_scores(query, apply_rope(ones, *cos_sin(rotation_angles([3], speeds))), scale=1)[0, 0]
        for speeds in (now, then)
    ]
    assert_allclose(now[1] ** -2, case["expected"]["base_12"], **tolerance)
    assert_allclose(scores[0], case["expected"]["score"], **tolerance)
    assert_allclose(scores[1], case["wrong_values"]["key_cached_with_old_base"]["score"], **tolerance)
    assert differs(*scores, tolerance)


def test_ri_100_range_without_rounding():
    case = CASES["RI-100"]
    got = ramp_bounds(64, 150000.0, original_length=4096, truncate=False)
    assert_allclose(got, case["expected"], **case["tolerance"])
    for wrong in case["wrong_values"].values():
        assert differs(got, wrong, case["tolerance"])
    assert_array_equal(ramp_bounds(64, 150000.0, original_length=4096), [8, 18])


def test_ri_102_range_comes_from_the_original_length():
    case = CASES["RI-102"]
    low, high = ramp_bounds(64, original_length=4096)
    inv_freq, plain = yarn(64, factor=40, original_length=4096).inv_freq, inverse_frequencies(64)
    assert (low, high) == (case["expected"]["low"], case["expected"]["high"])
    assert_array_equal(inv_freq[:11], plain[:11])
    assert_array_equal(inv_freq[23:], plain[23:] / 40)
    got = inv_freq[[0, 10, 15, 23, 31]]
    assert_allclose(got, case["expected"]["inv_0_10_15_23_31"], **case["tolerance"])
    for wrong in case["wrong_values"].values():
        assert differs(got, wrong["inv_0_10_15_23_31"], case["tolerance"])


def test_ri_104_empty_range_is_a_step():
    case = CASES["RI-104"]
    assert_array_equal(ramp_bounds(8, original_length=6), [0, 0])
    assert_allclose(yarn(8, factor=4, original_length=6).inv_freq, case["expected"], **case["tolerance"])


def test_ri_106_weights_of_deepseek():
    case = CASES["RI-106"]

    def factors(factor, **weights):
        return yarn(64, factor=factor, original_length=4096, **weights)[1:]

    a, _ = factors(16, mscale=1, mscale_all_dim=1)
    b, softmax_b = factors(40, mscale=0.707, mscale_all_dim=0.707)
    c, _ = factors(40, mscale=1, mscale_all_dim=0.707)
    d, _ = factors(40, mscale=1)
    _, softmax = factors(40, mscale=1, mscale_all_dim=1)
    got = {"a": a, "b": b, "c": c, "d": d, "softmax_0.707": softmax_b, "softmax_1": softmax}
    assert_allclose(list(got.values()), [case["expected"][key] for key in got], **case["tolerance"])
    for wrong in case["wrong_values"].values():
        assert differs(list(got.values()), [wrong[key] for key in got], case["tolerance"])


@pytest.mark.parametrize("function", [yarn, ntk_by_parts, ramp_bounds])
def test_ri_108_swapped_betas_are_refused(function):
    swapped, factor = CASES["RI-108"]["inputs"], {} if function is ramp_bounds else {"factor": 4}
    with pytest.raises(
        ValueError, match=r"beta_fast must be at least beta_slow, got beta_fast 1\.0 and beta_slow 32\.0"
    ):
        function(64, original_length=4096, **factor, **swapped)


def test_ri_110_llama3_regions():
    case = CASES["RI-110"]
    plain, got = inverse_frequencies(64, 500000.0), llama3(64, 500000.0, factor=32, original_length=8192).inv_freq
    same, divided = np.isclose(got, plain, rtol=1e-14, atol=0), np.isclose(got, plain / 32, rtol=1e-14, atol=0)
    regions = [int(same.sum()), int((~same & ~divided).sum()), int(divided.sum())]
    assert regions == case["expected"]["regions"]
    got = got[case["inputs"]["pairs"]]
    assert_allclose(got, case["expected"]["inv"], **case["tolerance"])
    for wrong in case["wrong_values"].values():
        assert regions != wrong["regions"] or differs(got, wrong["inv"], case["tolerance"])


def test_ri_112_llama3_joins_its_regions():
    case = CASES["RI-112"]
    speeds = case["inputs"]["inv_freq"]  # pair 1 of d = 4 has the speed b ** -0.5
    got = [llama3(4, speed**-2, factor=8, original_length=8192).inv_freq[1] for speed in speeds]
    assert_allclose(got, case["expected"], **case["tolerance"])


def test_ri_120_a_length_of_exactly_the_original_is_short():
    case = CASES["RI-120"]
    lists = {key: case["inputs"][key] for key in ("short_factor", "long_factor")}
    got = [longrope(4, **lists, original_length=4096, seq_len=length).inv_freq for length in case["inputs"]["lengths"]]
    assert_allclose(got, case["expected"], **case["tolerance"])
    for wrong in case["wrong_values"].values():
        assert differs(got, wrong, case["tolerance"])


@pytest.mark.parametrize("wrong", ["short_factor", "long_factor"])
def test_ri_122_lists_have_one_number_for_each_pair(wrong):
    lists = {"short_factor": [1.0] * 48, "long_factor": [1.0] * 48, wrong: [1.0] * 64}
    with pytest.raises(ValueError, match=f"{wrong} must have rotary_dim / 2 = 48 entries, .* got 64 entries"):
        longrope(96, **lists, original_length=4096, seq_len=1)


# Numbers that notebooks and exercises state.


def test_base_of_ntk_for_a_factor_of_eight():
    assert_allclose([ntk_base(128, factor=8), ntk_base(64, factor=8)], [82684.62, 85550.38], rtol=0, atol=0.005)


@pytest.mark.parametrize("ramp", ["index", "rotations"])
def test_yarn_keeps_17_blends_24_and_interpolates_23_pairs(ramp):
    ratio = yarn(128, factor=16, original_length=2048, ramp=ramp).inv_freq / inverse_frequencies(128)
    kept, divided = np.isclose(ratio, 1, rtol=1e-14, atol=0), np.isclose(ratio, 1 / 16, rtol=1e-14, atol=0)
    assert [kept.sum(), (~kept & ~divided).sum(), divided.sum()] == [17, 24, 23]


@pytest.mark.parametrize(
    ("factor", "length", "most", "pair"), [(8, 2048, 2.34, 31), (16, 2048, 3.08, 33), (8, 4096, 2.30, None)]
)
def test_ramp_of_the_paper_and_of_the_code_differ_up_to_threefold(factor, length, most, pair):
    code, paper = (
        ntk_by_parts(128, factor=factor, original_length=length, ramp=ramp).inv_freq for ramp in ("index", "rotations")
    )
    ratio = code / paper
    assert_allclose(ratio.max(), most, rtol=0, atol=0.005)
    assert pair in (None, ratio.argmax())
    assert_array_equal(code[[0, -1]], paper[[0, -1]])


# Where public implementations disagree: whose side is taken.


def test_yarn_blends_as_the_paper_does_not_as_litgpt():
    plain, got = inverse_frequencies(64), yarn(64, factor=8, original_length=4096).inv_freq
    litgpt = plain + plain / 8 - got  # the shares swapped
    assert got[0] == plain[0] and got[-1] == plain[-1] / 8
    assert_allclose(np.max(np.abs(litgpt / got - 1)), 7.0, rtol=1e-12, atol=0)


def test_yarn_ends_its_ramp_at_d_minus_1_as_its_authors_not_at_the_last_pair_as_litgpt_and_earlier_keras_hub():
    # At L = 65,536 and d = 8 the ramp ends beyond the last pair, 3; cut there, that pair would keep nothing.
    assert_array_equal(ramp_bounds(8, original_length=65536), [2, 5])
    keep = np.array([1, 1, 1, 2 / 3])
    got, plain = yarn(8, factor=4, original_length=65536).inv_freq, inverse_frequencies(8)
    assert_allclose(got, plain * (keep + (1 - keep) / 4), rtol=1e-15, atol=0)


@pytest.mark.parametrize("truncate", [True, False])
def test_range_outside_of_the_pairs_keeps_all_or_none_where_released_code_runs_backwards(truncate):
    plain = inverse_frequencies(64, 10.0)
    for length, want in [(2**20, plain), (1, plain / 4)]:
        for ramp in ("index", "rotations"):
            got = yarn(64, 10.0, factor=4, original_length=length, truncate=truncate, ramp=ramp).inv_freq
            assert_array_equal(got, want)


def test_yarn_rounds_its_range_by_default_as_its_authors_and_gpt_oss_does_not():
    rounded, exact = (yarn(64, 150000.0, **GPT_OSS, truncate=truncate).inv_freq for truncate in (True, False))
    assert_array_equal(yarn(64, 150000.0, **GPT_OSS).inv_freq, rounded)
    assert np.max(np.abs(rounded / exact - 1)) > 0.7


def test_dynamic_ntk_follows_the_length_unlike_keras_hub_and_vllm():
    plain = inverse_frequencies(64)
    short, long = (dynamic_ntk(64, factor=2, original_length=2048, seq_len=n).inv_freq for n in (2048, 4096))
    keras_hub = plain / 2 ** (64 / 62)  # one factor for all pairs, whatever the length
    vllm = dynamic_ntk(64, factor=2, original_length=2048, seq_len=2 * 2048).inv_freq  # for the longest length, always
    assert_array_equal(short, plain)
    assert not np.allclose(long, keras_hub, rtol=1e-3, atol=0)
    assert not np.allclose(short, vllm, rtol=1e-3, atol=0)


def test_ntk_has_the_exponent_of_the_definition_unlike_diffusers():
    assert ntk(128, factor=8).inv_freq[-1] < inverse_frequencies(128, 80000.0)[-1]


def test_single_weight_of_deepseek_is_ignored_as_in_transformers_unlike_litgpt_and_deepseek():
    plain = yarn(64, factor=8, original_length=4096)
    over, under = (yarn(64, factor=8, original_length=4096, **{key: 0.707}) for key in ("mscale", "mscale_all_dim"))
    g = 0.0707 * math.log(8) + 1
    assert_allclose(
        over.attention_factor, HF["yarn_mscale_only_x8_d64"]["outputs"]["attention_factor"], rtol=1e-12, atol=0
    )
    assert over.attention_factor == plain.attention_factor != g  # litgpt and DeepSeek take g
    assert under.attention_factor == plain.attention_factor  # DeepSeek and vLLM divide by g, litgpt multiplies
    assert_allclose([over.softmax_factor, under.softmax_factor], [1, g**2], rtol=1e-15, atol=0)
    both_zero = yarn(64, factor=8, original_length=4096, mscale=0, mscale_all_dim=0)
    assert both_zero[1:] == plain[1:]


def test_longrope_chooses_by_position_as_transformers_not_by_input_length_as_keras_hub():
    # One new token at position 5000: keras-hub sees an input of length 1, and takes the short list.
    lists = {"short_factor": [1, 2], "long_factor": [3, 4], "original_length": 4096}
    assert_array_equal(longrope(4, **lists, seq_len=5001).inv_freq, inverse_frequencies(4) / [3, 4])
    assert_array_equal(longrope(4, **lists, seq_len=1).inv_freq, inverse_frequencies(4) / [1, 2])


def test_longrope_has_one_length_factor_for_both_lists():
    lists = {"short_factor": [1, 2], "long_factor": [3, 4], "original_length": 4096, "factor": 32}
    factors = [longrope(4, **lists, seq_len=length).attention_factor for length in (1, 5000)]
    assert factors[0] == factors[1] == math.sqrt(1 + math.log(32) / math.log(4096))


def test_equal_betas_are_a_step_in_both_ramps():
    # Kimi K2 has 1 and 1. The step lies at a pair that makes just one rotation.
    plain = inverse_frequencies(64, 50000.0)
    betas = {"factor": 32, "original_length": 4096, "beta_fast": 1, "beta_slow": 1}
    rounded, exact, turns = (
        yarn(64, 50000.0, **betas, **how).inv_freq / plain for how in ({}, {"truncate": False}, {"ramp": "rotations"})
    )
    low, high = ramp_bounds(64, 50000.0, original_length=4096, beta_fast=1, beta_slow=1, truncate=False)
    assert 19 < low == high < 19.99
    step = np.where(np.arange(32) <= 19, 1, 1 / 32)
    assert_array_equal(step == 1, 4096 * plain > 2 * np.pi)
    assert_allclose([rounded, exact, turns], [step, step, step], rtol=1e-15, atol=0)


# What is refused.

LISTS = {"short_factor": [1.0, 1.0], "long_factor": [1.0, 1.0]}
GOOD = {
    linear: {"factor": 2},
    ntk: {"factor": 2},
    ntk_base: {"factor": 2},
    dynamic_ntk: {"factor": 2, "original_length": 8, "seq_len": 8},
    ramp_bounds: {"original_length": 8},
    ntk_by_parts: {"factor": 2, "original_length": 8},
    ntk_by_parts_v1: {"factor": 2, "original_length": 8},
    yarn: {"factor": 2, "original_length": 8},
    llama3: {"factor": 2, "original_length": 8},
    longrope: {"factor": 2, "original_length": 8, "seq_len": 8, **LISTS},
    proportional: {"factor": 2},
}
BAD = [
    (ntk, {"rotary_dim": 2}, "rotary_dim must be at least 4, .* got 2"),
    (dynamic_ntk, {"rotary_dim": 2}, "rotary_dim must be at least 4, .* got 2"),
    (ntk_by_parts_v1, {"rotary_dim": 2}, "rotary_dim must be at least 4, .* got 2"),
    (ntk, {"factor": 1e300}, "factor must give a base that float64 can hold, got 1e.300"),
    (ramp_bounds, {"base": 1.0}, "base must be above 1, .* got 1.0"),
    (yarn, {"base": 0.5}, "base must be above 1, .* got 0.5"),
    (dynamic_ntk, {"seq_len": 0}, "seq_len must be positive, got 0"),
    (dynamic_ntk, {"seq_len": 8.5}, "seq_len must be an integer, got 8.5"),
    (longrope, {"seq_len": -1}, "seq_len must be positive, got -1"),
    (yarn, {"beta_slow": 0}, "beta_slow must be positive"),
    (yarn, {"beta_fast": None}, "beta_fast must be a number, got None"),
    (yarn, {"truncate": 1}, "truncate must be True or False, got 1"),
    (yarn, {"ramp": "paper"}, "ramp must be 'index' or 'rotations', got 'paper'"),
    (ntk_by_parts, {"ramp": None}, "ramp must be 'index' or 'rotations', got None"),
    (yarn, {"extrapolation_factor": 1.5}, "extrapolation_factor must be between 0 and 1, got 1.5"),
    (yarn, {"extrapolation_factor": -0.5}, "extrapolation_factor must be positive"),
    (ntk_by_parts_v1, {"ntk_factor": 2}, "ntk_factor must be between 0 and 1, got 2"),
    (yarn, {"mscale": -1}, "mscale must be positive"),
    (yarn, {"mscale_all_dim": "1"}, "mscale_all_dim must be a number, got '1'"),
    (yarn, {"attention_factor": 0}, "attention_factor must be positive"),
    (longrope, {"attention_factor": math.nan}, "attention_factor must be positive"),
    (
        llama3,
        {"low_freq_factor": 5},
        "high_freq_factor must be at least low_freq_factor, got 4.0 and low_freq_factor 5.0",
    ),
    (llama3, {"low_freq_factor": 0}, "low_freq_factor must be positive"),
    (llama3, {"high_freq_factor": None}, "high_freq_factor must be a number, got None"),
    (longrope, {"original_length": 1}, "original_length must be at least 2, .* got 1"),
    (longrope, {"long_factor": [1.0, 0.0]}, "long_factor must hold positive numbers, got 0.0"),
    (longrope, {"long_factor": [[1.0, 1.0]]}, r"long_factor must have .* got shape \(1, 2\)"),
    (longrope, {"short_factor": [1.0, math.inf]}, "short_factor must be finite, got inf"),
    (longrope, {"short_factor": ["a", "b"]}, "short_factor must hold real numbers"),
    (longrope, {"short_factor": None}, "short_factor must hold real numbers"),
    (proportional, {"partial_rotary_factor": 0}, "partial_rotary_factor must turn at least one of 2 pairs, got 0"),
    (proportional, {"partial_rotary_factor": 0.3}, "partial_rotary_factor must turn at least one of 2 pairs, got 0.3"),
    (proportional, {"partial_rotary_factor": 1.1}, "partial_rotary_factor must be between 0 and 1, got 1.1"),
]
COMMON = [
    ({"rotary_dim": 5}, "rotary_dim must be even, got 5"),
    ({"rotary_dim": 4.0}, "rotary_dim must be an integer, got 4.0"),
    ({"base": -1.0}, "base must be positive"),
    ({"base": "1e4"}, "base must be a number, got '1e4'"),
    ({"factor": 0.99}, "factor must be at least 1, got 0.99"),
    ({"factor": 0}, "factor must be positive"),
    ({"factor": math.nan}, "factor must be positive"),
    ({"factor": True}, "factor must be a number, got True"),
    ({"original_length": 0}, "original_length must be positive, got 0"),
    ({"original_length": 8.0}, "original_length must be an integer, got 8.0"),
]
BAD += [
    (function, change, message)
    for function, good in GOOD.items()
    for change, message in COMMON
    if change.keys() <= good.keys() | {"rotary_dim", "base"}
]


@pytest.mark.parametrize("function", GOOD)
def test_good_arguments_pass(function):
    assert function(4, 100.0, **GOOD[function])


@pytest.mark.parametrize(("function", "change", "message"), BAD, ids=lambda value: getattr(value, "__name__", None))
def test_bad_argument_is_named(function, change, message):
    arguments = {"rotary_dim": 4, "base": 100.0, **GOOD[function], **change}
    with pytest.raises((TypeError, ValueError), match=f"^{message}"):
        function(arguments.pop("rotary_dim"), arguments.pop("base"), **arguments)
