"""What fifteen public implementations return, each written as calls of the package."""

import json

import numpy as np
import pytest
from numpy.testing import assert_allclose
from places import DATA

from rope_ref import apply_rope, cos_sin, inverse_frequencies, rotation_angles, to_half

GOLDEN = json.loads((DATA / "apply_layouts.json").read_text("utf-8"))
CASES = {case["name"]: case for case in GOLDEN["cases"]}


def array(stored):
    """A stored array of shape (batch, heads, seq_len, head_dim)."""
    return np.array(stored["data"], stored["dtype"]).reshape(stored["shape"])


X = array(GOLDEN["input"])


def interleaved(cos, sin):
    return apply_rope(X, cos, sin)


def half(cos, sin):
    return apply_rope(X, cos, sin, pairing="half")


def interleaved_in_half_out(cos, sin):
    return to_half(apply_rope(X, cos, sin))


def half_in_the_other_direction(cos, sin):
    return apply_rope(X, cos, -sin, pairing="half")


def block_from_feature_two(cos, sin):
    out = X.copy()
    apply_rope(X[..., 2:6], cos, sin, out=out[..., 2:6])
    return out


CALLS = {
    "hf_llama": half,
    "hf_gptj_partial_rotary_dim4": interleaved,
    "hf_glm_partial_half": interleaved,
    "hf_deepseek_v3_interleave": interleaved_in_half_out,
    "hf_roformer": interleaved,
    "eleuther_gpt_neox": half,
    "nanochat_minus_theta": half_in_the_other_direction,
    "torchtune_phi3": half,
    "labml_positions_0123": half,
    "litgpt_interleave": interleaved_in_half_out,
    "lucidrains_partial4_start_index2": block_from_feature_two,
    "diffusers_unbind_-2": half,
    "mlx_traditional_True": interleaved,
    "mlx_partial_dims4": half,
    "keras_hub": half,
}


def result(call, case):
    """The call with the tables of a case."""
    params = case["params"]
    angles = rotation_angles(case["positions"], inverse_frequencies(params["rotary_dim"], params["base"]))
    return call(*cos_sin(angles, dtype=np.float32))


@pytest.mark.parametrize("name", CASES)
def test_layout_of_a_public_implementation_is_a_call_of_the_package(name):
    # Positions reach 100 and most of these libraries round angles to float32: 4e-6 radians there.
    assert_allclose(result(CALLS[name], CASES[name]), array(CASES[name]["output"]), rtol=0, atol=3e-6)


@pytest.mark.parametrize("name", CASES)
def test_no_other_layout_fits(name):
    want = array(CASES[name]["output"])
    for call in set(CALLS.values()) - {CALLS[name]}:
        if call is block_from_feature_two and CASES[name]["params"]["rotary_dim"] != 4:
            continue  # a block of four takes tables of two pairs
        assert np.abs(result(call, CASES[name]) - want).max() > 0.1, call


def test_every_stored_layout_is_taken():
    assert set(CALLS) == set(CASES)
