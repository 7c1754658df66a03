"""Every planted fault is named, every public layout recognized, and nothing is claimed that another cause explains."""

import json
import pickle

import ml_dtypes
import numpy as np
import pytest
from numpy.testing import assert_allclose
from oracles import DTYPES
from places import DATA

import rope_ref
from rope_ref import RotaryEmbedding, absolute, apply_rope, cos_sin, inverse_frequencies, rotation_angles, scaling
from rope_ref.diagnosis import diagnose
from rope_ref.faults import FAULTS, Turn, round_to_bits
from rope_ref.pairing import join_pairs, split_pairs, to_half, to_interleaved

GOLDEN = json.loads((DATA / "apply_layouts.json").read_text("utf-8"))
NAMES = {name: getattr(rope_ref, name) for name in rope_ref.__all__}
NAMES |= {"scaling": scaling, "FAULTS": FAULTS, "Turn": Turn, "np": np}
IDS = np.arange(16)
OWN = inverse_frequencies(32)


def random(*shape, dtype=np.float32, seed=0):
    return np.random.default_rng(seed).standard_normal(shape).astype(dtype)


def rope(x, ids, inv_freq, factor=1.0, pairing="interleaved"):
    return apply_rope(x, *cos_sin(rotation_angles(ids, inv_freq), attention_factor=factor), pairing=pairing)


def causes(found):
    """What each explanation finds wrong."""
    return [each.faults for each in found.explanations]


def check_calls(found, x, y, ids, atol=3e-6):
    """Each explanation has a call, and the call gives `y` back."""
    assert found.explanations
    for each in found.explanations:
        got = eval(each.call, {**NAMES, "x": x, "position_ids": ids, "round_to_bits": round_to_bits})
        assert_allclose(np.asarray(got, np.float64), np.asarray(y, np.float64), rtol=0, atol=atol, err_msg=each.call)
        assert each.error <= 1


# Planted faults --------------------------------------------------------------------------------------------------

MIXED = [("table of the other pairing",), ("quarter turn of the other pairing",)]
CAUSES = {  # all that can have made the same output, in any order
    "concatenated output": [("concatenated output",)],
    "other pairing": [(), ("other pairing",)],
    "table of the other pairing": MIXED,
    "quarter turn of the other pairing": MIXED,
    "in place overwrite": [("in place overwrite",)],
    "cos and sin swapped": [("cos and sin swapped",)],
    "opposite direction": [("opposite direction",)],
    "lost minus": [("lost minus",)],
    "applied twice": [("applied twice",), ("turned too fast",)],
    "added instead of rotated": [("added instead of rotated",)],
    "exponent too small": [("exponent too small",), ("wrong base",)],
    "exponent too large": [("exponent too large",), ("wrong base",)],
    "index from one": [("index from one",), ("linear scaling",)],
    "wrong base": [("wrong base",)],
    "reversed frequencies": [("reversed frequencies",)],
    "positions from one": [("positions from one",)],
    "positions along the head axis": [("positions along the head axis",)],
    "bfloat16 positions": [("bfloat16 positions",)],
    "float16 angles": [("float16 angles",)],
}
POSITIONS = {
    "a run": np.arange(300, 316),
    "to 4096": np.sort(np.random.default_rng(1).choice(4097, 40, replace=False)),
    "unordered": np.random.default_rng(2).permutation(400)[:64],
}


@pytest.mark.parametrize("ids", POSITIONS.values(), ids=POSITIONS)
@pytest.mark.parametrize("name", FAULTS)
def test_planted_fault_is_named_with_all_else_that_may_have_caused_it(name, ids):
    for dtype in (np.float32, np.float64):
        x = random(2, len(ids), 32, dtype=dtype)
        y = FAULTS[name].rotate(x, ids).astype(dtype)
        found = diagnose(x, y, ids, base=10000.0, rotary_dim=32)
        assert sorted(causes(found)) == sorted(CAUSES[name])
        assert name in found.faults
        assert name in str(found)
        check_calls(found, x, y, ids)


@pytest.mark.parametrize("base", [150.0, 7654.321, 2e6])
@pytest.mark.parametrize("sign", [1, -1])
def test_another_base_is_found_at_positions_far_apart(sign, base):
    ids, x = np.arange(0, 4097, 63), random(66, 32)
    found = diagnose(x, rope(x, ids, sign * inverse_frequencies(32, base)), ids, base=10000.0)
    assert causes(found) == [("wrong base",) if sign == 1 else ("opposite direction", "wrong base")]
    assert_allclose(found.base, base, rtol=5e-6, atol=0)


