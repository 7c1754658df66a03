"""The fast form: its bounds, its blocks, `out`, partial width, and what it refuses."""

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, arrays
from numpy.lib.stride_tricks import as_strided, sliding_window_view
from numpy.testing import assert_allclose, assert_array_equal
from oracles import DTYPES, PAIRINGS, WIDTHS, error, fast_bound, head, sample

from rope_ref import apply_rope, cos_sin, inverse_frequencies, kernel, rotate_expanded, rotation_angles

pairings = pytest.mark.parametrize("pairing", PAIRINGS)
dtypes = pytest.mark.parametrize("dtype", DTYPES)


def assert_same_bits(got, want):
    """Equal to the last bit, signs of zero and payloads of nan included."""
    assert got.dtype == want.dtype
    assert got.shape == want.shape
    assert np.ascontiguousarray(got).tobytes() == np.ascontiguousarray(want).tobytes()


def some(shape, dtype, seed=0):
    """Random numbers of a dtype."""
    return np.random.default_rng(seed).standard_normal(shape).astype(DTYPES.get(dtype, dtype))


def tables(*shape, dtype=np.float64):
    """Random angles' cos and sin."""
    return cos_sin(np.random.default_rng(1).uniform(-9, 9, shape), dtype=dtype)


# By hand.


@dtypes
def test_whole_numbers_are_turned_exactly(dtype):
    x = np.array([[1, 2, 3, 4, 5, 6]], DTYPES[dtype])
    cos, sin = [[0.0, 2.0]], [[1.0, -3.0]]
    # pairs (1, 2), (3, 4): (1·0 - 2·1, 1·1 + 2·0), (3·2 + 4·3, -3·3 + 4·2)
    assert_array_equal(apply_rope(x, cos, sin), [[-2, 1, 18, -1, 5, 6]])
    # pairs (1, 3), (2, 4): (-3, 1), (2·2 + 4·3, -2·3 + 4·2)
    assert_array_equal(apply_rope(x, cos, sin, pairing="half"), [[-3, 16, 1, 2, 5, 6]])


def test_cos_and_sin_may_be_whole_numbers():
    assert_array_equal(apply_rope([[1.0, 2.0]], [[0]], [[1]]), [[-2.0, 1.0]])
    assert_array_equal(apply_rope([[1.0, 2.0]], np.array([[3]], np.uint8), np.array([[-1]], np.int8)), [[5.0, 5.0]])


@pairings
def test_nan_and_inf_in_cos_stay_in_their_pair(pairing):
    for wrong in (np.nan, np.inf):
        got = apply_rope(np.ones((1, 6)), [[1.0, wrong, 1.0]], [[0.0, 0.0, 0.0]], pairing=pairing)[0]
        spoiled = [2, 3] if pairing == "interleaved" else [1, 4]
        assert not np.isfinite(got[spoiled]).any()
        assert_array_equal(np.delete(got, spoiled), 1.0)


# Fifty digits.


@pairings
@dtypes
@pytest.mark.parametrize("width", WIDTHS)
def test_the_fast_form_keeps_its_bound_against_fifty_digits(width, dtype, pairing):
    given = sample(width, dtype)
    x, want, lengths, angles = head(given, pairing)
    allowed = fast_bound(want, lengths, angles, dtype)
    for table_dtype in [np.float64] if dtype == "float64" else [np.float32, np.float64]:
        got = apply_rope(x, *cos_sin(given.angles, dtype=table_dtype), pairing=pairing)
        assert got.dtype == x.dtype
        assert (error(got, want) / allowed).max() <= 1


@pairings
@dtypes
@pytest.mark.parametrize("factor", [1.3689, 0.25, 3.3])
def test_an_attention_factor_scales_result_and_bound(factor, dtype, pairing):
    given = sample(24, dtype, factor=factor)
    x, want, lengths, angles = head(given, pairing)
    allowed = fast_bound(want, lengths, angles, dtype, factor)
    for table_dtype in [np.float64] if dtype == "float64" else [np.float32, np.float64]:
        cos, sin = cos_sin(given.angles, attention_factor=factor, dtype=table_dtype)
        assert (error(apply_rope(x, cos, sin, pairing=pairing), want) / allowed).max() <= 1


