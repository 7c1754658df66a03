"""Figures of notebook 07: what each says is true; and the public models whose scalings they show."""

import json
import re

import numpy as np
import pytest
from numpy.testing import assert_allclose
from places import DATA

import rope_course.figures as room
from rope_course.figures.scaling import (
    KNOWN,
    NEW,
    ROUND,
    STILL,
    scaled_models,
    side_by_side,
    what_scaling_did,
)
from rope_ref.config import read_config
from rope_ref.scaling import from_config

OWN = 10000.0 ** (-np.arange(64) / 64)  # d = 128


@pytest.fixture(scope="module")
def pictures():
    names = (
        "arc_covered speed_ratios angle_map neighbours_and_reach temperature xpos_scores reported_losses model_scalings"
    )
    return {name: getattr(room, name)() for name in names.split()}


# The arcs covered.


def test_slow_hands_alone_meet_new_angles(pictures):
    data = pictures["arc_covered"].data
    turns = 2048 / (2 * np.pi * 10000 ** (np.arange(64) / 64))
    assert_allclose(data["seen"], np.where(turns > 1, 1, turns), rtol=1e-12, atol=0)
    assert_allclose(data["then"], np.where(4 * turns > 1, 1, 4 * turns), rtol=1e-12, atol=0)
    assert (data["full"], len(data["seen"]) - data["full"]) == (41, 23)
    assert f"{data['least']:.1f}" == "3.8"
    assert (data["then"] > data["seen"]).tolist() == [False] * 41 + [True] * 23


def test_title_says_so_where_all_hands_go_round():
    picture = room.arc_covered(rotary_dim=8, base=10.0, trained=100, longer=200)
    assert picture.caption == "Trained on 100 tokens, 4 hands have seen the whole circle, all of them"


# The speeds.


def test_speed_ratios_are_those_of_the_closed_forms(pictures):
    ratios = pictures["speed_ratios"].data["ratios"]
    i = np.arange(64)
    assert_allclose(ratios["PI"], 1 / 8, rtol=1e-15, atol=0)
    assert_allclose(ratios["NTK"], 8.0 ** (-2 * i / 126), rtol=1e-12, atol=0)
    turns = 2048 * OWN / (2 * np.pi)
    for name, share in (("YaRN text", (turns - 1) / 31), ("YaRN", 1 - (i - 16) / 25)):
        share = np.clip(share, 0, 1)
        assert_allclose(ratios[name], share + (1 - share) / 8, rtol=1e-12, atol=0)


@pytest.mark.parametrize(("factor", "apart", "pair"), [(8, "2.34", 31), (16, "3.08", 33)])
def test_text_and_code_of_yarn_differ_as_stated(factor, apart, pair):
    data = room.speed_ratios(factor=factor).data
    assert (f"{data['apart'].max():.2f}", data["most"]) == (apart, pair)


# The angles.


def test_angle_map_ends_where_the_methods_take_the_hands(pictures):
    data = pictures["angle_map"].data
    pairs = np.array([0, 20, 45, 63])
    assert_allclose(data["arc"], 2048 * OWN[pairs], rtol=1e-12, atol=0)
    assert_allclose(data["ends"]["plain"], 8192 * OWN[pairs], rtol=1e-12, atol=0)
    assert_allclose(data["ends"]["PI"], 2048 * OWN[pairs], rtol=1e-12, atol=0)
    assert_allclose(data["ends"]["NTK"], 8192 * OWN[pairs] / 4.0 ** (2 * pairs / 126), rtol=1e-12, atol=0)
    assert_allclose(data["ends"]["YaRN"][[0, 2, 3]], [8192, *2048 * OWN[[45, 63]]], rtol=1e-12, atol=0)


def test_only_ntk_lets_a_middle_hand_out(pictures):
    beyond = {name: flags.tolist() for name, flags in pictures["angle_map"].data["beyond"].items()}
    assert beyond == {
        "plain": [False, False, True, True],
        "PI": [False] * 4,
        "NTK": [False, False, True, False],
        "YaRN": [False] * 4,
    }


def test_labels_that_would_collide_become_one():
    values = {"plain": 10.0, "PI": 2.0, "NTK": 2.5, "YaRN": 9.5}
    assert side_by_side(values, 10) == [("PI, NTK", 2.25), ("plain, YaRN", 9.75)]
    assert side_by_side({"plain": 10.0, "PI": 2.0, "NTK": 2.0, "YaRN": 2.0}, 10) == [
        ("all but plain", 2.0),
        ("plain", 10.0),
    ]


# The trade.


def test_reach_of_each_method_is_the_stated_one(pictures):
    points = pictures["neighbours_and_reach"].data["points"]
    reach = {name: [y for _, y in places] for name, places in points.items()}
    assert reach == {
        "plain": [2048],
        "PI": [4095, 8189, 16_377],
        "NTK": [3214, 5046, 7923],
        "YaRN": [4095, 8189, 16_377],
    }