@pytest.mark.parametrize("name", FAULTS)
def test_planted_fault_is_named_with_nothing_given(name):
    x = random(2, 16, 32)
    y = FAULTS[name].rotate(x, IDS).astype(np.float32)
    found = diagnose(x, y)
    if name not in (
        "wrong base",
        "bfloat16 positions",
    ):  # with nothing given, and below 256, nothing is wrong with these
        assert name in found.faults
    check_calls(found, x, y, IDS)


@pytest.mark.parametrize("name", ["lost minus", "in place overwrite"])
def test_planted_fault_is_named_in_the_other_pairing(name):
    x = random(16, 32)
    y = to_half(FAULTS[name].rotate(to_interleaved(x), IDS)).astype(np.float32)
    found = diagnose(x, y, IDS, base=10000.0)
    assert causes(found) == [(name,)]
    assert found.pairing == "half"
    check_calls(found, x, y, IDS)


@pytest.mark.parametrize("name", sorted(set(FAULTS) - {"positions along the head axis", "bfloat16 positions"}))
def test_no_planted_fault_passes_for_right_unless_it_says_what_was_meant(name):
    x = random(16, 32)
    found = diagnose(x, FAULTS[name].rotate(x, IDS).astype(np.float32), IDS, base=10000.0, rotary_dim=32)
    assert found.right == (name == "other pairing")


def test_positions_held_in_bfloat16_look_right_where_they_are_right():
    x = random(16, 32)
    assert diagnose(x, FAULTS["bfloat16 positions"].rotate(x, IDS).astype(np.float32), IDS, base=10000.0).right


# Right outputs ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.float16, ml_dtypes.bfloat16])
@pytest.mark.parametrize("pairing", ["interleaved", "half"])
@pytest.mark.parametrize("shape", [(16, 48), (4, 2, 16, 48)])
def test_right_output_is_called_right_with_its_error_against_the_bound(shape, pairing, dtype):
    x = random(*shape, dtype=dtype)
    y = rope(x, IDS, inverse_frequencies(32), pairing=pairing)
    for given in ({"base": 10000.0, "rotary_dim": 32}, {}):
        found = diagnose(x, y, IDS, **given)
        assert found.right
        assert found.rope
        assert 0 < found.error <= 1 or dtype == np.float64
        assert f"bound for {np.dtype(dtype).name}" in found.verdict
        assert (found.pairing, found.rotary_dim, found.base, found.offset) == (pairing, 32, 10000.0, 0)


def test_error_is_the_distance_in_bounds():
    x = random(16, 32)
    exact = rope(x.astype(np.float64), IDS, OWN)
    lengths = np.hypot(*split_pairs(x.astype(np.float64)))
    y = rope(x, IDS, OWN)
    ratio = np.abs(y - exact) / (3.4 * join_pairs(lengths, lengths) * 2.0**-24)
    assert_allclose(diagnose(x, y, IDS, base=10000.0).error, ratio.max(), rtol=1e-6, atol=0)


def test_output_of_another_dtype_is_held_against_the_coarser_one():
    x = random(16, 48, dtype=np.float64)
    y = rope(x, IDS, OWN).astype(np.float16)
    found = diagnose(x, y, IDS, base=10000.0, rotary_dim=32)
    assert found.right
    assert found.dtype == "float16"


def test_ids_of_a_batch_meet_the_batch():
    ids = np.array([[0, 0, 0, 1, 2, 3, 4, 5], [0, 1, 2, 3, 4, 5, 6, 7]])
    x = random(2, 2, 8, 16)
    own = inverse_frequencies(16)
    assert diagnose(x, rope(x, ids, own), ids, base=10000.0).right
    assert causes(diagnose(x, rope(x, np.arange(8), own), ids, base=10000.0)) == [("positions counted anew from 0",)]
    first = [("positions of the first sequence for all",)]
    assert causes(diagnose(x, rope(x, ids[0], own), ids, base=10000.0)) == first
    assert diagnose(x[:1], rope(x[:1], ids[:1], own), ids[:1], base=10000.0).right


