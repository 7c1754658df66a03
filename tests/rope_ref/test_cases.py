"""Inputs from public fault reports: the right value comes out, and the value that each fault returns does not."""

import json

import ml_dtypes
import numpy as np
import pytest
from oracles import PAIRINGS, TURNS
from places import DATA

from rope_ref import (
    apply_rope,
    attention_scores,
    attention_weights,
    cos_sin,
    decay_curve,
    inverse_frequencies,
    relative_score,
    rotate_expanded,
    rotation_angles,
)
from rope_ref.decay import decay_bound, first_negative

PATH = DATA / "cases.json"
CASES = {case["id"]: case for case in json.loads(PATH.read_text(encoding="utf-8"))["cases"]}


def turned(x, positions, pairing="interleaved", **options):
    """Turn x of shape (..., seq_len, head_dim) at positions of shape (..., seq_len), base 10000."""
    x = np.asarray(x, np.float64)
    angles = rotation_angles(positions, inverse_frequencies(options.get("rotary_dim") or x.shape[-1]))
    return apply_rope(x, *cos_sin(angles), pairing=pairing, **options)


def both_pairings(i):
    return {pairing: turned([i["x"]], [i["position"]], pairing)[0] for pairing in PAIRINGS}


def split_by_heads(i):
    x = np.reshape(i["x_flat"], (i["num_heads"], 1, i["head_dim"]))
    return turned(x, [i["position"]], i["layout"]).ravel()


def bases(i):
    found = {}
    for base in i["bases"]:
        inv_freq = inverse_frequencies(i["head_dim"], base)
        angle = rotation_angles(i["position"], inv_freq)[i["pairs"][0]]
        found[str(int(base))] = [*inv_freq[i["pairs"]], angle]
    return found


def partial_frequencies(i):
    return inverse_frequencies(i["rotary_dim"], i["base"])[[0, 1, 2, 3, -1]]


def slow_pairs_that_stand_still(i):
    inv_freq = inverse_frequencies(i["head_dim"], i["base"])
    inv_freq[int(len(inv_freq) * i["partial_factor"]) :] = 0
    return rotate_expanded([i["x"]], rotation_angles([i["position"]], inv_freq), pairing=i["layout"])[0]


def positions_in_bfloat16(i):
    rounded = np.array(i["positions"], ml_dtypes.bfloat16)  # by the caller: the library takes them as they come
    assert list(rotation_angles(i["positions"], [1.0])[:, 0]) == i["positions"]
    return rotation_angles(rounded, [1.0])[:, 0]


def first_pair(i):
    cos, sin = cos_sin(rotation_angles(i["position"], inverse_frequencies(128)))
    return [cos[i["pair"]], sin[i["pair"]]]


def far_pairs(i):
    cos, sin = cos_sin(rotation_angles(i["position"], inverse_frequencies(i["head_dim"], i["base"])))
    return {"cos": cos[i["pairs"]], "sin": sin[i["pairs"]]}


def float16_row(i):
    x = np.array([i["x_float16"]], np.float16)
    got = rotate_expanded(x, rotation_angles([i["position"]], inverse_frequencies(4)), pairing=i["layout"])[0]
    assert got.dtype == i["output_dtype"]
    return got


def score(i, query_at, key_at):
    q, k = turned([i["q"]], [query_at]), turned([i["k"]], [key_at])
    total = attention_scores(q, k, scale=1.0)[0, 0]
    assert total == pytest.approx(relative_score(i["q"], i["k"], query_at - key_at, inverse_frequencies(4)), abs=1e-14)
    return total


def shifted(i):
    inv_freq = inverse_frequencies(4)

    def by(x, tokens, factor=1.0):
        return apply_rope(x, *cos_sin(rotation_angles([tokens], inv_freq), attention_factor=factor))

    x = np.array([i["x"]])
    return {
        "plain": by(by(x, i["pos"]), i["shift"])[0],
        "with_m": by(by(x, i["pos"], i["m"]), i["shift"])[0],
    }


def batched_decoding(i):
    x = np.broadcast_to(np.array(i["x"]), i["shape"])
    return turned(x, np.reshape(i["offsets"], (2, 1)))


def one_angle_in_place(i):
    x = np.array([i["x"]])
    kept = x.copy()
    got = apply_rope(x, *cos_sin([[i["angle"]]]))
    assert np.array_equal(x, kept)
    assert np.array_equal(apply_rope(x, *cos_sin([[i["angle"]]]), out=x), got)
    return got[0]


