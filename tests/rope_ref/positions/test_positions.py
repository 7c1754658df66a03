"""Positions of plain, padded and packed sequences, beside public fault reports and plain loops."""

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from places import DATA

from rope_ref import inverse_frequencies, rotate_expanded, rotation_angles
from rope_ref.positions import from_attention_mask, packed, sequential

CASES = {case["id"]: case for case in json.loads((DATA / "cases_positions.json").read_text(encoding="utf-8"))["cases"]}


def turned(x, position_ids):
    """Rows of a head, interleaved, turned by their positions."""
    x = np.atleast_2d(np.asarray(x, np.float64))
    return rotate_expanded(x, rotation_angles(position_ids, inverse_frequencies(x.shape[-1])))


def assert_int64(position_ids, expected):
    """Equal numbers, and of the one dtype that no addition of positions overflows."""
    assert position_ids.dtype == np.int64
    assert_array_equal(position_ids, expected)


def test_positions_follow_one_another_from_the_offset():
    assert_int64(sequential(4), [0, 1, 2, 3])
    assert_int64(sequential(3, offset=1_000_000), [1_000_000, 1_000_001, 1_000_002])
    assert_int64(sequential(np.uint8(3), offset=-2), [-2, -1, 0])
    assert sequential(1).shape == (1,)


def test_each_sequence_of_a_batch_may_have_its_own_offset():
    assert_int64(sequential(2, offset=[5, 0]), [[5, 6], [0, 1]])
    assert sequential(4, offset=np.zeros((2, 3), int)).shape == (2, 3, 4)


def test_narrow_integers_do_not_wrap():
    case = CASES["RI-048"]["inputs"]
    unsigned = sequential(1, offset=np.array(case["uint8"], np.uint8))[:, 0] + np.uint8(case["add"])
    signed = sequential(1, offset=np.array(case["int8"], np.int8))[:, 0] + np.int8(case["add_int8"])
    for got, key in ((unsigned, "u"), (signed, "i")):
        assert_int64(got, CASES["RI-048"]["expected"][key])
        assert list(got) != CASES["RI-048"]["wrong_values"]["narrow"][key]
    assert_int64(sequential(3, offset=np.int8(126)), [126, 127, 128])
    assert_int64(packed(np.array([200, 100], np.uint8))[[199, 200, 299]], [199, 0, 99])
    assert_int64(from_attention_mask(np.ones(300, np.uint8)), np.arange(300))


def test_a_decoding_step_turns_by_the_true_position():
    case = CASES["RI-050"]
    got = turned(case["inputs"]["x"], sequential(case["inputs"]["L"], offset=case["inputs"]["start_pos"]))[0]
    assert_allclose(got, case["expected"], **case["tolerance"])
    assert not np.allclose(got, case["wrong_values"]["local_position_0"], rtol=1e-3, atol=1e-3)


def test_rows_dropped_from_a_cache_do_not_move_positions():
    case = CASES["RI-052"]
    q, k = (turned(case["inputs"][x], sequential(1, offset=case["inputs"][f"pos_{x}"]))[0] for x in "qk")
    assert_allclose(q @ k, case["expected"], **case["tolerance"])
    assert not np.isclose(q @ k, case["wrong_values"]["offset_is_retained_row_count (6)"], rtol=1e-3, atol=1e-3)


def test_a_negative_offset_turns_the_other_way():
    case = CASES["RI-055"]
    got = turned(case["inputs"]["x"], sequential(1, offset=case["inputs"]["position"]))[0]
    assert_allclose(got, case["expected"], **case["tolerance"])
    (wrong,) = case["wrong_values"].values()
    assert not np.allclose(got, wrong, rtol=1e-3, atol=1e-3)


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ((0,), ValueError, "seq_len must be positive, got 0"),
        ((-1,), ValueError, "seq_len must be positive, got -1"),
        ((2.0,), TypeError, "seq_len must be an integer, got 2.0"),
        ((2, 0.5), TypeError, "offset must hold integers, got dtype float64"),
        ((2, True), TypeError, "offset must hold integers, got dtype bool"),
        ((2, 2**60), ValueError, "offset must be at most 2[*][*]53"),
        ((2, 2**70), TypeError, "offset must hold integers, got dtype object"),
    ],
)
def test_sequential_refuses_what_is_no_count(arguments, error, message):
    with pytest.raises(error, match=message):
        sequential(*arguments)