def test_neighbour_distance_is_the_length_between_two_clocks(pictures):
    points = pictures["neighbours_and_reach"].data["points"]
    for name, speeds in (("plain", OWN), ("PI", OWN / 2), ("NTK", (10000 * 2 ** (128 / 126)) ** (-np.arange(64) / 64))):
        assert_allclose(points[name][0][0], np.linalg.norm(np.exp(1j * speeds) - 1), rtol=1e-12, atol=0)


def test_lengths_that_users_report_are_drawn_as_reported(pictures):
    picture = pictures["neighbours_and_reach"]
    assert picture.data["reported"] == [3400, 6200, 8800]
    assert "users report 3,400, 6,200 and 8,800" in picture.alt


# The sizes.


def test_temperature_has_the_stated_values(pictures):
    data = pictures["temperature"].data
    assert [f"{value:.4f}" for value in (data["at"], data["at"] ** 2)] == ["1.2773", "1.6314"]
    assert_allclose(data["length"], 0.1 * np.log(data["factors"]) + 1, rtol=1e-14, atol=0)


def test_xpos_scores_are_those_of_the_closed_form(pictures):
    data = pictures["xpos_scores"].data
    zeta = (np.arange(64) / 64 + 0.4) / 1.4
    assert round(zeta[0], 4) == 0.2857
    for r in (-4096, -512, 0, 1, 512, 1000, 4096):
        at = int(np.flatnonzero(data["distances"] == r)[0])
        powers = zeta ** (r / 512)
        assert_allclose(data["with"][at], np.mean(powers * np.cos(r * OWN)), rtol=0, atol=1e-12 * powers.max())
        assert_allclose(data["without"][at], np.mean(np.cos(r * OWN)), rtol=0, atol=1e-12)


def test_past_keys_fade_smoothly_and_future_keys_explode(pictures):
    data = pictures["xpos_scores"].data
    past = data["with"][data["distances"] >= 0]
    assert past.min() > 0
    assert [f"{past[r]:.3f}" for r in (1000, 4096)] == ["0.163", "0.042"]
    assert [f"{data['wiggle'][name]:.1f}" for name in ("plain", "xpos")] == ["52.3", "5.4"]
    assert 600 < data["largest"] < 700


def test_reported_losses_are_those_of_the_readme(pictures):
    losses = pictures["reported_losses"].data["losses"]
    assert {name: list(each.values()) for name, each in losses.items()} == {
        "plain RoPE": [1.4967308, 8.8614693],
        "NTK, fixed": [1.6081059, 1.5417398, 1.5162833],
        "ReRoPE, window 1,024": [1.4995655, 1.4266723, 1.4001029],
    }
    assert pictures["reported_losses"].caption.startswith("Reported: ")


# Public models.

SCALED = {model["model"]: model for model in scaled_models()}


def test_file_of_scaled_models_is_complete():
    assert len(SCALED) == len(scaled_models()) >= 14
    kinds = {
        read_config(model["config"], model["extended_context"], model["layer_type"]).method for model in SCALED.values()
    }
    assert kinds == {"linear", "dynamic_ntk", "yarn", "llama3", "longrope", "proportional"}
    for model in SCALED.values():
        assert list(model) == ["model", "original_context", "extended_context", "layer_type", "config", "source"]
        assert list(model["source"]) == ["repository", "file", "values"]
        assert 1024 <= model["original_context"] <= model["extended_context"]


def entries(config):
    """Every key of a config with its value, from all levels."""
    for key, value in config.items():
        if isinstance(value, dict):
            yield from entries(value)
        yield key, value


@pytest.mark.parametrize("name", SCALED)
def test_contexts_are_those_of_the_configuration(name):
    model = SCALED[name]
    stated = dict(entries(model["config"]))
    first, longer = model["original_context"], model["extended_context"]
    named = [value for key, value in [*stated.items(), *model["source"]["values"].items()] if isinstance(value, int)]
    assert first in named
    assert longer in named or longer == 1024 * int(
        str(model["source"]["values"].get("context of 4B to 27B, technical report")).rstrip("K")
    )
    if "original_max_position_embeddings" in stated:
        assert first == stated["original_max_position_embeddings"]


# The same models as the tests of `from_config` have them.
SAME = {
    "Vicuna 7B v1.5 16k": "lmsys/vicuna-7b-v1.5-16k",
    "Yarn Llama 2 7B 64k": "NousResearch/Yarn-Llama-2-7b-64k",
    "Llama 3.1 8B": "meta-llama/Llama-3.1-8B",
    "Llama 3.2 1B": "meta-llama/Llama-3.2-1B",
    "DeepSeek-V2-Lite": "deepseek-ai/DeepSeek-V2-Lite",
    "DeepSeek-V3": "deepseek-ai/DeepSeek-V3",
    "gpt-oss-20b": "openai/gpt-oss-20b",
    "Gemma 3 12B, full attention": "google/gemma-3-12b-it, full attention",
    "Gemma 4 26B, full attention": "google/gemma-4-26B-A4B, full attention",
    "Phi-3-vision 128k": "microsoft/Phi-3-vision-128k-instruct, text part, 4097 tokens",
    "Phi-4-mini": "microsoft/Phi-4-mini-instruct",
}


