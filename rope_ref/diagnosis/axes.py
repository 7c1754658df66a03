"""Pairs that read several coordinates: which pair reads which, from positions with a last axis or the data alone."""

from dataclasses import replace

import numpy as np

from rope_ref.diagnosis.factor import read_frequencies, turned_back, unevenness
from rope_ref.diagnosis.tolerances import COMMON_BASES, EVEN

__all__ = []


def by_axes(view, hands):
    """Yield turns whose pairs each read the coordinate that fits, with one ladder in all or one an axis."""
    fit = np.stack([even_pairs(hands, hands.ids[:, axis]) for axis in range(hands.ids.shape[1])], axis=-1)
    yield from with_axes(view, hands, fit)


def with_axes(view, hands, fit):
    """Deal out the axes, and take the frequencies that go with them; `fit` is bool, (pairs, axes)."""
    bases = (view.base,) if view.base else COMMON_BASES
    for axes in dict.fromkeys(ways_to_deal(fit)):
        for base, own_ladders, sign in ((b, o, s) for b in bases for o in (True, False) for s in (1, -1)):
            yield replace(hands.turn, base=base, axes=axes, own_ladders=own_ladders, sign=sign)


def even_pairs(hands, coordinate):
    """Tell which pairs turn evenly along a coordinate, or stand still where it does."""
    left = np.empty(hands.angles.shape)
    for pair in range(hands.angles.shape[1]):
        one = hands._replace(ids=coordinate, angles=hands.angles[:, [pair]], sound=hands.sound[:, [pair]])
        speeds = read_frequencies(one)
        inv_freq = [0.0] if speeds is None else speeds.inv_freq
        left[:, [pair]] = unevenness(turned_back(one.angles, coordinate, inv_freq))
    return ~((np.abs(left) > EVEN * EVEN * hands.noise) & hands.sound).any(axis=0)


def ways_to_deal(fit):
    """Yield which axis each pair reads; where several fit, as the pair before it does, or in turn, or the first."""
    if not fit.any(axis=1).all():
        return
    blocks, axes = [], fit.shape[1]
    for row in fit:
        blocks.append(blocks[-1] if blocks and row[blocks[-1]] else int(row.argmax()))
    yield tuple(blocks)
    dealt = [pair % axes if row[pair % axes] else int(row.argmax()) for pair, row in enumerate(fit)]
    yield tuple(dealt)
    yield tuple(int(row.argmax()) for row in fit)


def on_a_grid(view, hands):
    """Yield turns whose tokens fill a grid that the data alone show: each axis first changes after its own stride."""
    whole = hands.whole
    if len(whole.ids) < 4:
        return
    moved = np.abs(np.angle(whole.angles[1:] * whole.angles[:-1].conj())) > EVEN * whole.noise
    seen = moved.any(axis=0)
    strides = np.where(seen, moved.argmax(axis=0) + 1, 0)
    steps = sorted(set(strides[seen].tolist()), reverse=True)
    ends = [len(whole.ids), *steps]
    if len(steps) < 2 or steps[-1] != 1 or any(end % step for end, step in zip(ends, steps, strict=False)):
        return
    grid = tuple(end // step for end, step in zip(ends, steps, strict=False))
    fit = np.array([[stride in (0, step) for step in steps] for stride in strides.tolist()])
    for turn in with_axes(view, hands, fit):
        yield replace(turn, grid=grid)
