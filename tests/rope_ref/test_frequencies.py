"""How fast each pair turns, angles, and their cosine and sine."""

import math
from fractions import Fraction

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from oracles import MP, POSITIONS, WIDTHS, error, exact, table, two_floats
from oracles import inverse_frequencies as exact_frequencies

from rope_ref import cos_sin, inverse_frequencies, rotation_angles, wavelengths

# By hand.


@pytest.mark.parametrize(
    ("rotary_dim", "base", "want"),
    [
        (2, 10000.0, [1.0]),
        (4, 10000.0, [1.0, 0.01]),
        (8, 10000.0, [1.0, 0.1, 0.01, 0.001]),
        (8, 16.0, [1.0, 0.5, 0.25, 0.125]),
        (8, 256, [1.0, 0.25, 0.0625, 0.015625]),
        (8, 1 / 16, [1.0, 2.0, 4.0, 8.0]),
        (6, 8.0, [1.0, 0.5, 0.25]),
        (6, 1, [1.0, 1.0, 1.0]),
    ],
)
def test_frequencies_by_hand(rotary_dim, base, want):
    got = inverse_frequencies(rotary_dim, base)
    assert got.dtype == np.float64
    assert_allclose(got, want, rtol=1e-15, atol=0)


def test_the_base_is_ten_thousand_unless_given():
    assert_array_equal(inverse_frequencies(128), inverse_frequencies(128, 10000.0))


def test_angles_by_hand():
    assert_array_equal(rotation_angles([0, 1, 2, -3], [1.0, 0.5]), [[0, 0], [1, 0.5], [2, 1], [-3, -1.5]])
    assert_array_equal(rotation_angles(3, [1.0, 0.5]), [3, 1.5])
    assert_array_equal(rotation_angles([[0.5], [4]], [2.0]), [[[1]], [[8]]])


def test_wavelengths_by_hand():
    assert_array_equal(wavelengths([1.0, 0.5, -2.0, 0.0]), [2 * np.pi, 4 * np.pi, np.pi, np.inf])
    assert_array_equal(wavelengths([5e-324]), [np.inf])  # too slow for float64, and no warning


def test_cosines_by_hand():
    cos, sin = cos_sin([[0.0, math.pi / 3, math.pi / 2, -math.pi / 6]], attention_factor=2.0)
    assert_allclose(cos, [[2.0, 1.0, 0.0, math.sqrt(3)]], rtol=0, atol=1e-15)
    assert_allclose(sin, [[0.0, math.sqrt(3), 2.0, -1.0]], rtol=0, atol=1e-15)


# Fifty digits.


@pytest.mark.parametrize(
    "base", [1.5, 100.0, 10_000.0, 500_000.0, 10_000_000, 256, 0.5, 1e-300, 1e300, np.float32(1.1)], ids=str
)
@pytest.mark.parametrize("rotary_dim", [*WIDTHS, 768, 1000])
def test_frequencies_keep_their_bound_against_fifty_digits(rotary_dim, base):
    want = exact_frequencies(rotary_dim, float(base))
    off = error(inverse_frequencies(rotary_dim, base), two_floats(want)) / np.abs(want.astype(np.float64))
    assert (off / ((2 + abs(math.log(base))) * 2.0**-53)).max() <= 1


def test_frequencies_by_float32_break_the_bound():
    want = exact_frequencies(64, 10000.0)
    rounded = inverse_frequencies(64).astype(np.float32)
    off = error(rounded, two_floats(want)) / want.astype(np.float64)
    assert (off / ((2 + math.log(10000)) * 2.0**-53)).max() > 1e6


@settings(max_examples=100)
@given(st.floats(-(2.0**53), 2.0**53), st.floats(-1e10, 1e10))
def test_an_angle_is_the_exact_product_rounded_once(position, speed):
    product = Fraction(position) * Fraction(speed)
    assert rotation_angles([position], [speed])[0, 0] == float(product)


@pytest.mark.parametrize("position", [0, 1, 2**26 + 1, 2**53, -(2**53), 2**53 - 1])
def test_whole_positions_are_exact_to_two_to_the_53(position):
    assert rotation_angles(position, [1.0])[0] == position


