"""The four forms of the rotation, and the one rule by which all of them and `apply_rope` meet angles with x."""

import itertools
import math

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, arrays
from numpy.testing import assert_allclose, assert_array_equal
from oracles import DTYPES, PAIRINGS, TURNS, WIDTHS, error, form_bound, head, place, sample

from rope_ref import FORMS, inverse_frequencies, rotation_angles, rotation_matrix

pairings = pytest.mark.parametrize("pairing", PAIRINGS)
forms = pytest.mark.parametrize("form", FORMS)
turns = pytest.mark.parametrize("turn", TURNS)


def by_hand(x, angles, pairing):
    """Turn row by row with Python's own numbers; `angles` already has an entry for each row of `x`."""
    turned = np.empty(x.shape)
    for row in np.ndindex(x.shape[:-1]):
        pairs = x.shape[-1] // 2
        for i in range(pairs):
            a, b = (2 * i, 2 * i + 1) if pairing == "interleaved" else (i, i + pairs)
            z = complex(x[row][a], x[row][b]) * complex(math.cos(angles[row][i]), math.sin(angles[row][i]))
            turned[row][a], turned[row][b] = z.real, z.imag
    return turned


# One case by hand for each.

C, S, C2, S2 = math.cos(1.0), math.sin(1.0), math.cos(0.01), math.sin(0.01)


@turns
@pytest.mark.parametrize(
    ("pairing", "want"),
    [
        ("interleaved", [C - 2 * S, S + 2 * C, 3 * C2 - 4 * S2, 3 * S2 + 4 * C2]),
        ("half", [C - 3 * S, 2 * C2 - 4 * S2, S + 3 * C, 2 * S2 + 4 * C2]),
    ],
)
def test_one_to_four_at_position_one(turn, pairing, want):
    got = TURNS[turn](np.array([[1.0, 2.0, 3.0, 4.0]]), [[1.0, 0.01]], pairing=pairing)
    assert_allclose(got, [want], rtol=1e-15, atol=0)


@turns
@pairings
def test_the_angle_of_a_3_4_5_triangle_turns_5_10_to_minus_5_10(turn, pairing):
    got = TURNS[turn](np.array([[5.0, 10.0]]), [[math.atan2(4, 3)]], pairing=pairing)
    assert_allclose(got, [[-5.0, 10.0]], rtol=1e-15, atol=0)


@turns
def test_a_positive_angle_turns_anticlockwise(turn):
    got = TURNS[turn](np.array([[1.0, 0.0]]), [[math.pi / 2]])
    assert_allclose(got, [[0.0, 1.0]], rtol=0, atol=1e-16)


@pytest.mark.parametrize(
    ("pairing", "want"),
    [
        ("interleaved", [[C, -S, 0, 0], [S, C, 0, 0], [0, 0, C2, -S2], [0, 0, S2, C2]]),
        ("half", [[C, 0, -S, 0], [0, C2, 0, -S2], [S, 0, C, 0], [0, S2, 0, C2]]),
    ],
)
def test_the_matrix_of_two_pairs_written_out(pairing, want):
    assert_array_equal(rotation_matrix([1.0, 0.01], pairing=pairing), want)
    many = rotation_matrix(np.full((2, 0, 3, 2), [1.0, 0.01]), pairing=pairing)
    assert many.shape == (2, 0, 3, 4, 4)


@pairings
def test_matrices_come_one_for_each_leading_index(pairing):
    angles = np.arange(12.0).reshape(3, 2, 2)
    got = rotation_matrix(angles, pairing=pairing)
    assert got.dtype == np.float64
    for row in np.ndindex(3, 2):
        assert_array_equal(got[row], rotation_matrix(angles[row], pairing=pairing))


# Fifty digits.


@forms
@pairings
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("width", WIDTHS)
def test_a_form_keeps_its_bound_against_fifty_digits(width, dtype, pairing, form):
    given = sample(width, dtype)
    x, want, lengths, angles = head(given, pairing)
    rows = slice(None, None, 4 if form == "matrix" and width > 96 else 1)  # that form is slow, and alike in every row
    got = FORMS[form](x[rows], given.angles[rows], pairing=pairing)
    assert got.dtype == x.dtype
    allowed = form_bound(want, lengths, angles, dtype)[rows]
    assert (error(got, (want[0][rows], want[1][rows])) / allowed).max() <= 1


