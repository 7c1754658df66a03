"""Kept rows of cos and sin: a buffer that is never seen in a result."""

import copy
import json
import pickle
import threading

import ml_dtypes
import mpmath
import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from places import DATA

from rope_ref import apply_rope, attention_scores, attention_weights, cos_sin, inverse_frequencies, rotation_angles
from rope_ref.embedding import FIRST, KEPT, RotaryEmbedding

CASES = {case["id"]: case for case in json.loads((DATA / "cases_embedding.json").read_text("utf-8"))["cases"]}
MP = mpmath.ctx_mp.MPContext()
MP.dps = 50
PAIRINGS = ["interleaved", "half"]
DTYPES = [np.float64, np.float32, np.float16, ml_dtypes.bfloat16]
# Ids that are kept, that lie beyond, below, between or far apart, of every shape and some narrow dtypes.
IDS = {
    "a run from 0": np.arange(5),
    "a run from 77": np.arange(77, 82),
    "one run in a batch of one": np.arange(77, 82)[None],
    "one id a sequence": np.array([[3], [90]]),
    "two runs": np.arange(5) + np.array([[0], [9]]),
    "backwards": np.arange(5)[::-1],
    "repeated": [4, 4, 4, 4, 4],
    "unordered": [0, 7, 3, 200, 1],
    "one for all": 6,
    "narrow": np.array([250, 251, 252, 253, 254], np.uint8),
    "wrapping in a narrow dtype": np.array([253, 254, 255, 0, 1], np.uint8),
    "unsigned": np.arange(5, dtype=np.uint64),
    "negative": np.arange(-5, 0),
    "narrow and negative": np.array([-128, -1, 0, 1, 127], np.int8),
    "fractional": np.arange(5) / 4,
    "whole numbers as floats": np.arange(5.0),
    "far apart": [0, 100_000, 5, 70_000, 130_000],
    "beyond the kept rows": np.arange(KEPT - 2, KEPT + 3),
    "at 2**40": 2**40 + np.arange(5),
}


def directly(x, ids, inv_freq, pairing, factor=1.0):
    """The same rotation with nothing kept."""
    return apply_rope(x, *cos_sin(rotation_angles(ids, inv_freq), attention_factor=factor), pairing=pairing)


def bits(array):
    """An array as bytes, so that equal means to the last bit."""
    return array.shape, array.dtype, array.tobytes()


def random(shape, dtype=np.float64, seed=0):
    return np.random.default_rng(seed).standard_normal(shape).astype(dtype)


def flat(value):
    """All numbers of a case's value, in order."""
    return (
        np.concatenate([np.ravel(value[key]) for key in sorted(value)]) if isinstance(value, dict) else np.ravel(value)
    )


def check_case(name, got):
    """Compare with the right value of a fault report, and with every wrong one."""
    case = CASES[name]
    assert_allclose(flat(got), flat(case["expected"]), **case["tolerance"])
    for fault, wrong in case["wrong_values"].items():
        if flat(wrong).shape == flat(got).shape:
            assert not np.allclose(flat(got), flat(wrong), **case["tolerance"]), fault


def test_turn_by_hand_at_positions_zero_and_one():
    rope = RotaryEmbedding([1.0, 0.01])
    # 1 cos 1 - 2 sin 1, 1 sin 1 + 2 cos 1, 3 cos 0.01 - 4 sin 0.01, 3 sin 0.01 + 4 cos 0.01
    want = [[1, 2, 3, 4], [-1.1426396637476532, 1.922075596544176, 2.959850667913329, 4.029799501669161]]
    assert_allclose(rope.rotate([[1.0, 2.0, 3.0, 4.0]] * 2), want, rtol=0, atol=1e-15)
    assert_allclose(rope.rotate([1.0, 2.0, 3.0, 4.0], 1), want[1], rtol=0, atol=1e-15)


