"""Numbers rounded too early: which dtype, and which number on the way from position to output."""

import numpy as np

__all__ = []

BITS = {"bfloat16": 8, "float16": 11}
UNIT = {"float64": 2.0**-53, "float32": 2.0**-24, "float16": 2.0**-11, "bfloat16": 2.0**-8}  # half a unit, relative
SMALLEST = {"float16": 2.0**-25, "bfloat16": 2.0**-134}  # half a unit of the smallest numbers
HALFWAY = 2.0**-23  # relative error of a number in single precision: a unit, for two roundings
STAGES = ("positions", "frequencies", "angles", "tables")


def round_to_bits(values, bits):
    """Round numbers to a significand of some bits, ties to even, as narrow floats do."""
    fraction, exponent = np.frexp(np.asarray(values, np.float64))
    return np.ldexp(np.rint(np.ldexp(fraction, bits)), exponent - bits)


def bits_of(rounded, stage):
    """Return to how many bits the numbers of a stage are rounded; None where they are not.

    `rounded` names a dtype and stages: "float16 angles", "frequencies rounded to bfloat16". Single precision is exact
    enough for all stages but the tables.
    """
    words = rounded.replace(",", "").split()
    if stage not in words:
        return None
    return 24 if rounded == "float32 tables" else next((BITS[word] for word in words if word in BITS), None)


def rounded_to(values, rounded, stage, nudge=0.0):
    """Round the numbers of a stage where `rounded` says so; slow pairs are below what float16 holds to all its bits.

    A relative `nudge` before that shows which numbers lie so near to halfway that single precision decides.
    """
    bits = bits_of(rounded, stage)
    values = values * (1 + nudge) if nudge and bits is not None else values
    if bits == BITS["float16"] and stage == "frequencies":
        return values.astype(np.float16).astype(np.float64)
    return values if bits is None else round_to_bits(values, bits)