@pytest.mark.parametrize("width", [24, 128])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("factor", [1.0, 1.3689])
def test_cos_and_sin_are_right_for_their_angles(width, dtype, factor):
    angles = rotation_angles(POSITIONS, inverse_frequencies(width))
    unit = 2.0**-53 if dtype is np.float64 else 2.0**-24
    both = [MP.cos_sin(MP.mpf(angle)) for angle in angles.flat]
    for got, want in zip(cos_sin(angles, attention_factor=factor, dtype=dtype), zip(*both, strict=True), strict=True):
        assert got.dtype == dtype
        scaled = np.array([MP.mpf(factor) * value for value in want], object).reshape(angles.shape)
        assert error(got, two_floats(scaled)).max() <= 2 * factor * unit


def test_cos_and_sin_from_positions_keep_the_bound_of_the_angle():
    inv_freq = inverse_frequencies(64)
    angles = rotation_angles(POSITIONS, inv_freq)
    for got, want in zip(cos_sin(angles), table(POSITIONS, inv_freq), strict=True):
        assert (error(got, two_floats(want)) / ((1 + np.abs(angles)) * 2.0**-53)).max() <= 1


def test_float32_tables_are_the_float64_ones_rounded_once():
    angles = rotation_angles(POSITIONS, inverse_frequencies(64))
    fine = cos_sin(angles, attention_factor=1.2)
    coarse = cos_sin(angles, attention_factor=1.2, dtype="f4")
    assert_array_equal(coarse, [part.astype(np.float32) for part in fine])


def test_a_factor_of_one_changes_no_bit():
    angles = rotation_angles(POSITIONS, inverse_frequencies(64))
    assert_array_equal(cos_sin(angles, attention_factor=1), (np.cos(angles), np.sin(angles)))


# What holds for all.


@settings(max_examples=50)
@given(st.integers(1, 200), st.floats(0.01, 1e9))
def test_speeds_form_a_geometric_row_from_one(pairs, base):
    speeds = inverse_frequencies(2 * pairs, base)
    assert speeds.shape == (pairs,)
    assert speeds[0] == 1
    ratio = base ** (-1 / pairs)
    assert_allclose(speeds[1:], speeds[:-1] * ratio, rtol=1e-14, atol=0)
    assert_allclose(speeds[-1], base ** (1 / pairs) / base, rtol=1e-14, atol=0)


def test_a_pair_is_back_after_one_wavelength():
    inv_freq = inverse_frequencies(128, 500_000.0)
    assert_allclose(rotation_angles(1, inv_freq) * wavelengths(inv_freq), 2 * np.pi, rtol=1e-15, atol=0)


@settings(max_examples=50)
@given(st.lists(st.integers(-(2**53), 2**53), max_size=5))
def test_a_negative_position_turns_the_other_way(positions):
    inv_freq = inverse_frequencies(8)
    there = cos_sin(rotation_angles(positions, inv_freq))
    back = cos_sin(rotation_angles([-m for m in positions], inv_freq))
    assert_array_equal(back[0], there[0])
    assert_array_equal(back[1], -there[1])


@pytest.mark.parametrize(
    ("positions", "want"),
    [
        (np.array([250, 251], np.uint8), [500.0, 502.0]),
        (np.array([-128, 127], np.int8), [-256.0, 254.0]),
        (np.array([60_000], np.uint16), [120_000.0]),
        (np.array([2**53], np.uint64), [2.0**54]),
        (np.array([1, -2], ">i4"), [2.0, -4.0]),
        (np.array([2048, 0.5], np.float16), [4096.0, 1.0]),
        (np.array([256, 0.5], ml_dtypes.bfloat16), [512.0, 1.0]),
        (np.array([0.1], np.float32), [2 * float(np.float32(0.1))]),
        (np.array([3], np.longdouble), [6.0]),
        ([], []),
        ((1, 2), [2.0, 4.0]),
        (range(3), [0.0, 2.0, 4.0]),
    ],
    ids=lambda value: str(getattr(value, "dtype", type(value).__name__)),
)
def test_positions_of_any_real_dtype_are_taken_exactly(positions, want):
    got = rotation_angles(positions, [2.0])
    assert got.dtype == np.float64
    assert_array_equal(got, np.reshape(want, (-1, 1)))


@pytest.mark.parametrize("shape", [(), (0,), (5,), (2, 0), (2, 3, 4)])
def test_angles_gain_one_axis_the_pairs(shape):
    assert rotation_angles(np.zeros(shape, int), [1.0, 0.5, 0.25]).shape == (*shape, 3)
    cos, sin = cos_sin(np.zeros((*shape, 3)))
    assert cos.shape == sin.shape == (*shape, 3)


