"""Which turns may have made the output, from the simplest on: those with one field changed, then two, then measured.

Each level takes what came in and what was measured of it, and makes turns; the first level with one that gives the
output back is the last.
"""

import itertools
import math
from dataclasses import replace

import numpy as np

from rope_ref.diagnosis import tolerances as limits
from rope_ref.diagnosis.axes import by_axes, on_a_grid
from rope_ref.diagnosis.confirm import confirmed
from rope_ref.diagnosis.factor import (
    find_offsets,
    from_most_neighbours,
    in_pieces,
    read_frequencies,
    read_positions,
    turned_back,
)
from rope_ref.diagnosis.frequencies import (
    Ladder,
    as_measured,
    blended,
    first_ladder,
    ladders,
    named_ladders,
    one_factor,
    refine,
    variants,
)
from rope_ref.diagnosis.measure import some_tokens
from rope_ref.diagnosis.numbers import shortest
from rope_ref.diagnosis.views import reads_axes
from rope_ref.faults.rounding import BITS, UNIT, rounded_to
from rope_ref.faults.tables import frequencies, places, tables

__all__ = []

DIRECTIONS = tuple(itertools.product((False, True), (1, -1)))


def with_offsets(hands, turns):
    """Try frequencies in both directions, with cos and sin exchanged too, and find the offsets at which they fit."""
    for turn, (swapped, sign) in itertools.product(turns, DIRECTIONS):
        own = frequencies(replace(turn, sign=-sign if swapped else sign), turn.width)
        for offset in find_offsets(hands, places(turn, hands.ids), own, swapped, at=0.0):
            yield replace(turn, sign=sign, swapped=swapped, offset=turn.offset + offset)


def meant(view, hands):
    """List what may have been meant with nothing wrong: what was told, or the bases that models have."""
    turn = hands.turn
    if view.scaling is not None:
        own = tuple(view.scaling.inv_freq.tolist())
        length = float(view.scaling.attention_factor)
        factor = length if abs(hands.length - length) <= limits.LENGTH * hands.noise else turn.factor
        turn = replace(turn, base=view.base, inv_freq=own, factor=factor)
        return [turn] if len(own) == turn.width // 2 else []
    return [replace(turn, base=base) for base in ((view.base,) if view.base else limits.COMMON_BASES)]


def nothing_wrong(view, hands):
    """Try the frequencies that were meant."""
    return with_offsets(hands, meant(view, hands))


def told(view, hands):
    """Try what was meant, with every fault of its frequencies."""
    yield from nothing_wrong(view, hands)
    if view.base is not None:
        yield from with_offsets(hands, variants(hands.turn, view.base, view.x.shape[-1]))


def other_ids(view, hands):
    """Try positions that are not those given: the token's index, those of the first sequence, one for all."""
    ids, turns = view.ids, meant(view, hands)
    index = np.broadcast_to(np.arange(float(ids.shape[-1])), ids.shape)
    if (ids != index).any():
        yield from placed(hands, [replace(turn, ids="index") for turn in turns], index)
    if ids.ndim == 2 and (ids != ids[0]).any():
        yield from placed(hands, [replace(turn, ids="first") for turn in turns], np.broadcast_to(ids[0], ids.shape))
    if (ids != ids.flat[0]).any():
        for turn in placed(hands, turns, np.zeros(ids.shape)):
            yield replace(turn, pieces=((0, turn.offset, 0.0),), offset=0.0)


def placed(hands, turns, ids):
    """Find offsets where all tokens stand at other positions."""
    hands = hands._replace(ids=ids.ravel()[hands.index])
    for turn in turns:
        for found in with_offsets(hands, [replace(turn, ids="given")]):
            if found.sign == 1 and not found.swapped:  # two fields at most
                yield replace(found, ids=turn.ids)


def narrow_frequencies(view, hands):
    """Try the frequencies that were meant, rounded to half precision."""
    for turn, dtype in itertools.product(meant(view, hands), BITS):
        name = f"frequencies rounded to {dtype}"
        own = frequencies(turn, turn.width)
        if (rounded_to(own, name, "frequencies") == own).all():
            continue
        held = replace(turn, inv_freq=tuple(rounded_to(own, name, "frequencies").tolist()))
        for found in with_offsets(hands, [held]):
            yield replace(found, inv_freq=turn.inv_freq, rounded=name)


