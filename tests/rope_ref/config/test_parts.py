"""The vision part of a config, the header of a GGUF file, and the layers as the command prints them."""

import json

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from rope_ref import from_config, inverse_frequencies, rope_of_layers
from rope_ref.__main__ import main
from rope_ref.positions import axial_angles, axis_angles, video_grid

SIZES = {"hidden_size": 32, "num_heads": 2, "num_attention_heads": 2, "embed_dim": 32}
TEXT = {"hidden_size": 16, "num_attention_heads": 2}
# Outer model_type, that of the part, pairing, base.
AXIAL = [
    ("qwen2_vl", None, "half", 1e4),
    ("qwen2_5_vl", "qwen2_5_vl", "half", 1e4),
    ("qwen3_vl", "qwen3_vl", "half", 1e4),
    ("llama4", "llama4_vision_model", "interleaved", 1e4),
]


@pytest.mark.parametrize(("outer", "inner", "pairing", "base"), AXIAL)
def test_vision_part_has_a_row_of_speeds_for_each_axis(outer, inner, pairing, base):
    config = {"model_type": outer, "text_config": TEXT, "vision_config": {"model_type": inner, **SIZES}}
    got = from_config(config, part="vision")
    assert got[1:5] == (16, 16, pairing, (4, 4))
    grid = video_grid(1, 2, 3)[:, 1:]
    want = axial_angles(grid, (8, 8), base=base)
    assert_allclose(axis_angles(grid, got.scaling.inv_freq, np.repeat([0, 1], got.sections)), want, rtol=1e-15, atol=0)


def test_pixtral_deals_one_row_out_to_both_axes():
    vision = {"model_type": "pixtral", "head_dim": 8, "rope_parameters": {"rope_theta": 100.0, "rope_type": "default"}}
    got = from_config({"model_type": "mistral3", "text_config": TEXT, "vision_config": vision}, part="vision")
    own = inverse_frequencies(8, 100.0)
    assert_array_equal(got.scaling.inv_freq, [own[0], own[2], own[1], own[3]])


def test_dinov3_is_a_vision_model_by_itself():
    config = {"model_type": "dinov3_vit", "hidden_size": 32, "num_attention_heads": 2, "rope_theta": 100.0}
    assert_array_equal(from_config(config, part="vision").scaling.inv_freq[:4], inverse_frequencies(8, 100.0))
    with pytest.raises(ValueError, match="unless part is 'vision', got 'dinov3_vit'"):
        from_config(config)


@pytest.mark.parametrize(
    ("vision", "message"),
    [
        (
            {"model_type": "gemma4_vision"},
            r"\['vision_config'\]\['model_type'\] must be of a vision .* 'gemma4_v",
        ),
        ({"model_type": "pixtral"}, "hidden_size'] must be given where head_dim is not"),
        ({"model_type": "pixtral", "head_dim": 6}, "head_dim'] must be a multiple of 4"),
        ({"model_type": "pixtral", "head_dim": 8, "rope_offset": 2}, "rope_offset'] must not be set"),
        ({"model_type": "pixtral", "head_dim": 8, "rope_parameters": {"rope_type": "yarn"}}, "'default' or 'axial'"),
        ({"model_type": "pixtral", "head_dim": 8, "rope_parameters": {"factor": 2}}, "must be left out"),
    ],
)
def test_other_vision_parts_are_refused(vision, message):
    with pytest.raises((TypeError, ValueError), match=message):
        from_config({"model_type": "some_vl", "vision_config": vision}, part="vision")


def test_part_is_vision_or_left_out():
    with pytest.raises(ValueError, match="part must be 'vision' or None, got 'audio'"):
        from_config({"model_type": "llama"}, part="audio")


HEADER = {
    "general.architecture": "llama",
    "llama.rope.freq_base": 100.0,
    "llama.rope.dimension_count": 8,
    "llama.embedding_length": 32,
    "llama.attention.head_count": 2,
    "llama.context_length": 64,
    "general.name": "any",
}


def test_header_of_a_gguf_file_is_read():
    got = from_config(HEADER)
    assert got[1:] == (8, 16, "interleaved", None, False)
    assert_array_equal(got.scaling.inv_freq, inverse_frequencies(8, 100.0))
    other = {key.replace("llama", "qwen2"): value for key, value in HEADER.items()} | {"general.architecture": "qwen2"}
    assert from_config(other).pairing == "half"
    assert from_config({**HEADER, "llama.rope.freq_base": None}).scaling.inv_freq[1] == inverse_frequencies(8)[1]


def test_scaling_of_a_gguf_file_is_read():
    names = {"type": "yarn", "factor": 4.0, "original_context_length": 16, "finetuned": True}
    header = {**HEADER, **{f"llama.rope.scaling.{name}": value for name, value in names.items()}}
    entry = {"rope_type": "yarn", "factor": 4.0, "original_max_position_embeddings": 16}
    same = {"head_dim": 16, "rotary_dim": 8, "rope_theta": 100.0, "rope_scaling": entry}
    assert_array_equal(from_config(header).scaling.inv_freq, from_config(same).scaling.inv_freq)
    assert from_config(header).scaling.attention_factor == from_config(same).scaling.attention_factor > 1


@pytest.mark.parametrize(
    ("more", "message"),
    [
        ({"llama.rope.freq_base": "x"}, r"header\['llama.rope.freq_base'\] must be a number, got 'x'"),
        ({"llama.rope.freq_base_swa": 1e4}, r"header\['llama.rope.freq_base_swa'\] must not be set"),
        (
            {"llama.rope.scaling.type": "longrope"},
            r"header\['llama.rope.scaling.type'\] must be 'none', 'linear' or",
        ),
        ({"llama.rope.scaling.factor": 2.0}, r"header\['llama.rope.scaling.type'\] must be given"),
        ({"general.architecture": "gemma3"}, r"header\['general.architecture'\] must be"),
    ],
)
def test_header_that_cannot_be_read_is_refused(more, message):
    with pytest.raises((TypeError, ValueError), match=message):
        from_config({**HEADER, **more})


def test_header_does_not_tell_its_layers():
    with pytest.raises(ValueError, match="does not say which layers turn"):
        rope_of_layers(HEADER)


GEMMA = {
    "model_type": "gemma3_text", "head_dim": 8, "num_hidden_layers": 12, "sliding_window_pattern": 6,
    "max_position_embeddings": 64, "rope_scaling": {"rope_type": "linear", "factor": 8.0},
}  # fmt: skip


def test_command_prints_layers_as_groups(tmp_path, capsys):
    path = tmp_path / "config.json"
    path.write_text(json.dumps(GEMMA))
    assert main(["frequencies", str(path)]) == 0
    assert capsys.readouterr().out.splitlines() == [
        "layers 0-4, 6-10: sliding_attention, base 10,000, width 8 of 8",
        "layers 5, 11: full_attention, base 1,000,000, times 1/8, width 8 of 8",
    ]
    assert main(["frequencies", str(path), "--json"]) == 0
    assert sorted(map(len, json.loads(capsys.readouterr().out)["layers"].values())) == [2, 10]
    assert main(["frequencies", str(path), "--layer-type", "full_attention"]) == 0
    assert "linear" in capsys.readouterr().out
    path.write_text(json.dumps({"model_type": "smollm3", "head_dim": 8, "num_hidden_layers": 4}))
    assert main(["frequencies", str(path)]) == 0
    assert capsys.readouterr().out.splitlines()[1] == "layers 3: no RoPE"
