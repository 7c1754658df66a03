"""What a model's config.json says of its RoPE: published files, old forms and new, and files that are broken."""

import copy
import json

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from places import DATA

import rope_ref.scaling
from rope_ref import inverse_frequencies, rope_of_layers
from rope_ref.config import read_config
from rope_ref.config.families import rows
from rope_ref.config.layers import spans
from rope_ref.scaling import METHODS, RopeConfig, from_config, linear, longrope, yarn


def read(name):
    """The cases of a data file, by name or id."""
    found = json.loads((DATA / f"{name}.json").read_text(encoding="utf-8"))["cases"]
    return {case.get("id") or case["name"]: case for case in found}


PUBLISHED, HF, CASES = read("configs"), read("hf_inv_freq"), read("cases_scaling")
SCALINGS = {kind: getattr(rope_ref.scaling, kind, None) for kind in METHODS}


def expected_scaling(case):
    """The function that a published config asks for, called with the numbers found by reading it."""
    expected = case["expected"]
    kind, arguments = expected["scaling"]
    if kind == "plain":
        return inverse_frequencies(expected["rotary_dim"], expected["base"])
    lists = {key: case["config"]["rope_scaling"][key] for key, value in arguments.items() if key == value}
    return SCALINGS[kind](expected["rotary_dim"], expected["base"], **{**arguments, **lists}).inv_freq


@pytest.mark.parametrize("name", [name for name, case in PUBLISHED.items() if case["expected"]["scaling"]])
def test_published_config_is_read(name):
    case = PUBLISHED[name]
    expected, before = case["expected"], copy.deepcopy(case["config"])
    got = from_config(case["config"], case.get("seq_len"), layer_type=case.get("layer_type"))
    assert isinstance(got, RopeConfig)
    assert case["config"] == before
    for key in ("rotary_dim", "head_dim", "pairing", "sections_interleaved"):
        assert getattr(got, key) == expected[key], key
    assert got.sections == (None if expected["sections"] is None else tuple(expected["sections"]))
    assert_array_equal(got.scaling.inv_freq, expected_scaling(case))
    assert len(got.scaling.inv_freq) * 2 == got.rotary_dim
    assert_allclose(got.scaling[1:], [expected["attention_factor"], expected["softmax_factor"]], rtol=1e-15, atol=0)


@pytest.mark.parametrize("name", [name for name, case in PUBLISHED.items() if "layers" in case])
def test_layers_of_a_published_config_turn(name):
    case = PUBLISHED[name]
    got = rope_of_layers(case["config"])
    assert spans([i for i, rope in enumerate(got) if rope is not None]) == case["layers"]
    assert case["source"]


def test_published_configs_are_many_and_hold_every_type():
    assert len({json.dumps(case["config"]) for case in PUBLISHED.values()}) >= 40
    kinds = {case["expected"]["scaling"][0] for case in PUBLISHED.values() if case["expected"]["scaling"]}
    typed = {name for name, method in METHODS.items() if method.rope_type}
    assert kinds == typed | {"ntk"}  # which a type "dynamic" with a fixed alpha asks for


@pytest.mark.parametrize("name", HF)
def test_parameters_of_transformers_are_read(name):
    params, outputs = HF[name]["params"], HF[name]["outputs"]
    config = {
        "head_dim": params["head_dim"],
        "max_position_embeddings": params["max_position_embeddings"],
        "rope_parameters": params["rope_parameters_after_standardize"],
    }
    got = from_config(config, params.get("seq_len")).scaling
    assert_allclose(got.inv_freq, outputs["inv_freq"]["data"], rtol=4e-7, atol=0)
    assert_allclose(got.attention_factor, outputs["attention_factor"], rtol=1e-6, atol=0)


