"""Pairs that read several coordinates: which pair reads which, from positions with a last axis or the data alone."""

import itertools
from dataclasses import replace

import numpy as np

from rope_ref.diagnosis.confirm import errors
from rope_ref.diagnosis.factor import turned_back
from rope_ref.diagnosis.tolerances import COMMON_BASES, EVEN, WAYS
from rope_ref.faults.laws import layout
from rope_ref.frequencies import inverse_frequencies
from rope_ref.pairing import split_pairs

__all__ = []


def by_axes(view, hands):
    """Yield turns whose pairs each read the coordinate that fits, with one ladder in all or one an axis."""
    bases = (view.base,) if view.base else COMMON_BASES
    for base, sign in itertools.product(bases, (1, -1)):
        turn = replace(hands.turn, base=base, sign=sign)
        for axes in dealt_by_fit(view, turn):
            yield replace(turn, axes=axes)
        for axes in (*itertools.islice(in_blocks(hands, turn), WAYS), in_turn(hands)):
            yield replace(turn, axes=axes, own_ladders=True)


def left_over(hands, axis, inv_freq, start=0):
    """Return by how much each pair from `start` on is off if it reads an axis, for each token."""
    pairs = slice(start, start + len(inv_freq))
    turns = turned_back(hands.angles[:, pairs], hands.ids[:, axis], inv_freq)
    return np.abs(np.angle(turns)) * hands.sound[:, pairs]


def dealt_by_fit(view, turn):
    """Yield which axis each pair reads under one ladder: in blocks, or in turn until an axis is used up; what fits."""
    count, axes = turn.width // 2, view.ids.shape[1]
    wrong = np.stack([wrong_pairs(view, replace(turn, axes=(axis,) * count)) for axis in range(axes)])
    pairs = np.arange(count)
    cuts = itertools.combinations_with_replacement(range(count + 1), axes - 1)
    blocks = (np.searchsorted(each, pairs, side="right") for each in cuts)
    ends = itertools.product(range(count // axes + 1), repeat=axes - 1)
    dealt = (np.where(pairs // axes < np.array([count, *each])[pairs % axes], pairs % axes, 0) for each in ends)
    fit = (each for each in itertools.chain(blocks, dealt) if not wrong[each, pairs].any())
    return (tuple(each.tolist()) for each in itertools.islice(fit, 1))


def wrong_pairs(view, turn):
    """Tell which pairs a turn does not give back, shape (pairs,)."""
    worst = np.max([ratio.max(axis=(0, 1)) for ratio in errors(turn, view)], axis=0)
    first, second = split_pairs(worst[turn.start : turn.start + turn.width], layout(turn))
    return np.maximum(first, second) > 1


def in_blocks(hands, turn, axes=()):
    """Yield which axis each pair reads, where every axis has a block of pairs and its own ladder, the likely first.

    `axes` are those of the blocks before; counts of pairs that fit as well are told apart by what comes out.
    """
    pairs, start, axis = turn.width // 2, len(axes), (axes[-1] + 1 if axes else 0)
    if start == pairs or axis == hands.ids.shape[1] - 1:
        yield axes + (axis,) * (pairs - start)
        return

    def misfit(count):
        own = turn.sign * inverse_frequencies(2 * count, turn.base)
        left, after = left_over(hands, axis, own, start).max(), start + count
        return left if after == pairs else max(left, left_over(hands, axis + 1, own[:1], after).max())

    misfits = {count: misfit(count) for count in range(1, pairs - start + 1)}
    for count in sorted(misfits, key=misfits.get):
        if misfits[count] <= min(misfits.values()) + hands.noise / EVEN:
            yield from in_blocks(hands, turn, axes + (axis,) * count)


def in_turn(hands):
    """Return which axis each pair reads, where the axes take turns."""
    return tuple(pair % hands.ids.shape[1] for pair in range(hands.angles.shape[1]))


def on_a_grid(view, hands):
    """Yield turns whose tokens fill a grid that the data alone show: each axis first changes after its own stride."""
    whole = hands.whole
    if whole.ids.ndim > 1 or len(whole.ids) < 4:
        return
    moved = np.abs(np.angle(whole.angles[1:] * whole.angles[:-1].conj())) > EVEN * whole.noise
    strides = set((moved.argmax(axis=0) + 1)[moved.any(axis=0)].tolist())
    ends = [len(whole.ids), *sorted(strides, reverse=True)]
    if len(strides) < 2 or ends[-1] != 1 or any(end % step for end, step in itertools.pairwise(ends)):
        return
    grid = tuple(end // step for end, step in itertools.pairwise(ends))
    coordinates = np.indices(grid).reshape(len(grid), -1).T.astype(np.float64)
    for turn in by_axes(view._replace(ids=coordinates), whole._replace(ids=coordinates)):
        yield replace(turn, grid=grid)
