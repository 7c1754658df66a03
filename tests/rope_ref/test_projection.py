"""Projections reordered for the other pairing give the same scores; tables as other libraries lay them out."""

import json

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from places import DATA

from rope_ref import attention_scores, inverse_frequencies, to_half, to_interleaved
from rope_ref.embedding import RotaryEmbedding
from rope_ref.pairing import permute_projection, tables

CASES = {case["id"]: case for case in json.loads((DATA / "cases_projection.json").read_text("utf-8"))["cases"]}
SEQ_LEN, HIDDEN, HEADS = 7, 24, 8


def heads(features, num_heads):
    """(seq_len, heads * head_dim) to (heads, seq_len, head_dim)."""
    return np.swapaxes(features.reshape(len(features), num_heads, -1), 0, 1)


def normalized(x):
    """Each head at length one, as a QK-norm leaves it before its gain."""
    return x / np.linalg.norm(x, axis=-1, keepdims=True)


def scores(weights, kv_heads, pairing, rotary_dim, *, axis=0):
    """Scores of one layer with biases and QK-norm gains: everything that stands before the turn."""
    w_q, w_k, b_q, b_k, g_q, g_k = weights
    x = np.random.default_rng(0).standard_normal((SEQ_LEN, HIDDEN))
    w_q, w_k = (w.T if axis == 0 else w for w in (w_q, w_k))
    q = normalized(heads(x @ w_q + b_q, HEADS)) * g_q
    k = normalized(heads(x @ w_k + b_k, kv_heads)) * g_k
    rope = RotaryEmbedding(inverse_frequencies(rotary_dim), pairing=pairing)
    ids = np.arange(100, 100 + SEQ_LEN)
    return attention_scores(rope.rotate(q, ids), rope.rotate(k, ids))


def layer(kv_heads, head_dim, axis):
    """Weights of a layer: W_q, W_k, their biases, and the gains of both norms."""
    rng = np.random.default_rng(kv_heads)
    shapes = [(HEADS * head_dim, HIDDEN), (kv_heads * head_dim, HIDDEN)]
    matrices = [rng.standard_normal(shape if axis == 0 else shape[::-1]) for shape in shapes]
    return [*matrices, *(rng.standard_normal(rows) for rows, _ in shapes), *rng.uniform(0.5, 2, (2, head_dim))]


def permuted(weights, kv_heads, to, rotary_dim, axis):
    """The layer reordered, each part with its own number of heads."""
    counts = [HEADS, kv_heads, HEADS, kv_heads, 1, 1]
    axes = [axis, axis, 0, 0, 0, 0]
    return [
        permute_projection(part, count, to=to, rotary_dim=rotary_dim, axis=where)
        for part, count, where in zip(weights, counts, axes, strict=True)
    ]


@pytest.mark.parametrize("rotary_dim", [6, 12])
@pytest.mark.parametrize("axis", [0, 1])
@pytest.mark.parametrize("kv_heads", [1, 2, 8])
def test_half_pairing_of_reordered_weights_gives_the_scores_of_the_interleaved_pairing(kv_heads, axis, rotary_dim):
    weights = layer(kv_heads, 12, axis)
    want = scores(weights, kv_heads, "interleaved", rotary_dim, axis=axis)
    half = permuted(weights, kv_heads, "half", rotary_dim, axis)
    assert_allclose(scores(half, kv_heads, "half", rotary_dim, axis=axis), want, rtol=0, atol=1e-14)
    back = permuted(half, kv_heads, "interleaved", rotary_dim, axis)
    for part, original in zip(back, weights, strict=True):
        assert_array_equal(part, original)


@pytest.mark.parametrize("part", range(6))
def test_scores_differ_where_one_part_is_left_as_it_was(part):
    weights = layer(2, 12, 0)
    want = scores(weights, 2, "interleaved", 12)
    half = permuted(weights, 2, "half", 12, 0)
    half[part] = weights[part]
    assert np.abs(scores(half, 2, "half", 12) - want).max() > 0.01


@pytest.mark.parametrize("to", ["half", "interleaved"])
def test_rows_of_a_fault_report(to):
    case = CASES["RI-010"]
    sizes, name = case["inputs"], "interleaved_to_half" if to == "half" else "half_to_interleaved"
    rows = permute_projection(np.arange(sizes["num_heads"] * sizes["head_dim"]), sizes["num_heads"], to=to)
    assert_array_equal(rows, case["expected"][name])
    assert not np.array_equal(rows, case["wrong_values"]["direction_swapped"][name])


def test_key_rows_of_a_fault_report_go_by_the_number_of_key_heads():
    case = CASES["RI-012"]
    sizes = case["inputs"]
    rows = permute_projection(np.arange(sizes["num_kv_heads"] * sizes["head_dim"]), sizes["num_kv_heads"], to="half")
    assert_array_equal(rows, case["expected"])
    for wrong in case["wrong_values"].values():
        assert not np.array_equal(rows, wrong)


