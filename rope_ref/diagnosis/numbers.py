"""Measured numbers, and the short ones that may be meant by them."""

import math

import numpy as np

from rope_ref.diagnosis.tolerances import DECIMAL

__all__ = []


def shortest(value, error):
    """Return the decimal of fewest digits within a few relative errors of a positive value."""
    for digits in range(1, 17):
        rounded = float(f"{value:.{digits}g}")
        if near(rounded, value, DECIMAL * error):
            return rounded
    return value


def near(one, other, error):
    """Tell whether two positive numbers differ by the relative `error` at most."""
    return abs(math.log(one / other)) <= error


def wrap(angles):
    """Bring angles to between -pi and pi."""
    return angles - 2 * np.pi * np.rint(angles / (2 * np.pi))