@forms
@pytest.mark.parametrize("base", [0.5, 500_000.0])
def test_a_form_keeps_its_bound_for_other_bases(base, form):
    given = sample(24, "float64", base=base)
    x, want, lengths, angles = head(given, "half")
    got = FORMS[form](x, given.angles, pairing="half")
    assert (error(got, want) / form_bound(want, lengths, angles, "float64")).max() <= 1


@turns
@pytest.mark.parametrize("fault", ["float32 angle", "position one late", "angle the other way"])
def test_the_bound_can_be_broken(turn, fault):
    given = sample(24, "float64")
    x, want, lengths, angles = head(given, "half")
    wrong = {
        "float32 angle": given.angles.astype(np.float32),
        "position one late": given.angles + inverse_frequencies(24),
        "angle the other way": -given.angles,
    }[fault]
    got = TURNS[turn](x, wrong, pairing="half")
    assert (error(got, want) / form_bound(want, lengths, angles, "float64")).max() > 1e3


# What holds for every rotation.


@pytest.mark.parametrize("lead", [(), (3,), (2, 3), (1, 2, 3), (2, 1, 2, 3)])
@turns
@pairings
def test_every_form_turns_any_leading_axes_as_python_numbers_do(lead, turn, pairing):
    rng = np.random.default_rng(len(lead))
    x, angles = rng.standard_normal((*lead, 6)), rng.uniform(-9, 9, (*lead, 3))
    got = TURNS[turn](x, angles, pairing=pairing)
    assert_allclose(got, by_hand(x, angles, pairing), rtol=0, atol=1e-15 * 8)


numbers = st.floats(-1e6, 1e6)


@st.composite
def heads(draw):
    """A head, angles for each of its rows, and a pairing."""
    lead = draw(array_shapes(min_dims=0, max_dims=3, min_side=0, max_side=3))
    pairs = draw(st.integers(1, 4))
    x = draw(arrays(np.float64, (*lead, 2 * pairs), elements=numbers))
    angles = draw(arrays(np.float64, (*lead, pairs), elements=st.floats(-1e8, 1e8)))
    return x, angles, draw(st.sampled_from(PAIRINGS))


def pair_lengths(x, pairing):
    """Length of the pair of each feature."""
    half = x.shape[-1] // 2
    a, b = (x[..., 0::2], x[..., 1::2]) if pairing == "interleaved" else (x[..., :half], x[..., half:])
    return place(np.hypot(a, b), np.hypot(a, b), pairing)


@settings(max_examples=60)
@given(heads())
def test_forms_equal_each_other(case):
    x, angles, pairing = case
    allowed = pair_lengths(x, pairing) * 10 * 2.0**-53 + 1e-322
    results = {name: turn(x, angles, pairing=pairing) for name, turn in TURNS.items()}
    for one, other in itertools.combinations(results, 2):
        assert results[one].shape == x.shape
        assert (np.abs(results[one] - results[other]) <= allowed).all(), (one, other)


@turns
@settings(max_examples=30)
@given(case=heads())
def test_a_turn_keeps_lengths_undoes_itself_and_leaves_its_input_alone(turn, case):
    x, angles, pairing = case
    kept = x.copy(), angles.copy()
    there = TURNS[turn](x, angles, pairing=pairing)
    lengths = pair_lengths(x, pairing)
    assert (np.abs(pair_lengths(there, pairing) - lengths) <= 10 * 2.0**-53 * lengths + 1e-322).all()
    back = TURNS[turn](there, -angles, pairing=pairing)
    assert (np.abs(back - x) <= 10 * 2.0**-53 * lengths + 1e-322).all()
    assert_array_equal(x, kept[0])
    assert_array_equal(angles, kept[1])
    assert not np.shares_memory(there, x)


@turns
@pairings
@pytest.mark.parametrize("dtype", DTYPES)
def test_angle_zero_changes_nothing(turn, pairing, dtype):
    x = np.random.default_rng(1).standard_normal((2, 3, 5, 8)).astype(DTYPES[dtype])
    assert_array_equal(TURNS[turn](x, np.zeros(4), pairing=pairing), x)


