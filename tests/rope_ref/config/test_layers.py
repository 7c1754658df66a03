"""Which layers turn and with what: handed cases, the rules of families, and keys that must not be passed over."""

import json

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from places import DATA

from rope_ref import from_config, inverse_frequencies, rope_of_layers
from rope_ref.config.families import harmless, rows
from rope_ref.positions import mrope_angles, mrope_axes
from rope_ref.scaling import llama3, yarn

CASES = {case["id"]: case for case in json.loads((DATA / "cases_config.json").read_text(encoding="utf-8"))["cases"]}
NUMBERS = [name for name, case in CASES.items() if isinstance(case["right"], dict) and "pairs" in case["right"]]
FULL, SLIDING = "full_attention", "sliding_attention"
TINY = {"hidden_size": 16, "num_attention_heads": 2, "head_dim": 8, "num_hidden_layers": 4, "rope_theta": 100.0}


def turning(config):
    """The numbers of the layers that turn."""
    return [i for i, rope in enumerate(rope_of_layers(config)) if rope is not None]


@pytest.mark.parametrize("name", NUMBERS)
def test_handed_config_is_read_right(name):
    case = CASES[name]
    got, right = from_config(case["input"]), case["right"]
    assert_allclose(got.scaling.inv_freq[right["pairs"]], right["inv_freq"], rtol=1e-11, atol=0)
    assert got.scaling.attention_factor == right["attention_factor"]
    for key in {"rotary_dim", "head_dim", "pairing"} & right.keys():
        assert getattr(got, key) == right[key]
    for wrong in case["wrong"].values():
        assert isinstance(wrong, str) or not np.allclose(got.scaling.inv_freq[right["pairs"]][: len(wrong)], wrong)


@pytest.mark.parametrize(("name", "key"), [("NF-10a", "mla_use_nope"), ("NF-24", "rotary_emb_fraction")])
def test_handed_config_is_refused_with_the_key(name, key):
    with pytest.raises(ValueError, match=rf"config\['{key}'\] must not be set"):
        from_config(CASES[name]["input"])


def test_nf_09a_two_bases_stand_side_by_side():
    case = CASES["NF-09a"]
    with pytest.raises(ValueError, match="swa_rope_theta"):
        from_config(case["input"])
    for kind in (FULL, SLIDING):
        got = from_config(case["input"], layer_type=kind)
        assert got.rotary_dim == 64
        assert_allclose(got.scaling.inv_freq[[0, 1, 31]], case["right"][kind], rtol=1e-11, atol=0)
    full, sliding = rope_of_layers(case["input"])
    assert (full.scaling.inv_freq[1] < sliding.scaling.inv_freq[1]) and full.pairing == "half"


def test_nf_12_height_and_width_alternate_before_time():
    case = CASES["NF-12"]
    got = from_config(case["input"])
    axis = mrope_axes(got.sections, interleaved=got.sections_interleaved)
    assert (
        axis.tolist() == case["right"]["axis_of_pair (0 t, 1 h, 2 w)"] != case["wrong"]["sections_read_as_t_h_w_blocks"]
    )
    angles = mrope_angles([[5, 2, 3]], got.scaling.inv_freq, got.sections, interleaved=got.sections_interleaved)
    right = case["right"]["angles at t=5,h=2,w=3, pairs 0,1,22,43,44,63"]
    assert_allclose(angles[0, [0, 1, 22, 43, 44, 63]], right, rtol=1e-11, atol=0)
    assert got.pairing == "interleaved"
    with pytest.raises(ValueError, match="freq_allocation"):
        from_config({**case["input"], "freq_allocation": 22})


def test_nf_30a_one_means_a_layer_with_rope():
    config = CASES["NF-30a"]["input"]
    assert turning(config) == [0, 1, 2]
    with pytest.raises(ValueError, match=r"layers 3 have no RoPE, says config\['no_rope_layers'\]\[3\]"):
        from_config(config)


def test_equal_limits_of_llama_3_are_a_step():
    got = llama3(128, 5e5, factor=16, low_freq_factor=1, high_freq_factor=1, original_length=8192).inv_freq
    own = inverse_frequencies(128, 5e5)
    turns = 8192 * own / (2 * np.pi)
    assert_array_equal(got, np.where(turns > 1, own, own / 16))
    assert 0 < (turns > 1).sum() < 64