def output_of_one_key(i):
    v = np.array([i["v"]])
    turned_v = turned(v, [i["position"]])
    return (attention_weights(attention_scores(turned_v, turned_v)) @ v)[0]


def complex_form_of_a_transposed_array(i):
    x = np.array(i["x_before_transpose"]).T
    angles = rotation_angles(i["positions"], inverse_frequencies(4))
    results = [turn(x, angles) for turn in TURNS.values()]
    assert np.allclose(results, results[0], rtol=0, atol=1e-14)
    return TURNS["complex"](x, angles)


def not_monotone(i):
    inv_freq = inverse_frequencies(i["head_dim"], i["base"])
    assert first_negative(inv_freq) == i["first_negative"]
    return {
        "mean": decay_curve([i["first_rise_mean"], i["first_rise_mean"] + 1], inv_freq),
        "bound": decay_bound([i["first_rise_bound"], i["first_rise_bound"] + 1], inv_freq),
        "neg": decay_curve(i["first_negative"], inv_freq),
    }


ANSWERS = {
    "RI-001": both_pairings,
    "RI-003": lambda i: turned([i["x"]], [i["position"]], i["layout"])[0],
    "RI-005": split_by_heads,
    "RI-007": lambda i: turned([i["x"]], [i["position"]], "half")[0],
    "RI-020": lambda i: inverse_frequencies(i["head_dim"], i["base"]),
    "RI-022": bases,
    "RI-030": partial_frequencies,
    "RI-032": slow_pairs_that_stand_still,
    "RI-034": lambda i: inverse_frequencies(i["head_dim"]),
    "RI-036": lambda i: turned([[0.0] * i["head_dim"]], [0], rotary_dim=i["rotary_dim"]),
    "RI-040": positions_in_bfloat16,
    "RI-042": first_pair,
    "RI-044": far_pairs,
    "RI-046": float16_row,
    "RI-050": lambda i: turned([i["x"]], np.arange(i["L"]) + i["start_pos"], i["layout"])[0],
    "RI-052": lambda i: score(i, i["pos_q"], i["pos_k"]),
    "RI-055": lambda i: turned([i["x"]], [i["position"]])[0],
    "RI-070": lambda i: turned(np.ones(i["shape"]), [0, 1, 2]),
    "RI-072": batched_decoding,
    "RI-074": lambda i: turned(i["x"], i["positions"]),
    "RI-080": one_angle_in_place,
    "RI-082": lambda i: [score(i, query_at, key_at) for query_at, key_at in i["pairs"]],
    "RI-084": output_of_one_key,
    "RI-085": shifted,
    "RI-170": complex_form_of_a_transposed_array,
    "RI-180": lambda i: turned([i["x"]], [i["angle"]])[0],
    "RI-190": lambda i: decay_curve(i["distances"], inverse_frequencies(i["head_dim"], i["base"])),
    "RI-192": not_monotone,
    "RI-194": lambda i: [decay_curve(i["distance"], inverse_frequencies(128, base)) for base in (1e4, 5e5, 1e6)],
}


def agrees(got, want, tolerance):
    """Whether an answer, or each part of a mapping of answers, is within the tolerance of a case."""
    if isinstance(want, dict):
        return got.keys() == want.keys() and all(agrees(got[name], want[name], tolerance) for name in want)
    got, want = np.asarray(got), np.asarray(want)
    return got.shape == want.shape and np.allclose(got, want, **tolerance)


def test_every_case_has_an_answer():
    assert CASES.keys() == ANSWERS.keys()


@pytest.mark.parametrize("name", [name for name, case in CASES.items() if case["check"] != "raises"])
def test_the_right_value_comes_out_and_no_known_fault_does(name):
    case = CASES[name]
    got = ANSWERS[name](case["inputs"])
    assert agrees(got, case["expected"], case["tolerance"])
    for fault, wrong in case["wrong_values"].items():
        assert not agrees(got, wrong, case["tolerance"]), fault


@pytest.mark.parametrize("name", [name for name, case in CASES.items() if case["check"] == "raises"])
def test_what_must_be_refused_is(name):
    case = CASES[name]
    assert case["expected"]["raises"] == "ValueError"
    with pytest.raises(ValueError, match="|".join(case["expected"]["message_mentions"])):
        ANSWERS[name](case["inputs"])