@pytest.mark.parametrize(("to", "reorder"), [("half", to_half), ("interleaved", to_interleaved)])
@pytest.mark.parametrize("rotary_dim", [None, 4])
def test_reordered_weight_makes_reordered_queries(rotary_dim, to, reorder):
    weight = np.random.default_rng(0).standard_normal((18, 5))
    x = np.random.default_rng(1).standard_normal((3, 5))
    want = reorder((x @ weight.T).reshape(3, 3, 6), rotary_dim).reshape(3, 18)
    assert_allclose(x @ permute_projection(weight, 3, to=to, rotary_dim=rotary_dim).T, want, rtol=0, atol=1e-14)


@pytest.mark.parametrize("dtype", [np.float16, np.int8, np.float32])
def test_dtype_stays_and_the_weight_given_is_left_alone(dtype):
    weight = np.arange(36).astype(dtype).reshape(12, 3)
    got = permute_projection(weight, 2, to="half")
    assert got.dtype == dtype
    assert not np.shares_memory(got, weight)
    assert_array_equal(weight, np.arange(36).reshape(12, 3))


def test_axis_counts_from_either_end():
    weight = np.arange(3 * 12 * 2).reshape(3, 12, 2)
    want = permute_projection(weight, 2, to="half", axis=1)
    assert_array_equal(permute_projection(weight, 2, to="half", axis=-2), want)
    assert_array_equal(want[0, :, 1], permute_projection(weight[0, :, 1], 2, to="half"))


@pytest.mark.parametrize(
    ("error", "match", "weight", "num_heads", "keywords"),
    [
        (ValueError, "to must be 'half' or 'interleaved', got 'neox'", np.ones(8), 2, {"to": "neox"}),
        (ValueError, "to must be 'half' or 'interleaved', got None", np.ones(8), 2, {"to": None}),
        (ValueError, "multiple of num_heads = 3 features along axis 0, got 8", np.ones((8, 3)), 3, {"to": "half"}),
        (ValueError, "multiple of num_heads = 2 features along axis 0, got 0", np.ones((0, 3)), 2, {"to": "half"}),
        (ValueError, "head_dim must be even, got 5", np.ones(10), 2, {"to": "half"}),
        (ValueError, "rotary_dim must be at most head_dim", np.ones(8), 2, {"to": "half", "rotary_dim": 6}),
        (ValueError, "rotary_dim must be even", np.ones(8), 2, {"to": "half", "rotary_dim": 3}),
        (ValueError, "num_heads must be positive", np.ones(8), 0, {"to": "half"}),
        (TypeError, "num_heads must be an integer", np.ones(8), 2.0, {"to": "half"}),
        (ValueError, "axis must number one of the 1 axes", np.ones(8), 2, {"to": "half", "axis": 1}),
        (ValueError, "axis must number one of the 0 axes", 1.0, 1, {"to": "half"}),
        (TypeError, "axis must be an integer", np.ones(8), 2, {"to": "half", "axis": None}),
        (TypeError, "weight must be a plain array", np.ma.array(np.ones(8), mask=True), 2, {"to": "half"}),
        (ValueError, "weight must be an array, or lists", [[1.0, 2.0], [3.0]], 2, {"to": "half"}),
        (TypeError, "axis must be an integer", np.ones((8, 8)), 2, {"to": "half", "axis": True}),
    ],
)
def test_wrong_projection_gets_a_clear_error(error, match, weight, num_heads, keywords):
    with pytest.raises(error, match=match):
        permute_projection(weight, num_heads, **keywords)


def test_tables_are_laid_out_as_other_libraries_store_them():
    cos = np.arange(12).reshape(2, 2, 3)
    assert_array_equal(tables(cos, "pairs"), cos)
    assert_array_equal(tables(cos, "concatenated")[1, 0], [6, 7, 8, 6, 7, 8])
    assert_array_equal(tables(cos, "repeated")[1, 0], [6, 6, 7, 7, 8, 8])
    for layout in ("pairs", "concatenated", "repeated"):
        assert not np.shares_memory(tables(cos, layout), cos)


@pytest.mark.parametrize(("pairing", "layout"), [("interleaved", "repeated"), ("half", "concatenated")])
def test_table_and_quarter_turn_of_one_pairing_are_the_rotation(pairing, layout):
    x = np.random.default_rng(0).standard_normal((5, 8))
    rope = RotaryEmbedding(inverse_frequencies(8), pairing=pairing)
    cos, sin = (tables(table, layout) for table in rope.cos_sin(np.arange(5)))
    signs = {"interleaved": [-1, 1] * 4, "half": [-1] * 4 + [1] * 4}[pairing]
    places = {"interleaved": [1, 0, 3, 2, 5, 4, 7, 6], "half": [4, 5, 6, 7, 0, 1, 2, 3]}[pairing]
    assert_allclose(x * cos + x[:, places] * signs * sin, rope.rotate(x), rtol=0, atol=1e-15)


@pytest.mark.parametrize("layout", ["cat", "", None, 0])
def test_unknown_layout_of_a_table_lists_the_three(layout):
    with pytest.raises(ValueError, match="layout must be 'pairs', 'concatenated' or 'repeated', got"):
        tables([1.0], layout)


def test_table_must_be_an_array_of_pairs():
    with pytest.raises(ValueError, match="cos must have shape"):
        tables(1.0, "pairs")
    with pytest.raises(TypeError, match="cos must be a plain array"):
        tables(np.ma.array([1.0], mask=True), "repeated")
