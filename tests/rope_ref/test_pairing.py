"""Which features form a pair: splitting, joining, reordering."""

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, arrays
from numpy.testing import assert_array_equal
from oracles import PAIRINGS

from rope_ref import join_pairs, rotation_matrix, split_pairs, to_half, to_interleaved
from rope_ref.checks import check_count, check_rotary_dim, check_width
from rope_ref.pairing import pair_features

# By hand.

A_TO_F = np.array(list("abcdef"))


@pytest.mark.parametrize(
    ("pairing", "first", "second"), [("interleaved", "ace", "bdf"), ("half", "abc", "def")], ids=PAIRINGS
)
def test_six_letters_split_and_join(pairing, first, second):
    got = split_pairs(A_TO_F, pairing)
    assert ["".join(part) for part in got] == [first, second]
    assert "".join(join_pairs(list(first), list(second), pairing)) == "abcdef"
    assert ["".join(A_TO_F[numbers]) for numbers in pair_features(6, pairing)] == [first, second]


def test_interleaved_is_what_nothing_said_means():
    assert_array_equal(split_pairs(A_TO_F), split_pairs(A_TO_F, "interleaved"))
    assert_array_equal(join_pairs([1, 2], [3, 4]), [1, 3, 2, 4])
    assert_array_equal(pair_features(4), [[0, 2], [1, 3]])


def test_six_letters_reordered():
    # A head of four cannot tell the two directions apart.
    assert "".join(to_half(A_TO_F)) == "acebdf"
    assert "".join(to_interleaved(A_TO_F)) == "adbecf"


def test_letters_beyond_rotary_dim_stay():
    letters = np.array([list("abcdefgh"), list("ABCDEFGH")])
    assert ["".join(row) for row in to_half(letters, 6)] == ["acebdfgh", "ACEBDFGH"]
    assert ["".join(row) for row in to_interleaved(letters, 6)] == ["adbecfgh", "ADBECFGH"]
    assert "".join(to_half(np.array(list("abcde")), 4)) == "acbde"  # the head itself may be odd


