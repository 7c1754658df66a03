"""Lengths, angles, speeds and offsets, measured off the data.

A law is linear in the cosine and the sine of a pair, so they are solved for, for each pair at each token. The two are
kept as one complex number, the hand of a clock: the law fits where all hands are of one length.
"""

from collections import namedtuple

import numpy as np

from rope_ref.diagnosis.laws import PAIRINGS, weights_of
from rope_ref.diagnosis.views import UNIT, blocks, few
from rope_ref.pairing import split_pairs

__all__ = []

OFFSETS = ((2**12, 1.0), (2**12, 0.5), (2**17, 1.0))  # how far offsets are looked for, and in which steps
ROUGH = 0.03  # how far lengths may differ before a law is dropped: half precision stays within
ALIKE = 1e-5  # how far few lengths may differ by chance

Reading = namedtuple("Reading", "law start width factor hands sound positions noise spread speeds")
Reading.__doc__ = """What a law makes of the data: `hands`, complex, (tokens, pairs), of length one where `sound`.

`factor` is their length before, `noise` how far their angles may be off, in radians, `spread` how far their lengths
differ. `speeds` is None where they could not be read.
"""
Speeds = namedtuple("Speeds", "speed error noise")
Speeds.__doc__ = """Radians per token of each pair, how far off they may be, and how far the turning is from even."""


def readings(view, laws):
    """Read the data under every law and block of features under which all hands are of one length."""
    part, found = few(view), []
    for law in laws:
        for start, width in blocks(view):
            if width > 2 or law.read == law.write == PAIRINGS[0]:  # a single pair is the same in every pairing
                found.append(read(law, part, start, width))
    return [each for each in found if each is not None and not too_little(each)]


def too_little(reading):
    """Tell whether a reading is of one pair at one position, where a length and an angle fit any output."""
    return reading.sound.sum() == 1 and abs(reading.factor - 1) > reading.noise


def firm(reading):
    """Tell whether so many hands, or hands so alike, cannot be of one length by chance."""
    return reading.sound.sum() > 11 or reading.spread < max(4 * reading.noise, ALIKE)


