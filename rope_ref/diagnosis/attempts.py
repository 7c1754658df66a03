"""What is tried, from the simplest on: each kind of attempt makes models of a reading."""

import itertools
import math

import numpy as np

from rope_ref.diagnosis.ladders import (
    COMMON_BASES,
    Candidate,
    Ladder,
    blended,
    ladders,
    named_ladders,
    ordinary,
    refine,
    variants,
)
from rope_ref.diagnosis.laws import exchanges
from rope_ref.diagnosis.models import BITS, checked, model_of
from rope_ref.diagnosis.readings import find_offsets, some_tokens

__all__ = []

SEARCHED = 24  # tokens that a base is looked for with


def with_candidates(reading, candidates):
    """Try frequencies in both directions, with cos and sin exchanged too, and find the offsets at which they fit."""
    for candidate in candidates:
        for swapped, sign in itertools.product(exchanges(reading.law), (1, -1)):
            signed = candidate.inv_freq * (-sign if swapped else sign)
            for offset in find_offsets(reading, signed, swapped, at=0.0):
                yield model_of(reading, candidate, sign, swapped, offset)


def with_ladders(reading, base):
    """Fit frequencies where none are given, or those given do not fit."""
    for ladder, rising, sign, swapped, offset in ladders(reading):
        sign = int(-sign if swapped else sign)
        for candidate in named_ladders(ladder, rising, reading.width, base):
            yield model_of(reading, candidate, sign, swapped, offset)


def simple(view, reading):
    """Try the base that was meant with all its faults, and whatever ladder the speeds form."""
    if view.fault == "positions ignored":
        models = with_candidates(reading, [ordinary(reading.width, view.base or COMMON_BASES[0])])
        yield from (model for model in models if model.sign == 1 and not model.swapped)
        return
    if view.base is not None:
        yield from with_candidates(reading, variants(reading.width, view.base, view.x.shape[-1]))
    elif reading.width == 2:
        yield from with_candidates(reading, [Candidate((), None, np.ones(1), "inverse_frequencies(2)")])
    elif reading.speeds is None:
        yield from with_candidates(reading, common(reading.width))
    if reading.speeds is not None:
        yield from with_ladders(reading, view.base)


def common(width):
    """Make the frequencies of the bases that models have."""
    return [ordinary(width, base) for base in COMMON_BASES]


def scaled(view, reading):
    """Try frequencies scaled for a longer context."""
    if reading.speeds is not None:
        yield from with_candidates(reading, blended(reading, view.base))


def narrow(view, reading):
    """Try positions, angles and tables held in half precision."""
    stages = ("positions", "angles", "positions, frequencies and angles", "tables")
    names = [f"{dtype} {stage}" for dtype in BITS for stage in stages] + ["float32 tables"]
    meant = [ordinary(reading.width, view.base)] if view.base else common(reading.width)
    for candidate, name, sign in itertools.product(meant, names, (1, -1)):
        yield model_of(reading, candidate, sign, 0, 0.0, name)


def searched(view, reading):
    """Look for a base where positions are too far apart to read speeds from."""
    near = some_tokens(reading, np.argsort(np.abs(reading.positions), kind="stable")[:SEARCHED])
    if reading.width == 2 or view.fault == "positions ignored" or np.ptp(near.positions) == 0:
        return
    share = 2 * np.arange(reading.width // 2) / reading.width
    # Where log(base) grows by a small part of itself, no angle p * base**-share changes by more than p / e that part.
    logs = np.geomspace(0.5, math.log(1e12), int(np.abs(near.positions).max()) + 50)
    turns = (np.exp(-1j * np.multiply.outer(near.positions, np.exp(-share * log))) for log in logs)
    fits = np.array([[(near.hands * each).real.sum() for each in (turn, turn.conj())] for turn in turns])
    for sign, best in zip((1, -1), fits.argmax(axis=0), strict=True):
        ladder = Ladder(1.0, math.exp(logs[best]), 0.0, 1.0)
        for tokens in (near, reading):
            ladder = refine(ladder, tokens, sign, 0, 0.0, False)
        for candidate in named_ladders(ladder, False, reading.width, view.base):
            yield model_of(reading, candidate, sign, 0, 0.0)


def coarse(view, reading):
    """Allow angles in single precision, or arithmetic in half precision."""
    names = ["float32 angles"] + ([f"computed in {view.dtype}"] if view.dtype in BITS else [])
    if reading.speeds is not None:
        reading = reading._replace(noise=max(reading.noise, reading.speeds.noise))
    models = [*simple(view, reading), *scaled(view, reading)]
    if view.base is None:
        models += with_candidates(reading, common(reading.width))
    for name, model in itertools.product(names, models):
        if not model.precision:
            yield model._replace(precision=name)


def coarse_as_meant(view, reading):
    """Allow less precision where nothing is wrong with the frequencies."""
    return (model for model in coarse(view, reading) if not model.candidate.faults)


def measured(view, reading):
    """Take the measured speeds themselves."""
    if reading.speeds is None:
        return
    speed, error, _ = reading.speeds
    candidate = Candidate(("frequencies of no known law",), None, np.abs(speed), None)
    signs = set(np.sign(speed[np.abs(speed) > 3 * error]))
    for sign in (1, -1):
        if signs <= {sign}:
            for offset in find_offsets(reading, speed, 0, slack=6 * error)[:1]:
                yield model_of(reading, candidate, sign, 0, offset)


KINDS = (simple, scaled, narrow, searched, coarse_as_meant, coarse, measured)


def explain(view, found):
    """Find what gives the output back under any reading: the first kind of attempt that does, all of that kind."""
    for kind in KINDS:
        kept = [one for reading in found for one in checked(view, kind(view, reading))]
        if kept:
            return kept
    return []
