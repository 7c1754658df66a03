"""The table of angles taken apart: how fast each pair turns, what was added to positions, where each token stands."""

from collections import namedtuple

import numpy as np

from rope_ref.diagnosis.measure import some_tokens
from rope_ref.diagnosis.numbers import wrap
from rope_ref.diagnosis.tolerances import AROUND, DRAWN, EVEN, OFFSETS, PIECES, SINGLE_STEPS, SURE_SHARE, UNEVEN, WRAPS
from rope_ref.faults.rounding import UNIT

__all__ = []

Speeds = namedtuple("Speeds", "inv_freq error share sure noise")
Speeds.__doc__ = """Radians per token of each pair, with a sign, how far off they may be, and how far from even turning.

    `error` is absolute, `share` relative; `sure` tells which pairs say something about a law.
    """


def speeds_of(hands, inv_freq, error, noise):
    """Put measured frequencies into a record."""
    share = error / np.maximum(np.abs(inv_freq), 1e-100)
    return Speeds(inv_freq, error, share, hands.sound.any(axis=0) & (share < SURE_SHARE), noise)


def turned_back(angles, places, inv_freq, swapped=False):
    """Take even turning away from the hands; exchanged cos and sin are a quarter turn more."""
    return angles * np.exp(-1j * (np.multiply.outer(places, inv_freq) + swapped * np.pi / 2))


def unevenness(turns):
    """Return how far each hand of a pair is from their mean, in radians."""
    return np.angle(turns * turns.sum(axis=0).conj())


# Frequencies from neighbours ----------------------------------------------------------------------------------------


def read_frequencies(hands):
    """Measure how fast each pair turns, from neighbouring tokens first and then from those farther apart, or None."""
    if hands.ids.ndim > 1:
        return None
    ordered = some_tokens(hands, np.argsort(hands.ids, kind="stable"))
    places, angles, sound = ordered.ids, ordered.angles, ordered.sound
    gaps = np.diff(places)
    if not (gaps > 0).any():
        return None
    gap = gaps[gaps > 0].min()
    near = np.flatnonzero(gaps == gap)
    inv_freq = np.angle((angles[near + 1] * angles[near].conj()).sum(axis=0)) / gap
    inv_freq = widened(inv_freq, ordered, gap, places[near[0]])
    off = np.abs(unevenness(turned_back(angles, places, inv_freq)))
    if off.max() >= UNEVEN:  # tokens are too far apart, or nothing turns evenly
        return None
    noise = np.sqrt((off**2 * sound).sum() / sound.sum())
    spread = np.sqrt((sound * (places[:, None] - places.mean()) ** 2).sum(axis=0))
    error = np.minimum(max(noise, hands.noise / 10) / np.maximum(spread, 1e-30), 1e9)
    return speeds_of(hands, inv_freq, error, float(off.max()))


def widened(inv_freq, ordered, reach, centre):
    """Fit frequencies to ever more tokens around one of them."""
    while True:
        some = np.abs(ordered.ids - centre) <= reach
        inv_freq = inv_freq + slope(ordered.ids[some], ordered.angles[some], ordered.sound[some], inv_freq)
        if some.all():
            return inv_freq
        reach *= 4


def slope(places, angles, sound, inv_freq):
    """Fit what is left of the frequency of each pair when `inv_freq` is taken away."""
    left = unevenness(turned_back(angles, places, inv_freq))
    count = np.maximum(sound.sum(axis=0), 1)
    places = places[:, None] - (places[:, None] * sound).sum(axis=0) / count
    spread = (sound * places**2).sum(axis=0)
    return np.divide((sound * places * left).sum(axis=0), spread, out=np.zeros(len(spread)), where=spread > 0)


def from_most_neighbours(hands):
    """Measure frequencies from those neighbours that agree, wherever positions start anew; None if too few do."""
    near = np.flatnonzero(np.diff(hands.ids) == 1)
    if len(near) < 4:
        return None
    steps = hands.angles[near + 1] * hands.angles[near].conj()
    middle = np.median(steps.real, axis=0) + 1j * np.median(steps.imag, axis=0)
    agree = (np.abs(np.angle(steps * middle.conj())) < 4 * hands.noise).all(axis=1)
    if agree.sum() < 3:
        return None
    inv_freq = np.angle(steps[agree].sum(axis=0))
    error = np.full(len(inv_freq), 2 * hands.noise / np.sqrt(agree.sum()))
    return speeds_of(hands, inv_freq, error, hands.noise)