@pytest.mark.parametrize("base", [0.5, 500_000.0])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_the_fast_form_keeps_its_bound_for_other_bases(base, dtype):
    given = sample(96, dtype, base=base)
    x, want, lengths, angles = head(given, "half")
    got = apply_rope(x, *cos_sin(given.angles), pairing="half")
    assert (error(got, want) / fast_bound(want, lengths, angles, dtype)).max() <= 1


@dtypes
@pytest.mark.parametrize("fault", ["angles in float32", "one position late"])
def test_wrong_angles_break_the_bound(dtype, fault):
    given = sample(24, dtype)
    x, want, lengths, angles = head(given, "half")
    wrong = {
        "angles in float32": given.angles.astype(np.float32),
        "one position late": given.angles + inverse_frequencies(24),
    }[fault]
    got = apply_rope(x, *cos_sin(wrong), pairing="half")
    assert (error(got, want) / fast_bound(want, lengths, angles, dtype)).max() > 10


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_turning_in_the_coarse_dtype_itself_breaks_the_bound(dtype):
    given = sample(24, dtype)
    x, want, lengths, angles = head(given, "half")
    cos, sin = (part.astype(x.dtype) for part in cos_sin(given.angles))
    a, b = x[:, :12], x[:, 12:]
    got = np.concatenate((a * cos - b * sin, a * sin + b * cos), axis=-1)
    assert (error(got, want) / fast_bound(want, lengths, angles, dtype)).max() > 2


# The notes of the docstring.


@pairings
def test_the_opposite_sine_gives_the_inverse_and_the_gradient(pairing):
    x, gradient = some((2, 3, 5, 8), "float64"), some((2, 3, 5, 8), "float64", seed=1)
    factor, angles = 1.5, np.random.default_rng(2).uniform(-9, 9, (5, 4))
    cos, sin = cos_sin(angles, attention_factor=factor)
    turned = apply_rope(x, cos, sin, pairing=pairing)
    back = apply_rope(turned, cos / factor**2, -sin / factor**2, pairing=pairing)
    assert_allclose(back, x, rtol=0, atol=1e-14)
    with_respect_to_x = apply_rope(gradient, cos, -sin, pairing=pairing)
    assert_allclose((turned * gradient).sum(axis=-1), (x * with_respect_to_x).sum(axis=-1), rtol=0, atol=1e-13)


# Blocks.


ALIGNED = [
    ((24,), (12,)),
    ((7, 24), (12,)),
    ((7, 24), (7, 12)),
    ((3, 7, 24), (7, 12)),
    ((2, 3, 7, 24), (12,)),
    ((2, 3, 7, 24), (7, 12)),
    ((2, 3, 7, 24), (2, 7, 12)),
    ((2, 3, 7, 24), (2, 1, 7, 12)),
    ((2, 3, 7, 24), (2, 3, 1, 12)),
    ((2, 3, 7, 24), (1, 3, 7, 12)),
    ((2, 3, 7, 24), (2, 3, 7, 12)),
    ((2, 3, 7, 24), (1, 1, 1, 12)),
    ((2, 3, 7, 32), (7, 12)),  # eight features at the end are copied
    ((2, 3, 7, 32), (2, 3, 7, 12)),
    ((2, 3, 1, 24), (2, 1, 12)),
    ((2, 2, 3, 7, 24), (2, 7, 12)),
    ((2, 2, 3, 7, 24), (1, 2, 1, 7, 12)),
    ((9, 2), (9, 1)),
]


@pairings
@pytest.mark.parametrize("dtype", ["float16", "float32", "float64", ">f4"])
@pytest.mark.parametrize(("shape", "table_shape"), ALIGNED)
def test_results_do_not_depend_on_the_block_size(monkeypatch, shape, table_shape, dtype, pairing):
    x, (cos, sin) = some(shape, dtype), tables(*table_shape)
    strided = np.repeat(x, 2, axis=-1)[..., ::2]
    want = apply_rope(x, cos, sin, pairing=pairing)
    for block in (1, 2, 5, 24, 50, 100, 333):
        monkeypatch.setattr(kernel, "BLOCK", block)
        for same in (x, strided):
            assert_same_bits(apply_rope(same, cos, sin, pairing=pairing), want)
            in_place = same.copy()
            assert_same_bits(apply_rope(in_place, cos, sin, pairing=pairing, out=in_place), want)