@pytest.mark.parametrize("ids", IDS.values(), ids=IDS)
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("pairing", PAIRINGS)
def test_every_id_gives_the_bits_of_a_direct_computation(pairing, dtype, ids):
    inv_freq = inverse_frequencies(6)
    rope = RotaryEmbedding(inv_freq, pairing=pairing, attention_factor=1.25)
    seq_len = 1 if ids is IDS["one id a sequence"] else 5
    x = random((2, 3, seq_len, 8), dtype)
    want = bits(directly(x, ids, inv_freq, pairing, 1.25))
    assert bits(rope.rotate(x, ids)) == want  # with no row kept yet
    rope.rotate(random((300, 6), dtype))
    assert bits(rope.rotate(x, ids)) == want  # with rows to choose from


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("ids", IDS.values(), ids=IDS)
def test_cos_sin_gives_the_bits_of_a_direct_computation(ids, dtype):
    inv_freq = inverse_frequencies(10)
    rope = RotaryEmbedding(inv_freq, attention_factor=1.25)
    rope.cos_sin(np.arange(300), dtype)
    want = cos_sin(rotation_angles(ids, inv_freq), attention_factor=1.25, dtype=dtype)
    assert [bits(table) for table in rope.cos_sin(ids, dtype)] == [bits(table) for table in want]


@pytest.mark.parametrize(("dtype", "rounding"), [(np.float64, 2.0**-53), (np.float32, 2.0**-24)])
def test_kept_rows_are_right_to_rounding_against_50_digits(dtype, rounding):
    inv_freq, ids, factor = inverse_frequencies(24), np.array([0, 1, 255, 256, 1023, 1024, 4095]), 1.25
    rope = RotaryEmbedding(inv_freq, attention_factor=factor)
    rope.cos_sin(np.arange(100), dtype)
    rope.cos_sin(np.arange(4096), dtype)
    angles = [[MP.mpf(int(m)) * MP.mpf(float(speed)) for speed in inv_freq] for m in ids]
    for got, exact in zip(rope.cos_sin(ids, dtype), (MP.cos, MP.sin), strict=True):
        for m, row, want in zip(ids, got, angles, strict=True):
            # One rounding of the angle, and four at most of the value before the last one.
            allowed = factor * (rounding + (4 + m * inv_freq) * 2.0**-53)
            error = [
                float(abs(MP.mpf(float(value)) - factor * exact(angle))) for value, angle in zip(row, want, strict=True)
            ]
            assert (np.array(error) <= allowed).all()


def test_positions_start_at_zero_by_default():
    rope, x = RotaryEmbedding(inverse_frequencies(4)), random((2, 7, 4))
    assert bits(rope.rotate(x)) == bits(rope.rotate(x, np.arange(7)))
    assert bits(rope.rotate(x)) == bits(directly(x, np.arange(7), rope.inv_freq, "interleaved"))


def test_first_rows_keep_their_bits_while_the_table_grows():
    rope = RotaryEmbedding(inverse_frequencies(6))
    first = rope.cos_sin(np.arange(100))
    for length in (300, 5000, KEPT, KEPT + 10):
        rope.rotate(np.zeros((length, 6)))
        assert [bits(table) for table in rope.cos_sin(np.arange(100))] == [bits(table) for table in first]


def kept_rows(rope):
    return {np.dtype(dtype).name: rows.shape[1] for dtype, rows in rope._kept.items()}


def test_rows_grow_by_need_up_to_the_limit():
    rope = RotaryEmbedding([1.0])
    assert kept_rows(rope) == {}
    for length, rows in ((0, 0), (1, FIRST), (256, 256), (257, 512), (2048, 2048), (KEPT, KEPT), (KEPT + 1, KEPT)):
        rope.rotate(np.zeros((length, 2)))
        assert kept_rows(rope).get("float64", 0) == rows


def test_far_positions_leave_the_table_small():
    rope = RotaryEmbedding([1.0])
    for ids in ([0, 100_000], [130_000], [-3], [0.5], [2**40], np.arange(KEPT, KEPT + 600)):
        rope.cos_sin(ids)
    assert kept_rows(rope) == {}


