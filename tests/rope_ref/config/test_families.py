"""Every model type of transformers with a rotary class, against what its own code did: numbers kept with their date."""

import json

import numpy as np
import pytest
from numpy.testing import assert_allclose
from places import DATA

from rope_ref import from_config, rope_of_layers

KEPT = json.loads((DATA / "families.json").read_text(encoding="utf-8"))
CASES = {case["model_type"]: case for case in KEPT["cases"]}
# Types whose every layer is compared: (layers that turn, how they differ).
LAYERED = "smollm3 exaone4 llama4 cohere2 gemma3_text gpt_oss mimo_v2_flash qwen3_next olmo3".split()


def same(rope, ladder):
    """Whether a RopeConfig has the frequencies and the factor of a ladder that a model had."""
    if len(rope.scaling.inv_freq) != ladder["pairs"]:
        return False
    close = np.allclose(rope.scaling.inv_freq[ladder["at"]], ladder["inv_freq"], rtol=2e-6, atol=1e-12)
    return close and abs(rope.scaling.attention_factor - ladder["attention_factor"]) < 1e-6


def ropes(case):
    """What is read of a case: a RopeConfig for each layer, or for each ladder where the layers are not told."""
    if case["reason"] == "as part='vision'":
        return [from_config(case["config"], part="vision")]
    try:
        return rope_of_layers(case["config"])
    except ValueError as error:
        if "must say how many layers" not in str(error):
            raise
    return [from_config(case["config"], layer_type=kind or None) for kind in case["ladders"]]


@pytest.mark.parametrize("name", CASES)
def test_a_family_is_read_as_its_code_turns_or_refused(name):
    case = CASES[name]
    if case["status"] == "refused":
        with pytest.raises((TypeError, ValueError)) as error:
            ropes(case)
        assert str(error.value) == case["reason"]
        return
    got, ladders, layers = ropes(case), case["ladders"], case["layers_seen"]
    assert got
    if layers is not None and len(got) == len(layers):
        assert [rope is not None for rope in got] == [kind is not None for kind in layers]
        assert all(rope is None or same(rope, ladders[kind]) for rope, kind in zip(got, layers, strict=True))
    assert all(rope is None or any(same(rope, ladder) for ladder in ladders.values()) for rope in got)
    seen = {each["read"] for each in case["pairing_seen"].values()}
    assert {rope.pairing for rope in got if rope is not None} in (seen, set())


def test_the_table_holds_what_is_claimed():
    assert KEPT["transformers"] == "5.24.0" and KEPT["date"] >= "2026-12-01"
    assert len(CASES) == 251
    status = [case["status"] for case in CASES.values()]
    assert "wrong" not in status
    assert sum(case["status"] == "right" and case["pairing"] is not None for case in CASES.values()) >= 240
    assert all(case["reason"] for case in CASES.values() if case["status"] == "refused")


def test_layers_were_seen_at_work_in_most_types():
    assert sum(case["layers_seen"] is not None for case in CASES.values()) >= 150
    for name in LAYERED:
        assert CASES[name]["layers_seen"] is not None, name


def test_a_comparison_fails_where_a_ladder_or_a_layer_is_another():
    case = CASES["gemma3_text"]
    full, sliding = (case["ladders"][kind] for kind in ("full_attention", "sliding_attention"))
    got = rope_of_layers(case["config"])
    assert same(got[5], full) and not same(got[5], sliding) and not same(got[0], full)
    assert_allclose(got[0].scaling.inv_freq[1], 10000.0 ** (-2 / 256), rtol=1e-12, atol=0)


# Layer by layer, by hand from the code of transformers: first four layers that turn not, or are full.
@pytest.mark.parametrize(
    ("name", "without"),
    [("smollm3", {3, 7, 11}), ("exaone4", {3, 7, 11}), ("llama4", {3, 7, 11}), ("cohere2", {3, 7, 11}),
     ("qwen3_next", {0, 1, 2, 4, 5, 6, 8, 9, 10}), ("mimo_v2_flash", set()), ("olmo3", set()), ("gemma3_text", set()),
     ("gpt_oss", set())],
)  # fmt: skip
def test_layers_without_rope_by_hand(name, without):
    got = rope_of_layers(CASES[name]["config"])[:12]
    assert {i for i, rope in enumerate(got) if rope is None} == without