def setting(seed):
    """A random setting, and 16 tokens turned by it."""
    rng = np.random.default_rng(seed)
    width = 2 * int(rng.integers(4, 65))
    want = {
        "pairing": str(rng.choice(["interleaved", "half"])),
        "rotary_dim": width,
        "base": float(np.exp(rng.uniform(np.log(100), np.log(1e7)))),
        "offset": int(rng.integers(0, 2001)),
        "attention_factor": float(rng.choice([1.0, rng.uniform(0.8, 1.6)])),
    }
    x = rng.standard_normal((16, width + 16 * int(rng.integers(0, 3))), dtype=np.float32)
    angles = IDS + want["offset"], inverse_frequencies(width, want["base"])
    return x, rope(x, *angles, want["attention_factor"], want["pairing"]), want


def test_thousand_random_settings_are_recovered_with_nothing_given():
    missed = []
    for seed in range(1000):
        x, y, want = setting(seed)
        found = diagnose(x, y)
        close = found.right and all(
            abs(getattr(found, name) / want[name] - 1) < 5e-6 for name in ("base", "attention_factor")
        )
        same = found.right and all(getattr(found, name) == want[name] for name in ("pairing", "rotary_dim", "offset"))
        missed += [] if close and same else [(seed, want, found.verdict)]
    assert missed == []


# Layouts of public implementations -------------------------------------------------------------------------------

LAYOUTS = {
    "half-split": ("half", "half", 1),
    "interleaved": ("interleaved", "interleaved", 1),
    "interleaved in, half-split out": ("interleaved", "half", 1),
    "half-split, rotates by -theta": ("half", "half", -1),
}


@pytest.mark.parametrize("case", GOLDEN["cases"], ids=lambda case: case["name"])
def test_layout_of_a_public_implementation_is_recognized(case):
    x, y = (np.array(each["data"], each["dtype"]).reshape(each["shape"]) for each in (GOLDEN["input"], case["output"]))
    params, ids = case["params"], case["positions"]
    for given in ({"base": float(params["base"]), "rotary_dim": params["rotary_dim"]}, {}):
        found = diagnose(x, y, ids, **given)
        assert found.rope
        assert (found.pairing, found.written, found.direction) == LAYOUTS[case["pair_layout"]]
        assert (found.rotary_dim, found.start, found.offset) == (params["rotary_dim"], params.get("start_index", 0), 0)
        assert_allclose(found.base, 10000.0, rtol=1e-5, atol=0)
        check_calls(found, x, y, np.array(ids), atol=2e-5)


def test_base_next_to_the_one_meant_is_not_called_wrong_for_certain():
    # MLX rounds its frequencies: base 9999.9964 fits better than 10000 with angles in single precision, but both fit.
    case = next(case for case in GOLDEN["cases"] if case["name"] == "mlx_traditional_True")
    x, y = (np.array(each["data"], each["dtype"]).reshape(each["shape"]) for each in (GOLDEN["input"], case["output"]))
    found = diagnose(x, y, case["positions"], base=10000.0)
    assert causes(found) == [("float32 angles",), ("wrong base",)]
    assert "certain" not in found.sure.partition(";")[0]


# Other frequencies -----------------------------------------------------------------------------------------------

SCALED = {
    "linear scaling": scaling.linear(128, factor=4),
    "NTK scaling": scaling.ntk(128, factor=8),
    "YaRN scaling": scaling.yarn(128, factor=16, original_length=4096),
    "NTK-by-parts scaling": scaling.ntk_by_parts(128, factor=4, original_length=2048),
    "Llama 3 scaling": scaling.llama3(128, factor=8, original_length=8192),
    "pairs that stand still": scaling.proportional(128, partial_rotary_factor=0.25),
}


@pytest.mark.parametrize("base", [10000.0, None])
@pytest.mark.parametrize("name", SCALED)
def test_scaled_frequencies_are_named(name, base):
    x, ids, scaled = random(2, 32, 128), np.arange(32), SCALED[name]
    # Interleaved pairs that stand still at the end cannot be told from a smaller width.
    y = rope(x, ids, scaled.inv_freq, scaled.attention_factor, "half" if "still" in name else "interleaved")
    found = diagnose(x, y, ids, base=base)
    if name == "NTK scaling" and base is None:  # then it is a base like any other
        assert found.right
        assert_allclose(found.base, scaling.ntk_base(128, factor=8), rtol=1e-6, atol=0)
    else:
        assert causes(found)[0] == (name,)
        assert all(name in faults or "wrong base" in faults for faults in causes(found))
    check_calls(found, x, y, ids)