def test_decoding_token_by_token_grows_the_table():
    rope, x = RotaryEmbedding(inverse_frequencies(4)), random((1000, 4))
    steps = [rope.rotate(x[m : m + 1], [m]) for m in range(1000)]
    assert bits(np.concatenate(steps)) == bits(rope.rotate(x))
    assert kept_rows(rope) == {"float64": 1024}


def test_float64_input_never_meets_float32_rows():
    inv_freq, x = inverse_frequencies(64), random((500, 64))
    rope = RotaryEmbedding(inv_freq)
    rope.rotate(x.astype(np.float32))
    assert bits(rope.rotate(x)) == bits(directly(x, np.arange(500), inv_freq, "interleaved"))
    rope.rotate(x.astype(np.float16))
    assert kept_rows(rope) == {"float32": 512, "float64": 512}


@pytest.mark.parametrize("pairing", PAIRINGS)
def test_ids_of_a_batch_meet_the_batch_also_where_it_equals_heads_and_length(pairing):
    rope, x = RotaryEmbedding(inverse_frequencies(4), pairing=pairing), random((3, 3, 3, 4))
    ids = np.array([[0, 1, 2], [5, 6, 7], [9, 2, 4]])
    want = [[rope.rotate(head, row) for head in sequence] for sequence, row in zip(x, ids, strict=True)]
    assert_array_equal(rope.rotate(x, ids), want)


def test_ids_of_a_batch_serve_an_array_without_heads():
    rope, x, ids = RotaryEmbedding(inverse_frequencies(4)), random((2, 3, 4)), np.array([[0, 1, 2], [5, 6, 7]])
    assert_array_equal(rope.rotate(x, ids), [rope.rotate(x[0], ids[0]), rope.rotate(x[1], ids[1])])


def test_features_beyond_the_pairs_are_copied():
    rope, x = RotaryEmbedding([1.0], pairing="half"), random((2, 5))
    turned = rope.rotate(x)
    assert_array_equal(turned[:, 2:], x[:, 2:])
    assert_allclose(
        turned[1, :2], [x[1, :2] @ [np.cos(1), -np.sin(1)], x[1, :2] @ [np.sin(1), np.cos(1)]], rtol=0, atol=1e-15
    )


def test_result_is_written_where_asked():
    rope, x = RotaryEmbedding(inverse_frequencies(4)), random((5, 4))
    want, out = rope.rotate(x), np.empty((5, 4))
    assert rope.rotate(x, out=out) is out
    assert_array_equal(out, want)
    assert rope.rotate(x, [0, 1, 2, 3, 4], out=x) is x
    assert_array_equal(x, want)


def test_a_writer_cannot_reach_the_kept_rows():
    rope = RotaryEmbedding(inverse_frequencies(4))
    want = bits(rope.cos_sin([1, 2])[0])
    for ids in (np.arange(3), [1, 2], [2, 1], 1):
        for table in rope.cos_sin(ids):
            table[...] = 7
    assert bits(rope.cos_sin([1, 2])[0]) == want


def test_later_changes_of_the_frequencies_given_have_no_effect():
    inv_freq = np.array([1.0, 0.5])
    rope = RotaryEmbedding(inv_freq)
    inv_freq[:] = 9
    assert_array_equal(rope.inv_freq, [1.0, 0.5])
    assert_array_equal(rope.cos_sin(1)[0], np.cos([1.0, 0.5]))
    with pytest.raises(ValueError, match="read-only"):
        rope.inv_freq[0] = 9
    for name in ("inv_freq", "pairing", "attention_factor"):
        with pytest.raises(AttributeError):
            setattr(rope, name, getattr(rope, name))


@pytest.mark.parametrize("again", [copy.copy, copy.deepcopy, lambda rope: pickle.loads(pickle.dumps(rope))])
def test_copies_and_pickles_turn_alike_and_leave_the_rows_behind(again):
    rope, x = RotaryEmbedding(inverse_frequencies(8), pairing="half", attention_factor=1.5), random((300, 8))
    want, other = rope.rotate(x), again(rope)
    assert kept_rows(other) == {}
    assert bits(other.rotate(x)) == bits(want)
    assert len(pickle.dumps(rope)) < 1000