def test_left_padding_shifts_positions():
    case = CASES["RI-053"]
    got = from_attention_mask(case["inputs"]["attention_mask"])
    assert_int64(got, case["expected"])
    assert all(got.tolist() != wrong for wrong in case["wrong_values"].values())


@pytest.mark.parametrize(
    ("mask", "expected"),
    [
        ([1, 1, 0, 0], [0, 1, 0, 0]),
        ([0, 1, 1, 0], [0, 0, 1, 0]),
        ([1, 1, 0, 1], [0, 1, 0, 2]),
        ([0, 0], [0, 0]),
        ([False, True, True], [0, 0, 1]),
        ([[[0, 1], [1, 1]]], [[[0, 0], [0, 1]]]),
    ],
)
def test_real_tokens_count_from_zero_and_padding_is_zero(mask, expected):
    assert_int64(from_attention_mask(mask), expected)


@pytest.mark.parametrize("side", ["left", "right"])
def test_padding_on_either_side_turns_real_tokens_as_without_padding(side):
    x = np.random.default_rng(0).standard_normal((5, 8))
    padding = np.ones((3, 8))
    rows = np.concatenate((padding, x) if side == "left" else (x, padding))
    mask = (rows != 1).all(axis=1)
    got = turned(rows, from_attention_mask(mask))[mask]
    assert_array_equal(got, turned(x, np.arange(5)))


@pytest.mark.parametrize(
    ("mask", "error", "message"),
    [
        ([0.0, 1.0], TypeError, "mask must hold 0 and 1 or booleans, got dtype float64"),
        ([0.0, -np.inf], TypeError, "mask must hold 0 and 1 or booleans, got dtype float64"),
        (["0", "1"], TypeError, "mask must hold 0 and 1 or booleans"),
        ([0, 2], ValueError, "mask must hold only 0 and 1, got 2"),
        ([0, -1], ValueError, "mask must hold only 0 and 1, got -1"),
        (1, ValueError, "mask must have at least one axis"),
    ],
)
def test_from_attention_mask_refuses_what_is_no_mask(mask, error, message):
    with pytest.raises(error, match=message):
        from_attention_mask(mask)


def test_packed_documents_start_at_zero_and_can_be_found_again():
    case = CASES["RI-062"]
    ids = packed(case["inputs"]["lengths"])
    assert_int64(ids, case["expected"]["ids"])
    starts = np.flatnonzero(ids == 0).tolist()
    assert starts == case["expected"]["starts"]
    assert starts != case["wrong_values"]["start_where_id_decreases"]["starts"]


@given(st.lists(st.integers(1, 9), min_size=1, max_size=8))
def test_packed_is_one_range_a_document(lengths):
    assert_int64(packed(lengths), np.concatenate([np.arange(length) for length in lengths]))


@pytest.mark.parametrize(
    ("lengths", "error", "message"),
    [
        ([3, 0], ValueError, "lengths must be positive, got 0"),
        ([3, -1], ValueError, "lengths must be positive, got -1"),
        ([2.0, 3.0], TypeError, "lengths must hold integers, got dtype float64"),
        ([True], TypeError, "lengths must hold integers, got dtype bool"),
        (np.zeros(0, int), ValueError, r"lengths must have shape \(documents,\)"),
        ([[1, 2]], ValueError, r"lengths must have shape \(documents,\)"),
        (3, ValueError, r"lengths must have shape \(documents,\)"),
    ],
)
def test_packed_refuses_what_is_no_list_of_lengths(lengths, error, message):
    with pytest.raises(error, match=message):
        packed(lengths)