def read(law, view, start, width):
    """Solve a law for cos and sin of every pair at every token; None where they do not lie on a circle."""
    x, y = (each[..., start : start + width] for each in (view.x, view.y))
    still, by_cos, by_sin = weights_of(law, x, y, (len(view.positions), width // 2))
    rest = y - still

    def dot(a, b):
        return sum(part.sum(axis=0) for part in split_pairs(a * b, law.write))

    cc, ss, cs = dot(by_cos, by_cos), dot(by_sin, by_sin), dot(by_cos, by_sin)
    rc, rs, rr = dot(rest, by_cos), dot(rest, by_sin), dot(rest, rest)
    strength, area = (cc + ss) / 2, cc * ss - cs**2
    sound = area > 0.01 * strength**2
    if not sound.any():
        return None
    area, strength = np.where(sound, area, 1.0), np.where(sound, strength, 1.0)
    hands = (rc * ss - rs * cs) / area + 1j * (rs * cc - rc * cs) / area
    factor = float(np.median(np.abs(hands[sound])))
    if factor == 0:
        return None
    misfit = rr - (hands.conj() * (rc + 1j * rs)).real
    off = np.abs(np.abs(hands) / factor - 1) + np.sqrt(np.maximum(misfit / strength, 0)) / factor
    spread = float(off[sound].max())
    if spread > ROUGH:
        return None
    weight = np.where(sound, strength, 0.0)
    factor = float((np.abs(hands) * weight).sum() / weight.sum())
    noise = 4 * UNIT[view.dtype] * (1 if law.name == "rotation" else 10)
    hands = np.where(sound, hands / np.where(sound, np.abs(hands), 1.0), 0.0)
    reading = Reading(law, start, width, factor, hands, sound, view.positions, noise, spread, None)
    return reading._replace(speeds=read_speeds(reading))


def some_tokens(reading, some):
    """Keep a part of the tokens, in the order given."""
    return reading._replace(positions=reading.positions[some], hands=reading.hands[some], sound=reading.sound[some])


def turned_back(hands, places, speeds, swapped=0):
    """Take even turning away from the hands; exchanged cos and sin are a quarter turn more."""
    return hands * np.exp(-1j * (np.multiply.outer(places, speeds) + swapped * np.pi / 2))


def unevenness(turns):
    """Return how far each hand of a pair is from their mean, in radians."""
    return np.angle(turns * turns.sum(axis=0).conj())


def read_speeds(reading):
    """Measure how fast each pair turns, from neighbouring tokens first and then from those farther apart."""
    ordered = some_tokens(reading, np.argsort(reading.positions, kind="stable"))
    places, hands, sound = ordered.positions, ordered.hands, ordered.sound
    gaps = np.diff(places)
    if not (gaps > 0).any():
        return None
    gap = gaps[gaps > 0].min()
    near = np.flatnonzero(gaps == gap)
    speed = np.angle((hands[near + 1] * hands[near].conj()).sum(axis=0)) / gap
    reach, centre = gap, places[near[0]]
    while True:
        some = np.abs(places - centre) <= reach
        speed = speed + slope(places[some], hands[some], sound[some], speed)
        if some.all():
            break
        reach *= 4
    off = np.abs(unevenness(turned_back(hands, places, speed)))
    if off.max() >= 1.0:  # tokens are too far apart, or nothing turns evenly
        return None
    noise = np.sqrt((off**2 * sound).sum() / sound.sum())
    spread = np.sqrt((sound * (places[:, None] - places.mean()) ** 2).sum(axis=0))
    error = np.minimum(max(noise, reading.noise / 10) / np.maximum(spread, 1e-30), 1e9)
    return Speeds(speed, error, float(off.max()))


def slope(places, hands, sound, speed):
    """Fit what is left of the speed of each pair when `speed` is taken away."""
    angles = unevenness(turned_back(hands, places, speed))
    count = np.maximum(sound.sum(axis=0), 1)
    places = places[:, None] - (places[:, None] * sound).sum(axis=0) / count
    spread = (sound * places**2).sum(axis=0)
    return np.divide((sound * places * angles).sum(axis=0), spread, out=np.zeros(len(spread)), where=spread > 0)


def wrap(angles):
    """Bring angles to between -pi and pi."""
    return angles - 2 * np.pi * np.rint(angles / (2 * np.pi))


def find_offsets(reading, speeds, swapped, at=None, slack=0.0):
    """List the constants that may have been added to the positions, the smallest first.

    `speeds` carry their sign. `slack` is how far each of them may be off; the hands are compared at the position `at`.
    """
    places, noise = reading.positions, reading.noise
    at, slack = float(places.mean()) if at is None else at, np.broadcast_to(slack, speeds.shape)
    turns = turned_back(reading.hands, places - at, speeds, swapped)
    # Angles in single precision may be meant: then they are off by so much at least.
    single = 4 * UNIT["float32"] * np.abs(np.multiply.outer(places, speeds))
    even = 2 * noise + 2 * single + slack * np.abs(places - at)[:, None] + 1e-12
    if (np.abs(unevenness(turns)) > even)[reading.sound].any():
        return []
    angles, farthest = np.angle(turns.sum(axis=0)), np.abs(places).max()
    fast_first = [pair for pair in np.argsort(-np.abs(speeds)) if reading.sound[:, pair].any()]
    for reach, step in OFFSETS if (places != places[0]).any() else OFFSETS[:1]:
        offsets = np.arange(-reach, reach + step, step)
        for pair in fast_first:
            off = np.abs(wrap(speeds[pair] * (at + offsets) - angles[pair]))
            single = 8 * UNIT["float32"] * np.abs(speeds[pair]) * (farthest + np.abs(offsets))
            offsets = offsets[off <= noise + slack[pair] * np.abs(at + offsets) + single]
            if not offsets.size:
                break
        else:
            return [float(offset) for offset in offsets[np.argsort(np.abs(offsets), kind="stable")][:4]]
    return []