# Rules of layers, by hand: (config beside the small one, layers that turn).
RULES = {
    "every fourth, left out": ({"model_type": "smollm3"}, [0, 1, 2]),
    "another interval": ({"model_type": "smollm3", "no_rope_layer_interval": 2}, [0, 2]),
    "an empty list is no list": ({"model_type": "llama4_text", "no_rope_layers": []}, [0, 1, 2]),
    "a list": ({"model_type": "llama4_text", "no_rope_layers": [0, 1, 1, 0]}, [1, 2]),
    "full layers are still": ({"model_type": "cohere2", "layer_types": [SLIDING, FULL, SLIDING, FULL]}, [0, 2]),
    "a period": ({"model_type": "cohere2", "sliding_window_pattern": 2}, [0, 2]),
    "no window, nothing slides": ({"model_type": "cohere2", "sliding_window": None}, []),
    "a period in letters": ({"model_type": "exaone4", "sliding_window_pattern": "LLG"}, [0, 1, 3]),
    "no window, all turn": ({"model_type": "exaone4", "sliding_window": None}, [0, 1, 2, 3]),
    "bases, 0 for none": ({"model_type": "muse_spark_text", "layer_rope_theta": [1e4, 0, 1e4, 0]}, [0, 2]),
    "linear attention": ({"model_type": "qwen3_next", "partial_rotary_factor": 0.5}, [3]),
    "another interval of attention": ({"model_type": "qwen3_next", "full_attention_interval": 2}, [1, 3]),
    "cross attention": ({"model_type": "mllama", "cross_attention_layers": [1]}, [0, 2, 3]),
    "listed attention": ({"model_type": "bamba", "attn_layer_indices": [2]}, [2]),
    "no rotation at all": ({"model_type": "zamba2", "layers_block_type": ["hybrid"] * 4}, []),
    "a null entry": (
        {"model_type": "beam", "rope_theta": None, "layer_types": [SLIDING, FULL] * 2,
         "rope_parameters": {SLIDING: {"rope_theta": 1e4, "rope_type": "default"}, FULL: None}}, [0, 2],
    ),
    "all layers": ({"model_type": "llama"}, [0, 1, 2, 3]),
}  # fmt: skip


@pytest.mark.parametrize("name", RULES)
def test_layers_that_turn(name):
    more, right = RULES[name]
    assert turning({**TINY, **more}) == right


def test_layers_with_a_base_each():
    config = {**TINY, "model_type": "granite_swa", "layer_rope_theta": [100.0, 1e4, 100.0, 0]}
    got = rope_of_layers(config)
    for rope, base in zip(got[:3], (100.0, 1e4, 100.0), strict=True):
        assert_array_equal(rope.scaling.inv_freq, inverse_frequencies(8, base))
    assert got[3] is None
    with pytest.raises(ValueError, match="layers 3 have no RoPE"):
        from_config(config)
    with pytest.raises(ValueError, match="layers 0 and 1 differ"):
        from_config({**config, "layer_rope_theta": [100.0, 1e4, 100.0, 100.0]})


def test_layers_that_alone_are_scaled():
    scaled = {"rope_type": "linear", "factor": 4.0}
    config = {**TINY, "model_type": "molmo2_text", "rope_scaling": scaled, "rope_scaling_layers": [1]}
    speeds = [rope.scaling.inv_freq[0] for rope in rope_of_layers(config)]
    assert speeds == [1, 0.25, 1, 1]


def test_flat_file_of_deepseek_v4_has_two_bases_and_no_length_factor():
    entry = {"type": "yarn", "factor": 16, "original_max_position_embeddings": 64}
    kept = {"head_dim": 64, "qk_rope_head_dim": 8, "compress_ratios": [0, 4, 128, 4], "compress_rope_theta": 160000.0}
    config = {**TINY, "model_type": "deepseek_v4", **kept, "rope_scaling": entry}
    plain, *compressed = rope_of_layers(config)
    assert_array_equal(plain.scaling.inv_freq, inverse_frequencies(8, 100.0))
    want = yarn(8, 160000.0, factor=16, original_length=64, attention_factor=1.0)
    for rope in compressed:  # 1.0 is what its code sets; YaRN alone would have 1.277
        assert_array_equal(rope.scaling.inv_freq, want.inv_freq)
        assert rope.scaling.attention_factor == 1.0


