"""Figures of notebook 04: what each says is true; and the quick search behind the last of them."""

import numpy as np
import pytest

from rope_ref.decay import decay_curve, first_negative
from rope_ref.frequencies import inverse_frequencies


def plain_search(inv_freq, limit):
    below = np.flatnonzero(decay_curve(np.arange(1, limit + 1), inv_freq) < 0)
    return 1 + int(below[0]) if below.size else None


@pytest.mark.parametrize(
    "inv_freq",
    [
        inverse_frequencies(64),
        -inverse_frequencies(48, 300.0),
        1e9 * inverse_frequencies(6),
        np.pi / 2 * np.array([1, 3, 4, 0]),  # cosines that are 0 up to rounding
        np.array([np.pi * 1.5]),
        np.array([0.0, 1e-3]),
        inverse_frequencies(1024, 50.0),  # more pairs than one block takes
    ],
    ids=str,
)
@pytest.mark.parametrize("limit", [1, 2, 63, 64, 65, 724, 725, 2048, 2049])
def test_quick_search_is_exact_to_the_distance(inv_freq, limit):
    assert first_negative(inv_freq, limit) == plain_search(inv_freq, limit)


@pytest.mark.parametrize("crossing", [0.0, 0.5])
@pytest.mark.parametrize(("pairs", "step"), [(1, 1), (512, 16)])
def test_quick_search_is_exact_where_the_curve_only_just_crosses(crossing, pairs, step):
    # A quarter turn at a whole distance (0 up to rounding there), or half a step before.
    for distance in range(64, 400, step):
        inv_freq = np.full(pairs, np.pi / 2 / (distance - crossing))
        assert first_negative(inv_freq, distance) == plain_search(inv_freq, distance), distance


def test_quick_search_asks_for_no_angle_beyond_the_limit():
    assert first_negative([1e307], limit=3) == plain_search([1e307], 3)