def test_repr_is_short():
    rope = RotaryEmbedding(inverse_frequencies(128), pairing="half", attention_factor=1.5)
    assert repr(rope) == "RotaryEmbedding(<64 pairs>, pairing='half', attention_factor=1.5)"


def test_threads_share_one_object_while_it_grows():
    rope, inv_freq = RotaryEmbedding(inverse_frequencies(8)), inverse_frequencies(8)
    lengths = np.random.default_rng(1).integers(1, 4000, (8, 25))
    tables = {np.float64: cos_sin(rotation_angles(np.arange(4000), inv_freq))}
    tables[np.float32] = cos_sin(rotation_angles(np.arange(4000), inv_freq), dtype=np.float32)
    wrong, start = [], threading.Barrier(8)

    def work(mine):
        start.wait()
        for length in mine:
            for dtype, want in tables.items():
                for got, table in zip(rope.cos_sin(np.arange(length), dtype), want, strict=True):
                    if bits(got) != bits(table[:length]):
                        wrong.append(length)

    threads = [threading.Thread(target=work, args=(mine,)) for mine in lengths]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []
    assert set(kept_rows(rope)) == {"float64", "float32"}


@pytest.mark.parametrize("pairing", PAIRINGS)
@pytest.mark.parametrize("by", [-4, 7, 0, 1_000_000, 0.5])
def test_shifted_keys_are_keys_turned_at_the_new_positions(by, pairing):
    rope, x = RotaryEmbedding(inverse_frequencies(8), pairing=pairing, attention_factor=1.4), random((2, 3, 5, 8))
    ids = np.array([9, 10, 11, 40, 41])
    keys = rope.rotate(x, ids)
    assert_allclose(rope.shift(keys, by), rope.rotate(x, ids + by), rtol=0, atol=1e-14 * (1 + abs(by) / 10))
    assert_array_equal(keys, rope.rotate(x, ids))  # the cache given is left as it was


def test_each_key_may_move_by_its_own_distance():
    rope, x = RotaryEmbedding(inverse_frequencies(8)), random((2, 3, 5, 8))
    ids, by = np.arange(5), np.array([[0, 1, 2, 3, 4], [-1, -1, 0, 5, 5]])
    assert_allclose(rope.shift(rope.rotate(x), by), rope.rotate(x, ids + by), rtol=0, atol=1e-14)
    assert_allclose(rope.shift(rope.rotate(x), by[1]), rope.rotate(x, ids + by[1]), rtol=0, atol=1e-14)


@pytest.mark.parametrize("dtype", DTYPES)
def test_shift_keeps_dtype_and_length(dtype):
    rope, keys = RotaryEmbedding(inverse_frequencies(8), attention_factor=3.0), random((5, 8), dtype)
    shifted = rope.shift(keys, -3)
    assert shifted.dtype == keys.dtype
    lengths = [np.linalg.norm(each.astype(np.float64), axis=-1) for each in (shifted, keys)]
    assert_allclose(*lengths, rtol=2 * float(ml_dtypes.finfo(dtype).eps), atol=0)


def test_opposite_angle_gives_the_gradient_and_the_inverse():
    factor = 1.4
    rope, ids = RotaryEmbedding(inverse_frequencies(8), attention_factor=factor), np.arange(3, 8)
    x, grad, step = random((3, 5, 8))
    # y . grad is linear in x: its gradient is what meets every step with the change of y . grad
    change = (rope.rotate(x + step, ids) * grad).sum() - (rope.rotate(x, ids) * grad).sum()
    assert_allclose((rope.rotate(grad, -ids) * step).sum(), change, rtol=0, atol=1e-12)
    assert_allclose(rope.rotate(rope.rotate(x, ids), -ids) / factor**2, x, rtol=0, atol=1e-14)