@turns
@pairings
def test_turning_by_3_then_4_is_turning_by_7(turn, pairing):
    x, inv_freq = np.random.default_rng(2).standard_normal((1, 24)), inverse_frequencies(24)
    got = TURNS[turn](TURNS[turn](x, 3 * inv_freq, pairing=pairing), 4 * inv_freq, pairing=pairing)
    assert_allclose(got, TURNS[turn](x, 7 * inv_freq, pairing=pairing), rtol=0, atol=1e-14)


@turns
@pairings
@pytest.mark.parametrize("distance", [0, 1, 5, -5, 4096])
def test_scores_depend_on_distance_alone_at_position_one_million(turn, pairing, distance):
    m, width = 1_000_000, 64
    q, k = np.random.default_rng(3).standard_normal((2, 200, width))
    inv_freq = inverse_frequencies(width)

    def scores(position):
        q_turned = TURNS[turn](q, rotation_angles(position, inv_freq), pairing=pairing)
        k_turned = TURNS[turn](k, rotation_angles(position - distance, inv_freq), pairing=pairing)
        return (q_turned * k_turned).sum(axis=-1)

    allowed = 4 * m * 2.0**-53 * np.linalg.norm(q, axis=-1) * np.linalg.norm(k, axis=-1)
    assert (np.abs(scores(m) - scores(distance)) <= allowed).all()
    # And the right way round: q . R_(n - m) k.
    turned = TURNS[turn](k, rotation_angles(-distance, inv_freq), pairing=pairing)
    assert (np.abs(scores(m) - (q * turned).sum(axis=-1)) <= allowed).all()


# Kinds of input.


LAYOUTS = {
    "a list": lambda x: x.tolist(),
    "every second row": lambda x: np.repeat(x, 2, axis=-2)[..., ::2, :],
    "every second feature": lambda x: np.repeat(x, 2, axis=-1)[..., ::2],
    "features backwards in memory": lambda x: x[..., ::-1].copy()[..., ::-1],
    "rows backwards in memory": lambda x: x[..., ::-1, :].copy()[..., ::-1, :],
    "all backwards in memory": lambda x: np.flip(np.flip(x).copy()),
    "transposed": lambda x: np.ascontiguousarray(x.T).T,
    "Fortran order": np.asfortranarray,
    "heads and rows exchanged": lambda x: np.swapaxes(np.swapaxes(x, -3, -2).copy(), -3, -2),
    "other byte order": lambda x: x.astype(x.dtype.newbyteorder()),
    "off the alignment": lambda x: np.frombuffer(b"-" + x.tobytes(), x.dtype, offset=1).reshape(x.shape),
    "a field of records": lambda x: np.rec.fromarrays([x, x.astype("u1")]).f0,
    "read-only": lambda x: np.frombuffer(x.tobytes(), x.dtype).reshape(x.shape),
    "a subclass": lambda x: x.view(np.recarray),
}


@turns
@pairings
@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
def test_the_layout_of_x_and_angles_in_memory_does_not_matter(turn, pairing, layout, dtype):
    rng = np.random.default_rng(4)
    x = rng.standard_normal((2, 3, 5, 8)).astype(dtype)
    if layout == "a list":
        x = x.astype(np.float64)
    angles = rng.uniform(-9, 9, (2, 3, 5, 4))
    given = LAYOUTS[layout](x)
    assert_array_equal(given, x)
    got = TURNS[turn](given, LAYOUTS[layout](angles), pairing=pairing)
    assert type(got) is np.ndarray
    assert got.dtype == (x.dtype if layout == "a list" else given.dtype)
    assert_allclose(got, TURNS[turn](x, angles, pairing=pairing), rtol=0, atol=16 * np.finfo(dtype).eps)


@turns
@pairings
@pytest.mark.parametrize("shape", [(0, 8), (2, 3, 0, 8), (2, 0, 5, 8), (0, 3, 5, 8)])
def test_no_tokens_no_heads_and_no_batch_come_back_empty(turn, pairing, shape):
    x = np.empty(shape, np.float32)
    for angles in (np.zeros((shape[-2], 4)), np.zeros(4)):
        got = TURNS[turn](x, angles, pairing=pairing)
        assert got.shape == shape
        assert got.dtype == np.float32


