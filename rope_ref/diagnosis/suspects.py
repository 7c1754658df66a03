"""Which turns may have made the output, from the simplest on: those with one field changed, then two, then measured.

Each level takes what came in and what was measured of it, and makes turns; the first level with one that gives the
output back is the last.
"""

import itertools
import math
from dataclasses import replace

import numpy as np

from rope_ref.diagnosis import factor, frequencies
from rope_ref.diagnosis import tolerances as limits
from rope_ref.diagnosis.axes import by_axes, on_a_grid
from rope_ref.diagnosis.confirm import confirmed
from rope_ref.diagnosis.measure import MIX_UPS, ROTATIONS, measure, some_tokens
from rope_ref.diagnosis.numbers import shortest
from rope_ref.faults import tables
from rope_ref.faults.rounding import BITS, UNIT

__all__ = []

DIRECTIONS = tuple(itertools.product((False, True), (1, -1)))


def with_offsets(hands, turns):
    """Try frequencies in both directions, with cos and sin exchanged too, and find the offsets at which they fit."""
    for turn, (swapped, sign) in itertools.product(turns, DIRECTIONS):
        own = tables.held_frequencies(replace(turn, sign=-sign if swapped else sign), turn.width)
        for offset in factor.find_offsets(hands, tables.places(turn, hands.ids), own, swapped, at=0.0):
            yield replace(turn, sign=sign, swapped=swapped, offset=turn.offset + offset)


def meant(view, hands):
    """List what may have been meant with nothing wrong: what was told, or the bases that models have."""
    turn = hands.turn
    if view.scaling is not None:
        own, length = tuple(view.scaling.inv_freq.tolist()), float(view.scaling.attention_factor)
        length = length if abs(hands.length - length) <= limits.LENGTH * hands.noise else turn.factor
        return [replace(turn, base=view.base, inv_freq=own, factor=length)] if len(own) == turn.width // 2 else []
    return [replace(turn, base=base) for base in ((view.base,) if view.base else limits.COMMON_BASES)]


def nothing_wrong(view, hands):
    """Try the frequencies that were meant."""
    return with_offsets(hands, meant(view, hands))


def told(view, hands):
    """Try what was meant, with every fault of its frequencies."""
    yield from nothing_wrong(view, hands)
    if view.base is not None:
        yield from with_offsets(hands, frequencies.variants(hands.turn, view.base, view.x.shape[-1]))


def other_ids(view, hands):
    """Try positions that are not those given: the token's index, those of the first sequence, one for all."""
    ids, none = view.ids, np.zeros(view.ids.shape)
    ways = {"index": none + np.arange(ids.shape[-1]), "first": none + (ids[0] if ids.ndim == 2 else ids)}
    for name, other in ways.items():
        if (ids != other).any():
            yield from (replace(turn, ids=name) for turn in placed(view, hands, other))
    if (ids != ids.flat[0]).any():
        for turn in placed(view, hands, none):
            yield replace(turn, pieces=((0, turn.offset, 0.0),), offset=0.0)


def placed(view, hands, ids):
    """Find offsets where all tokens stand at other positions; two fields at most may be changed."""
    found = with_offsets(hands._replace(ids=ids.ravel()[hands.index]), meant(view, hands))
    return (turn for turn in found if turn.sign == 1 and not turn.swapped)


def narrow_frequencies(view, hands):
    """Try the frequencies that were meant, rounded to half precision, where that changes them."""
    for turn, dtype in itertools.product(meant(view, hands), BITS):
        held = replace(turn, rounded=f"frequencies rounded to {dtype}")
        if (tables.held_frequencies(held, held.width) != tables.frequencies(turn, turn.width)).any():
            yield from with_offsets(hands, [held])


def on_a_ladder(view, hands):
    """Fit frequencies where none are given, or those given do not fit."""
    if hands.turn.width == 2 and view.base is None:
        yield from with_offsets(hands, [replace(hands.turn, base=limits.COMMON_BASES[0])])
    elif hands.speeds is not None:
        if view.base is not None:
            yield from with_offsets(hands, frequencies.one_factor(hands, view.base))
        for ladder, turn in frequencies.ladders(hands):
            yield from frequencies.named_ladders(ladder, turn, view.base)


def scaled(view, hands):
    """Try frequencies scaled for a longer context."""
    if hands.speeds is not None:
        yield from with_offsets(hands, frequencies.blended(hands, view.base))


def narrow(view, hands):
    """Try positions, angles and tables held in half precision."""
    stages = ("positions", "angles", "positions, frequencies and angles", "tables")
    names = [f"{dtype} {stage}" for dtype in BITS for stage in stages] + ["float32 tables"]
    for turn, name, sign in itertools.product(meant(view, hands), names, (1, -1)):
        unit = UNIT[name.split()[0]] if name.endswith("tables") else 0.0  # rounding tables does so much to a length
        found = replace(turn, sign=sign, rounded=name, factor=shortest(hands.turn.factor, unit))
        if misses(hands, found)[hands.sound].mean() < limits.HALVES:
            yield found


def misses(hands, turn):
    """Tell which angles of a turn are not those of the hands, shape (tokens, pairs)."""
    cos, sin, angles = tables.tables(turn, hands.ids, turn.width)
    single = limits.SINGLE_STEPS * UNIT["float32"] * np.abs(angles)
    off = np.abs(np.angle(hands.angles * (cos - 1j * sin)))
    return (off > limits.EVEN * (hands.noise + single)) & hands.sound


