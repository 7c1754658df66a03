"""How far training reaches: held to exact fractions, to counting, and to the clock itself."""

import math
from fractions import Fraction

import numpy as np
import pytest
from numpy.testing import assert_allclose
from oracles import MP
from oracles import inverse_frequencies as exact_frequencies

from rope_ref import inverse_frequencies
from rope_ref.scaling import first_new_position, linear, llama3, neighbour_distance, ntk, ntk_by_parts, share_seen

OWN = inverse_frequencies(128)
SETTINGS = [(64, 500, 3), (64, 2048, 8), (128, 2048, 2), (128, 2048, 8), (128, 4096, 5), (256, 8192, 32)]


def test_share_is_at_most_the_whole_circle():
    assert_allclose(share_seen([2 * np.pi, 1.0, 0.0, -1.0], 2), [1, 1 / np.pi, 0, 1 / np.pi], rtol=1e-15, atol=0)


@pytest.mark.parametrize("length", [1, 7, 44, 45, 710, 2048])
def test_whole_circle_is_where_no_gap_is_wider_than_a_step(length):
    for step in (2 * np.pi / length * 1.001, 2 * np.pi / length * 0.999):
        reached = np.sort(np.arange(length) * step % (2 * np.pi))
        widest = np.diff(np.append(reached, reached[0] + 2 * np.pi)).max()
        assert (share_seen([step], length)[0] == 1) == (widest <= step * (1 + 1e-9))


@pytest.mark.parametrize("factor", [1, 2, 3, 5, 7, 8, 10, 16, 32, 40])
@pytest.mark.parametrize("length", [512, 2048, 4096, 8192])
@pytest.mark.parametrize("width", [64, 80, 128])
def test_interpolation_reaches_the_factor_times_the_last_position(width, length, factor):
    own, slowed = inverse_frequencies(width), linear(width, factor=factor).inv_freq
    assert first_new_position(own, slowed, length) == factor * (length - 1) + 1


@pytest.mark.parametrize("factor", [Fraction(3, 2), Fraction(5, 2), Fraction(10, 3), Fraction(37, 7)])
def test_interpolation_by_a_fraction_is_rounded_down(factor):
    last = math.floor(factor * 2047)
    assert first_new_position(OWN, linear(128, factor=float(factor)).inv_freq, 2048) == last + 1


@pytest.mark.parametrize(("width", "length", "factor"), SETTINGS)
def test_raised_base_leaves_where_fifty_digits_say(width, length, factor):
    own = exact_frequencies(width, 10000)
    raised = exact_frequencies(width, 10000 * MP.mpf(factor) ** (MP.mpf(width) / (width - 2)))
    slow = [i for i, speed in enumerate(own) if length * speed < 2 * MP.pi]
    want = min(int(MP.floor((length - 1) * own[i] / raised[i])) for i in slow) + 1
    assert first_new_position(inverse_frequencies(width), ntk(width, factor=factor).inv_freq, length) == want


@pytest.mark.parametrize(("width", "length", "factor"), SETTINGS)
@pytest.mark.parametrize("scale", [ntk, ntk_by_parts, llama3], ids=lambda scale: scale.__name__)
def test_before_the_position_no_open_arc_is_left_and_at_it_one_is(width, length, factor, scale):
    own, more = inverse_frequencies(width), {} if scale is ntk else {"original_length": length}
    used = scale(width, factor=factor, **more).inv_freq
    found, slow = first_new_position(own, used, length), length * own < 2 * np.pi
    seen = (length - 1) * own[slow]
    assert ((found - 1) * used[slow] <= seen * (1 + 1e-12)).all()
    assert (found * used[slow] > seen * (1 + 1e-12)).any()


def test_where_every_hand_has_been_round_nothing_is_new():
    assert first_new_position([1.0], [0.5], 7) is None
    assert first_new_position([1.0], [0.5], 6) == 11


def test_pair_that_stands_still_reaches_nothing_new():
    assert first_new_position([0.01, 0.001], [0.01, 0.0], 100) == 100


def test_neighbour_distance_is_the_length_between_two_clocks():
    for speeds in (OWN, OWN / 2, [np.pi], [0.25, -3.0]):
        assert_allclose(neighbour_distance(speeds), np.linalg.norm(np.exp(1j * np.array(speeds)) - 1), rtol=1e-12)
    assert neighbour_distance([np.pi]) == 2
    assert_allclose(neighbour_distance([1e-9, 1e-9]), np.sqrt(2) * 1e-9, rtol=1e-15)  # no digits lost near zero


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: share_seen([1.0], 0), ValueError, "length must be positive, got 0"),
        (lambda: share_seen(1.0, 5), ValueError, "inv_freq must have shape"),
        (lambda: first_new_position([1.0], [1.0], 2.5), TypeError, "length must be an integer, got 2.5"),
        (
            lambda: first_new_position([1.0], [1.0, 2.0], 4),
            ValueError,
            "used must hold one frequency for each of 1 pairs",
        ),
        (lambda: first_new_position([1.0], 1.0, 4), ValueError, r"used must have shape \(pairs,\)"),
        (lambda: first_new_position([np.nan], [1.0], 4), ValueError, "trained must be finite"),
        (lambda: neighbour_distance([np.nan]), ValueError, "inv_freq must be finite"),
    ],
)
def test_wrong_input_is_refused(call, error, message):
    with pytest.raises(error, match=message):
        call()