def test_arrays_of_many_blocks_equal_the_plain_form():
    x = some((3, 5, 800, 64), "float32")
    assert x.size > 5 * kernel.BLOCK
    angles = rotation_angles(np.arange(800), inverse_frequencies(64))
    for pairing in PAIRINGS:
        got = apply_rope(x, *cos_sin(angles), pairing=pairing)
        assert_allclose(got, rotate_expanded(x, angles, pairing=pairing), rtol=0, atol=6 * 3.4 * 2.0**-24)


@pytest.mark.parametrize("size", [1, 2, 3, 5, 6, 7, 24, 1000])
@pytest.mark.parametrize("shape", [(), (1,), (5,), (2, 3), (3, 1, 4)])
def test_blocks_cover_every_element_once_and_are_no_larger_than_asked(shape, size):
    seen = np.zeros(shape, int)
    for block in kernel.cut(shape, size):
        assert seen[block].size <= size
        seen[block] += 1
    assert (seen == 1).all()


# Memory: out, views, what is left alone.


@pairings
@dtypes
@pytest.mark.parametrize("shape", [(2, 3, 5, 16), (3, 5, 18), (5, 17)])
def test_in_place_equals_not_in_place_to_the_last_bit(shape, dtype, pairing):
    x, (cos, sin) = some(shape, dtype), tables(5, 8)
    kept = x.copy()
    want = apply_rope(x, cos, sin, pairing=pairing)
    assert_same_bits(x, kept)
    assert not np.shares_memory(x, want)
    out = np.full_like(x, 7)
    assert apply_rope(x, cos, sin, pairing=pairing, out=out) is out
    assert_same_bits(out, want)
    assert_same_bits(x, kept)
    assert apply_rope(x, cos, sin, pairing=pairing, out=x) is x
    assert_same_bits(x, want)


@pairings
@dtypes
@pytest.mark.parametrize(
    "view",
    [
        lambda big: big[..., 2:18],
        lambda big: big[..., ::-1][..., :16],
        lambda big: big[..., 0:32:2],
        lambda big: big[..., ::-1, :16],
        lambda big: np.swapaxes(big, 1, 2)[..., 3:19],
        lambda big: big.transpose(0, 2, 1, 3)[::-1, ..., -16:],
    ],
)
def test_in_place_on_a_view_turns_the_view_and_nothing_else(view, dtype, pairing):
    big = some((2, 5, 5, 32), dtype)
    kept, (cos, sin) = big.copy(), tables(2, 5, 8)
    want = apply_rope(view(big).copy(), cos, sin, pairing=pairing)
    apply_rope(view(big), cos, sin, pairing=pairing, out=view(big))  # two views of one place
    assert_same_bits(view(big), want)
    view(big)[...] = view(kept)
    assert_same_bits(big, kept)


@pairings
@dtypes
def test_a_head_turned_in_two_blocks(dtype, pairing):
    x = some((2, 3, 5, 12), dtype)
    (cos, sin), (cos2, sin2) = tables(5, 2), tables(5, 3)
    out = np.zeros_like(x)
    apply_rope(x[..., :4], cos, sin, pairing=pairing, out=out[..., :4])
    apply_rope(x[..., 6:], cos2, sin2, pairing=pairing, out=out[..., 6:])
    assert_same_bits(out[..., :4], apply_rope(x[..., :4].copy(), cos, sin, pairing=pairing))
    assert_same_bits(out[..., 6:], apply_rope(x[..., 6:].copy(), cos2, sin2, pairing=pairing))
    assert not out[..., 4:6].any()


SAME = {
    "every second row": lambda x: np.repeat(x, 2, axis=-2)[..., ::2, :],
    "every second feature": lambda x: np.repeat(x, 2, axis=-1)[..., ::2],
    "features backwards in memory": lambda x: x[..., ::-1].copy()[..., ::-1],
    "rows backwards in memory": lambda x: x[..., ::-1, :].copy()[..., ::-1, :],
    "transposed": lambda x: np.ascontiguousarray(x.T).T,
    "Fortran order": np.asfortranarray,
    "heads and rows exchanged": lambda x: np.swapaxes(np.swapaxes(x, 1, 2).copy(), 1, 2),
    "off the alignment": lambda x: np.frombuffer(b"-" + x.tobytes(), x.dtype, offset=1).reshape(x.shape),
    "read-only": lambda x: np.frombuffer(x.tobytes(), x.dtype).reshape(x.shape),
}