def test_number_of_yarn_is_found_with_the_bounds_of_its_ramp():
    scaled = scaling.yarn(128, 500000.0, factor=8, original_length=8192, truncate=False)
    x, ids = random(2, 32, 128), np.arange(32)
    y = rope(x, ids, scaled.inv_freq, scaled.attention_factor)
    call = diagnose(x, y, ids, base=500000.0).explanations[0].call
    assert "scaling.yarn(128, 500000.0, factor=8.0, original_length=8192, truncate=False)" in call


def test_width_of_the_head_in_the_exponent_is_another_base_too():
    x = random(16, 96)
    y = rope(x, IDS, inverse_frequencies(96)[:16])
    found = diagnose(x, y, IDS, base=10000.0, rotary_dim=32)
    assert causes(found) == [("width of the head in the exponent",), ("wrong base",)]
    assert_allclose(found.explanations[1].base, 10000 ** (1 / 3), rtol=1e-9, atol=0)
    check_calls(found, x, y, IDS)


def test_exponent_fault_without_a_base_is_listed_beside_the_base_it_equals():
    x = random(16, 32)
    found = diagnose(x, rope(x, IDS, inverse_frequencies(32, 100.0)))
    assert found.right
    assert causes(found) == [(), ("exponent too small",)]
    assert [each.base for each in found.explanations] == [100.0, 10000.0]
    assert "one and the same function" in found.apart


def test_frequencies_of_no_law_are_measured():
    speeds = np.sort(np.random.default_rng(3).uniform(0.01, 1, 16))[::-1]
    x = random(2, 16, 32)
    found = diagnose(x, rope(x, IDS, speeds), IDS, base=10000.0)
    assert causes(found) == [("frequencies of no known law",)]
    assert_allclose(found.inv_freq, speeds, rtol=0, atol=1e-7)
    assert found.base is None
    assert "likely" in found.sure


# Positions and widths --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("offset", [-3, 2, 1500, 100_000, -7.5])
def test_offset_of_the_positions_is_found(offset):
    x = random(16, 32)
    y = rope(x, IDS + offset, OWN)
    found = diagnose(x, y, IDS, base=10000.0)
    assert causes(found) == [("positions off by a constant",)]
    assert found.offset == offset
    check_calls(found, x, y, IDS, atol=1e-5)
    alone = diagnose(x, y)
    assert alone.right
    assert alone.offset == offset


def test_ignored_positions_are_named_with_the_one_that_was_taken():
    x = random(16, 32)
    y = rope(x, 3, OWN)
    found = diagnose(x, y, IDS, base=10000.0)
    assert causes(found) == [("positions ignored",)]
    assert found.offset == 3
    check_calls(found, x, y, IDS)


def test_positions_along_the_head_axis_are_told_where_it_is_as_long_as_the_sequence():
    x = random(2, 8, 8, 32)
    y = FAULTS["positions along the head axis"].rotate(x, np.arange(8)).astype(np.float32)
    assert causes(diagnose(x, y, np.arange(8), base=10000.0)) == [("positions along the head axis",)]


def test_other_width_than_was_meant_is_a_fault():
    x = random(16, 32)
    y = rope(x, IDS, inverse_frequencies(16))
    assert causes(diagnose(x, y, IDS, base=10000.0, rotary_dim=32)) == [("wrong width",)]
    assert diagnose(x, y, IDS, base=10000.0).right


def test_width_is_found_where_slow_pairs_turn_too_little_to_be_seen():
    x = random(16, 96, dtype=ml_dtypes.bfloat16)
    y = rope(x, IDS, inverse_frequencies(64, 1e9), pairing="half")
    assert (y[:, 60:] == x[:, 60:]).all()
    found = diagnose(x, y, IDS, base=1e9)
    assert found.right
    assert found.rotary_dim == 64


def test_head_of_odd_width_is_read():
    x = random(16, 27)
    found = diagnose(x, rope(x, IDS, inverse_frequencies(20)), IDS, base=10000.0)
    assert found.right
    assert found.rotary_dim == 20


def test_positions_that_are_not_given_are_not_made_up():
    ids = np.random.default_rng(3).uniform(0, 1000, 16)
    x = random(2, 16, 8)
    found = diagnose(x, rope(x, ids, inverse_frequencies(8)))
    assert found.verdict.startswith("RoPE, but unexplained: interleaved pairs keep their length")
    assert found.explanations == ()


