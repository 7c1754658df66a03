"""The decay curve and bound: published values, the cosine integral, an exact identity, fifty digits."""

import json
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from oracles import MP, exact
from oracles import inverse_frequencies as exact_frequencies
from places import DATA
from scipy.special import sici

from rope_ref import decay, decay_curve, inverse_frequencies, relative_score
from rope_ref.decay import decay_bound, first_negative

CASES = {case["id"]: case for case in json.loads((DATA / "cases.json").read_text(encoding="utf-8"))["cases"]}

# By hand.


def test_the_curve_of_two_hands():
    # One hand turns by pi a token, one by pi / 3: (cos r pi + cos r pi / 3) / 2.
    got = decay_curve([0, 1, 2, 3, -1], [math.pi, math.pi / 3])
    assert_allclose(got, [1.0, -0.25, 0.25, -1.0, -0.25], rtol=0, atol=1e-15)


def test_the_bound_of_two_hands():
    # |S_1| = 1 always, |S_2| = |1 + exp(i r pi / 3)| if the first stands still; their mean.
    got = decay_bound([0, 1, 2, 3], [0.0, math.pi / 3])
    assert_allclose(got, [1.5, (1 + math.sqrt(3)) / 2, 1.0, 0.5], rtol=0, atol=1e-15)


def test_one_hand_never_decays():
    distances = np.arange(-50, 50)
    assert_array_equal(decay_curve(distances, [1.0]), np.cos(distances))
    assert_allclose(decay_bound(distances, [1.0]), 1.0, rtol=1e-15, atol=0)


# Fifty digits and published numbers.


@pytest.mark.parametrize(("rotary_dim", "base"), [(2, 1e4), (16, 1e4), (128, 1e4), (128, 5e5), (24, 256.0)])
def test_curve_and_bound_equal_fifty_digits(rotary_dim, base):
    distances = [0, 1, 2, 10, 100, 1707, 4096, 100_000, -7, 0.5]
    speeds = exact_frequencies(rotary_dim, base)
    curve, bound = [], []
    for distance in exact(distances):
        turned = [MP.expj(distance * speed) for speed in speeds]
        curve.append(float(MP.fsum(z.real for z in turned) / len(turned)))
        sums = [MP.fsum(turned[: j + 1]) for j in range(len(turned))]
        bound.append(float(MP.fsum(abs(s) for s in sums) / len(turned)))
    # The frequencies are rounded, and a distance of 100,000 makes that visible.
    allowed = (2 + abs(math.log(base))) * 2.0**-53 * 2 * 100_000
    inv_freq = inverse_frequencies(rotary_dim, base)
    assert_allclose(decay_curve(distances, inv_freq), curve, rtol=0, atol=allowed)
    assert_allclose(decay_bound(distances, inv_freq), bound, rtol=0, atol=allowed * rotary_dim)


def test_published_values_of_the_curve():
    case = CASES["RI-190"]
    got = decay_curve(case["inputs"]["distances"], inverse_frequencies(128))
    assert_allclose(got, case["expected"], rtol=1e-12, atol=1e-13)
    at_1024 = [decay_curve(1024, inverse_frequencies(128, base)) for base in (1e4, 5e5, 1e6)]
    assert_allclose(at_1024, CASES["RI-194"]["expected"], rtol=1e-12, atol=1e-13)


