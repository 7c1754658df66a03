"""Sines, learned rows and ALiBi: by hand, at 50 digits, and beside what public libraries returned."""

import json
import re

import mpmath
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from places import DATA

from rope_ref import apply_rope, attention_weights, cos_sin, decay_curve, inverse_frequencies, rotation_angles
from rope_ref.absolute import alibi_bias, alibi_slopes, learned, sinusoidal

# The numbers are float32 and printed with 9 digits.
FLOAT32 = {"rtol": 0, "atol": 1e-7}
PUBLISHED = {
    case["name"]: np.reshape(case["output"]["data"], case["output"]["shape"])
    for case in json.loads((DATA / "absolute.json").read_text("utf-8"))["cases"]
}


@pytest.mark.parametrize(
    ("layout", "row"),
    [("interleaved", [np.sin(2), np.cos(2), np.sin(0.2), np.cos(0.2)]),
     ("concatenated", [np.sin(2), np.sin(0.2), np.cos(2), np.cos(0.2)])],
)  # fmt: skip
def test_row_of_position_two_by_hand(layout, row):
    assert_allclose(sinusoidal([2], 4, base=100.0, layout=layout), [row], rtol=1e-15, atol=0)


@pytest.mark.parametrize(
    ("name", "layout"),
    [
        ("hf_distilbert_sinusoidal_5x6", "interleaved"),
        ("hf_roformer_sinusoidal_5x6", "concatenated"),
        ("gpt_neox_sinusoidal_5x6", "concatenated"),
    ],
)
def test_rows_are_those_of_public_libraries(name, layout):
    assert_allclose(sinusoidal(np.arange(5), 6, layout=layout), PUBLISHED[name], **FLOAT32)


def test_another_spacing_of_frequencies_is_another_encoding():
    other = PUBLISHED["mlx_sinusoidal_d6"]  # from 1 to 1e-4 with both ends, and scaled
    assert np.abs(sinusoidal(np.arange(5), 6, layout="concatenated") - other).max() > 0.1
    same = np.sqrt(2 / 6) * sinusoidal(np.arange(5), 6, base=1e6, layout="concatenated")
    assert_allclose(same, other, **FLOAT32)


@pytest.mark.parametrize("width", [2, 6, 64])
def test_rows_are_within_the_stated_bound_of_50_digits(width):
    positions = [0, 1, -7, 0.5, 1000, 100_003]
    inv_freq = inverse_frequencies(width, 500.0)
    got = sinusoidal(positions, width, 500.0)
    with mpmath.workdps(50):
        for m, row in zip(positions, got, strict=True):
            for i, speed in enumerate(inv_freq):
                angle = mpmath.mpf(m) * mpmath.mpf(float(speed))
                bound = (5 + abs(m) * speed) * 2.0**-53
                assert abs(mpmath.mpf(float(row[2 * i])) - mpmath.sin(angle)) <= bound
                assert abs(mpmath.mpf(float(row[2 * i + 1])) - mpmath.cos(angle)) <= bound


def test_positions_may_have_a_batch_or_be_one_number():
    rows = sinusoidal(np.arange(12), 8)
    assert_array_equal(sinusoidal(np.arange(12).reshape(3, 4), 8), rows.reshape(3, 4, 8))
    assert_array_equal(sinusoidal(5, 8), rows[5])


def test_one_turn_carries_every_row_five_positions_on():
    # Read as (cosine, sine), pair i of row m is a hand at angle m theta_i: RoPE of the row by -5 is the row of m + 5.
    rows = sinusoidal(np.arange(1000), 64)
    turned = apply_rope(rows, *cos_sin(rotation_angles([-5] * 1000, inverse_frequencies(64))))
    assert_allclose(turned[:-5], rows[5:], rtol=0, atol=1e-12)


def test_product_of_two_rows_is_the_decay_curve():
    rows = sinusoidal(np.arange(300), 64)
    distances = np.subtract.outer(np.arange(300), np.arange(300))
    assert_allclose(rows @ rows.T, 32 * decay_curve(distances, inverse_frequencies(64)), rtol=0, atol=1e-11)


def test_learned_rows_come_from_the_generator_given():
    table = learned(400, 300, np.random.default_rng(3))
    assert table.shape == (400, 300)
    assert table.dtype == np.float64
    assert_array_equal(table, learned(400, 300, np.random.default_rng(3)))
    assert np.abs(table - learned(400, 300, np.random.default_rng(4))).max() > 0.05
    # 120,000 numbers: the mean is within 5 of its standard errors, 0.02 / 346, the spread within 5 of 0.02 / 490.
    assert_allclose(table.mean(), 0, rtol=0, atol=3e-4)
    assert_allclose(table.std(), 0.02, rtol=0, atol=2.1e-4)