@pytest.mark.parametrize(
    ("error", "match", "call"),
    [
        (ValueError, "inv_freq must have shape", lambda rope: RotaryEmbedding([[1.0]])),
        (ValueError, "inv_freq must be finite", lambda rope: RotaryEmbedding([np.nan])),
        (TypeError, "inv_freq must hold real numbers", lambda rope: RotaryEmbedding([1j])),
        (ValueError, "pairing must be 'interleaved' or 'half'", lambda rope: RotaryEmbedding([1.0], pairing="neox")),
        (ValueError, "attention_factor must be positive", lambda rope: RotaryEmbedding([1.0], attention_factor=0)),
        (TypeError, "attention_factor must be a number", lambda rope: RotaryEmbedding([1.0], attention_factor="2")),
        (TypeError, "x must be of float16", lambda rope: rope.rotate(np.ones((3, 4), int))),
        (ValueError, "x must have a head_dim of at least 4", lambda rope: rope.rotate(np.ones((4, 3)))),
        (ValueError, "x must have a head_dim of at least 4", lambda rope: rope.rotate(1.0)),
        (ValueError, r"x must have shape \(..., seq_len, head_dim\) without", lambda rope: rope.rotate(np.ones(4))),
        (ValueError, r"position_ids must have shape .* got \(2,\)", lambda rope: rope.rotate(np.ones((3, 4)), [0, 1])),
        (ValueError, "position_ids must have shape", lambda rope: rope.rotate(np.ones((2, 3, 5, 4)), np.ones((3, 5)))),
        (ValueError, "position_ids must be finite", lambda rope: rope.rotate(np.ones((1, 4)), [np.nan])),
        (ValueError, "position_ids must be finite", lambda rope: rope.cos_sin([np.inf])),
        (ValueError, "position_ids must be at most", lambda rope: rope.cos_sin([2**53 + 1])),
        (TypeError, "position_ids must hold real numbers", lambda rope: rope.rotate(np.ones((2, 4)), [True, False])),
        (TypeError, "dtype must be float64 or float32", lambda rope: rope.cos_sin([1], np.float16)),
        (TypeError, "dtype must be float64 or float32", lambda rope: rope.cos_sin([0.5], np.int64)),
        (
            TypeError,
            "out must be an array of dtype",
            lambda rope: rope.rotate(np.ones((1, 4)), out=np.ones((1, 4), "f4")),
        ),
        (ValueError, "out must have the shape of x", lambda rope: rope.rotate(np.ones((1, 4)), out=np.ones((2, 4)))),
        (TypeError, "keys must be of float16", lambda rope: rope.shift(np.ones((3, 4), int), 1)),
        (ValueError, "keys must have a head_dim of at least 4", lambda rope: rope.shift(np.ones((4, 3)), 1)),
        (ValueError, "by must be finite", lambda rope: rope.shift(np.ones((1, 4)), np.inf)),
        (TypeError, "position_ids must be a plain array", lambda rope: rope.cos_sin(np.ma.array([1], mask=[True]))),
        (TypeError, "by must hold real numbers", lambda rope: rope.shift(np.ones((1, 4)), True)),
        (ValueError, "by must have shape", lambda rope: rope.shift(np.ones((3, 4)), [1, 2])),
    ],
)
def test_wrong_input_gets_a_clear_error(error, match, call):
    with pytest.raises(error, match=match):
        call(RotaryEmbedding(inverse_frequencies(4)))


def test_empty_arrays_pass_through():
    rope = RotaryEmbedding(inverse_frequencies(4))
    for shape in ((0, 4), (2, 0, 3, 4), (0, 2, 3, 4)):
        assert rope.rotate(np.ones(shape)).shape == shape
    assert rope.cos_sin(np.ones((2, 0)))[0].shape == (2, 0, 2)


# Inputs from public fault reports --------------------------------------------------------------------------------

ROPE = RotaryEmbedding(inverse_frequencies(4))