def test_neither_curve_falls_all_the_way():
    case = CASES["RI-192"]
    inv_freq, distances = inverse_frequencies(128), np.arange(4097)
    mean, bound = decay_curve(distances, inv_freq), decay_bound(distances, inv_freq)
    first_rise, first_rise_of_bound = case["inputs"]["first_rise_mean"], case["inputs"]["first_rise_bound"]
    assert np.flatnonzero(np.diff(mean) > 0)[0] == first_rise
    assert np.flatnonzero(np.diff(bound) > 0)[0] == first_rise_of_bound
    assert_allclose(mean[first_rise : first_rise + 2], case["expected"]["mean"], rtol=1e-12, atol=0)
    assert_allclose(bound[first_rise_of_bound : first_rise_of_bound + 2], case["expected"]["bound"], rtol=1e-12, atol=0)
    negative = case["inputs"]["first_negative"]
    assert np.flatnonzero(mean < 0)[0] == first_negative(inv_freq) == negative
    assert_allclose(mean[negative], case["expected"]["neg"], rtol=1e-12, atol=1e-13)
    assert (np.diff(mean[:1025]) > 0).sum() == 492


def test_published_values_of_the_bound():
    got = decay_bound([0, 10, 100, 250], inverse_frequencies(128))
    assert_allclose(got, [32.50, 17.95, 10.23, 6.55], rtol=0, atol=0.005)


# The cosine integral.


def ci(x):
    """Cosine integral."""
    return sici(x)[1]


@pytest.mark.parametrize(
    ("rotary_dim", "plain", "corrected"), [(64, 3.5e-3, 5.5e-4), (128, 6.9e-4, 3.6e-5), (768, 2.0e-5, 2.4e-8)]
)
def test_the_curve_is_a_difference_of_cosine_integrals(rotary_dim, plain, corrected):
    base, m = 10_000.0, np.arange(1, 9)
    start = m * base ** (1 / rotary_dim)  # a midpoint rule: half a step before the first hand
    end = start / base
    curve = decay_curve(m, inverse_frequencies(rotary_dim, base))
    off = curve - (ci(start) - ci(end)) / math.log(base)
    assert plain / 2 < np.abs(off).max() < plain * 1.1
    step = 2 / rotary_dim
    off -= step**2 / 24 * math.log(base) * (start * np.sin(start) - end * np.sin(end))
    assert corrected / 2 < np.abs(off).max() < corrected * 1.1


def test_with_its_end_points_the_integral_is_off_by_the_square_of_the_step():
    base, m = 10_000.0, 5.0
    off = []
    for rotary_dim in (256, 512, 1024):
        ends = (math.cos(m) - math.cos(m / base)) / rotary_dim
        off.append(
            decay_curve(m, inverse_frequencies(rotary_dim, base)) - (ci(m) - ci(m / base)) / math.log(base) - ends
        )
    assert_allclose([off[0] / off[1], off[1] / off[2]], 4, rtol=0.02, atol=0)


@settings(max_examples=100)
@given(st.sampled_from([2, 16, 64, 128, 768]), st.sampled_from([100.0, 1e4, 5e5]), st.floats(0, 10_000))
def test_one_frequency_step_further_one_hand_leaves_and_one_enters(rotary_dim, base, distance):
    inv_freq = inverse_frequencies(rotary_dim, base)
    further = base ** (2 / rotary_dim) * distance
    got = decay_curve(further, inv_freq) - decay_curve(distance, inv_freq)
    want = 2 / rotary_dim * (math.cos(further) - math.cos(further / base))
    # Angles to `further` radians, each rounded, from speeds that are rounded too.
    assert abs(got - want) <= 2.0**-53 * (8 + (8 + math.log(base)) * 2 * further)


@pytest.mark.parametrize(
    ("rotary_dim", "base", "want"),
    [
        (64, 1e4, 725),
        (128, 1e4, 1707),
        (768, 1e4, 3659),
        (4096, 1e4, 5289),
        (64, 5e5, 9937),
        (128, 5e5, 18_438),
        (64, 1e6, 6235),
        (128, 1e6, 27_115),
    ],
)
def test_first_negative_distances(rotary_dim, base, want):
    inv_freq = inverse_frequencies(rotary_dim, base)
    assert first_negative(inv_freq) == want
    assert first_negative(inv_freq, want) == want
    assert first_negative(inv_freq, want - 1) is None
    assert decay_curve(want, inv_freq) < 0 <= decay_curve(want - 1, inv_freq)