def test_ri_022_base_is_taken_from_the_config():
    case = CASES["RI-022"]
    pairs, position = case["inputs"]["pairs"], case["inputs"]["position"]
    for base in case["inputs"]["bases"]:
        got = from_config({"head_dim": 128, "rope_theta": base}).scaling.inv_freq
        numbers = [*got[pairs], position * got[pairs[0]]]
        assert_allclose(numbers, case["expected"][f"{base:.0f}"], **case["tolerance"])


# Small forms, each by hand. LLAMA has 2 heads of width 8, so 4 pairs.

ORIGINAL = "original_max_position_embeddings"
LLAMA = {"model_type": "llama", "hidden_size": 16, "num_attention_heads": 2, "max_position_embeddings": 64}
PLAIN = inverse_frequencies(8)
YARN = {"rope_type": "yarn", "factor": 4.0, "original_max_position_embeddings": 16}
LLAMA3 = {"rope_type": "llama3", "factor": 8.0, "low_freq_factor": 1.0, "high_freq_factor": 4.0}
LLAMA3 |= {ORIGINAL: 16}
LONG = {"rope_type": "longrope", "short_factor": [1.0] * 4, "long_factor": [4.0] * 4}
LONG |= {ORIGINAL: 16}
TWO = {
    "full_attention": {"rope_theta": 1e4, **YARN},
    "sliding_attention": {"rope_theta": 100.0, "rope_type": "default"},
}
BASE = {"rope_theta": 10000.0}
PARTIAL = {**LLAMA, "model_type": "phi3"}


def scaled(entry, **more):
    """The Llama of this file with a `rope_scaling`."""
    return {**LLAMA, "rope_scaling": entry, **more}


@pytest.mark.parametrize(
    "config",
    [
        LLAMA,
        {**LLAMA, "rope_theta": 10000},
        {**LLAMA, "rope_theta": None, "rope_scaling": None, "head_dim": None},
        {**LLAMA, "rope_parameters": {"rope_theta": 10000.0, "rope_type": "default"}},
        {**LLAMA, "rope_parameters": {"rope_theta": 10000.0}},
        {**LLAMA, "rope_parameters": {"rope_theta": 10000.0, "rope_type": "default", "factor": 1.0}},
        {**LLAMA, "rope_scaling": {}},
        {"head_dim": 8, "rope_theta": 10000.0},
        {"d_model": 16, "n_heads": 2, "rope_theta": 10000.0},
        {"model_type": "llava", "text_config": LLAMA, "vision_config": {"hidden_size": 1024}},
        {"thinker_config": {"text_config": LLAMA}},
        {**LLAMA, "rope_scaling": {"type": "mrope", "mrope_section": [1, 1, 2]}},
    ],
)  # fmt: skip
def test_forms_of_plain_rope(config):
    got = from_config(config)
    assert_array_equal(got.scaling.inv_freq, PLAIN)
    assert got[1:3] == (8, 8)
    assert got.scaling[1:] == (1.0, 1.0)


def test_names_of_one_type_and_the_two_places_of_an_entry_mean_the_same():
    want = yarn(8, factor=4, original_length=16)
    entry = {key: value for key, value in YARN.items() if key != "rope_type"}
    for config in [
        scaled(YARN),
        scaled({**entry, "type": "yarn"}),
        scaled({**entry, "type": "yarn", "rope_type": "yarn"}),
        {**LLAMA, "rope_parameters": {**YARN, **BASE}},
        scaled(YARN, rope_parameters={**YARN, **BASE}),
        scaled({**entry, "type": "yarn"}, rope_parameters=YARN),
        scaled({"rope_type": "yarn", "factor": 4.0}, original_max_position_embeddings=16),
        scaled({"rope_type": "yarn", "original_max_position_embeddings": 16}),  # 64 / 16
        scaled({**YARN, "beta_fast": None, "beta_slow": 0, "attn_factor": 1.0}),
    ]:
        got = from_config(config).scaling
        assert_array_equal(got.inv_freq, want.inv_freq)
        assert got[1:] == want[1:]


