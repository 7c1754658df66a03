"""Scores, weights, and the closed form at the end of the hand derivation."""

import math

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.testing import assert_allclose, assert_array_equal
from oracles import DTYPES, MP, PAIRINGS, TURNS, exact

from rope_ref import (
    attention_scores,
    attention_weights,
    inverse_frequencies,
    relative_score,
    rotation_angles,
)

pairings = pytest.mark.parametrize("pairing", PAIRINGS)
E_1 = math.e

# Scores.


@pytest.mark.parametrize("dtype", DTYPES)
def test_scores_by_hand(dtype):
    q = np.array([[1, 2, 3, 4], [0, 0, 0, 2]], DTYPES[dtype])
    k = np.array([[1, 0, 0, 0], [0, 0, 1, 1], [1, 1, 1, 1]], DTYPES[dtype])
    got = attention_scores(q, k)  # products over sqrt(4)
    assert got.dtype == q.dtype
    assert_array_equal(got, [[0.5, 3.5, 5.0], [0.0, 1.0, 1.0]])
    assert_array_equal(attention_scores(q, k, scale=1.0), [[1, 7, 10], [0, 2, 2]])
    assert_array_equal(attention_scores(q, k, scale=-2), [[-2, -14, -20], [0, -4, -4]])


def scores_by_loops(q, k, scale):
    """One dot product at a time; query head h reads key head h // (heads / kv_heads)."""
    batch, heads, queries, _ = q.shape
    group = heads // k.shape[1]
    scores = np.empty((batch, heads, queries, k.shape[2]))
    for b, h, i, j in np.ndindex(scores.shape):
        scores[b, h, i, j] = math.fsum(q[b, h, i] * k[b, h // group, j]) * scale
    return scores


@pytest.mark.parametrize("kv_heads", [1, 2, 4, 8])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_key_heads_serve_query_heads_in_rows(kv_heads, dtype):
    rng = np.random.default_rng(kv_heads)
    q = rng.standard_normal((2, 8, 3, 6)).astype(dtype)
    k = rng.standard_normal((2, kv_heads, 5, 6)).astype(dtype)
    kept = q.copy(), k.copy()
    got = attention_scores(q, k)
    assert got.dtype == dtype
    want = scores_by_loops(q.astype(np.float64), k.astype(np.float64), 6**-0.5)
    assert_allclose(got, want, rtol=0, atol=20 * np.finfo(dtype).eps)
    assert_array_equal(q, kept[0])
    assert_array_equal(k, kept[1])
    if 1 < kv_heads < 8:  # heads that take turns would be another model
        other = scores_by_loops(q.astype(np.float64), np.tile(k, (1, 8 // kv_heads, 1, 1)).astype(np.float64), 6**-0.5)
        assert np.abs(got - other).max() > 0.1


@pytest.mark.parametrize("lead", [(), (3,), (2, 3), (2, 1, 3)])
def test_scores_of_any_leading_axes(lead):
    q, k = np.random.default_rng(1).standard_normal((2, *lead, 4, 6))
    got = attention_scores(q, k[..., :3, :])
    assert got.shape == (*lead, 4, 3)
    for head in np.ndindex(lead):
        assert_allclose(got[head], attention_scores(q[head], k[head][:3]), rtol=0, atol=1e-15)


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_coarse_scores_are_computed_in_float32_and_rounded_once(dtype):
    rng = np.random.default_rng(2)
    q, k = rng.standard_normal((2, 4, 3, 64)).astype(DTYPES[dtype])
    got = attention_scores(q, k)
    assert got.dtype == q.dtype
    fine = attention_scores(q.astype(np.float32), k.astype(np.float32))
    assert_array_equal(got, fine.astype(q.dtype))
    # Sums beyond the range of float16 are no harm as long as the score is within it.
    big = np.full((1, 64), 50, np.float16)
    assert attention_scores(big, big)[0, 0] == 20_000


@pytest.mark.parametrize(
    ("one", "other", "want"),
    [
        ("float16", "float32", "float32"),
        ("float16", "bfloat16", "float32"),
        ("float32", "float64", "float64"),
        ("bfloat16", "float64", "float64"),
    ],
)
def test_scores_have_the_finer_dtype(one, other, want):
    q, k = np.ones((2, 4), DTYPES[one]), np.ones((2, 4), DTYPES[other])
    assert attention_scores(q, k).dtype == attention_scores(k, q).dtype == want


def test_scores_of_lists_other_byte_orders_and_views():
    q, k = np.random.default_rng(3).standard_normal((2, 3, 4, 6)).astype(np.float32)
    want = attention_scores(q, k)
    swapped = attention_scores(q.astype(">f4"), k.astype(">f4"))
    assert swapped.dtype == np.dtype(">f4")
    assert_array_equal(swapped, want)
    assert_allclose(attention_scores(q[:, ::-1], k[..., ::-1, :]), want[:, ::-1, ::-1], rtol=0, atol=1e-6)
    assert_allclose(attention_scores(q.tolist(), k.tolist()), want, rtol=0, atol=1e-6)


@pytest.mark.parametrize(
    ("q", "k", "want"),
    [
        ((0, 3, 4), (0, 3, 4), (0, 3, 3)),
        ((0, 3, 4), (2, 3, 4), (0, 3, 3)),
        ((2, 0, 4), (2, 3, 4), (2, 0, 3)),
        ((2, 3, 4), (2, 0, 4), (2, 3, 0)),
        ((0, 2, 3, 4), (0, 1, 3, 4), (0, 2, 3, 3)),
    ],
)
def test_empty_scores(q, k, want):
    assert attention_scores(np.ones(q), np.ones(k)).shape == want


@pytest.mark.parametrize(
    ("q", "k", "message"),
    [
        ((4,), (4,), "q and k must have shapes"),
        ((3, 4), (2, 3, 4), "q and k must have shapes"),
        ((3, 4), (3, 5), "q and k must have shapes"),
        ((1, 2, 3, 4), (2, 2, 3, 4), "q and k must have shapes"),
        ((3, 0), (3, 0), "q must have a head_dim of at least 1, got 0"),
        ((3, 5, 4), (2, 5, 4), "k must have a number of heads that divides the 3 heads of q, got 2"),
        ((2, 5, 4), (3, 5, 4), "k must have a number of heads that divides the 2 heads of q, got 3"),
        ((2, 5, 4), (4, 5, 4), "k must have a number of heads that divides the 2 heads of q, got 4"),
        ((2, 5, 4), (0, 5, 4), "k must have a number of heads that divides the 2 heads of q, got 0"),
    ],
)
def test_shapes_that_do_not_meet_are_refused(q, k, message):
    with pytest.raises(ValueError, match=message):
        attention_scores(np.ones(q), np.ones(k))


@pytest.mark.parametrize("name", ["q", "k"])
@pytest.mark.parametrize(
    ("wrong", "kind", "message"),
    [
        (np.ones((3, 4), int), TypeError, "must be of float16, bfloat16, float32 or float64, got dtype int"),
        (np.ones((3, 4), complex), TypeError, "must be of float16"),
        (np.ones((3, 4), bool), TypeError, "must be of float16"),
        (np.ones((3, 4), object), TypeError, "must be of float16"),
        (None, TypeError, "must be of float16"),
        (np.ma.masked_less(np.ones((3, 4)), 2), TypeError, "must be a plain array, got a masked one"),
        ([[1.0], [1.0, 2.0]], ValueError, "must be an array, or lists that make one"),
    ],
)
def test_what_is_no_query_or_key_is_refused(name, wrong, kind, message):
    given = {"q": np.ones((3, 4)), "k": np.ones((3, 4)), name: wrong}
    with pytest.raises(kind, match=f"^{name} {message}"):
        attention_scores(**given)


@pytest.mark.parametrize(
    ("scale", "kind", "message"),
    [
        (True, TypeError, "scale must hold real numbers, got dtype bool"),
        ("1", TypeError, "scale must hold real numbers, got dtype <U1"),
        (1j, TypeError, "scale must hold real numbers"),
        ([1.0], ValueError, r"scale must be one number, got shape \(1,\)"),
        (np.nan, ValueError, "scale must be finite, got nan"),
        (np.inf, ValueError, "scale must be finite, got inf"),
        (1e39, ValueError, "scale must be a number that float32 can hold, got 1e"),
    ],
)
def test_a_scale_that_is_no_number_is_refused(scale, kind, message):
    with pytest.raises(kind, match=message):
        attention_scores(np.ones((3, 4), np.float32), np.ones((3, 4), np.float32), scale=scale)


# Weights.


@pytest.mark.parametrize("dtype", DTYPES)
def test_weights_by_hand(dtype):
    scores = np.zeros((2, 3), DTYPES[dtype])
    got = attention_weights(scores)
    assert got.dtype == scores.dtype
    third = np.array(1 / 3, np.float32 if dtype != "float64" else np.float64).astype(scores.dtype)
    assert_array_equal(got, [[0.5, 0.5, 0.0], [third, third, third]])
    logs = np.log([[1.0, 2.0, 3.0, 2.0]]).astype(DTYPES[dtype])
    got = attention_weights(logs, causal=False).astype(np.float64)
    assert_allclose(
        got, [[0.125, 0.25, 0.375, 0.25]], rtol=0, atol={"float64": 1e-15, "float32": 1e-7}.get(dtype, 4e-3)
    )


def weights_by_loops(scores, causal, bias):
    """Softmax of one row at a time, in Python's numbers."""
    queries, keys = scores.shape[-2:]
    weights = np.zeros(scores.shape)
    for row in np.ndindex(scores.shape[:-1]):
        last = row[-1] + keys - queries if causal else keys - 1
        logits = [float(scores[row][j] + bias[row][j]) if j <= last else -math.inf for j in range(keys)]
        top = max(logits, default=-math.inf)
        if top == -math.inf:
            continue
        exps = [math.exp(logit - top) for logit in logits]
        weights[row] = np.array(exps) / math.fsum(exps)
    return weights


@st.composite
def rows(draw):
    """Scores, a bias that broadcasts to them, and whether the mask is causal."""
    keys = draw(st.integers(1, 5))
    queries = draw(st.integers(1, keys))
    lead = draw(st.sampled_from([(), (2,), (2, 1)]))
    entries = st.one_of(st.floats(-50, 50), st.just(-np.inf))
    scores = draw(arrays(np.float64, (*lead, queries, keys), elements=entries))
    bias = draw(arrays(np.float64, draw(st.sampled_from([(), (keys,), (queries, keys)])), elements=entries))
    return scores, bias, draw(st.booleans())


@settings(max_examples=100)
@given(rows())
def test_weights_equal_explicit_loops(case):
    scores, bias, causal = case
    kept = scores.copy(), bias.copy()
    got = attention_weights(scores, causal=causal, bias=bias)
    want = weights_by_loops(scores, causal, np.broadcast_to(bias, scores.shape))
    assert_allclose(got, want, rtol=0, atol=1e-14)
    assert_array_equal(scores, kept[0])
    assert_array_equal(bias, kept[1])


@pytest.mark.parametrize("queries", [1, 2, 4])
def test_the_last_query_stands_at_the_last_key(queries):
    got = attention_weights(np.zeros((queries, 4)))
    want = [[1 / seen if j < seen else 0.0 for j in range(4)] for seen in range(4 - queries + 1, 5)]
    assert_allclose(got, want, rtol=1e-15, atol=0)


def test_causal_unless_told_otherwise():
    scores = np.random.default_rng(4).standard_normal((3, 3))
    assert_array_equal(attention_weights(scores), attention_weights(scores, causal=True))
    assert_array_equal(attention_weights(scores, causal=np.True_), attention_weights(scores))
    assert (attention_weights(scores, causal=False) > 0).all()


def test_new_queries_after_a_cache_equal_the_rows_of_the_whole():
    scores = np.random.default_rng(5).standard_normal((2, 7, 7))
    assert_array_equal(attention_weights(scores[:, -3:]), attention_weights(scores)[:, -3:])


@pytest.mark.parametrize("dtype", DTYPES)
def test_a_query_that_sees_no_key_has_weight_zero_everywhere(dtype):
    scores = np.array([[-np.inf, -np.inf], [0.0, -np.inf]], DTYPES[dtype])
    assert_array_equal(attention_weights(scores, causal=False), [[0, 0], [1, 0]])
    hidden = attention_weights(np.zeros((2, 2), DTYPES[dtype]), bias=[[-np.inf, 0.0], [0.0, -np.inf]])
    assert_array_equal(hidden, [[0, 0], [1, 0]])


def test_minus_infinity_in_the_bias_hides_a_key():
    got = attention_weights([[0.0, 1.0, 0.0]], causal=False, bias=[0.0, -np.inf, math.log(3)])
    assert_allclose(got, [[0.25, 0.0, 0.75]], rtol=1e-15, atol=0)


def test_large_scores_and_biases_neither_overflow_nor_warn():
    assert_array_equal(attention_weights([[1e308, -1e308]], causal=False), [[1, 0]])
    assert_array_equal(attention_weights([[5000.0, 5000.0]], causal=False), [[0.5, 0.5]])
    lowest = np.finfo(np.float64).min
    single = np.zeros((1, 2), np.float32)
    got = attention_weights(single, causal=False, bias=[[lowest, 0.0]])  # a usual way to hide a key
    assert got.dtype == np.float32
    assert_array_equal(got, [[0, 1]])
    assert_array_equal(attention_weights(single, causal=False, bias=[lowest, lowest]), [[0.5, 0.5]])
    low = np.full((1, 2), -3e38, np.float32)
    assert_array_equal(attention_weights(low, causal=False, bias=low), [[0.5, 0.5]])
    assert_array_equal(attention_weights(np.full((1, 2), 60_000, np.float16), causal=False), [[0.5, 0.5]])


def test_weights_do_not_change_when_all_scores_rise():
    scores = np.random.default_rng(6).standard_normal((4, 4))
    assert_allclose(attention_weights(scores + 100), attention_weights(scores), rtol=0, atol=1e-13)


def test_a_bias_may_be_of_any_real_dtype_and_broadcasts():
    scores = np.zeros((2, 3, 3), np.float32)
    want = attention_weights(scores, bias=np.array([0.0, 1.0, 2.0]))
    for dtype in (np.int8, np.float16, ml_dtypes.bfloat16, np.longdouble, ">f4"):
        assert_array_equal(attention_weights(scores, bias=np.arange(3).astype(dtype)), want)
    assert_array_equal(attention_weights(scores, bias=[[[0], [1], [2]], [[5], [6], [7]]]), attention_weights(scores))


@pytest.mark.parametrize("shape", [(0, 0), (0, 3), (2, 0, 3), (0, 2, 3)])
def test_empty_weights(shape):
    assert attention_weights(np.ones(shape)).shape == shape
    assert attention_weights(np.ones((2, 0)), causal=False).shape == (2, 0)


def test_weights_of_the_other_byte_order():
    scores = np.random.default_rng(7).standard_normal((3, 3)).astype(">f4")
    got = attention_weights(scores)
    assert got.dtype == scores.dtype
    assert_array_equal(got, attention_weights(scores.astype(np.float32)))


@pytest.mark.parametrize(
    ("scores", "options", "kind", "message"),
    [
        ([1.0], {}, ValueError, r"scores must have shape \(..., queries, keys\), got \(1,\)"),
        (1.0, {}, ValueError, r"scores must have shape \(..., queries, keys\), got \(\)"),
        (np.ones((3, 2)), {}, ValueError, "at least as many keys as queries when causal, got 3 x 2"),
        (np.ones((1, 0)), {}, ValueError, "at least as many keys as queries when causal, got 1 x 0"),
        ([[np.nan]], {}, ValueError, "scores must be finite or -inf, with bias added too, got nan or inf"),
        ([[np.inf]], {}, ValueError, "scores must be finite or -inf"),
        ([[0.0, np.nan], [0.0, 0.0]], {}, ValueError, "scores must be finite or -inf"),  # hidden by the mask, yet wrong
        ([[1]], {}, TypeError, "scores must be of float16, bfloat16, float32 or float64, got dtype int64"),
        ([[1j]], {}, TypeError, "scores must be of float16"),
        ([[1.0], [1.0, 2.0]], {}, ValueError, "scores must be an array"),
        (np.ma.masked_less([[1.0]], 2), {}, TypeError, "scores must be a plain array, got a masked one"),
        ([[0.0]], {"bias": [[np.nan]]}, ValueError, "scores must be finite or -inf, with bias added too"),
        ([[0.0]], {"bias": [[np.inf]]}, ValueError, "scores must be finite or -inf, with bias added too"),
        ([[-np.inf]], {"bias": [[np.inf]]}, ValueError, "scores must be finite or -inf, with bias added too"),
        ([[0.0]], {"bias": [[True]]}, TypeError, "bias must hold real numbers, got dtype bool"),  # no mask
        ([[0.0]], {"bias": 1j}, TypeError, "bias must hold real numbers, got dtype complex128"),
        ([[0.0]], {"bias": "0"}, TypeError, "bias must hold real numbers"),
        ([[0.0]], {"bias": [[0.0], [0.0, 1.0]]}, ValueError, "bias must be an array"),
        ([[0.0]], {"bias": np.ma.masked_less([[1.0]], 2)}, TypeError, "bias must be a plain array"),
        ([[0.0, 0.0]], {"bias": np.ones(3)}, ValueError, r"bias must broadcast to .* \(1, 2\), got \(3,\)"),
        ([[0.0, 0.0]], {"bias": np.ones((2, 1, 2))}, ValueError, r"bias must broadcast to .* got \(2, 1, 2\)"),
        ([[0.0]], {"causal": "no"}, TypeError, "causal must be True or False, got 'no'"),
        ([[0.0]], {"causal": None}, TypeError, "causal must be True or False, got None"),
        ([[0.0]], {"causal": np.tri(3)}, TypeError, "causal must be True or False, got array"),
    ],
)
def test_what_gives_no_weights_is_refused(scores, options, kind, message):
    with pytest.raises(kind, match=message):
        attention_weights(scores, **options)


# The closed form.


def test_the_closed_form_by_hand():
    # q = (1, 2), k = (3, 1): q1 k1 + q2 k2 = 5, q1 k2 - q2 k1 = -5; at a right angle only the second counts.
    assert_allclose(
        relative_score([1.0, 2.0], [3.0, 1.0], [0, 1, -1, 2], [math.pi / 2]), [5, -5, 5, -5], rtol=0, atol=1e-14
    )
    # Two pairs with speeds 0 and pi / 2: interleaved (1, 2), (3, 4); half (1, 3), (2, 4).
    q, k = [1.0, 2.0, 3.0, 4.0], [2.0, 0.0, 0.0, 1.0]
    got = [relative_score(q, k, 1, [0.0, math.pi / 2], pairing=pairing) for pairing in PAIRINGS]
    assert_allclose(got, [2 + 3, 2 + 2], rtol=0, atol=1e-14)


@pairings
@pytest.mark.parametrize("turn", TURNS)
@pytest.mark.parametrize(("m", "n"), [(0, 0), (7, 3), (3, 7), (4096, 1), (1_000_000, 999_995), (-5, 12)])
def test_the_closed_form_is_the_dot_product_of_the_turned_vectors(turn, pairing, m, n):
    q, k = np.random.default_rng(8).standard_normal((2, 100, 64))
    inv_freq = inverse_frequencies(64)
    q_turned = TURNS[turn](q, rotation_angles(m, inv_freq), pairing=pairing)
    k_turned = TURNS[turn](k, rotation_angles(n, inv_freq), pairing=pairing)
    allowed = (40 + 4 * max(abs(m), abs(n))) * 2.0**-53 * np.linalg.norm(q, axis=-1) * np.linalg.norm(k, axis=-1)
    got = relative_score(q, k, m - n, inv_freq, pairing=pairing)
    assert (np.abs(got - (q_turned * k_turned).sum(axis=-1)) <= allowed).all()
    if m != n:  # the other sign is another score
        assert np.abs(relative_score(q, k, n - m, inv_freq, pairing=pairing) - got).max() > 0.1


@pairings
def test_the_closed_form_equals_fifty_digits(pairing):
    q, k = np.random.default_rng(9).standard_normal((2, 24))
    inv_freq, distances = inverse_frequencies(24), [0, 1, -40, 1_000_000, 0.25]
    pairs = [(2 * i, 2 * i + 1) if pairing == "interleaved" else (i, i + 12) for i in range(12)]
    big_q, big_k, speeds = exact(q), exact(k), exact(inv_freq)
    for distance, got in zip(distances, relative_score(q, k, distances, inv_freq, pairing=pairing), strict=True):
        turned = [MP.mpc(big_q[a], big_q[b]) * MP.expj(distance * s) for (a, b), s in zip(pairs, speeds, strict=True)]
        want = MP.fsum((z * MP.mpc(big_k[a], -big_k[b])).real for z, (a, b) in zip(turned, pairs, strict=True))
        assert abs(got - want) <= (30 + abs(distance)) * 2.0**-53 * np.linalg.norm(q) * np.linalg.norm(k)


@pytest.mark.parametrize(
    ("q", "k", "distance", "want"),
    [
        ((4,), (4,), (), ()),
        ((4,), (4,), (5,), (5,)),
        ((3, 4), (3, 4), (), (3,)),
        ((3, 1, 4), (2, 4), (), (3, 2)),
        ((3, 1, 4), (2, 4), (3, 2), (3, 2)),
        ((4,), (4,), (2, 0), (2, 0)),
        ((0, 4), (4,), (1,), (0,)),
    ],
)
def test_the_closed_form_broadcasts(q, k, distance, want):
    rng = np.random.default_rng(10)
    q, k, distance = rng.standard_normal(q), rng.standard_normal(k), rng.integers(-9, 9, distance)
    got = relative_score(q, k, distance, [1.0, 0.5])
    assert np.shape(got) == want
    assert got.dtype == np.float64
    every = [np.broadcast_to(v, (*want, 4)) for v in (q, k)]
    far = np.broadcast_to(distance, want)
    for place in np.ndindex(want):
        assert_allclose(
            got[place], relative_score(every[0][place], every[1][place], far[place], [1.0, 0.5]), rtol=0, atol=1e-14
        )


@pytest.mark.parametrize("dtype", DTYPES)
def test_the_closed_form_is_float64_whatever_q_and_k_are(dtype):
    q, k = np.array([1, 2], DTYPES[dtype]), np.array([3, 1], DTYPES[dtype])
    got = relative_score(q, k, 1, [math.pi / 2])
    assert got.dtype == np.float64
    assert_allclose(got, -5.0, rtol=1e-15, atol=0)
    q, k = np.random.default_rng(11).standard_normal((2, 24)).astype(DTYPES[dtype])
    inv_freq = inverse_frequencies(24)
    assert relative_score(q, k, 7, inv_freq) == relative_score(q.astype("f8"), k.astype("f8"), 7, inv_freq)


TWO = [1.0, 2.0]


@pytest.mark.parametrize(
    ("arguments", "kind", "message"),
    [
        (([1, 2], TWO, 1, [1.0]), TypeError, "q must be of float16, bfloat16, float32 or float64, got dtype int64"),
        ((TWO, [1j, 2j], 1, [1.0]), TypeError, "k must be of float16"),
        ((TWO, [1.0, 2.0, 3.0], 1, [1.0]), ValueError, "q and k must have two features for each of the 1 pairs"),
        ((TWO, TWO, 1, [1.0, 0.5]), ValueError, "q and k must have two features for each of the 2 pairs"),
        ((1.0, TWO, 1, [1.0]), ValueError, "q and k must have two features"),
        ((np.ones((3, 2)), np.ones((4, 2)), 1, [1.0]), ValueError, "distance must broadcast with the leading axes"),
        ((np.ones((3, 2)), TWO, np.ones(2), [1.0]), ValueError, r"got shape \(2,\) with \(3, 2\) and \(2,\)"),
        ((TWO, TWO, np.nan, [1.0]), ValueError, "distance must be finite, got nan"),
        ((TWO, TWO, True, [1.0]), TypeError, "distance must hold real numbers, got dtype bool"),
        ((TWO, TWO, "1", [1.0]), TypeError, "distance must hold real numbers"),
        ((TWO, TWO, [[1], [1, 2]], [1.0]), ValueError, "distance must be an array"),
        ((TWO, TWO, 2**53 + 1, [1.0]), ValueError, r"distance must be at most 2\*\*53"),
        ((TWO, TWO, 1e308, [10.0]), ValueError, "distance times inv_freq must be angles that float64 can hold"),
        ((TWO, TWO, 1, [np.inf]), ValueError, "inv_freq must be finite, got inf"),
        ((TWO, TWO, 1, []), ValueError, r"inv_freq must have shape \(pairs,\)"),
        ((TWO, TWO, 1, [[1.0]]), ValueError, r"inv_freq must have shape \(pairs,\)"),
    ],
)
def test_what_gives_no_closed_form_is_refused(arguments, kind, message):
    with pytest.raises(kind, match=message):
        relative_score(*arguments)


def test_the_closed_form_refuses_an_unknown_pairing():
    with pytest.raises(ValueError, match="pairing must be 'interleaved' or 'half', got 'neox'"):
        relative_score(TWO, TWO, 1, [1.0], pairing="neox")