def test_layers_of_a_type_answer_where_others_do_not_turn():
    config = {**TINY, "model_type": "cohere2"}
    assert_array_equal(from_config(config, layer_type=SLIDING).scaling.inv_freq, inverse_frequencies(8, 100.0))
    for kind in (None, FULL):
        with pytest.raises(ValueError, match="layers 3 have no RoPE, says the layer type 'full_attention' of cohere2"):
            from_config(config, layer_type=kind)


@pytest.mark.parametrize(
    ("more", "message"),
    [
        ({"model_type": "smollm3", "no_rope_layers": [1, 1]}, "must have one value for each of 4 layers, got 2"),
        ({"model_type": "smollm3", "no_rope_layers": [1, 1, 2, 1]}, r"\['no_rope_layers'\]\[2\] must be 1 .* got 2"),
        ({"model_type": "llama", "no_rope_layers": [1, 1, 1, 0]}, r"\['no_rope_layers'\] must not be set"),
        ({"model_type": "cohere2", "layer_types": ["spiral"] * 4}, "must hold layer types .* got 'spiral'"),
        ({"model_type": "cohere2", "layer_types": [FULL]}, "must have one value for each of 4 layers, got 1"),
        ({"model_type": "llama", "num_hidden_layers": 10**12}, "must be at most 10,000, got 1,000,000,000,000"),
        ({"model_type": "musicflamingo"}, "audio by time"),
        ({"model_type": "llama", "num_hidden_layers": None}, r"num_hidden_layers'\] and .* must say how many layers"),
        ({"model_type": "olmo_hybrid", "num_hidden_layers": "4"}, r"num_hidden_layers'\] must be an integer"),
        ({"model_type": "mimo_v2_flash", "hybrid_layer_pattern": [0, 1, 2, 0]}, r"\[2\] must be one of 0, 1, got 2"),
    ],
)  # fmt: skip
def test_layers_that_cannot_be_known_are_refused(more, message):
    with pytest.raises((TypeError, ValueError), match=message):
        rope_of_layers({**TINY, **more})


PASSED = ["rope_offset", "rotary_emb_fraction", "swa_rope_theta", "compression_ratio", "mla_use_nope", "yarn_extra",
          "partial_rotary_factors", "alibi_slopes", "position_scale", "wavelength", "freq_scale"]  # fmt: skip


@pytest.mark.parametrize("key", PASSED)
@pytest.mark.parametrize("where", ["top", "outer", "text"])
def test_no_key_that_speaks_of_position_is_passed_over(key, where):
    plain = {**TINY, "model_type": "llama"}
    for value in (2, "2", [2], True, {"a": 1}, 0):
        config = {**plain, key: value}
        if where != "top":
            config = {"model_type": "llava", "text_config": {**plain, key: value}}
        if where == "outer":
            config = {"model_type": "llava", "text_config": plain, key: value}
        with pytest.raises((TypeError, ValueError), match=key):
            from_config(config)
    for value in (None, False, 1, 1.0):
        assert_array_equal(from_config({**plain, key: value}).scaling.inv_freq, inverse_frequencies(8, 100.0))


def test_keys_of_other_parts_are_left_alone():
    plain = {**TINY, "model_type": "llama"}
    other = {"rope_offset": 3, "rope_theta": 7.0}
    config = {"model_type": "llava", "text_config": plain, "vision_config": other, "audio_config": other}
    assert_array_equal(from_config(config).scaling.inv_freq, inverse_frequencies(8, 100.0))


def test_every_harmless_key_has_a_reason_and_every_family_a_version():
    assert all(len(reason) > 10 for reason in harmless().values())
    assert all(row["read_from"] for row in rows().values())
    assert len(rows()) > 200


def test_alternating_order_is_checked():
    assert mrope_axes((0, 2, 2), interleaved="alternating").tolist() == [1, 2, 1, 2]
    with pytest.raises(ValueError, match="as many pairs for height as for width"):
        mrope_axes((1, 2, 3), interleaved="alternating")
    with pytest.raises(ValueError, match="interleaved must be 'blocks', 'interleaved' or 'alternating', got 'spiral'"):
        mrope_axes((1, 2, 2), interleaved="spiral")
    assert mrope_axes((4, 2, 2), interleaved="interleaved").tolist() == mrope_axes((4, 2, 2), interleaved=True).tolist()