def test_length_factor_is_measured():
    x = random(16, 32)
    found = diagnose(x, rope(x, IDS, OWN, 1.2079), IDS, base=10000.0)
    assert found.right
    assert found.attention_factor == 1.2079
    assert "times 1.2079" in found.verdict


# Precision -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("start", [3000, 100_000])
def test_angles_in_single_precision_are_named_at_long_positions(start):
    x, ids = random(4, 64, 32), start + np.arange(64)
    inv_freq = 1 / np.float32(10000) ** (np.arange(0, 32, 2, dtype=np.float32) / np.float32(32))
    angles = np.multiply.outer(ids.astype(np.float32), inv_freq)
    y = apply_rope(x, np.cos(angles), np.sin(angles))
    for given in ((ids, 10000.0), (ids, None), (None, None)):
        found = diagnose(x, y, given[0], base=given[1])
        assert causes(found) == [("float32 angles",)]
        assert found.sure.startswith("likely")
        assert found.base == 10000.0


@pytest.mark.parametrize("dtype", [np.float16, ml_dtypes.bfloat16])
def test_half_precision_is_named_by_what_was_rounded(dtype):
    name, ids = np.dtype(dtype).name, np.arange(64)
    tables = [table.astype(dtype) for table in cos_sin(rotation_angles(ids, OWN))]
    x = random(2, 64, 32)
    y = apply_rope(x, *(table.astype(np.float32) for table in tables))
    found = diagnose(x, y, ids, base=10000.0)
    assert causes(found) == [(f"{name} tables",)]
    check_calls(found, x, y, ids)
    first, second = split_pairs(x.astype(dtype))
    y = join_pairs(first * tables[0] - second * tables[1], first * tables[1] + second * tables[0])
    found = diagnose(x.astype(dtype), y, ids, base=10000.0)
    assert causes(found) == [(f"computed in {name}",)]
    assert found.sure.startswith("likely")


def test_bits_for_each_dtype_round_as_the_dtype_does():
    values = random(200, dtype=np.float64)
    assert_allclose(round_to_bits(values, 11), values.astype(np.float16).astype(np.float64), rtol=0, atol=2**-24)
    assert_allclose(round_to_bits(values, 8), values.astype(ml_dtypes.bfloat16).astype(np.float64), rtol=0, atol=0)


# What is not RoPE ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(20))
@pytest.mark.parametrize("shape", [(2, 2), (16, 8), (2, 16, 32), (1, 4)])
def test_random_data_is_not_rope(shape, seed):
    found = diagnose(random(*shape, seed=seed), random(*shape, seed=1000 + seed))
    assert found.verdict == "not RoPE"
    assert not found.rope


def test_reordered_features_are_not_rope():
    x = random(2, 16, 32)
    for order in (np.random.default_rng(0).permutation(32), to_half(np.arange(32)), np.arange(32)[::-1]):
        assert diagnose(x, x[..., order]).verdict == "not RoPE: features are only reordered"


def test_position_vector_added_is_not_rope():
    x, vector = random(2, 16, 32), random(16, 32, seed=5)
    found = diagnose(x, x + vector)
    assert found.verdict.startswith("not RoPE: the same vector is added")
    assert diagnose(x[0], x[0] + vector).verdict == "not RoPE"


@pytest.mark.parametrize("layout", ["interleaved", "concatenated"])
@pytest.mark.parametrize("base", [10000.0, None])
def test_sinusoidal_vector_added_is_called_so(base, layout):
    x = random(16, 32)
    y = (x + absolute.sinusoidal(IDS, 32, layout=layout)).astype(np.float32)
    found = diagnose(x, y, IDS, base=base)
    assert found.verdict == "not RoPE: added instead of rotated"
    assert not found.rope
    check_calls(found, x, y, IDS)


def test_one_pair_at_one_position_is_too_little_to_tell():
    found = diagnose(random(1, 2), random(1, 2, seed=1))
    assert found.verdict == "too little to tell"
    assert not found.rope