def in_runs(view, hands):
    """Read where each token stands, and name the pattern of it; of both directions the one with the fewer runs."""
    whole = hands.whole
    for turn, swapped in itertools.product(bases_by_neighbours(view, whole), (False, True)):
        both = [replace(turn, sign=sign, swapped=swapped) for sign in (1, -1)]
        read = [replace(each, pieces=pieces) for each in both if (pieces := pieces_read(whole, each))]
        yield from sorted(read, key=lambda each: (len(each.pieces), min(each.pieces)[1] < 0))[:1]


def pieces_read(whole, turn):
    """Read the positions of all tokens, in runs; empty where there are none, or one as meant."""
    own = tables.frequencies(turn, turn.width)
    found = factor.read_positions(whole, -own if turn.swapped else own, turn.swapped)
    return () if found is None else factor.in_pieces(found, whole.ids)


def bases_by_neighbours(view, whole):
    """List what may have been meant: told, or a base that most neighbours agree on."""
    speeds = factor.from_most_neighbours(whole) if view.base is None and view.scaling is None else None
    ladder = speeds and frequencies.first_ladder(speeds)
    agreed = [shortest(ladder.base, ladder.base_error)] if ladder and ladder.base > 1 else []
    return [*meant(view, whole), *(replace(whole.turn, base=base) for base in agreed)]


def since(view, hands):
    """Find the first token that is not as it was meant, and explain those from there on by themselves."""
    if view.ids.ndim != 1 or hands.whole.ids.ndim != 1:
        return
    for turn in meant(view, hands):
        wrong = misses(hands.whole, turn).any(axis=1)
        first = int(wrong.argmax())
        if not wrong.any() or not 2 <= first <= len(wrong) - 2:
            continue
        later = view._replace(x=view.x[:, first:], y=view.y[:, first:], ids=view.ids[first:])
        rest = some_tokens(hands.whole, np.arange(first, len(wrong)))
        rest = rest._replace(whole=rest, speeds=factor.read_frequencies(rest), index=np.arange(len(rest.ids)))
        for found, _ in explained(later, [rest], SINGLE_FIELDS):
            yield replace(found, since=first, before=turn)


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
        ladder = frequencies.Ladder(1.0, math.exp(logs[best]), 0.0, 1.0)
        for tokens in (near, hands):
            ladder = frequencies.refine(ladder, tokens, sign, False, 0.0, False)
        yield from frequencies.named_ladders(ladder, replace(hands.turn, sign=sign), view.base)


def coarse(view, hands):
    """Allow angles in single precision, or arithmetic in half precision."""
    names = ["float32 angles"] + ([f"computed in {view.dtype}"] if view.dtype in BITS else [])
    if hands.speeds is not None:
        hands = hands._replace(noise=max(hands.noise, hands.speeds.noise))
    turns = itertools.chain.from_iterable(level(view, hands) for level in (told, other_ids, on_a_ladder, scaled))
    for turn, name in itertools.product(dict.fromkeys(turns), names):
        if not turn.rounded:
            yield replace(turn, rounded=name)


FREQUENCY_FIELDS = ("power", "first", "times", "exponent_width", "reverse", "scaling", "standing")


def coarse_as_meant(view, hands):
    """Allow less precision where nothing is wrong with the frequencies."""
    for turn in coarse(view, hands):
        same = all(getattr(turn, field) == getattr(hands.turn, field) for field in FREQUENCY_FIELDS)
        if same and view.base in (None, turn.base):
            yield turn


def runs_in_single(view, hands):
    """Read where each token stands where angles are in single precision."""
    return (replace(turn, rounded="float32 angles") for turn in in_runs(view, hands))


def measured(view, hands):
    """Take the measured frequencies themselves."""
    if hands.speeds is not None:
        yield from frequencies.as_measured(hands)


SINGLE_FIELDS = (told, narrow_frequencies, other_ids, on_a_ladder, scaled, narrow)
EXACT = (*SINGLE_FIELDS, in_runs, since, on_a_grid, searched)
LOOSE = (coarse_as_meant, coarse, runs_in_single, measured)


def explained(view, found, levels):
    """Find what gives the output back under any law: the first level that does, all of that level."""
    for level in (by_axes,) if view.axes else levels:
        kept = [each for hands in found for each in confirmed(view, level(view, hands))]
        if kept:
            return kept
    return []


def trials(choices):
    """List what is tried: what was meant, also in widths whose slow pairs cannot be seen; faults; looser bounds."""
    wide = choices[0]._replace(blocks=choices[0].wider)
    yield choices[0], ROTATIONS, (told,)
    if wide.rotary_dim is None and wide.dtype in BITS:
        yield wide, ROTATIONS, (told, narrow_frequencies)
    for levels, view, laws in itertools.product((EXACT, LOOSE), choices, (ROTATIONS, MIX_UPS)):
        yield view, laws, levels
    yield wide, ROTATIONS, (*EXACT, *LOOSE)


def search(choices):
    """Find the view and the turns that give the output back, and what was measured; no turns where none does."""
    measured = {}
    for view, laws, levels in trials(choices):
        key = id(view), id(laws)
        if key not in measured:
            measured[key] = [each._replace(speeds=factor.read_frequencies(each)) for each in measure(view, laws)]
        kept = explained(view, measured[key], levels)
        if kept:
            return view, kept, measured[key]
    return choices[0], [], measured[id(choices[0]), id(ROTATIONS)]