def test_all_numbers_of_yarn_are_read():
    numbers = {"beta_fast": 20.0, "beta_slow": 0.5, "truncate": False, "extrapolation_factor": 0.5}
    for factors in [{"attention_factor": 1.5}, {"mscale": 0.5, "mscale_all_dim": 0.25}]:
        want = yarn(8, factor=4, original_length=16, **numbers, **factors)
        got = from_config(scaled({**YARN, **numbers, **factors})).scaling
        assert_array_equal(got.inv_freq, want.inv_freq)
        assert got.attention_factor == want.attention_factor
    assert not np.array_equal(want.inv_freq, yarn(8, factor=4, original_length=16).inv_freq)


def test_softmax_factor_is_that_of_latent_attention_alone():
    weights = {"mscale": 1.0, "mscale_all_dim": 1.0}
    apart = {"qk_rope_head_dim": 8, "qk_nope_head_dim": 16}
    want = yarn(8, factor=4, original_length=16, **weights).softmax_factor
    assert want > 1.2
    assert from_config(scaled({**YARN, **weights}, **apart)).scaling.softmax_factor == want
    assert from_config(scaled({**YARN, **weights})).scaling.softmax_factor == 1.0


def test_truncate_inside_a_layer_type_is_read_where_transformers_passes_over_it():
    entry = {"rope_type": "yarn", "rope_theta": 150000, "factor": 32.0, "original_max_position_embeddings": 4096}
    config = {"head_dim": 64, "rope_parameters": {"full_attention": {**entry, "truncate": False}}}
    got = from_config(config, layer_type="full_attention").scaling.inv_freq
    exact, rounded = (
        yarn(64, 150000, factor=32, original_length=4096, truncate=truncate).inv_freq for truncate in (False, True)
    )
    assert_array_equal(got, exact)
    assert_allclose(np.max(np.abs(rounded / exact - 1)), 0.76, rtol=0, atol=0.005)


def test_layer_types_have_a_rope_each():
    config = {**LLAMA, "rope_parameters": TWO}
    full, sliding = (from_config(config, layer_type=kind) for kind in ("full_attention", "sliding_attention"))
    assert_array_equal(full.scaling.inv_freq, yarn(8, factor=4, original_length=16).inv_freq)
    assert_array_equal(sliding.scaling.inv_freq, inverse_frequencies(8, 100.0))


def test_share_of_a_layer_type_counts_before_that_of_all():
    layers = {"full_attention": {**BASE, "partial_rotary_factor": 0.25}, "sliding_attention": BASE}
    config = {**LLAMA, "model_type": "phi", "partial_rotary_factor": 0.5, "rope_parameters": layers}
    widths = [from_config(config, layer_type=kind).rotary_dim for kind in ("full_attention", "sliding_attention")]
    assert widths == [2, 4]


def test_layer_type_may_be_named_where_all_share_one_rope():
    config = {**LLAMA, "layer_types": ["sliding_attention", "full_attention", "linear_attention"]}
    for kind in (None, "full_attention", "sliding_attention"):
        assert_array_equal(from_config(config, layer_type=kind).scaling.inv_freq, PLAIN)


def test_local_base_of_any_family_is_the_base_of_sliding_layers_without_scaling():
    config = {
        "head_dim": 8,
        "rope_theta": 1e4,
        "rope_local_base_freq": 100.0,
        "rope_scaling": {"type": "linear", "factor": 2},
    }
    full, sliding = (from_config(config, layer_type=kind) for kind in ("full_attention", "sliding_attention"))
    assert_array_equal(full.scaling.inv_freq, PLAIN / 2)
    assert_array_equal(sliding.scaling.inv_freq, inverse_frequencies(8, 100.0))