def test_output_that_is_the_input_is_not_called_right():
    x = random(16, 32)
    found = diagnose(x, x, IDS, base=10000.0)
    assert found.verdict == "nothing is turned: the output is the input"
    assert not found.rope
    assert causes(found) == [("positions ignored",), ("positions along the head axis",)]
    assert causes(diagnose(x[None, None].repeat(2, axis=1), x[None, None].repeat(2, axis=1))) == [
        ("positions ignored",)
    ]
    assert "2 times the input" in diagnose(x, 2 * x, IDS).verdict
    still = diagnose(x, x, np.zeros(16))
    assert still.right
    assert "position 0" in still.sure


def test_output_right_in_most_places_says_where_it_is_not():
    # Far beyond the rows from which the hands are read.
    x = random(25, 200, 32)
    y = rope(x, np.arange(200), OWN, pairing="half")
    y[21, 150, 5] += 0.01
    for given in ((np.arange(200), 10000.0), (None, None)):
        found = diagnose(x, y, given[0], base=given[1])
        assert not found.right
        assert "all but 1 of 160,000 features are right in half-split pairs" in found.verdict
        assert "row 21, token 150, feature 5" in found.sure


@pytest.mark.parametrize("scale", [1e-5, 1e-3])
def test_noise_above_the_bound_is_never_right(scale):
    x = random(2, 16, 32)
    y = rope(x, IDS, OWN) + (scale * random(2, 16, 32, seed=9)).astype(np.float32)
    found = diagnose(x, y, IDS, base=10000.0)
    assert not found.right
    assert found.explanations == ()


# What is said of what is left open --------------------------------------------------------------------------------


def test_cause_stays_open_where_two_faults_are_one_function():
    x = random(16, 32)
    found = diagnose(x, FAULTS["index from one"].rotate(x, IDS).astype(np.float32), IDS, base=10000.0)
    assert found.sure == "the function is certain, its cause is open"
    assert found.apart.startswith("No input tells these apart")


def test_position_that_tells_explanations_apart_does_so():
    x = random(1, 64)
    found = diagnose(x, rope(x, [7], inverse_frequencies(64)), None)
    assert len(found.explanations) > 1
    assert found.apart == "A token at position 1 would tell them apart."
    one = random(1, 64, seed=3)
    outputs = [
        eval(each.call.replace("np.arange(1)", "np.array([1])"), {**NAMES, "x": one}) for each in found.explanations
    ]
    assert np.abs(outputs[0] - outputs[1]).max() > 0.01


def test_what_a_right_input_cannot_show_is_said():
    x = random(1, 4)
    found = diagnose(x, rope(x, [0.0], inverse_frequencies(4)) * np.float32(1), [0.0], base=10000.0)
    assert found.right
    assert "whatever base and pairing" in found.sure
    x = np.zeros((4, 4), np.float32)
    x[:, :2] = random(4, 2)  # only the fastest pair is seen, and every exponent gives it the same speed
    found = diagnose(x, rope(x, np.arange(4), inverse_frequencies(4)), np.arange(4), base=10000.0, rotary_dim=4)
    assert found.right
    assert "this input cannot show" in found.sure


def test_report_reads_as_text():
    x = random(16, 32)
    y = FAULTS["positions from one"].rotate(x, IDS).astype(np.float32)
    text = str(diagnose(x, y, IDS, base=10000.0))
    for part in (
        "RoPE, but positions from one",
        "Sure: certain",
        "1. positions from one: Positions count from 1.",
        "interleaved pairs, 32 features from feature 0",
        "base 10000",
        "offset 1",
        "of the bound",
        "apply_rope(x, *cos_sin(rotation_angles(position_ids + 1, inverse_frequencies(32, 10000.0))))",
    ):
        assert part in text


def test_report_survives_pickling_and_passes_on_only_what_it_has():
    x = random(16, 32)
    found = pickle.loads(pickle.dumps(diagnose(x, rope(x, IDS, OWN))))
    assert found.base == 10000.0
    with pytest.raises(AttributeError, match="nonsense"):
        found.nonsense  # noqa: B018
    with pytest.raises(AttributeError, match="needs one"):
        diagnose(x, random(16, 32, seed=1)).base  # noqa: B018