def on_a_ladder(view, hands):
    """Fit frequencies where none are given, or those given do not fit."""
    if hands.turn.width == 2 and view.base is None:
        yield from with_offsets(hands, [replace(hands.turn, base=limits.COMMON_BASES[0])])
    elif hands.speeds is not None:
        if view.base is not None:
            yield from with_offsets(hands, one_factor(hands, view.base))
        for ladder, turn in ladders(hands):
            yield from named_ladders(ladder, turn, view.base)


def scaled(view, hands):
    """Try frequencies scaled for a longer context."""
    if hands.speeds is not None:
        yield from with_offsets(hands, blended(hands, view.base))


def narrow(view, hands):
    """Try positions, angles and tables held in half precision."""
    stages = ("positions", "angles", "positions, frequencies and angles", "tables")
    names = [f"{dtype} {stage}" for dtype in BITS for stage in stages] + ["float32 tables"]
    for turn, name, sign in itertools.product(meant(view, hands), names, (1, -1)):
        found = replace(turn, sign=sign, rounded=name, factor=coarse_factor(hands, name))
        if fits(hands, found):
            yield found


def coarse_factor(hands, rounded):
    """Take a length for one where it is within what the rounding of tables does to it."""
    unit = UNIT[rounded.split()[0]] if "tables" in rounded else 0.0
    return shortest(hands.turn.factor, unit) if unit else hands.turn.factor


def fits(hands, turn):
    """Tell whether the angles of a turn are those of the hands at the tokens that are looked at first, nearly all."""
    cos, sin, angles = tables(turn, hands.ids, turn.width)
    off = np.abs(np.angle(hands.angles * (cos - 1j * sin)))
    single = limits.SINGLE_STEPS * UNIT["float32"] * np.abs(angles)
    return (off > limits.EVEN * (hands.noise + single))[hands.sound].mean() < limits.HALVES


def in_runs(view, hands):
    """Read where each token stands, and name the pattern of it; of both directions the one with the fewer runs."""
    whole = hands.whole
    for turn, swapped in itertools.product(bases_by_neighbours(view, whole), (False, True)):
        both = [replace(turn, sign=sign, swapped=swapped) for sign in (1, -1)]
        read = [replace(each, pieces=pieces_read(whole, each)) for each in both]
        read = [each for each in read if each.pieces]
        yield from sorted(read, key=lambda each: (len(each.pieces), min(each.pieces)[1] < 0))[:1]


def pieces_read(whole, turn):
    """Read the positions of all tokens, in runs; empty where there are none, or one as meant."""
    own = frequencies(turn, turn.width)
    found = read_positions(whole, -own if turn.swapped else own, turn.swapped)
    return () if found is None else in_pieces(found, whole.ids) or ()


def bases_by_neighbours(view, whole):
    """List what may have been meant: told, or a base that most neighbours agree on."""
    turns = meant(view, whole)
    if view.base is not None or view.scaling is not None or (speeds := from_most_neighbours(whole)) is None:
        return turns
    ladder = first_ladder(whole, speeds)
    if ladder is None or ladder.base <= 1:
        return turns
    return [*turns, replace(whole.turn, base=shortest(ladder.base, ladder.base_error))]


def since(view, hands):
    """Find the first token that is not as it was meant, and explain those from there on by themselves."""
    if view.ids.ndim != 1 or hands.whole.ids.ndim != 1:
        return
    for turn in meant(view, hands):
        wrong = wrong_tokens(hands.whole, turn)
        first = int(wrong.argmax())
        if not wrong.any() or not 2 <= first <= len(wrong) - 2:
            continue
        later = view._replace(x=view.x[:, first:], y=view.y[:, first:], ids=view.ids[first:])
        rest = some_tokens(hands.whole, np.arange(first, len(wrong)))
        rest = rest._replace(whole=rest, speeds=read_frequencies(rest), index=np.arange(len(rest.ids)))
        for found, _ in explained(later, [rest], SINGLE_FIELDS):
            yield replace(found, since=first, before=turn)