def test_partial_width_stands_in_the_exponent():
    case = CASES["RI-030"]["inputs"]
    rope = RotaryEmbedding(inverse_frequencies(case["rotary_dim"], case["base"]))
    check_case("RI-030", rope.inv_freq[[0, 1, 2, 3, -1]])
    x = random((2, case["head_dim"]))
    assert_array_equal(rope.rotate(x)[:, case["rotary_dim"] :], x[:, case["rotary_dim"] :])


def test_proportional_width_keeps_the_exponent_of_the_head():
    case = CASES["RI-032"]["inputs"]
    inv_freq = inverse_frequencies(case["head_dim"], case["base"])
    inv_freq[int(case["partial_factor"] * len(inv_freq)) :] = 0
    check_case("RI-032", RotaryEmbedding(inv_freq, pairing="half").rotate(case["x"], case["position"]))


def test_decoded_token_stands_at_its_own_position():
    case = CASES["RI-050"]["inputs"]
    check_case("RI-050", ROPE.rotate([case["x"]], [case["start_pos"]]))


def test_evicted_rows_move_no_positions():
    case = CASES["RI-052"]["inputs"]
    check_case("RI-052", ROPE.rotate(case["q"], case["pos_q"]) @ ROPE.rotate(case["k"], case["pos_k"]))


def test_negative_position_is_computed_not_wrapped():
    case, rope = CASES["RI-055"]["inputs"], RotaryEmbedding(inverse_frequencies(4))
    rope.rotate(np.zeros((8, 4)))
    check_case("RI-055", rope.rotate(case["x"], case["position"]))


def test_table_reaches_the_largest_position():
    ids = CASES["RI-060"]["inputs"]["position_ids"]
    rope = RotaryEmbedding([1.0])
    cos, _ = rope.cos_sin(ids)
    assert_array_equal(cos[..., 0], np.cos(ids))
    assert (
        kept_rows(rope)["float64"] >= CASES["RI-060"]["expected"] > CASES["RI-060"]["wrong_values"]["sequence_length"]
    )


def test_angle_follows_the_sequence_also_where_it_equals_heads():
    check_case("RI-070", RotaryEmbedding([1.0]).rotate(np.ones(CASES["RI-070"]["inputs"]["shape"])))


def test_each_row_of_a_decoded_batch_has_its_own_offset():
    case = CASES["RI-072"]["inputs"]
    x = np.broadcast_to(case["x"], case["shape"])
    got = ROPE.rotate(x, np.reshape(case["offsets"], (2, 1)))
    assert got.shape == tuple(case["shape"])
    check_case("RI-072", got)


def test_single_key_head_is_turned():
    case = CASES["RI-074"]["inputs"]
    check_case("RI-074", ROPE.rotate(case["x"], case["positions"]))


def test_first_feature_is_not_overwritten_too_early():
    case = CASES["RI-080"]["inputs"]
    x = np.array(case["x"])
    check_case("RI-080", RotaryEmbedding([case["angle"]]).rotate(x, 1))
    assert_array_equal(x, case["x"])
    check_case("RI-080", RotaryEmbedding([case["angle"]]).rotate(x, 1, out=x))


def test_queries_and_keys_are_both_turned():
    case = CASES["RI-082"]["inputs"]
    check_case("RI-082", [ROPE.rotate(case["q"], m) @ ROPE.rotate(case["k"], n) for m, n in case["pairs"]])


def test_values_are_not_turned():
    case = CASES["RI-084"]["inputs"]
    v = np.array([case["v"]])
    q = k = ROPE.rotate(v, [case["position"]])
    check_case("RI-084", attention_weights(attention_scores(q, k)) @ v)


def test_cache_shift_applies_the_attention_factor_once():
    case = CASES["RI-085"]["inputs"]
    got = {}
    for name, factor in (("plain", 1.0), ("with_m", case["m"])):
        rope = RotaryEmbedding(inverse_frequencies(4), attention_factor=factor)
        got[name] = rope.shift(rope.rotate(case["x"], case["pos"]), case["shift"])
    check_case("RI-085", got)
