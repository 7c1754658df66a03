"""The ONNX operator RotaryEmbedding-23, as calls of the package, against the operator's own node tests.

The caches of those tests hold random numbers, not cosines: they show which number meets which feature.
"""

import importlib
import json

import numpy as np
import pytest
from numpy.testing import assert_allclose
from onnx.backend.test.case import node as suite
from onnx.reference import ReferenceEvaluator
from places import DATA

from rope_ref import apply_rope

STORED = json.loads((DATA / "onnx_rotary_embedding.json").read_text("utf-8"))
REPORTED = {case["id"]: case for case in json.loads((DATA / "cases_onnx.json").read_text("utf-8"))["cases"]}


NAMES = ("input", "cos_cache", "sin_cache", "position_ids")  # inputs of the operator, in order


def array(stored):
    return np.array(stored["data"], stored["dtype"]).reshape(stored["shape"])


def rotary_embedding(x, cos_cache, sin_cache, position_ids=None, *, interleaved=0, num_heads=0, rotary_embedding_dim=0):
    """The operator: inputs and attributes as its specification names them.

    `x` has shape (batch, num_heads, seq_len, head_size), or (batch, seq_len, num_heads * head_size) with `num_heads`
    given. The caches have shape (positions, pairs) with `position_ids` of shape (batch, seq_len), or (batch, seq_len,
    pairs) without.
    """
    if position_ids is not None:
        cos_cache, sin_cache = cos_cache[position_ids], sin_cache[position_ids]
    four = x if x.ndim == 4 else np.swapaxes(x.reshape(*x.shape[:2], num_heads, -1), 1, 2)
    turned = apply_rope(
        four,
        cos_cache,
        sin_cache,
        pairing="interleaved" if interleaved else "half",
        rotary_dim=rotary_embedding_dim or four.shape[-1],
    )
    return turned if x.ndim == 4 else np.swapaxes(turned, 1, 2).reshape(x.shape)


def node_tests():
    """Node tests of the operator in the installed suite, by name; the thousands for other operators are not built."""
    importlib.import_module("onnx.backend.test.case.node.rotaryembedding")
    return {case.name: case for case in suite._NodeTestCases if case.name.startswith("test_rotary_embedding")}


SUITE = node_tests()
TWIN = "_expanded"  # the same data, for a model in which plain operators spell out the operator


def attributes(name):
    """Attributes of a node test; its twin has none of its own."""
    (node,) = SUITE[name.removesuffix(TWIN)].model.graph.node
    return {attribute.name: attribute.i for attribute in node.attribute}


def test_suite_holds_eight_tests_and_their_twins():
    names = {name for name in SUITE if not name.endswith(TWIN)}
    assert set(SUITE) == names | {name + TWIN for name in names}
    assert names >= {case["name"] for case in STORED["cases"]}
    assert len(STORED["cases"]) == 8


@pytest.mark.parametrize("name", SUITE)
def test_node_test_of_the_operator_passes(name):
    case = SUITE[name]
    assert case.data_sets
    for inputs, (want,) in case.data_sets:
        got = rotary_embedding(*inputs, **attributes(name))
        assert got.dtype == want.dtype
        assert_allclose(got, want, rtol=case.rtol, atol=case.atol)
        # The suite's relative tolerance is wide: these are single products and sums of numbers below 1.
        assert_allclose(got, want, rtol=0, atol=3 * 2.0**-24)


@pytest.mark.parametrize("name", [name for name in SUITE if name.endswith(TWIN)])
def test_operator_spelled_out_in_plain_operators_agrees_on_new_numbers(name):
    model, (inputs, _) = SUITE[name].model, SUITE[name].data_sets[0]
    rng = np.random.default_rng(0)
    floats = [rng.standard_normal(each.shape).astype(each.dtype) for each in inputs[:3]]
    ids = [rng.integers(0, len(floats[1]), each.shape) for each in inputs[3:]]
    feeds = dict(zip([each.name for each in model.graph.input], floats + ids, strict=True))
    (want,) = ReferenceEvaluator(model).run(None, feeds)
    assert_allclose(rotary_embedding(*floats, *ids, **attributes(name)), want, rtol=0, atol=2e-6)


@pytest.mark.parametrize("case", STORED["cases"], ids=lambda case: case["name"])
def test_node_test_stored_from_a_past_release_passes(case):
    inputs = [array(case["inputs"][name]) for name in NAMES if name in case["inputs"]]
    want, given = array(case["expected_output"]), case["attributes"]
    assert_allclose(rotary_embedding(*inputs, **given), want, rtol=case["rtol"], atol=case["atol"])
    other = given | {"interleaved": 1 - given.get("interleaved", 0)}
    assert not np.allclose(rotary_embedding(*inputs, **other), want, rtol=0.01, atol=0.01)


@pytest.mark.parametrize("pairing", ["half", "interleaved"])
def test_operator_gives_the_values_of_a_fault_report(pairing):
    case, interleaved = REPORTED["RI-160"], int(pairing == "interleaved")
    inputs = [np.array(case["inputs"][name]) for name in ("X", "cos_cache", "sin_cache", "position_ids")]
    want = case["expected"]
    assert_allclose(rotary_embedding(*inputs, interleaved=interleaved), want[pairing], **case["tolerance"])
    assert not np.allclose(rotary_embedding(*inputs, interleaved=1 - interleaved), want[pairing], **case["tolerance"])


def test_operator_takes_rows_already_gathered():
    case = REPORTED["RI-162"]
    got = rotary_embedding(*(np.array(case["inputs"][name]) for name in ("X", "cos_cache", "sin_cache")))
    assert_allclose(got, case["expected"], **case["tolerance"])
    for wrong in case["wrong_values"].values():
        assert not np.allclose(got, wrong, **case["tolerance"])