def test_length_chooses_the_list_of_longrope_and_its_factor():
    for length, want in [(None, 16), (1, 1), (16, 16), (17, 17)]:
        got = from_config(scaled(LONG), length).scaling
        same = longrope(8, factor=4, short_factor=[1] * 4, long_factor=[4] * 4, original_length=16, seq_len=want)
        assert_array_equal(got.inv_freq, same.inv_freq)
        assert got.attention_factor == same.attention_factor
    each = scaled({**LONG, "short_mscale": 1.25, "long_mscale": 1.5})  # as Phi-3.5-MoE has it
    assert [from_config(each, length).scaling.attention_factor for length in (16, 17)] == [1.25, 1.5]


def test_length_of_dynamic_counts_from_the_longest_published_one():
    config = scaled({"type": "dynamic", "factor": 2.0, "original_max_position_embeddings": 16})
    got = [from_config(config, length).scaling.inv_freq for length in (None, 1, 64, 65)]
    assert_array_equal(got[:3], [PLAIN] * 3)
    assert got[3][-1] < PLAIN[-1]


def test_width_of_gemma_4_is_read_from_single_layers_too():
    config = {
        "model_type": "gemma4_text", "head_dim": 8, "layer_types": ["sliding_attention", "full_attention"],
        "per_layer_config": {"01": {"head_dim": 16}},
        "rope_parameters": {"full_attention": {"rope_type": "proportional", **BASE}, "sliding_attention": BASE},
    }  # fmt: skip
    assert from_config(config, layer_type="full_attention").head_dim == 16
    assert from_config(config, layer_type="sliding_attention").head_dim == 8


def test_mla_turns_a_part_of_its_own():
    apart = {"qk_rope_head_dim": 4, "qk_nope_head_dim": 12, "rope_interleave": False}
    got = from_config({**LLAMA, **apart, "rope_parameters": {**BASE, "partial_rotary_factor": 0.25}})
    assert got[1:4] == (4, 4, "half")
    assert from_config({**LLAMA, **apart, "rope_interleave": True}).pairing == "interleaved"


def test_unknown_family_has_no_pairing_and_no_base():
    got = from_config({**LLAMA, **BASE, "model_type": "mystery"})
    assert got.pairing is None
    assert_array_equal(got.scaling.inv_freq, PLAIN)
    inner = from_config({"model_type": "qwen2_vl", "text_config": {**LLAMA, **BASE, "model_type": "mystery"}})
    assert inner.pairing is None


def test_family_tables_agree():
    assert all(row.get("pairing") or row.get("refused") for row in rows().values())


def test_recipe_holds_the_numbers():
    recipe = read_config(scaled({"type": "linear", "factor": 4.0}))
    assert recipe.method == "linear"
    assert_array_equal(linear(recipe.rotary_dim, recipe.base, **recipe.arguments).inv_freq, PLAIN / 4)


def test_package_offers_from_config():
    assert rope_ref.scaling.from_config is from_config


# Broken files.

