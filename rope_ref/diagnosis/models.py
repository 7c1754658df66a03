"""Everything that it takes to compute an output anew, and whether that gives the output back."""

import math
from collections import namedtuple

import numpy as np

from rope_ref.diagnosis.ladders import shortest
from rope_ref.diagnosis.laws import output, weights_of
from rope_ref.diagnosis.views import SMALLEST, UNIT, few
from rope_ref.faults import round_to_bits
from rope_ref.pairing import join_pairs

__all__ = []

BITS = {"float16": 11, "bfloat16": 8}
CHUNK = 2**18  # numbers compared at a time

Model = namedtuple("Model", "law start width factor sign swapped candidate offset precision")
Model.__doc__ = """All that it takes to compute an output.

`swapped` exchanges cos and sin, `candidate` holds the frequencies, `precision` names what is rounded, or is empty.
"""


def model_of(reading, candidate, sign, swapped, offset, precision=""):
    """Put a reading and frequencies together."""
    coarse = UNIT.get(precision.partition(" ")[0], 0.0)
    factor = shortest(reading.factor, max(coarse, reading.noise / 3 / math.sqrt(reading.sound.sum())))
    return Model(
        law=reading.law,
        start=reading.start,
        width=reading.width,
        factor=factor if abs(factor - 1) > 3 * reading.noise else 1.0,
        sign=sign,
        swapped=bool(swapped),
        candidate=candidate,
        offset=offset,
        precision=precision or candidate.precision,
    )


def bits_of(precision, stage):
    """Return to how many bits positions, frequencies, angles or tables are rounded; None where they are not."""
    dtype, _, stages = precision.partition(" ")
    return BITS.get(dtype) if stage in stages else None


def model_tables(model, positions):
    """Return cos, sin and angles of a model as float64, each rounded where the model says so."""

    def held(values, stage):
        bits = bits_of(model.precision, stage)
        return values if bits is None else round_to_bits(values, bits)

    places = held(positions + model.offset, "positions")
    speeds = held(model.sign * model.candidate.inv_freq, "frequencies")
    angles = held(np.multiply.outer(places, speeds), "angles")
    cos, sin = held(np.cos(angles), "tables"), held(np.sin(angles), "tables")
    if model.precision == "float32 tables":
        cos, sin = (table.astype(np.float32).astype(np.float64) for table in (cos, sin))
    if model.swapped:
        cos, sin = sin, cos
    return model.factor * cos, model.factor * sin, angles


def half_unit(values, dtype):
    """Half the distance between neighbours of a coarse dtype, where `values` lie; zero for the others."""
    if dtype not in BITS:
        return 0.0
    exponents = np.frexp(values)[1]
    return np.maximum(np.ldexp(UNIT[dtype], exponents - 1), SMALLEST[dtype])


def allowed(model, dtype, x, y, want, angles):
    """Bound the error of each turned feature as `apply_rope` does, wider where the precision of the model is less."""
    still, by_cos, by_sin = weights_of(model.law, x, y, angles.shape)
    size = np.hypot(by_cos, by_sin) * model.factor + np.abs(still)
    angles = join_pairs(np.abs(angles), np.abs(angles), model.law.write)
    if dtype == "float64":  # twice: what is compared with is computed in float64 too
        bound = 2 * size * (5 + angles) * UNIT["float64"]
    else:
        bound = 3.4 * size * UNIT["float32"]
        bound = bound + half_unit(np.abs(want) + bound, dtype)
    if model.precision.startswith("computed in"):
        bound = 4 * size * UNIT[dtype]
    if model.law.name == "in place overwrite":
        bound = 2 * bound
    if model.precision == "float32 angles":
        # Frequency and product are each rounded, and the power may be off by one unit more.
        bound = bound + size * np.minimum(0.2, 3 * UNIT["float32"] * angles)
    return bound


def errors(model, view):
    """Yield how far a model is from the output, in error bounds, some rows at a time; inf where bounds are zero.

    Features that are not turned did not change, or `blocks` would have taken them in.
    """
    turned = slice(model.start, model.start + model.width)
    cos, sin, angles = model_tables(model, view.positions)
    some = max(1, CHUNK // view.x[0].size)
    for row in range(0, len(view.x), some):
        ratio = np.zeros(view.x[row : row + some].shape)
        x, y = (each[row : row + some, :, turned] for each in (view.x, view.y))
        want = output(model.law, x, cos, sin)
        off, bound = np.abs(y - want), allowed(model, view.dtype, x, y, want, angles)
        ratio[..., turned] = np.divide(off, bound, out=np.where(off > 0, math.inf, 0.0), where=bound > 0)
        yield ratio


def largest_error(model, view):
    """Measure how far a model is from the output, in error bounds; stop early where it is beyond the bound."""
    worst = 0.0
    for ratio in errors(model, view):
        worst = max(worst, float(ratio.max()))
        if worst > 1:
            break
    return worst


def checked(view, models):
    """Keep the models that give the output back, with their error; on a part of it first."""
    part = few(view)
    for model in models:
        if largest_error(model, part) <= 1 and (error := largest_error(model, view)) <= 1:
            yield model, error