# Positions ----------------------------------------------------------------------------------------------------------


def find_offsets(hands, places, inv_freq, swapped, at=None, slack=0.0):
    """List the constants that may have been added to the positions, the smallest first.

    `inv_freq` carry their sign; `slack` is how far each of them may be off. Hands are compared at the position `at`.
    """
    at, slack = float(places.mean()) if at is None else at, np.broadcast_to(slack, inv_freq.shape)
    turns = turned_back(hands.angles, places - at, inv_freq, swapped)
    # Angles in single precision may be meant: then they are off by so much at least.
    single = SINGLE_STEPS * UNIT["float32"] * np.abs(np.multiply.outer(places, inv_freq))
    even = EVEN * (hands.noise + single) + slack * np.abs(places - at)[:, None] + 1e-12
    if (np.abs(unevenness(turns)) > even)[hands.sound].any():
        return []
    angles, farthest = np.angle(turns.sum(axis=0)), np.abs(places).max()
    fast_first = [pair for pair in np.argsort(-np.abs(inv_freq)) if hands.sound[:, pair].any()]
    likely = OFFSETS[:1] if (places == places[0]).all() else OFFSETS[:2] if swapped else OFFSETS
    for reach, step in likely:
        offsets = np.arange(-reach, reach + step, step)
        for pair in fast_first:
            off = np.abs(wrap(inv_freq[pair] * (at + offsets) - angles[pair]))
            single = 2 * SINGLE_STEPS * UNIT["float32"] * np.abs(inv_freq[pair]) * (farthest + np.abs(offsets))
            offsets = offsets[off <= hands.noise + slack[pair] * np.abs(at + offsets) + single]
            if not offsets.size:
                break
        else:
            return [float(offset) for offset in offsets[np.argsort(np.abs(offsets), kind="stable")][:4]]
    return []


def read_positions(hands, inv_freq, swapped):
    """Read the position of each token from its own row, a whole number; None where rows do not show one.

    The slowest pair that turns tells it roughly, up to whole turns, and each faster one tells it better.
    """
    order = [pair for pair in np.argsort(np.abs(inv_freq)) if abs(inv_freq[pair]) > 0 and hands.sound[:, pair].all()]
    if not order:
        return None
    own, margin = inv_freq[order], AROUND[0] * len(hands.ids) + AROUND[1]
    reach = np.abs(hands.ids).max() + margin
    most = np.ceil(reach * abs(own[0]) / (2 * np.pi))
    allowed = EVEN * hands.noise + SINGLE_STEPS * UNIT["float32"] * reach * np.abs(own)
    if most > WRAPS or 4 * margin * np.prod(np.minimum(allowed / np.pi, 1)) > DRAWN:
        return None  # so many whole numbers would fit a row by chance
    seen = np.angle(hands.angles[:, order]) - swapped * np.pi / 2
    places = (seen[:, :1] + 2 * np.pi * np.arange(-most, most + 1)) / own[0]
    for pair, speed in enumerate(own[1:], 1):
        places = places + wrap(seen[:, pair, None] - places * speed) / speed
    places = np.rint(places)
    fits = np.ones(places.shape, bool)
    for pair, speed in enumerate(own):
        fits &= np.abs(wrap(seen[:, pair, None] - places * speed)) <= allowed[pair]
    off = np.abs(places - hands.ids[:, None])
    far = np.where(fits & ((off <= margin) | (np.abs(places) <= margin)), off, np.inf)
    best = far.argmin(axis=1)
    return places[np.arange(len(best)), best] if np.isfinite(far.min(axis=1)).all() else None


def in_pieces(places, ids):
    """Cut positions into runs that go on evenly with those meant: (token, position, step); () if there are many.

    A first run that is as meant is left out, and so is a single one at an offset, which is found elsewhere.
    """
    pieces, token = [], 0
    while token < len(places):
        meant, found = np.diff(ids[token : token + 2]), np.diff(places[token : token + 2])
        step = float(found[0] / meant[0]) if meant.size and meant[0] else 1.0
        step = step if step in (0.0, -1.0) else 1.0
        same = places[token:] == places[token] + step * (ids[token:] - ids[token])
        pieces.append((token, float(places[token]), step))
        token += len(same) if same.all() else int(same.argmin())
    if len(pieces) > max(PIECES, len(ids) // 8):
        return ()
    as_meant = pieces[0][1:] == (float(ids[0]), 1.0) or (len(pieces) == 1 and pieces[0][2] == 1)
    return tuple(pieces[as_meant:])
