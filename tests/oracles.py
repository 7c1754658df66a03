"""What the tests of the core compare with: arithmetic of 50 digits, written without the library's own helpers.

An exact value is kept as two float64, `high + low`, so that errors far below one rounding are still seen and
whole arrays can be compared at once.
"""

import functools
from types import SimpleNamespace

import ml_dtypes
import mpmath
import numpy as np

import rope_ref

MP = mpmath.ctx_mp.MPContext()
MP.dps = 50

# Chosen ones lie next to multiples of pi or pi / 2, or where float16, bfloat16 and float32 stop holding all integers.
CHOSEN = (
    [0, 1, 2, 3, 11, 22, 33, 44, 355, 710, 103993, 312689, 573204, 1_000_000]
    + [2**k + step for k in (8, 11, 16, 20, 24, 26) for step in (-1, 0, 1) if 2**k + step <= 2**26]
    + [-1, -710, -(2**26), 0.5, 1234.567]
)
POSITIONS = np.concatenate((CHOSEN, np.random.default_rng(0).integers(0, 2**26, 12)))

DTYPES = {"float16": np.float16, "bfloat16": ml_dtypes.bfloat16, "float32": np.float32, "float64": np.float64}
# Stored bits of the mantissa, and the exponent of the smallest number that is normal.
FORMATS = {"float16": (10, -14), "bfloat16": (7, -126), "float32": (23, -126)}
WIDTHS = [2, 4, 24, 64, 96, 128, 192]
PAIRINGS = ["interleaved", "half"]


def exact(values):
    """The same numbers with 50 digits, as an array of objects."""
    values = np.asarray(values, np.float64)
    numbers = np.empty(values.shape, object)
    numbers.flat = [MP.mpf(float(value)) for value in values.flat]
    return numbers


def two_floats(numbers):
    """Numbers of 50 digits as `high` and `low`, float64 arrays that add up to them within 2**-106."""
    high = numbers.astype(np.float64)
    return high, (numbers - exact(high)).astype(np.float64)


def error(got, want):
    """How far an array is from `want = (high, low)`, good to a rounding of the error itself."""
    high, low = want
    assert np.shape(got) == high.shape
    return np.abs((np.asarray(got).astype(np.float64) - high) - low)


def inverse_frequencies(rotary_dim, base):
    """base ** (-2 i / rotary_dim) as numbers of 50 digits."""
    return np.array([MP.mpf(base) ** (-MP.mpf(2 * i) / rotary_dim) for i in range(rotary_dim // 2)], object)


def table(positions, inv_freq):
    """Cosine and sine of every position times every frequency, neither product nor angle rounded."""
    angles = np.multiply.outer(exact(positions), exact(inv_freq))
    both = [MP.cos_sin(angle) for angle in angles.flat]
    cos, sin = np.empty(angles.shape, object), np.empty(angles.shape, object)
    cos.flat, sin.flat = [c for c, _ in both], [s for _, s in both]
    return cos, sin


def place(first, second, pairing):
    """The features of a head from the first and the second of each pair, by the definition in words."""
    pairs = first.shape[-1]
    features = np.empty((*first.shape[:-1], 2 * pairs), first.dtype)
    for i in range(pairs):
        where = (2 * i, 2 * i + 1) if pairing == "interleaved" else (i, i + pairs)
        features[..., where[0]], features[..., where[1]] = first[..., i], second[..., i]
    return features


def turn(first, second, cos, sin):
    """Turn each pair (a, b) to (a cos - b sin, a sin + b cos), each of the two as `(high, low)`."""
    a, b = exact(first), exact(second)
    return two_floats(a * cos - b * sin), two_floats(a * sin + b * cos)


def half_unit(values, dtype):
    """Half the distance between neighbours of `dtype` where `values` lie; zero for float64, where all is computed."""
    if dtype == "float64":
        return 0.0
    bits, smallest = FORMATS[dtype]
    exponents = np.frexp(np.abs(values))[1] - 1
    return 2.0 ** (np.maximum(exponents, smallest) - bits - 1)


def form_bound(want, lengths, angles, dtype):
    """How far a form may be off: it computes in float64 and rounds once. `angles` and `lengths` for each feature."""
    allowed = lengths * (5 + np.abs(angles)) * 2.0**-53
    return allowed + half_unit(np.abs(want[0]) + allowed, dtype)


def fast_bound(want, lengths, angles, dtype, factor=1.0):
    """How far `apply_rope` may be off by the promise of its docstring: it turns in float64 or float32."""
    if dtype == "float64":
        return factor * lengths * (5 + np.abs(angles)) * 2.0**-53
    allowed = 3.4 * factor * lengths * 2.0**-24
    return allowed if dtype == "float32" else allowed + half_unit(np.abs(want[0]) + allowed, dtype)


@functools.cache
def table_of_all_positions(rotary_dim, base):
    """`table` at POSITIONS, against the frequencies that the library gives."""
    return table(POSITIONS, rope_ref.inverse_frequencies(rotary_dim, base))


@functools.cache
def sample(rotary_dim, dtype, base=10000.0, factor=1.0):
    """Random pairs of many sizes at all POSITIONS, turned exactly: what a test of the bounds needs, by attribute.

    `first` and `second` of each pair, exact in `dtype`; `angles` by the library; `turned`, the exact pairs.
    """
    shape = (len(POSITIONS), rotary_dim // 2)
    rng = np.random.default_rng(rotary_dim)
    first, second = rng.standard_normal((2, *shape)) * 2.0 ** rng.integers(-4, 5, (2, *shape))
    first, second = first.astype(DTYPES[dtype]), second.astype(DTYPES[dtype])
    cos, sin = table_of_all_positions(rotary_dim, base)
    return SimpleNamespace(
        first=first,
        second=second,
        angles=rope_ref.rotation_angles(POSITIONS, rope_ref.inverse_frequencies(rotary_dim, base)),
        lengths=np.hypot(first.astype(np.float64), second.astype(np.float64)),
        turned=turn(first, second, MP.mpf(factor) * cos, MP.mpf(factor) * sin),
    )


def head(sample, pairing):
    """A sample laid out in one pairing: x, the exact result, and length and angle of the pair of each feature."""
    (high, low), (second_high, second_low) = sample.turned
    want = place(high, second_high, pairing), place(low, second_low, pairing)
    lengths, angles = (place(each, each, pairing) for each in (sample.lengths, sample.angles))
    return place(sample.first, sample.second, pairing), want, lengths, angles


def apply_angles(x, angles, *, pairing="interleaved"):
    """`apply_rope` called as the forms are."""
    return rope_ref.apply_rope(x, *rope_ref.cos_sin(angles), pairing=pairing)


TURNS = {**rope_ref.FORMS, "apply_rope": apply_angles}