def test_inputs_stay_as_they_are():
    positions, speeds = np.arange(5.0), np.array([1.0, 0.5])
    angles = rotation_angles(positions, speeds)
    kept = angles.copy()
    cos, sin = cos_sin(angles, attention_factor=2.0)
    assert_array_equal(angles, kept)
    assert_array_equal(positions, np.arange(5.0))
    assert_array_equal(speeds, [1.0, 0.5])
    assert not np.shares_memory(cos, sin)


# Bad input.


@pytest.mark.parametrize(
    ("base", "kind", "message"),
    [
        (0, ValueError, "base must be positive and finite in float64, got 0"),
        (-1.0, ValueError, "base must be positive and finite in float64, got -1.0"),
        (np.inf, ValueError, "base must be positive and finite in float64, got inf"),
        (np.nan, ValueError, "base must be positive and finite in float64, got nan"),
        (10**400, ValueError, "base must be positive and finite in float64, got 1000"),
        (Fraction(1, 10**400), ValueError, "base must be positive and finite in float64, got Fraction"),
        (True, TypeError, "base must be a number, got True"),
        (np.True_, TypeError, "base must be a number, got np.True_"),
        ("10000", TypeError, "base must be a number, got '10000'"),
        (None, TypeError, "base must be a number, got None"),
        (1j, TypeError, "base must be a number, got 1j"),
        ([10000.0], TypeError, "base must be a number, got"),
        (np.array([1e4, 1e4]), TypeError, "base must be a number, got"),
    ],
    ids=lambda value: str(value)[:12],
)
def test_a_base_that_is_no_positive_number_is_refused(base, kind, message):
    with pytest.raises(kind, match=message):
        inverse_frequencies(8, base)


@pytest.mark.skipif(np.finfo(np.longdouble).maxexp <= 1024, reason="here a long double reaches no further")
def test_numbers_beyond_float64_are_refused_without_a_warning():
    far = np.longdouble("1e4000")
    with pytest.raises(ValueError, match="base must be positive and finite in float64"):
        inverse_frequencies(8, far)
    with pytest.raises(ValueError, match="position_ids must be finite, got inf"):
        rotation_angles(np.array([far]), [1.0])


def test_a_base_whose_frequencies_leave_float64_is_refused():
    with pytest.raises(ValueError, match="base must give frequencies that float64 can hold, got 1e-320"):
        inverse_frequencies(256, 1e-320)


@pytest.mark.parametrize(
    ("rotary_dim", "kind", "message"),
    [
        (0, ValueError, "rotary_dim must be positive, got 0"),
        (-2, ValueError, "rotary_dim must be positive, got -2"),
        (65, ValueError, "rotary_dim must be even, got 65"),
        (64.0, TypeError, "rotary_dim must be an integer, got 64.0"),
        ("64", TypeError, "rotary_dim must be an integer, got '64'"),
        (True, TypeError, "rotary_dim must be an integer, got True"),
        (None, TypeError, "rotary_dim must be an integer, got None"),
        ([64], TypeError, r"rotary_dim must be an integer, got \[64\]"),
    ],
)
def test_a_rotary_dim_that_is_no_even_count_is_refused(rotary_dim, kind, message):
    with pytest.raises(kind, match=message):
        inverse_frequencies(rotary_dim)


NO_NUMBERS = [
    (True, TypeError, "must hold real numbers, got dtype bool"),
    ([False, True], TypeError, "must hold real numbers, got dtype bool"),
    ([1j], TypeError, "must hold real numbers, got dtype complex128"),
    (["1"], TypeError, "must hold real numbers, got dtype <U1"),
    ([None], TypeError, "must hold real numbers, got dtype object"),
    ([2**70], TypeError, "must hold real numbers, got dtype object"),
    ({1: 2}, TypeError, "must hold real numbers, got dtype object"),
    (np.array([1], "m8[s]"), TypeError, "must hold real numbers, got dtype timedelta64"),
    (np.zeros(1, [("a", "f4")]), TypeError, "must hold real numbers, got dtype"),
    (np.ma.masked_less([1.0, 2.0], 2), TypeError, "must be a plain array, got a masked one"),
    ([[1.0, 2.0], [1.0]], ValueError, "must be an array, or lists that make one, got rows of several lengths"),
    ([0.0, np.nan], ValueError, "must be finite, got nan"),
    ([0.0, -np.inf], ValueError, "must be finite, got -inf"),
    ([0, 2**53 + 1], ValueError, r"must be at most 2\*\*53, up to which float64 is exact, got 9007199254740993"),
    ([5, -(2**60)], ValueError, r"must be at most 2\*\*53, .* got -1152921504606846976"),
    (np.array([2**64 - 1], np.uint64), ValueError, r"must be at most 2\*\*53, .* got 18446744073709551615"),
]