@pytest.mark.parametrize("name", SAME)
def test_model_has_the_speeds_of_the_same_published_config(name):
    cases = json.loads((DATA / "configs.json").read_text(encoding="utf-8"))["cases"]
    case = next(case for case in cases if case["name"] == SAME[name])
    model = SCALED[name]
    longer, layers = model["extended_context"], model["layer_type"]
    mine = from_config(model["config"], longer, layer_type=layers)
    other = from_config(case["config"], longer, layer_type=case.get("layer_type"))
    assert_allclose(mine.scaling.inv_freq, other.scaling.inv_freq, rtol=0, atol=0)
    assert mine.scaling[1:] == other.scaling[1:]


@pytest.mark.parametrize(
    ("name", "before", "after", "without", "new"),
    [
        ("Vicuna 7B v1.5 16k", 18, 18, 18, 0),
        ("Yarn Llama 2 7B 64k", 18, 18, 18, 0),
        ("InternLM2 7B", 24, 23, 24, 8),
        ("Llama 3.1 8B", 29, 25, 29, 29),
        ("Llama 3.2 1B", 14, 14, 14, 0),
        ("Gemma 4 26B, full attention", 58, 192, 0, 0),
    ],
)
def test_what_scaling_did_to_known_models(pictures, name, before, after, without, new):
    did = pictures["model_scalings"].data["models"][name]
    assert (did["before"], did["after"], did["new without"], did["new"]) == (before, after, without, new)


def test_hands_that_never_finish_are_those_the_closed_form_gives(pictures):
    for model in pictures["model_scalings"].data["models"].values():
        recipe = read_config(model["config"], model["extended_context"], model["layer_type"])
        # 2 pi b^(2i/d) > L where i > (d/2) log(L / 2 pi) / log(b)
        done = recipe.rotary_dim / 2 * np.log(model["original_context"] / (2 * np.pi)) / np.log(recipe.base)
        assert model["before"] == recipe.rotary_dim // 2 - 1 - int(done)
        # A hand that did not finish a turn sweeps new arc in any longer text.
        longer = model["extended_context"] > model["original_context"]
        assert model["new without"] == (model["before"] if longer else 0)


def scaled_by(factor, growth=4, **more):
    """A model of four hands, trained on 100 tokens, whose last two finish no turn."""
    config = {"model_type": "llama", "hidden_size": 8, "num_attention_heads": 1, "rope_theta": 10000.0}
    config["rope_scaling"] = {"rope_type": "linear", "factor": factor}
    contexts = {"original_context": 100, "extended_context": 100 * growth, "layer_type": None}
    return {"model": f"by {factor}", **contexts, "config": config, **more}


def test_each_hand_of_a_small_model_gets_its_state():
    for factor, after in ((4.0, [ROUND, ROUND, KNOWN, KNOWN]), (2.0, [ROUND, ROUND, NEW, NEW])):
        did = what_scaling_did(scaled_by(factor))
        assert [states.tolist() for states in did["states"]] == [[ROUND, ROUND, KNOWN, KNOWN], after]
    did = what_scaling_did(SCALED["Gemma 4 26B, full attention"])
    assert did["states"][1].tolist() == [ROUND] * 64 + [STILL] * 192


def test_title_counts_the_models_whose_hands_see_nothing_new():
    picture = room.model_scalings([scaled_by(4.0), scaled_by(2.0)])
    assert picture.caption == "In 1 of 2 models scaling leaves no hand an angle that it has not seen"
    assert "2 of by 2.0" in picture.alt


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: room.angle_map(pairs=(0, 20, 45, 64)), "pairs must be four pair numbers below 64"),
        (lambda: room.angle_map(pairs=(0, 20, 45)), "pairs must be four pair numbers below 64"),
        (lambda: room.neighbours_and_reach(reported=(3400,)), "reported must hold a length for each factor, 3, got 1"),
        (lambda: room.neighbours_and_reach(trained=100_000), "trained must be so short that some hand does not finish"),
        (lambda: room.temperature(marked=65), "marked must lie above 1 and up to 64, got 65"),
        (lambda: room.xpos_scores(far=0), "far must be positive, got 0"),
        (lambda: room.speed_ratios(factor=0.5), "factor must be at least 1, got 0.5"),
    ],
)
def test_bad_input_is_refused(call, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        call()