@turns
@pytest.mark.parametrize("dtype", ["i1", "i8", ">i8", "f2", "f4", ">f4", "f8", np.longdouble, ml_dtypes.bfloat16])
def test_angles_may_be_integers_and_of_any_real_dtype(turn, dtype):
    x = np.random.default_rng(5).standard_normal((3, 4))
    angles = np.array([[0, 1], [2, -3], [100, 5]])
    assert_array_equal(TURNS[turn](x, angles.astype(dtype)), TURNS[turn](x, angles.astype(np.float64)))


@turns
def test_nan_stays_visible(turn):
    x = np.ones((1, 3, 4))
    x[0, 1, 2] = np.nan
    got = TURNS[turn](x, np.ones(2))
    assert np.isnan(got[0, 1, 2:]).all()
    assert not np.isnan(got[0, [0, 2]]).any()
    if turn != "matrix":  # a product with zero is still nan, so the matrix spreads it over the head
        assert not np.isnan(got[0, 1, :2]).any()


@turns
def test_a_result_beyond_float16_warns_as_numpy_does(turn):
    x = np.full((1, 2), 60_000, np.float16)
    with pytest.warns(RuntimeWarning, match="overflow"):
        got = TURNS[turn](x, [math.pi / 4])
    assert np.isinf(got[0, 1])


# How angles meet x.

B, H, N, P = 2, 3, 5, 4

MEETS = [
    # shape of x, shape of angles, the same angles with an axis for each axis of x
    ((2 * P,), (P,), (P,)),
    ((N, 2 * P), (P,), (1, P)),
    ((N, 2 * P), (N, P), (N, P)),
    ((N, 2 * P), (1, P), (1, P)),
    ((H, N, 2 * P), (P,), (1, 1, P)),
    ((H, N, 2 * P), (N, P), (1, N, P)),
    ((H, N, 2 * P), (H, N, P), (H, N, P)),
    ((H, N, 2 * P), (1, N, P), (1, N, P)),
    ((H, N, 2 * P), (H, 1, P), (H, 1, P)),
    ((B, H, N, 2 * P), (P,), (1, 1, 1, P)),
    ((B, H, N, 2 * P), (N, P), (1, 1, N, P)),
    ((B, H, N, 2 * P), (B, N, P), (B, 1, N, P)),
    ((B, H, N, 2 * P), (1, N, P), (1, 1, N, P)),
    ((B, H, N, 2 * P), (B, 1, N, P), (B, 1, N, P)),
    ((B, H, N, 2 * P), (1, H, N, P), (1, H, N, P)),
    ((B, H, N, 2 * P), (B, H, N, P), (B, H, N, P)),
    ((B, H, N, 2 * P), (B, H, 1, P), (B, H, 1, P)),
    ((B, H, N, 2 * P), (1, 1, 1, P), (1, 1, 1, P)),
    ((3, 3, N, 2 * P), (3, N, P), (3, 1, N, P)),  # batch equal to heads: the first axis is the batch
    ((3, 3, 3, 2 * P), (3, 3, P), (3, 1, 3, P)),  # and equal to the length too
    ((3, 3, 3, 2 * P), (3, P), (1, 1, 3, P)),
    ((1, H, N, 2 * P), (1, N, P), (1, 1, N, P)),
    ((B, H, 1, 2 * P), (P,), (1, 1, 1, P)),  # one decoded token
    ((B, H, 1, 2 * P), (1, P), (1, 1, 1, P)),
    ((B, H, 1, 2 * P), (B, 1, P), (B, 1, 1, P)),
    ((B, H, 1, 2 * P), (1, 1, P), (1, 1, 1, P)),
    ((B, 2, H, N, 2 * P), (N, P), (1, 1, 1, N, P)),  # five axes
    ((B, 2, H, N, 2 * P), (B, N, P), (B, 1, 1, N, P)),
    ((B, 2, H, N, 2 * P), (1, N, P), (1, 1, 1, N, P)),
    ((B, 2, H, N, 2 * P), (B, 1, H, N, P), (B, 1, H, N, P)),
    ((B, 2, H, N, 2 * P), (1, 2, 1, 1, P), (1, 2, 1, 1, P)),
]