@pytest.mark.parametrize(("values", "kind", "message"), NO_NUMBERS, ids=lambda value: str(value)[:20])
@pytest.mark.parametrize(
    ("call", "name"),
    [
        (lambda values: rotation_angles(values, [1.0]), "position_ids"),
        (lambda values: rotation_angles([1], values), "inv_freq"),
        (lambda values: wavelengths(values), "inv_freq"),
        (lambda values: cos_sin(values), "angles"),
    ],
)
def test_what_holds_no_finite_real_numbers_is_refused_by_name(call, name, values, kind, message):
    with pytest.raises(kind, match=f"^{name} {message}"):
        call(values)


@pytest.mark.parametrize("inv_freq", [1.0, [], [[1.0]], np.ones((2, 0))])
def test_speeds_must_be_one_row(inv_freq):
    for call in (wavelengths, lambda speeds: rotation_angles([1], speeds)):
        with pytest.raises(ValueError, match=r"inv_freq must have shape \(pairs,\) with at least one pair, got \("):
            call(inv_freq)


def test_angles_beyond_float64_are_refused_without_a_warning():
    with pytest.raises(ValueError, match="position_ids times inv_freq must be angles that float64 can hold"):
        rotation_angles([0.0, 1e308], [1.0, 10.0])


@pytest.mark.parametrize(
    "dtype", [np.float16, ml_dtypes.bfloat16, "g", int, complex, object, ">f4", ">f8", "f9", "half-split", None, 3, []]
)
def test_tables_of_no_other_dtype_than_float64_and_float32(dtype):
    if dtype == "g" and np.finfo("g").bits == 64:
        pytest.skip("here a long double is no longer than a float64")
    with pytest.raises(TypeError, match="dtype must be float64 or float32, got"):
        cos_sin([1.0], dtype=dtype)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize(
    ("factor", "kind", "message"),
    [
        (0, ValueError, "attention_factor must be positive and finite"),
        (-1.0, ValueError, "attention_factor must be positive and finite"),
        (np.nan, ValueError, "attention_factor must be positive and finite"),
        (np.inf, ValueError, "attention_factor must be positive and finite"),
        (True, TypeError, "attention_factor must be a number, got True"),
        ("1", TypeError, "attention_factor must be a number, got '1'"),
        (None, TypeError, "attention_factor must be a number, got None"),
        ([1.0], TypeError, "attention_factor must be a number"),
        (5e-324, ValueError, "attention_factor must be a number that float.. can hold, got 5e-324"),
    ],
)
def test_an_attention_factor_that_is_no_positive_number_is_refused(factor, kind, message, dtype):
    with pytest.raises(kind, match=message):
        cos_sin([1.0], attention_factor=factor, dtype=dtype)


@pytest.mark.parametrize("factor", [1e39, 1e-39])
def test_an_attention_factor_that_float32_cannot_hold_is_refused_for_float32_alone(factor):
    assert cos_sin([0.0], attention_factor=factor)[0] == factor
    with pytest.raises(ValueError, match="attention_factor must be a number that float32 can hold"):
        cos_sin([0.0], attention_factor=factor, dtype=np.float32)


def test_the_oracle_itself_keeps_fifty_digits():
    assert MP.nstr(exact_frequencies(4, 10000.0)[1], 40) == "0.01"
    assert MP.nstr(table([1], [1.0])[0][0, 0], 40) == "0.5403023058681397174009366074429766037323"  # cos 1
    assert MP.nstr(table([2**26], [1.0])[1][0, 0] ** 2 + table([2**26], [1.0])[0][0, 0] ** 2, 40) == "1.0"
    assert exact([0.1])[0] == MP.mpf(3602879701896397) / 2**55
    high, low = two_floats(np.array([MP.mpf(1) / 3], object))
    assert high[0] == 1 / 3
    assert low[0] == float(Fraction(1, 3) - Fraction(1 / 3))
    assert error(np.array([1 / 3]), (high, low))[0] == abs(low[0])