def wrong_tokens(whole, turn):
    """Tell which tokens are not turned as was meant."""
    off = np.abs(np.angle(turned_back(whole.angles, whole.ids, frequencies(turn, turn.width))))
    single = limits.SINGLE_STEPS * UNIT["float32"] * np.abs(np.multiply.outer(whole.ids, frequencies(turn, turn.width)))
    return ((off > limits.EVEN * (whole.noise + single)) & whole.sound).any(axis=1)


def searched(view, hands):
    """Look for a base where positions are too far apart to read frequencies from."""
    near = some_tokens(hands, np.argsort(np.abs(hands.ids), kind="stable")[: limits.SEARCHED])
    gaps = np.diff(np.unique(hands.ids))
    if hands.turn.width == 2 or not gaps.size or gaps.min() <= 1 or np.abs(near.ids).max() > limits.FARTHEST:
        return  # neighbours tell more, or the search takes too long
    share = 2 * np.arange(hands.turn.width // 2) / hands.turn.width
    # Where log(base) grows by a small part of itself, no angle p * base**-share changes by more than p / e that part.
    logs = np.geomspace(0.5, math.log(limits.LARGEST_BASE), int(np.abs(near.ids).max()) + 50)
    turns = (np.exp(-1j * np.multiply.outer(near.ids, np.exp(-share * log))) for log in logs)
    fit = np.array([[(near.angles * each).real.sum() for each in (turn, turn.conj())] for turn in turns])
    for sign, best in zip((1, -1), fit.argmax(axis=0), strict=True):
        ladder = Ladder(1.0, math.exp(logs[best]), 0.0, 1.0)
        for tokens in (near, hands):
            ladder = refine(ladder, tokens, sign, False, 0.0, False)
        yield from named_ladders(ladder, replace(hands.turn, sign=sign), view.base)


def coarse(view, hands):
    """Allow angles in single precision, or arithmetic in half precision."""
    names = ["float32 angles"] + ([f"computed in {view.dtype}"] if view.dtype in BITS else [])
    if hands.speeds is not None:
        hands = hands._replace(noise=max(hands.noise, hands.speeds.noise))
    turns = itertools.chain.from_iterable(level(view, hands) for level in (told, other_ids, on_a_ladder, scaled))
    for turn, name in itertools.product(dict.fromkeys(turns), names):
        if not turn.rounded:
            yield replace(turn, rounded=name)


def coarse_as_meant(view, hands):
    """Allow less precision where nothing is wrong with the frequencies."""
    usual = {field: getattr(hands.turn, field) for field in ("power", "first", "times", "exponent_width", "reverse")}
    for turn in coarse(view, hands):
        as_meant = all(getattr(turn, field) == value for field, value in usual.items())
        if as_meant and not turn.scaling and not turn.standing and view.base in (None, turn.base):
            yield turn


def runs_in_single(view, hands):
    """Read where each token stands where angles are in single precision."""
    return (replace(turn, rounded="float32 angles") for turn in in_runs(view, hands))


def measured(view, hands):
    """Take the measured frequencies themselves."""
    if hands.speeds is not None:
        yield from as_measured(hands)


SINGLE_FIELDS = (told, narrow_frequencies, other_ids, on_a_ladder, scaled, narrow)
EXACT = (*SINGLE_FIELDS, in_runs, since, on_a_grid, searched)
LOOSE = (coarse_as_meant, coarse, runs_in_single, measured)


def explained(view, found, levels):
    """Find what gives the output back under any law: the first level that does, all of that level."""
    if reads_axes(view):
        levels = (by_axes,)
    for level in levels:
        kept = [each for hands in found for each in confirmed(view, level(view, hands))]
        if kept:
            return kept
    return []


def with_speeds(hands):
    """Read the frequencies too, where positions have one axis."""
    return hands._replace(speeds=read_frequencies(hands) if hands.ids.ndim == 1 else None)