@turns
@pairings
@pytest.mark.parametrize(("shape", "angle_shape", "full"), MEETS)
def test_angles_meet_x_as_the_rule_says(shape, angle_shape, full, turn, pairing):
    rng = np.random.default_rng(6)
    x, angles = rng.standard_normal(shape), rng.uniform(-9, 9, angle_shape)
    every = np.broadcast_to(angles.reshape(full), (*shape[:-1], P))
    got = TURNS[turn](x, angles, pairing=pairing)
    assert got.shape == shape
    assert_allclose(got, by_hand(x, every, pairing), rtol=0, atol=1e-14)


MISSES = [
    ((B, H, N, 2 * P), (H, N, P)),  # fits the heads alone
    ((B, H, N, 2 * P), (N, N, P)),
    ((1, H, N, 2 * P), (H, N, P)),
    ((1, H, N, 2 * P), (B, N, P)),  # x does not grow
    ((B, H, N, 2 * P), (H, 1, N, P)),
    ((B, H, N, 2 * P), (B, 1, P)),
    ((B, H, N, 2 * P), (N - 1, P)),
    ((B, H, N, 2 * P), (N + 1, P)),
    ((B, H, N, 2 * P), (1, P)),  # one row is no sequence of five: (pairs,) says that it serves all
    ((B, H, 1, 2 * P), (N, P)),
    ((B, H, N, 2 * P), (1, B, H, N, P)),  # more axes than x
    ((N, 2 * P), (1, N, P)),
    ((2 * P,), (1, P)),
    ((2 * P,), (N, P)),
    ((2 * P,), (1, 1, P)),
    ((H, N, 2 * P), (B, N, P)),
    ((B, 2, H, N, 2 * P), (B, H, N, P)),  # four axes against five
    ((B, 2, H, N, 2 * P), (2, N + 1, P)),
    ((B, 2, H, N, 2 * P), (H, N, P)),
    ((B, H, N, 2 * P), (0, N, P)),
    ((0, H, N, 2 * P), (B, N, P)),
]


@turns
@pytest.mark.parametrize(("shape", "angle_shape"), MISSES)
def test_angles_that_do_not_meet_x_are_refused_and_both_readings_named(shape, angle_shape, turn):
    with pytest.raises(ValueError, match=r"must have shape .*\(batch, seq_len, pairs\)") as caught:
        TURNS[turn](np.ones(shape), np.ones(angle_shape))
    assert "(heads, seq_len, pairs)" in str(caught.value)
    assert str(angle_shape) in str(caught.value)
    assert str(shape) in str(caught.value)


# Bad input.


@turns
@pytest.mark.parametrize(
    "x",
    [
        np.ones((3, 4), int),
        np.ones((3, 4), bool),
        np.ones((3, 4), complex),
        np.ones((3, 4), object),
        np.ones((3, 4), np.longdouble),
        np.ones((3, 4), ml_dtypes.float8_e4m3fn),
        np.ones((3, 4), ml_dtypes.float8_e5m2),
        np.full((3, 4), "1"),
        np.zeros((3, 4), "m8[s]"),
        [[1, 2, 3, 4]] * 3,
        "abcd",
        None,
        {},
    ],
    ids=lambda x: str(getattr(x, "dtype", x)),
)
def test_x_of_no_float_dtype_is_refused(turn, x):
    if getattr(x, "dtype", None) == np.float64:
        pytest.skip("here a long double is a float64")
    with pytest.raises(TypeError, match="x must be of float16, bfloat16, float32 or float64, got dtype"):
        TURNS[turn](x, np.ones((3, 2)))


@turns
def test_a_masked_array_is_refused(turn):
    x, angles = np.ma.masked_less(np.ones((3, 4)), 0), np.ma.masked_less(np.ones((3, 2)), 0)
    with pytest.raises(TypeError, match="x must be a plain array, got a masked one"):
        TURNS[turn](x, np.ones((3, 2)))
    with pytest.raises(TypeError, match="angles must be a plain array, got a masked one"):
        TURNS[turn](np.ones((3, 4)), angles)