@pytest.mark.parametrize("rotary_dim", [2, 8, 24, 128])
def test_a_turn_after_reordering_is_the_other_turn(rotary_dim):
    angles = np.random.default_rng(rotary_dim).uniform(-9, 9, rotary_dim // 2)
    x = np.random.default_rng(0).standard_normal(rotary_dim)
    half = rotation_matrix(angles, pairing="half") @ to_half(x)
    interleaved = rotation_matrix(angles, pairing="interleaved") @ x
    np.testing.assert_allclose(half, to_half(interleaved), rtol=0, atol=1e-14)


# Random arrays.

ANY = st.sampled_from(["?", "i1", ">i4", "f2", "f4", ">f8", "c8", "U3", "m8[s]"])


@st.composite
def heads(draw):
    """An array of any dtype whose last axis is even, with features beyond it."""
    lead = draw(array_shapes(min_dims=0, max_dims=3, min_side=0, max_side=3))
    pairs, rest = draw(st.integers(1, 5)), draw(st.integers(0, 3))
    return draw(arrays(draw(ANY), (*lead, 2 * pairs + rest))), 2 * pairs


@settings(max_examples=60)
@given(heads(), st.sampled_from(PAIRINGS))
def test_joining_undoes_splitting(head, pairing):
    x, width = head
    x = x[..., :width]
    first, second = split_pairs(x, pairing)
    assert first.shape == second.shape == (*x.shape[:-1], width // 2)
    assert first.dtype == x.dtype
    joined = join_pairs(first, second, pairing)
    assert joined.shape == x.shape
    assert joined.tolist() == x.tolist() or np.array_equal(joined, x, equal_nan=True)
    a, b = pair_features(width, pairing)
    assert first.tolist() == x[..., a].tolist() or np.array_equal(first, x[..., a], equal_nan=True)
    assert second.tolist() == x[..., b].tolist() or np.array_equal(second, x[..., b], equal_nan=True)


@settings(max_examples=60)
@given(heads())
def test_the_two_orders_undo_each_other_to_the_last_bit(head):
    x, width = head
    kept = x.tobytes()
    for there, back in ((to_half, to_interleaved), (to_interleaved, to_half)):
        moved = there(x, width)
        assert moved.dtype == x.dtype
        assert moved.shape == x.shape
        assert not np.shares_memory(moved, x)
        assert back(moved, width).tobytes() == kept
    assert x.tobytes() == kept


@pytest.mark.parametrize("dtype", ["f2", "f4", ">f4", ">i2", "c16", ml_dtypes.bfloat16, object])
@pytest.mark.parametrize("reorder", [to_half, to_interleaved])
def test_reordering_keeps_the_dtype_and_its_byte_order(reorder, dtype):
    x = np.arange(8).astype(dtype)
    assert reorder(x).dtype == x.dtype
    assert reorder(x, 4).dtype == x.dtype


def test_the_parts_are_views_and_the_joined_is_not():
    x = np.arange(12.0).reshape(2, 6)
    for pairing in PAIRINGS:
        first, second = split_pairs(x, pairing)
        assert np.shares_memory(first, x)
        assert np.shares_memory(second, x)
        assert not np.shares_memory(join_pairs(first, second, pairing), x)


@pytest.mark.parametrize(
    "layout", [lambda x: x[::-1], lambda x: x.T.copy().T, lambda x: np.asfortranarray(x), lambda x: x.tolist()]
)
def test_the_layout_in_memory_does_not_matter(layout):
    x = np.arange(24).reshape(3, 8)
    given = layout(x)
    assert_array_equal(to_half(given), np.asarray(given)[:, [0, 2, 4, 6, 1, 3, 5, 7]])
    assert_array_equal(to_interleaved(given), np.asarray(given)[:, [0, 4, 1, 5, 2, 6, 3, 7]])


def test_empty_arrays_stay_empty():
    for pairing in PAIRINGS:
        assert [part.shape for part in split_pairs(np.empty((0, 4)), pairing)] == [(0, 2), (0, 2)]
        assert join_pairs(np.empty((0, 2)), np.empty((0, 2)), pairing).shape == (0, 4)
    assert to_half(np.empty((3, 0, 4))).shape == to_interleaved(np.empty((3, 0, 4))).shape == (3, 0, 4)


# Bad input.

UNKNOWN = ["Half", "neox", "", None, 0, True, b"half", ["half"], np.array(["half", "half"])]


@pytest.mark.parametrize("pairing", UNKNOWN, ids=str)
@pytest.mark.parametrize(
    "call", [lambda p: split_pairs([1, 2], p), lambda p: join_pairs([1], [2], p), lambda p: pair_features(2, p)]
)
def test_an_unknown_pairing_is_refused_and_both_are_listed(call, pairing):
    with pytest.raises(ValueError, match="pairing must be 'interleaved' or 'half', got"):
        call(pairing)


@pytest.mark.parametrize(
    ("x", "kind", "message"),
    [
        ([1, 2, 3], ValueError, "the last axis of x must be even, got 3"),
        (np.ones((4, 0)), ValueError, "the last axis of x must be positive, got 0"),
        (1.0, ValueError, "x must have at least one axis, the features, got a scalar"),
        ([[1, 2], [1]], ValueError, "x must be an array, or lists that make one, got rows of several lengths"),
        (np.ma.masked_less([1, 2], 2), TypeError, "x must be a plain array, got a masked one"),
    ],
)
def test_what_cannot_be_split_is_refused(x, kind, message):
    with pytest.raises(kind, match=message):
        split_pairs(x)


@pytest.mark.parametrize(
    ("first", "second", "kind", "message"),
    [
        ([1], [1, 2], ValueError, r"first and second must have one shape \(..., pairs\), got \(1,\) and \(2,\)"),
        ([[1]], [1], ValueError, r"got \(1, 1\) and \(1,\)"),
        (1, 2, ValueError, r"got \(\) and \(\)"),
        ([[1], [1, 2]], [1], ValueError, "first must be an array"),
        ([1], [[1], [1, 2]], ValueError, "second must be an array"),
        ([1], np.ma.masked_less([1], 2), TypeError, "second must be a plain array"),
    ],
)
def test_what_cannot_be_joined_is_refused(first, second, kind, message):
    with pytest.raises(kind, match=message):
        join_pairs(first, second)


@pytest.mark.parametrize("reorder", [to_half, to_interleaved])
@pytest.mark.parametrize(
    ("x", "rotary_dim", "kind", "message"),
    [
        (np.ones(5), None, ValueError, "head_dim must be even, got 5"),
        (np.ones(0), None, ValueError, "head_dim must be positive, got 0"),
        (np.ones(4), 6, ValueError, "rotary_dim must be at most head_dim, got rotary_dim 6 and head_dim 4"),
        (np.ones(4), 3, ValueError, "rotary_dim must be even, got 3"),
        (np.ones(4), 0, ValueError, "rotary_dim must be positive, got 0"),
        (np.ones(4), -2, ValueError, "rotary_dim must be positive, got -2"),
        (np.ones(4), 2.0, TypeError, "rotary_dim must be an integer, got 2.0"),
        (np.ones(4), "2", TypeError, "rotary_dim must be an integer, got '2'"),
        (np.ones(4), True, TypeError, "rotary_dim must be an integer, got True"),
        (np.ones(4), np.array(True), TypeError, "rotary_dim must be an integer"),
        (1.0, None, ValueError, "x must have at least one axis, the features, got a scalar"),
        ([[1, 2], [1]], None, ValueError, "x must be an array"),
        (np.ma.masked_less([1, 2], 2), None, TypeError, "x must be a plain array, got a masked one"),
    ],
)
def test_what_cannot_be_reordered_is_refused(reorder, x, rotary_dim, kind, message):
    with pytest.raises(kind, match=message):
        reorder(x, rotary_dim)


@pytest.mark.parametrize("value", [1, np.int8(1), np.uint64(1), np.array(1)])
def test_a_count_is_any_whole_number(value):
    count = check_count(value, "n")
    assert type(count) is int
    assert count == 1


@pytest.mark.parametrize("value", [1.0, "1", None, True, np.True_, np.array([1]), 1j, [1], np.float64(1)])
def test_a_count_is_nothing_else(value):
    with pytest.raises(TypeError, match="n must be an integer, got"):
        check_count(value, "n")


def test_widths_are_even_and_fit_the_head():
    assert check_width(6) == 6
    assert check_rotary_dim(4, 5) == 4
    assert check_rotary_dim(None, 6) == 6
    with pytest.raises(ValueError, match="rotary_dim must be even, got 7"):
        check_width(7)
    with pytest.raises(ValueError, match="head_dim must be even, got 5"):
        check_rotary_dim(None, 5)