@pytest.mark.parametrize(
    ("error", "match", "arguments", "keywords"),
    [
        (
            ValueError,
            r"x and y must have one shape .* got \(3, 4\) and \(2, 4\)",
            (np.ones((3, 4)), np.ones((2, 4))),
            {},
        ),
        (ValueError, "x and y must have one shape", (np.ones(4), np.ones(4)), {}),
        (ValueError, "not empty", (np.ones((0, 4)), np.ones((0, 4))), {}),
        (ValueError, "a pair of features", (np.ones((3, 1)), np.ones((3, 1))), {}),
        (TypeError, "x must be of float16", (np.ones((3, 4), int), np.ones((3, 4))), {}),
        (TypeError, "y must be of float16", (np.ones((3, 4)), np.ones((3, 4), complex)), {}),
        (ValueError, "y must be finite", (np.ones((3, 4)), np.full((3, 4), np.nan)), {}),
        (ValueError, "x must be finite", (np.full((3, 4), np.inf), np.ones((3, 4))), {}),
        (ValueError, r"position_ids must have shape .* got \(2,\)", (np.ones((3, 4)), np.ones((3, 4)), [0, 1]), {}),
        (ValueError, "position_ids must have shape", (np.ones((3, 4)), np.ones((3, 4)), np.ones((4, 3))), {}),
        (TypeError, "position_ids must hold real", (np.ones((3, 4)), np.ones((3, 4)), [True] * 3), {}),
        (ValueError, "base must be positive", (np.ones((3, 4)), np.ones((3, 4))), {"base": -1}),
        (TypeError, "base must be a number", (np.ones((3, 4)), np.ones((3, 4))), {"base": "10000"}),
        (ValueError, "rotary_dim must be even", (np.ones((3, 4)), np.ones((3, 4))), {"rotary_dim": 3}),
        (ValueError, "rotary_dim must be at most", (np.ones((3, 4)), np.ones((3, 4))), {"rotary_dim": 6}),
    ],
)
def test_wrong_input_gets_a_clear_error(error, match, arguments, keywords):
    with pytest.raises(error, match=match):
        diagnose(*arguments, **keywords)


def test_exponents_counted_from_one_are_named_beside_linear_scaling():
    x = random(16, 64)
    inv_freq = 10000.0 ** (-(2 * np.arange(1, 33) - 1) / 64)  # stanford-cs336/assignment1-basics 22, case RI-020
    found = diagnose(x, rope(x, IDS, inv_freq), IDS, base=10000.0)
    assert set(causes(found)) == {("exponent (2i - 1) / d, i from 1",), ("linear scaling",)}


def test_a_wrong_base_is_not_called_that_of_one_model():
    x = random(16, 64)
    found = diagnose(x, rope(x, IDS, inverse_frequencies(64, 700.0)), IDS, base=10000.0)
    assert "wrong base: The base is that of another model." in str(found) and "fifty" not in str(found)


def test_a_block_at_an_offset_is_a_fault_where_a_width_is_given():
    x = random(16, 64)
    y = x.copy()
    y[:, 8:40] = rope(x[:, 8:40], IDS, OWN)
    assert causes(diagnose(x, y, IDS, base=10000.0, rotary_dim=32)) == [("block at an offset",)]
    assert causes(diagnose(x, y, IDS, base=10000.0)) == [()]


@pytest.mark.parametrize(
    "wrong", ["yarn", [1.0, 0.1], {"factor": 4.0}, np.ones(4)], ids=["text", "list", "dict", "array"]
)
def test_scaling_that_is_none_is_refused(wrong):
    x = np.random.default_rng(0).standard_normal((4, 8))
    with pytest.raises(TypeError, match="scaling must be a Scaling or a RopeConfig, got"):
        diagnose(x, x, scaling=wrong)


@pytest.mark.parametrize("wide", [np.float32, np.float64], ids=lambda dtype: dtype.__name__)
@pytest.mark.parametrize("narrow", ["float32", "float16", "bfloat16"])
def test_arrays_handed_over_in_a_wider_dtype_are_judged_by_what_they_were_rounded_to(narrow, wide):
    rng = np.random.default_rng(len(narrow))
    x = rng.standard_normal((2, 24, 32)).astype(DTYPES[narrow])
    y = RotaryEmbedding(inverse_frequencies(32), pairing="half").rotate(x, np.arange(24) + 901)
    for told in ({}, {"base": 10000.0}):
        found = diagnose(x.astype(wide), y.astype(wide), np.arange(24) + 901, **told)
        assert found.right and found.verdict == diagnose(x, y, np.arange(24) + 901, **told).verdict
        late = diagnose(x.astype(wide), y.astype(wide), np.arange(24) + 900, **told)
        assert not late.right and late.verdict == diagnose(x, y, np.arange(24) + 900, **told).verdict