@pairings
@dtypes
@pytest.mark.parametrize("layout", SAME)
def test_every_layout_in_memory_gives_the_same_bits(layout, dtype, pairing):
    x, (cos, sin) = some((2, 3, 5, 16), dtype), tables(2, 3, 5, 7)
    given = SAME[layout](x)
    assert_same_bits(given, x)
    want = apply_rope(x, cos, sin, pairing=pairing)
    assert_same_bits(apply_rope(given, cos, sin, pairing=pairing), want)
    assert_same_bits(apply_rope(x, SAME[layout](cos), SAME[layout](sin), pairing=pairing), want)
    out = SAME[layout](np.zeros_like(x))
    if out.flags.writeable:
        apply_rope(given, cos, sin, pairing=pairing, out=out)
        assert_same_bits(out, want)


@pairings
@pytest.mark.parametrize("dtype", ["f2", "f4", "f8"])
def test_the_other_byte_order_gives_the_same_numbers_in_its_own_order(dtype, pairing):
    x, (cos, sin) = some((2, 3, 5, 10), dtype), tables(5, 4)
    want = apply_rope(x, cos, sin, pairing=pairing)
    other = x.astype(x.dtype.newbyteorder())
    assert_same_bits(apply_rope(other, cos, sin, pairing=pairing), want.astype(other.dtype))
    assert_same_bits(apply_rope(x, cos.astype(">f8"), sin.astype(">f8"), pairing=pairing), want)
    assert_same_bits(apply_rope(other, cos, sin, pairing=pairing, out=other), want.astype(other.dtype))


def test_lists_are_taken_as_float64():
    got = apply_rope([[5.0, 10.0]], [[0.6]], [[0.8]])
    assert got.dtype == np.float64
    assert_allclose(got, [[-5.0, 10.0]], rtol=1e-15, atol=0)