def test_no_distance_is_negative_where_the_curve_stays_positive():
    assert first_negative(inverse_frequencies(768, 5e5), 60_000) is None
    assert first_negative([0.0], limit=10_000) is None
    assert first_negative([math.pi / 2 + 1e-9], limit=1) == 1
    assert first_negative([1.0]) == 2


@pytest.mark.parametrize("first", [1, 63, 64, 65, 4095, 4096, 4097, 131_071, 131_072, 131_073])
def test_the_first_negative_distance_is_found_at_the_seams_of_the_search(first):
    # A speed whose cosine is below zero at `first` and not before.
    inv_freq = [math.pi / 2 / (first - 0.5)]
    assert first_negative(inv_freq) == first_negative(inv_freq, first) == first
    assert first == 1 or first_negative(inv_freq, first - 1) is None


def test_a_value_next_to_zero_is_negative_only_where_the_curve_says_so():
    # Quarter turns: float64 has one just below pi / 2 and one just above.
    assert decay_curve(1, [math.pi / 2]) > 0
    assert first_negative([math.pi / 2]) == 2
    assert -1e-15 < decay_curve(1, [np.nextafter(math.pi / 2, 2)]) < 0
    assert first_negative([np.nextafter(math.pi / 2, 2)]) == 1


@settings(max_examples=60)
@given(st.lists(st.floats(-3, 3), min_size=1, max_size=4), st.integers(1, 300))
def test_the_first_negative_distance_is_that_of_the_whole_curve(inv_freq, limit):
    below = np.flatnonzero(decay_curve(np.arange(limit + 1), inv_freq) < 0)
    assert first_negative(inv_freq, limit) == (below[0] if below.size else None)


# What the two numbers mean.


def test_the_curve_is_the_score_of_ones_over_the_width():
    inv_freq, distances = inverse_frequencies(24), np.arange(-50, 50)
    ones = np.ones(24)
    assert_allclose(
        decay_curve(distances, inv_freq), relative_score(ones, ones, distances, inv_freq) / 24, rtol=0, atol=1e-15
    )


def products(q, k):
    """The paper's h: complex product of each interleaved pair, with zero after the last."""
    h = (q[..., 0::2] + 1j * q[..., 1::2]) * (k[..., 0::2] - 1j * k[..., 1::2])
    return np.concatenate((h, np.zeros((*h.shape[:-1], 1))), axis=-1)


@pytest.mark.parametrize("smooth", [0.0, 3.0], ids=["independent", "smooth"])
def test_the_bound_holds_for_random_queries_and_keys(smooth):
    pairs, distances = 32, np.array([0, 1, 5, 40, 1000, -3])
    inv_freq = inverse_frequencies(2 * pairs)
    q, k = np.random.default_rng(0).standard_normal((2, 500, 1, 2 * pairs)) + smooth
    scores = np.abs(relative_score(q, k, distances, inv_freq))
    steps = np.abs(np.diff(products(q, k), axis=-1)).max(axis=-1)
    assert (scores <= steps * pairs * decay_bound(distances, inv_freq) * (1 + 1e-12)).all()


@pytest.mark.parametrize("distance", [1, 7, 300])
def test_the_bound_is_met_where_every_step_of_h_points_along_its_sum(distance):
    pairs = 16
    inv_freq = inverse_frequencies(2 * pairs)
    sums = np.cumsum(np.exp(1j * distance * inv_freq))
    h = np.cumsum((sums.conj() / np.abs(sums))[::-1])[::-1]  # h[i] - h[i + 1] has length 1
    q, k = np.zeros((2, 2 * pairs))
    q[0::2], q[1::2], k[0::2] = h.real, h.imag, 1.0
    assert_allclose(np.abs(np.diff(products(q, k))).max(), 1.0, rtol=1e-14, atol=0)
    score = relative_score(q, k, distance, inv_freq)
    assert_allclose(score, pairs * decay_bound(distance, inv_freq), rtol=1e-14, atol=0)