@turns
def test_rows_of_several_lengths_are_refused(turn):
    with pytest.raises(ValueError, match="x must be an array, or lists that make one, got rows of several lengths"):
        TURNS[turn]([[1.0, 2.0], [1.0]], np.ones((2, 1)))
    with pytest.raises(ValueError, match="angles must be an array, or lists that make one"):
        TURNS[turn](np.ones((2, 2)), [[1.0], [1.0, 2.0]])


@turns
@pytest.mark.parametrize(
    "angles", [np.ones((3, 2), bool), np.ones((3, 2), complex), np.ones((3, 2), object), [["1", "2"]] * 3, None]
)
def test_angles_that_are_no_real_numbers_are_refused(turn, angles):
    with pytest.raises(TypeError, match="angles must hold real numbers, got dtype"):
        TURNS[turn](np.ones((3, 4)), angles)


@turns
@pytest.mark.parametrize("wrong", [np.nan, np.inf, -np.inf])
def test_angles_that_are_not_finite_are_refused(turn, wrong):
    with pytest.raises(ValueError, match=f"angles must be finite, got {wrong}"):
        TURNS[turn](np.ones((3, 4)), [[0.0, 1.0], [wrong, 0.0], [0.0, 0.0]])


@pytest.mark.skipif(np.finfo(np.longdouble).maxexp <= 1024, reason="here a long double reaches no further")
@turns
def test_angles_beyond_float64_are_refused_without_a_warning(turn):
    with pytest.raises(ValueError, match="angles must be finite, got inf"):
        TURNS[turn](np.ones((1, 2)), np.array([[np.longdouble("1e4000")]]))


@turns
@pytest.mark.parametrize("wrong", [2**53 + 1, -(2**53) - 1, 2**60])
def test_whole_angles_that_float64_cannot_hold_are_refused(turn, wrong):
    with pytest.raises(ValueError, match=rf"angles must be at most 2\*\*53, .* got {wrong}"):
        TURNS[turn](np.ones((1, 4)), np.array([[wrong, 1]]))


@forms
@pytest.mark.parametrize("angle_shape", [(3, 1), (3, 3), (3, 4), (3, 0), ()])
def test_a_form_takes_one_angle_for_each_pair(form, angle_shape):
    with pytest.raises(ValueError, match="angles must hold one angle for each pair of x, 2 in its last axis"):
        FORMS[form](np.ones((3, 4)), np.ones(angle_shape))


@forms
def test_a_form_takes_heads_of_even_width(form):
    with pytest.raises(ValueError, match="head_dim must be even, got 3"):
        FORMS[form](np.ones((2, 3)), np.ones((2, 1)))
    with pytest.raises(ValueError, match="head_dim must be positive, got 0"):
        FORMS[form](np.ones((2, 0)), np.ones((2, 0)))
    with pytest.raises(ValueError, match="x must have at least one axis, the features, got a scalar"):
        FORMS[form](1.0, [1.0])


@turns
@pytest.mark.parametrize("pairing", ["Half", "neox", "", None, 1, b"half", ["half"], True])
def test_an_unknown_pairing_is_refused_and_both_are_listed(turn, pairing):
    with pytest.raises(ValueError, match="pairing must be 'interleaved' or 'half', got"):
        TURNS[turn](np.ones((3, 4)), np.ones((3, 2)), pairing=pairing)


@pytest.mark.parametrize(
    ("angles", "kind", "message"),
    [
        (1.0, ValueError, r"angles must have shape \(..., pairs\) with at least one pair, got \(\)"),
        ([], ValueError, r"angles must have shape \(..., pairs\) with at least one pair, got \(0,\)"),
        (np.ones((3, 0)), ValueError, r"angles must have shape .* got \(3, 0\)"),
        ([np.nan], ValueError, "angles must be finite, got nan"),
        ([True], TypeError, "angles must hold real numbers, got dtype bool"),
        ([1j], TypeError, "angles must hold real numbers, got dtype complex128"),
        ([[1.0], [1.0, 2.0]], ValueError, "angles must be an array"),
    ],
)
def test_the_matrix_refuses_what_is_no_angle(angles, kind, message):
    with pytest.raises(kind, match=message):
        rotation_matrix(angles)


def test_the_matrix_refuses_an_unknown_pairing():
    with pytest.raises(ValueError, match="pairing must be 'interleaved' or 'half', got 'full'"):
        rotation_matrix([1.0], pairing="full")