@pairings
@dtypes
@pytest.mark.parametrize("out", [True, False])
def test_features_beyond_the_turned_ones_are_copied_to_the_last_bit(out, dtype, pairing):
    x = some((2, 3, 5, 11), dtype)
    bits = x.view({2: np.uint16, 4: np.uint32, 8: np.uint64}[x.itemsize])
    all_ones = 2 ** (8 * x.itemsize) - 1
    bits[..., 6:] = [all_ones, all_ones // 2, 1, all_ones - 5, 0]  # nan of two signs and payloads, subnormal, nan, zero
    x[0, ..., 6] = -0.0
    cos, sin = tables(5, 3)
    got = apply_rope(x, cos, sin, pairing=pairing, rotary_dim=6, out=np.zeros_like(x) if out else None)
    assert_same_bits(got[..., 6:], x[..., 6:])
    assert_same_bits(got[..., :6], apply_rope(x[..., :6].copy(), cos, sin, pairing=pairing))
    apply_rope(x, cos, sin, pairing=pairing, out=x)
    assert_same_bits(x, got)


@pairings
def test_cos_and_sin_are_never_changed_and_may_be_read_only(pairing):
    x, (cos, sin) = some((4, 5, 8), "float32"), tables(5, 4, dtype=np.float32)
    kept = cos.copy(), sin.copy()
    cos.flags.writeable = sin.flags.writeable = False
    apply_rope(x, cos, sin, pairing=pairing, out=x)
    assert_same_bits(cos, kept[0])
    assert_same_bits(sin, kept[1])


def test_x_may_share_memory_with_cos_where_only_read():
    x = some((3, 4), "float64")
    assert_same_bits(apply_rope(x, x[:, :2], x[:, 2:]), apply_rope(x, x[:, :2].copy(), x[:, 2:].copy()))


def test_a_row_repeated_by_broadcasting_is_turned_at_each_position():
    row, (cos, sin) = some((1, 8), "float32"), tables(5, 4)
    for pairing in PAIRINGS:
        got = apply_rope(np.broadcast_to(row, (5, 8)), cos, sin, pairing=pairing)
        assert_same_bits(got, apply_rope(np.repeat(row, 5, axis=0), cos, sin, pairing=pairing))


def test_out_may_lie_between_the_elements_of_x():
    both, (cos, sin) = some((5, 16), "float64"), tables(5, 4)
    want = apply_rope(both[:, ::2].copy(), cos, sin)
    apply_rope(both[:, ::2], cos, sin, out=both[:, 1::2])
    assert_same_bits(both[:, 1::2], want)


@pairings
def test_out_of_a_subclass_is_filled_and_returned(pairing, tmp_path):
    x, (cos, sin) = some((5, 8), "float32"), tables(5, 4)
    file = np.memmap(tmp_path / "out", np.float32, "w+", shape=x.shape)
    assert apply_rope(x, cos, sin, pairing=pairing, out=file) is file
    assert_same_bits(np.asarray(file), apply_rope(x, cos, sin, pairing=pairing))


@pairings
@pytest.mark.parametrize("shape", [(0, 8), (2, 3, 0, 8), (2, 0, 5, 8), (0, 3, 5, 8), (2, 0, 5, 9)])
def test_empty_arrays_come_back_empty_with_and_without_out(pairing, shape):
    x, (cos, sin) = np.empty(shape, np.float16), tables(shape[-2], 4)
    assert apply_rope(x, cos, sin, pairing=pairing).shape == shape
    assert apply_rope(x, cos, sin, pairing=pairing, out=x) is x


# Random calls.


@st.composite
def calls(draw):
    """Arguments of `apply_rope` that meet, and the same cos and sin with an entry for each row of x."""
    lead = draw(array_shapes(min_dims=1, max_dims=4, min_side=0, max_side=4))
    pairs, rest = draw(st.integers(1, 3)), draw(st.integers(0, 3))
    dtype = draw(st.sampled_from(["f2", "f4", "f8", ">f4"]))
    x = draw(arrays(dtype, (*lead, 2 * pairs + rest), elements=st.floats(-100, 100, width=16)))
    kind = draw(st.sampled_from(["pairs", "rows", "batch", "full"]))
    if kind == "pairs":
        full = (1,) * len(lead)
        shape = (pairs,)
    elif kind == "batch" and len(lead) >= 3:
        first = draw(st.sampled_from([1, lead[0]]))
        full = (first, *(1,) * (len(lead) - 2), lead[-1])
        shape = (first, lead[-1], pairs)
    elif kind == "full":
        full = tuple(draw(st.sampled_from([1, n])) for n in lead)
        shape = (*full, pairs)
    else:
        full = (*(1,) * (len(lead) - 1), lead[-1])
        shape = (lead[-1], pairs)
    table = draw(arrays(np.float64, (2, *shape), elements=st.floats(-2, 2)))
    return x, table, np.broadcast_to(table.reshape(2, *full, pairs), (2, *lead, pairs)), draw(st.sampled_from(PAIRINGS))


@settings(max_examples=150)
@given(calls(), st.integers(1, 40))
def test_random_calls_equal_explicit_broadcasting_in_numpy(call, block):
    x, (cos, sin), (every_cos, every_sin), pairing = call
    pairs = cos.shape[-1]
    wide = x.astype(np.float64)
    first = slice(0, 2 * pairs, 2) if pairing == "interleaved" else slice(0, pairs)
    second = slice(1, 2 * pairs, 2) if pairing == "interleaved" else slice(pairs, 2 * pairs)
    want = wide.copy()
    want[..., first] = wide[..., first] * every_cos - wide[..., second] * every_sin
    want[..., second] = wide[..., first] * every_sin + wide[..., second] * every_cos
    got = apply_rope(x, cos, sin, pairing=pairing)
    assert got.shape == x.shape
    assert got.dtype == x.dtype
    assert_allclose(got.astype(np.float64), want, rtol=0, atol=600 * np.finfo(x.dtype).eps)
    assert_same_bits(got[..., 2 * pairs :], x[..., 2 * pairs :])
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(kernel, "BLOCK", block)
        assert_same_bits(apply_rope(x, cos, sin, pairing=pairing, out=x), got)


# Bad input.

X, COS, SIN = np.ones((3, 4)), np.zeros((3, 2)), np.ones((3, 2))


@pytest.mark.parametrize(
    ("dtype", "table_dtype", "need"),
    [
        ("float64", np.float32, "float64"),
        ("float64", np.float16, "float64"),
        ("float64", np.longdouble, "float64"),
        ("float64", complex, "float64"),
        ("float64", object, "float64"),
        ("float64", bool, "float64"),
        ("float64", str, "float64"),
        ("float32", np.float16, "float32 or float64"),
        ("float32", ml_dtypes.bfloat16, "float32 or float64"),
        ("float16", np.float16, "float32 or float64"),
        ("bfloat16", ml_dtypes.bfloat16, "float32 or float64"),
        ("float32", bool, "float32 or float64"),
    ],
)
def test_cos_and_sin_of_no_fit_dtype_are_refused(dtype, table_dtype, need):
    if np.dtype(table_dtype) == np.float64:
        pytest.skip("here a long double is a float64")
    x, wrong = X.astype(DTYPES[dtype]), COS.astype(table_dtype)
    with pytest.raises(TypeError, match=f"cos must be of {need} for this x, got dtype"):
        apply_rope(x, wrong, SIN)
    with pytest.raises(TypeError, match=f"sin must be of {need} for this x, got dtype"):
        apply_rope(x, COS, wrong)


def test_whole_cos_and_sin_that_float64_cannot_hold_are_refused():
    with pytest.raises(ValueError, match=r"sin must be at most 2\*\*53"):
        apply_rope([[1.0, 2.0]], [[1]], [[2**53 + 1]])


@pytest.mark.parametrize("name", ["cos", "sin"])
def test_masked_and_ragged_cos_and_sin_are_refused(name):
    table = {"cos": COS, "sin": SIN}
    with pytest.raises(TypeError, match=f"{name} must be a plain array, got a masked one"):
        apply_rope(X, **{**table, name: np.ma.masked_less(COS, 0)})
    with pytest.raises(ValueError, match=f"{name} must be an array, or lists that make one"):
        apply_rope(X, **{**table, name: [[1.0], [1.0, 2.0]]})


@pytest.mark.parametrize(
    ("x", "cos", "sin"),
    [(X, COS, SIN[:2]), (X, COS, SIN[:1]), (X, COS, SIN[0]), (X, COS, SIN[None]), (X, 1.0, 0.0), (1.0, COS, SIN)],
)
def test_cos_and_sin_must_have_one_shape(x, cos, sin):
    with pytest.raises(ValueError, match=r"x must have shape .* cos and sin one shape .*, got"):
        apply_rope(x, cos, sin)


@pytest.mark.parametrize(("width", "pairs"), [(4, 3), (3, 2), (4, 0), (0, 0), (1, 1), (4, 4)])
def test_pairs_must_fit_the_head(width, pairs):
    x, table = np.ones((3, width)), np.ones((3, pairs))
    with pytest.raises(ValueError, match=f"cos and sin must have from 1 to head_dim // 2 pairs, got {pairs}"):
        apply_rope(x, table, table)


@pytest.mark.parametrize(
    ("rotary_dim", "kind", "message"),
    [
        (2, ValueError, "rotary_dim must be twice the 2 pairs of cos and sin, got 2"),
        (8, ValueError, "rotary_dim must be at most head_dim, got rotary_dim 8 and head_dim 6"),
        (3, ValueError, "rotary_dim must be even, got 3"),
        (0, ValueError, "rotary_dim must be positive, got 0"),
        (-4, ValueError, "rotary_dim must be positive, got -4"),
        (4.0, TypeError, "rotary_dim must be an integer, got 4.0"),
        ("4", TypeError, "rotary_dim must be an integer, got '4'"),
        (True, TypeError, "rotary_dim must be an integer, got True"),
        (np.array([4]), TypeError, "rotary_dim must be an integer, got array"),
    ],
)
def test_a_rotary_dim_that_is_not_twice_the_pairs_is_refused(rotary_dim, kind, message):
    with pytest.raises(kind, match=message):
        apply_rope(np.ones((3, 6)), COS, SIN, rotary_dim=rotary_dim)


@pytest.mark.parametrize("rotary_dim", [4, np.int8(4), np.uint64(4), None])
def test_a_right_rotary_dim_changes_nothing(rotary_dim):
    x = some((3, 6), "float64")
    assert_same_bits(apply_rope(x, COS, SIN, rotary_dim=rotary_dim), apply_rope(x, COS, SIN))


@pytest.mark.parametrize("table", [(1, 3, 2), (2, 2), (4, 2), (2, 3, 2)])
def test_shapes_that_do_not_meet_name_cos_and_sin(table):
    with pytest.raises(ValueError, match=r"cos and sin must have shape .* got \(.*\) for x of shape \(3, 4\)"):
        apply_rope(X, np.ones(table), np.ones(table))


def read_only(shape):
    """An array that cannot be written."""
    array = np.empty(shape)
    array.flags.writeable = False
    return array


@pytest.mark.parametrize(
    ("out", "kind", "message"),
    [
        ([[0.0] * 4] * 3, TypeError, "out must be an array of dtype float64, as x is, got <class 'list'>"),
        (np.empty((3, 4), np.float32), TypeError, "out must be an array of dtype float64, as x is, got float32"),
        (np.empty((3, 4), int), TypeError, "out must be an array of dtype float64"),
        (np.empty((3, 4), complex), TypeError, "out must be an array of dtype float64"),
        (np.empty((3, 4), np.dtype(float).newbyteorder()), TypeError, "out must be an array of dtype float64"),
        (np.ma.masked_less(np.ones((3, 4)), 0), TypeError, "out must be a plain array, got a masked one"),
        (np.empty((4, 3)), ValueError, r"out must have the shape of x, \(3, 4\), got \(4, 3\)"),
        (np.empty((1, 3, 4)), ValueError, r"out must have the shape of x, \(3, 4\), got \(1, 3, 4\)"),
        (np.empty(12), ValueError, "out must have the shape of x"),
        (read_only((3, 4)), ValueError, "out must be writeable, got a read-only array"),
        (np.broadcast_to(np.empty(4), (3, 4)), ValueError, "out must be writeable"),
        (as_strided(np.empty(4), (3, 4), (0, 8)), ValueError, "out must have a place for each of its elements"),
        (sliding_window_view(np.empty(6), 4, writeable=True), ValueError, "got an array that overlaps itself"),
        (as_strided(np.empty(9)[8:], (3, 4), (-16, -8)), ValueError, "got an array that overlaps itself"),
    ],
)
def test_an_out_that_cannot_take_the_result_is_refused(out, kind, message):
    with pytest.raises(kind, match=message):
        apply_rope(X, COS, SIN, out=out)


@pytest.mark.parametrize(
    ("x", "out"),
    [
        (lambda b: b[:3, :4], lambda b: b[1:4, :4]),
        (lambda b: b[:3, :4], lambda b: b[2::-1, :4]),
        (lambda b: b[:3, :4], lambda b: b[:3, 3::-1]),
        (lambda b: b[:3, :4], lambda b: b[:3, 1:5]),
        (lambda b: b[:3, :8:2], lambda b: b[:3, 2:6]),
        (lambda b: b.ravel()[:12].reshape(3, 4), lambda b: b.ravel()[:12].reshape(4, 3).T),
    ],
)
def test_an_out_that_overlaps_x_in_part_is_refused(x, out):
    big = np.arange(64.0).reshape(8, 8)
    with pytest.raises(ValueError, match="out must be x itself or share no memory with it"):
        apply_rope(x(big), COS, SIN, out=out(big))
    assert_array_equal(big, np.arange(64.0).reshape(8, 8))


@pytest.mark.parametrize("name", ["cos", "sin"])
def test_an_out_that_overlaps_cos_or_sin_is_refused(name):
    x = np.arange(12.0).reshape(3, 4)
    with pytest.raises(ValueError, match="out must share no memory with cos or sin"):
        apply_rope(x, **{"cos": COS, "sin": SIN, name: x[:, 1:3]}, out=x)
    assert_array_equal(x, np.arange(12.0).reshape(3, 4))


@pytest.mark.parametrize(
    ("shape", "strides", "overlap"),
    [
        ((3, 4), (32, 8), False),
        ((3, 4), (8, 24), False),
        ((3, 4), (-32, -8), False),
        ((3, 4), (24, 8), True),
        ((3, 4), (32, 4), True),
        ((3, 4), (0, 8), True),
        ((1, 4), (0, 8), False),
        ((3, 0), (0, 8), False),
        ((2, 2, 2), (8, 16, 24), True),
        ((), (), False),
    ],
)
def test_an_array_overlaps_itself_where_two_elements_share_a_byte(shape, strides, overlap):
    array = as_strided(np.empty(100)[50:], shape, strides)
    assert kernel.overlaps_itself(array) == overlap
    places = [sum(i * s for i, s in zip(index, strides, strict=True)) for index in np.ndindex(shape)]
    touched = [byte for place in places for byte in range(place, place + 8)]
    assert (len(touched) > len(set(touched))) == overlap