# Shapes, blocks, bad input.


@pytest.mark.parametrize("function", [decay_curve, decay_bound])
@pytest.mark.parametrize("shape", [(), (0,), (3,), (2, 0, 2), (2, 3, 2)])
def test_values_have_the_shape_of_the_distances(function, shape):
    got = function(np.ones(shape, np.int8), [1.0, 0.5])
    assert np.shape(got) == shape
    assert got.dtype == np.float64
    assert_array_equal(got, np.full(shape, function(1, [1.0, 0.5])))


@pytest.mark.parametrize("function", [decay_curve, decay_bound])
@pytest.mark.parametrize("block", [1, 64, 84, 500, 1000])
def test_values_do_not_depend_on_the_block_size(monkeypatch, function, block):
    distances, inv_freq = np.arange(60).reshape(3, 20), inverse_frequencies(24)
    want = function(distances, inv_freq)
    monkeypatch.setattr(decay, "BLOCK", block)
    # Fresh memory may hold the last result, and hide a block that was left out.
    monkeypatch.setattr(decay.np, "empty", lambda shape: np.full(shape, np.nan))
    assert_array_equal(function(distances, inv_freq), want)


@pytest.mark.parametrize("function", [decay_curve, decay_bound])
@pytest.mark.parametrize(
    ("distances", "inv_freq", "kind", "message"),
    [
        ([True], [1.0], TypeError, "distances must hold real numbers, got dtype bool"),
        ([1j], [1.0], TypeError, "distances must hold real numbers, got dtype complex128"),
        (None, [1.0], TypeError, "distances must hold real numbers, got dtype object"),
        ([np.nan], [1.0], ValueError, "distances must be finite, got nan"),
        (np.inf, [1.0], ValueError, "distances must be finite, got inf"),
        ([2**53 + 1], [1.0], ValueError, r"distances must be at most 2\*\*53"),
        ([[1], [1, 2]], [1.0], ValueError, "distances must be an array"),
        (np.ma.masked_less([1], 2), [1.0], TypeError, "distances must be a plain array"),
        ([1e308], [10.0], ValueError, "distances times inv_freq must be angles that float64 can hold"),
        (1, [], ValueError, r"inv_freq must have shape \(pairs,\)"),
        (1, 1.0, ValueError, r"inv_freq must have shape \(pairs,\)"),
        (1, [[1.0]], ValueError, r"inv_freq must have shape \(pairs,\)"),
        (1, [np.nan], ValueError, "inv_freq must be finite, got nan"),
        (1, ["1"], TypeError, "inv_freq must hold real numbers"),
    ],
)
def test_what_is_no_distance_or_speed_is_refused(function, distances, inv_freq, kind, message):
    with pytest.raises(kind, match=message):
        function(distances, inv_freq)


@pytest.mark.parametrize(
    ("limit", "kind", "message"),
    [
        (0, ValueError, "limit must be positive, got 0"),
        (-5, ValueError, "limit must be positive, got -5"),
        (10.0, TypeError, "limit must be an integer, got 10.0"),
        ("10", TypeError, "limit must be an integer, got '10'"),
        (True, TypeError, "limit must be an integer, got True"),
        (None, TypeError, "limit must be an integer, got None"),
        (np.inf, TypeError, "limit must be an integer, got inf"),
    ],
)
def test_a_limit_that_is_no_positive_count_is_refused(limit, kind, message):
    with pytest.raises(kind, match=message):
        first_negative([1.0], limit)


def test_the_first_negative_distance_needs_speeds():
    with pytest.raises(ValueError, match=r"inv_freq must have shape \(pairs,\)"):
        first_negative([])
    with pytest.raises(ValueError, match="times inv_freq must be angles that float64 can hold"):
        first_negative([1e308, 0.0])
