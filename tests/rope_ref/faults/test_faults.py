"""Which check catches which planted fault; no fault slips through all of them."""

import ml_dtypes
import numpy as np
import pytest
from numpy.testing import assert_array_equal

from rope_ref.faults import CHECKS, FAULTS, caught_by, rotate_correctly, round_to_bits

LENGTH, DISTANCE, FAR, ZERO = "length kept", "distance alone", "distance alone far out", "nothing at zero"
ADD, APART, CURVE, HAND = "turns add up", "pairs stay apart", "curve of ones", "case by hand"

CAUGHT = {
    "concatenated output": {ZERO, ADD, APART, HAND},
    "other pairing": {APART, HAND},
    "table of the other pairing": {LENGTH, DISTANCE, FAR, ADD, CURVE, HAND},
    "quarter turn of the other pairing": {LENGTH, DISTANCE, FAR, ADD, APART, CURVE, HAND},
    "in place overwrite": {LENGTH, DISTANCE, FAR, ADD, CURVE, HAND},
    "cos and sin swapped": {ZERO, ADD, HAND},
    "opposite direction": {HAND},
    "lost minus": {LENGTH, DISTANCE, FAR, ADD, CURVE, HAND},
    "applied twice": {CURVE, HAND},
    "added instead of rotated": {LENGTH, DISTANCE, FAR, ZERO, ADD, APART, CURVE, HAND},
    "exponent too small": {CURVE, HAND},
    "exponent too large": {CURVE, HAND},
    "index from one": {CURVE, HAND},
    "wrong base": {CURVE, HAND},
    "reversed frequencies": {HAND},
    "positions from one": {ZERO, ADD, HAND},
    "positions along the head axis": {CURVE, HAND},
    "bfloat16 positions": {FAR},
    "float16 angles": {DISTANCE, FAR, ADD, CURVE, HAND},
}


def test_the_right_rotation_passes_every_check():
    assert caught_by(rotate_correctly) == []


@pytest.mark.parametrize("name", FAULTS)
def test_each_fault_is_caught_by_just_these_checks(name):
    assert set(caught_by(FAULTS[name].rotate)) == CAUGHT[name]


def test_no_fault_slips_through_and_no_check_is_idle():
    assert len(FAULTS) >= 15
    assert all(CAUGHT[name] for name in FAULTS)
    assert set().union(*CAUGHT.values()) == set(CHECKS)


def test_length_and_distance_alone_miss_most_faults():
    missed = [name for name, caught in CAUGHT.items() if not caught & {LENGTH, DISTANCE}]
    assert len(missed) == 13


def test_four_checks_together_catch_every_fault():
    assert all(caught & {HAND, FAR, CURVE, ZERO} for caught in CAUGHT.values())


def test_every_fault_and_every_check_says_what_it_is():
    for each in [*FAULTS.values(), *CHECKS.values()]:
        assert each.what.endswith(".") and len(each.what) > 20


@pytest.mark.parametrize("name", FAULTS)
def test_a_fault_leaves_the_array_of_the_caller_alone(name):
    x = np.arange(1.0, 49.0).reshape(2, 3, 8)
    FAULTS[name].rotate(x, np.arange(3))
    assert_array_equal(x, np.arange(1.0, 49.0).reshape(2, 3, 8))


def test_positions_along_the_head_axis_turn_each_head_by_its_number():
    x = np.ones((2, 3, 4))
    turned = FAULTS["positions along the head axis"].rotate(x, np.arange(3))
    assert_array_equal(turned[0], x[0])
    assert_array_equal(turned[1], rotate_correctly(x[1], [1, 1, 1]))


@pytest.mark.parametrize(("bits", "dtype"), [(8, ml_dtypes.bfloat16), (11, np.float16)])
def test_rounding_to_bits_is_that_of_the_narrow_dtype(bits, dtype):
    values = np.concatenate((np.arange(5000.0), np.random.default_rng(0).uniform(0.1, 6e4, 5000)))
    assert_array_equal(round_to_bits(values, bits), values.astype(dtype).astype(np.float64))


def test_bfloat16_positions_merge_as_reported():
    # case RI-040: huggingface/transformers 29285, KellerJordan/modded-nanogpt 39
    positions = [255, 256, 257, 258, 259, 260, 513, 1025, 2049, 4097]
    assert_array_equal(round_to_bits(positions, 8), [255, 256, 256, 258, 260, 260, 512, 1024, 2048, 4096])