KNOWN = "'default', 'dynamic', 'linear', 'llama3', 'longrope', 'proportional', 'yarn'"
SCALING, PARAMETERS = r"config\['rope_scaling'\]", r"config\['rope_parameters'\]"
BROKEN = {
    "no mapping": ([LLAMA], "config must be a mapping"),
    "text": (json.dumps(LLAMA), "config must be a mapping"),
    "entry no mapping": (scaled("yarn"), f"{SCALING} must be a mapping, got 'yarn'"),
    "text part no mapping": ({"text_config": 3}, r"config\['text_config'\] must be a mapping, got 3"),
    "unknown type": (
        scaled({"rope_type": "xdrope", "xdrope_section": [1, 3]}),
        rf"{SCALING}\['rope_type'\] must be one of {KNOWN}, .* got 'xdrope'",
    ),
    "unknown old type": (scaled({"type": "ntk", "factor": 2}), rf"{SCALING}\['type'\] must be one of {KNOWN}"),
    "type of no text": (scaled({"type": 2}), rf"{SCALING}\['type'\] must be one of .* got 2"),
    "two types": (scaled({**YARN, "type": "linear"}), rf"{SCALING}\['rope_type'\] and {SCALING}\['type'\] must agree"),
    "no type": (scaled({"factor": 2.0}), rf"{SCALING}\['rope_type'\] must be given beside 'factor', got none"),
    "misspelt key": (scaled({**YARN, "beta_fats": 16}), rf"{SCALING}\['beta_fats'\] is not a key that is known"),
    "default with a factor": (scaled({"type": "default", "factor": 2.0}), rf"{SCALING}\['factor'\] must be left out"),
    "lists for yarn": (scaled({**YARN, "short_factor": [1.0] * 4}), rf"{SCALING}\['short_factor'\] must be left out"),
    "linear without factor": (
        scaled({"type": "linear"}),
        rf"{SCALING}\['factor'\] must be given for the type 'linear'",
    ),
    "factor null": (scaled({"type": "linear", "factor": None}), rf"{SCALING}\['factor'\] must be given"),
    "factor a text": (scaled({"type": "linear", "factor": "4"}), rf"{SCALING}\['factor'\] must be a number, got '4'"),
    "factor below 1": (scaled({"type": "linear", "factor": 0.5}), "factor must be at least 1, got 0.5"),
    "dynamic without factor": (
        scaled({"type": "dynamic"}),
        rf"{SCALING}\['factor'\] must be given for the type 'dynamic'",
    ),
    "dynamic without length": (
        {"head_dim": 8, **BASE, "rope_scaling": {"type": "dynamic", "factor": 2}},
        r"config\['max_position_embeddings'\] must be given for the type 'dynamic'",
    ),
    "alpha and factor": (
        scaled({"type": "dynamic", "alpha": 8, "factor": 2}),
        rf"{SCALING}\['factor'\] must be left out or 1",
    ),
    "yarn without original": (
        scaled({"type": "yarn", "factor": 4}),
        r"\['original_max_position_embeddings'\] must be given",
    ),
    "two originals": (
        scaled(YARN, original_max_position_embeddings=8),
        "original_max_position_embeddings.* must agree, got 16 and 8",
    ),
    "original no integer": (scaled({**YARN, "original_max_position_embeddings": 16.5}), "must be an integer, got 16.5"),
    "betas swapped": (scaled({**YARN, "beta_fast": 1, "beta_slow": 32}), "beta_fast must be at least beta_slow"),
    "truncate no boolean": (
        scaled({**YARN, "truncate": "no"}),
        rf"{SCALING}\['truncate'\] must be True or False, got 'no'",
    ),
    "attn_factor": (scaled({**YARN, "attn_factor": 2.0}), rf"{SCALING}\['attn_factor'\] must be 1, .* got 2.0"),
    "llama3 without original": (
        scaled({**LLAMA3, "original_max_position_embeddings": None}),
        r"\['original_max_pos.* must be given",
    ),
    "llama3 without low": (
        scaled({**LLAMA3, "low_freq_factor": None}),
        rf"{SCALING}\['low_freq_factor'\] must be given",
    ),
    "llama3 swapped": (scaled({**LLAMA3, "low_freq_factor": 9}), "high_freq_factor must be at least low_freq_factor"),
    "longrope without a list": (scaled({**LONG, "long_factor": None}), rf"{SCALING}\['long_factor'\] must be given"),
    "longrope list too long": (
        scaled({**LONG, "short_factor": [1.0] * 8}),
        "short_factor must have rotary_dim / 2 = 4 entries.* got 8",
    ),
    "longrope without length": (
        {"head_dim": 8, **BASE, "rope_scaling": LONG},
        r"config\['max_position_embeddings'\] must be given for the type 'longrope'",
    ),
    "no base": ({"head_dim": 8}, r"config\['rope_theta'\] must be given: it is the base of RoPE, got none"),
    "two bases": (
        {**LLAMA, "rope_theta": 1e4, "rope_parameters": {"rope_theta": 1e6}},
        "must agree, got 1000000.0 and 10000.0",
    ),
    "base of two names": (
        {**LLAMA, "rope_theta": 1e4, "rotary_emb_base": 1e6},
        "'rope_theta'.*'rotary_emb_base'.* must agree",
    ),
    "base zero": ({**LLAMA, "rope_theta": 0}, r"config\['rope_theta'\] must be positive"),
    "base of layers missing": (
        {**LLAMA, "rope_theta": 1e4, "rope_parameters": {"full_attention": {}}, "layer_type": "full_attention"},
        rf"{PARAMETERS}\['full_attention'\]\['rope_theta'\] must be given for each layer type",
    ),
    "no width": ({"model_type": "llama"}, r"config\['hidden_size'\] must be given where head_dim is not"),
    "no heads": ({"model_type": "llama", "hidden_size": 16}, r"config\['num_attention_heads'\] must be given"),
    "width not divided": (
        {**LLAMA, "num_attention_heads": 3},
        r"\['hidden_size'\] must be a multiple of .* got 16 and 3",
    ),
    "odd head": ({**LLAMA, "head_dim": 7}, r"config\['head_dim'\] must give an even rotary_dim .* got 7"),
    "odd share": (
        {**PARTIAL, "partial_rotary_factor": 0.4},
        r"\['partial_rotary_factor'\] must give an even rotary_dim .* got 3",
    ),
    "share above 1": ({**LLAMA, "rotary_pct": 1.5}, r"config\['rotary_pct'\] must be at most 1, got 1.5"),
    "share of a family that turns whole heads": (
        {**LLAMA, "partial_rotary_factor": 0.5},
        r"config\['partial_rotary_factor'\] must be left out for llama, whose code turns whole heads, got 4",
    ),
    "null share": (
        {**LLAMA, "model_type": "phi", "partial_rotary_factor": None},
        r"config\['partial_rotary_factor'\] must be a number or left out for phi",
    ),
    "share zero": ({**LLAMA, "partial_rotary_factor": 0.0}, r"config\['partial_rotary_factor'\] must be positive"),
    "two shares": ({**LLAMA, "partial_rotary_factor": 0.5, "rotary_pct": 0.25}, "must agree, got 0.5 and 0.25"),
    "share and width": ({**LLAMA, "partial_rotary_factor": 0.5, "rotary_dim": 8}, "must agree, got 8 and 4"),
    "width beyond head": (
        {**BASE, "head_dim": 8, "rotary_dim": 16},
        r"config\['rotary_dim'\] must give an even rotary_dim of at most head_dim, 8",
    ),
    "no width of GPT-J": (
        {"model_type": "gptj", "n_embd": 16, "n_head": 2},
        r"config\['rotary_dim'\] must be given for gptj, got none",
    ),
    "sections": (scaled({"type": "mrope", "mrope_section": [1, 1, 1]}), r"\['mrope_section'\] must sum to the 4 pairs"),
    "sections no list": (
        scaled({"type": "mrope", "mrope_section": 4}),
        r"\['mrope_section'\] must be a list, got 4",
    ),
    "no sections": (scaled({"type": "mrope"}), rf"{SCALING}\['mrope_section'\] must be given for the type 'mrope'"),
    "two entries": (scaled(YARN, rope_parameters={**YARN, "factor": 8.0}), f"{SCALING} and {PARAMETERS} must agree"),
    "outer and inner": (
        {"rope_scaling": YARN, "text_config": scaled({"type": "linear", "factor": 2})},
        rf"{SCALING} and config\['text_config'\]\['rope_scaling'\] must agree",
    ),
    "outer and inner base": (
        {"rope_theta": 1e6, "text_config": {**LLAMA, "rope_theta": 1e4}},
        r"config\['rope_theta'\] and config\['text_config'\]\['rope_theta'\] must agree",
    ),
    "alibi": (
        {"model_type": "falcon", "hidden_size": 16, "num_attention_heads": 2, "alibi": True},
        r"config\['alibi'\] must be one with RoPE, got True",
    ),
    "nope": (
        {**LLAMA, "position_embedding_type": "nope"},
        r"\['position_embedding_type'\] must be one with RoPE, got 'nope'",
    ),
    "first Qwen": ({**LLAMA, "use_dynamic_ntk": True}, r"config\['use_dynamic_ntk'\] must not be set"),
    "gpt-oss as first released": (
        {"head_dim": 64, "rope_theta": 150000, "rope_scaling_factor": 32.0},
        r"\['rope_scaling_factor'\] must not",
    ),
    "layer type of a flat config": (
        {**LLAMA, "layer_type": "full_attention"},
        "layer_type must be None: all layers share one RoPE here",
    ),
    "linear layers": (
        {**LLAMA, "layer_types": ["full_attention", "linear_attention"], "layer_type": "linear_attention"},
        "layer_type must be None, 'full_attention': .* got 'linear_attention'",
    ),
    "no layer type": (
        {**LLAMA, "rope_parameters": TWO},
        "layer_type must be one of 'full_attention', 'sliding_attention', .* got None",
    ),
    "unknown layer type": (
        {**LLAMA, "rope_parameters": TWO, "layer_type": "global"},
        "layer_type must be one of 'full_attention', 'sliding_attention', .* got 'global'",
    ),
    "layer type without RoPE": (
        {**LLAMA, "rope_parameters": {**TWO, "full_attention": None}, "layer_type": "full_attention"},
        "layer_type must be one of 'sliding_attention', .* got 'full_attention'",
    ),
    "no layer type of Gemma 3": (
        {"model_type": "gemma3_text"},
        "layer_type must be one of 'full_attention', 'sliding_attention'",
    ),
    "no layer type of Olmo 3": (
        scaled(YARN, model_type="olmo3"),
        "layer_type must be one of 'full_attention', 'sliding_attention'",
    ),
    "flat beside layers": (
        {**LLAMA, "rope_parameters": {**TWO, "truncate": False}, "layer_type": "full_attention"},
        rf"{PARAMETERS}\['truncate'\] must stand inside a layer type",
    ),
    "some layers without a width": (
        {
            **LLAMA,
            "rope_parameters": TWO,
            "layer_type": "full_attention",
            "layer_types": ["full_attention"] * 2,
            "per_layer_config": {"0": {"head_dim": 16}},
        },
        r"layer_type must name layers with one RoPE, got 'full_attention': layers 0 and 1 differ",
    ),
    "model_type no text": ({**LLAMA, "model_type": ["llama"]}, r"config\['model_type'\] must be a text"),
    "layer_types no list": ({**LLAMA, "layer_types": 4}, r"config\['layer_types'\] must be a list, got 4"),
    "length beyond float64": (scaled({**YARN, ORIGINAL: 2**53 + 1}), rf"{SCALING}\['{ORIGINAL}'\] must be at most 2"),
    "length zero": ({**LLAMA, "seq_len": 0}, "seq_len must be positive, got 0"),
    "length no integer": ({**LLAMA, "seq_len": 4096.0}, "seq_len must be an integer, got 4096.0"),
}


@pytest.mark.parametrize("name", BROKEN)
def test_broken_config_is_refused(name):
    config, message = BROKEN[name]
    asked = {}
    if isinstance(config, dict):
        config = dict(config)
        asked = {key: config.pop(key) for key in ("layer_type", "seq_len") if key in config}
    with pytest.raises((TypeError, ValueError), match=message):
        from_config(config, **asked)


@pytest.mark.parametrize("wrong", [0, "", {}, False], ids=repr)
def test_empty_value_of_the_wrong_type_is_not_taken_for_a_missing_list(wrong):
    smollm3 = {"model_type": "smollm3", "head_dim": 4, "num_hidden_layers": 4, "no_rope_layers": wrong}
    with pytest.raises((TypeError, ValueError), match="no_rope_layers"):
        rope_ref.rope_of_layers(smollm3)