@pytest.mark.parametrize(
    ("num_heads", "slopes"),
    [
        (1, [2**-8]),
        (2, [2**-4, 2**-8]),
        (8, [1 / 2, 1 / 4, 1 / 8, 1 / 16, 1 / 32, 1 / 64, 1 / 128, 1 / 256]),  # printed in the paper
        (16, [2 ** (-h / 2) for h in range(1, 17)]),  # printed in the paper
        (3, [2**-4, 2**-8, 2**-2]),
        (12, [1 / 2, 1 / 4, 1 / 8, 1 / 16, 1 / 32, 1 / 64, 1 / 128, 1 / 256, 2**-0.5, 2**-1.5, 2**-2.5, 2**-3.5]),
    ],
)
def test_slopes_are_the_published_ones(num_heads, slopes):
    assert_allclose(alibi_slopes(num_heads), slopes, rtol=1e-15, atol=0)


@given(st.integers(1, 300))
def test_slopes_follow_the_rule_that_starts_from_the_next_power_of_two(num_heads):
    # MPT goes down from the next power of two, the original code up from the one before: the same slopes.
    above = 1 << (num_heads - 1).bit_length()
    slopes = [2.0 ** (-8 * h / above) for h in range(1, above + 1)]
    want = slopes if above == num_heads else (slopes[1::2] + slopes[0::2])[:num_heads]
    assert_allclose(alibi_slopes(num_heads), want, rtol=1e-14, atol=0)


def test_bias_of_three_queries_over_three_keys_by_hand():
    bias = alibi_bias(2, 3, 3)
    assert bias.dtype == np.float64
    distances = np.array([[0, 1, 2], [1, 0, 1], [2, 1, 0]])
    assert_allclose(bias, [-distances / 16, -distances / 256], rtol=1e-15, atol=0)


def test_last_query_stands_at_the_last_key():
    assert_array_equal(alibi_bias(8, 2, 5), alibi_bias(8, 5, 5)[:, -2:])


def test_weights_are_those_of_the_slope_times_the_key_position():
    # BLOOM adds the slope times the key's position, the same in every row: rows shift, weights stay.
    scores = np.random.default_rng(0).standard_normal((6, 4, 9))
    keys = np.multiply.outer(alibi_slopes(6), np.arange(9.0))[:, None]
    want = attention_weights(scores, bias=keys)
    assert_allclose(attention_weights(scores, bias=alibi_bias(6, 4, 9)), want, rtol=1e-13, atol=0)


@pytest.mark.parametrize(
    ("call", "error", "match"),
    [
        (lambda: sinusoidal([0], 5), ValueError, "width must be even, got 5"),
        (lambda: sinusoidal([0], 0), ValueError, "width must be positive, got 0"),
        (lambda: sinusoidal([0], 4.0), TypeError, "width must be an integer, got 4.0"),
        (lambda: sinusoidal([True], 4), TypeError, "position_ids must hold real numbers"),
        (lambda: sinusoidal([np.nan], 4), ValueError, "position_ids must be finite"),
        (lambda: sinusoidal([0], 4, base=0.0), ValueError, "base must be positive"),
        (
            lambda: sinusoidal([0], 4, layout="half"),
            ValueError,
            "layout must be 'interleaved' or 'concatenated', got 'h",
        ),
        (lambda: sinusoidal([0], 4, layout=["interleaved"]), ValueError, "layout must be"),
        (lambda: learned(0, 4, np.random.default_rng(0)), ValueError, "seq_len must be positive, got 0"),
        (lambda: learned(4, 2.5, np.random.default_rng(0)), TypeError, "width must be an integer, got 2.5"),
        (lambda: learned(4, 4, 0), TypeError, "rng must be a numpy.random.Generator, got 0"),
        (lambda: alibi_slopes(0), ValueError, "num_heads must be positive, got 0"),
        (lambda: alibi_slopes(True), TypeError, "num_heads must be an integer, got True"),
        (lambda: alibi_bias(2, 3, 2), ValueError, "keys must be at least as many as queries, got 3 queries and 2 keys"),
        (lambda: alibi_bias(2, -1, 2), ValueError, "queries must be positive, got -1"),
        (lambda: alibi_bias(2, 1, 2.0), TypeError, "keys must be an integer, got 2.0"),
    ],
)
def test_wrong_input_gets_a_clear_error(call, error, match):
    with pytest.raises(error, match=re.escape(match)):
        call()
