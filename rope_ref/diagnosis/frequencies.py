"""From measured frequencies to those that may be meant: their base, what scaled them, what is wrong with them.

Most frequencies form a ladder: from pair to pair they fall by one ratio. Each candidate is a `Turn`.
"""

import itertools
import math
from collections import namedtuple
from dataclasses import replace

import numpy as np

from rope_ref.diagnosis import tolerances as limits
from rope_ref.diagnosis.factor import find_offsets, turned_back
from rope_ref.diagnosis.numbers import near, shortest
from rope_ref.faults.planted import KINDS, PLANTED
from rope_ref.faults.rounding import UNIT
from rope_ref.faults.tables import frequencies
from rope_ref.frequencies import inverse_frequencies
from rope_ref.scaling import METHODS

__all__ = []

FIELDS = ("power", "times", "reverse", "first")  # changed to a number that a planted fault or a kind of faults has
CHANGED = [row for row in (*PLANTED, *KINDS) if row.field in FIELDS and row.value and not isinstance(row.value, str)]
POWERS, FIRSTS = ([row.value for row in CHANGED if row.field == field] for field in ("power", "first"))
BLENDS = [(name, extra) for name, method in METHODS.items() for extra in method.suspects]

Ladder = namedtuple("Ladder", "first base first_error base_error noise", defaults=(0.0,))
Ladder.__doc__ = (
    """Frequencies ``first * base ** (-2 i / d)``, the relative errors of both, and what is left of the angles."""
)


# Where a base is known -----------------------------------------------------------------------------------------------


def variants(turn, base, head_dim):
    """List what known faults make of the frequencies of a base."""
    right = replace(turn, base=base)
    changes = [{row.field: row.value} for row in CHANGED]
    if head_dim > turn.width and head_dim % 2 == 0:
        changes.append({"exponent_width": head_dim})
    return [replace(right, **change) for change in changes]


def same_function(turn, given):
    """Yield a turn, and the other fault that makes the same frequencies; `given` tells that its base was meant."""
    yield turn
    changed = [turn.power != 1, turn.exponent_width is not None, turn.first != 0, turn.times == 2]
    if sum(changed) != 1 or not given or turn.scaling or turn.reverse or turn.power == 0:
        return
    plain = replace(turn, power=1.0, exponent_width=None, first=0.0, times=1.0)
    own = np.abs(frequencies(turn, turn.width))
    if (changed[0] or changed[1]) and turn.width > 2:
        yield replace(plain, base=shortest(float(own[0] / own[1]) ** (turn.width / 2), limits.FIT))
    if changed[2]:
        yield replace(plain, times=float(own[0]))


def divided(turn, divisor):
    """Divide the frequencies of a turn by one number."""
    return replace(turn, times=1 / divisor)


# Where the frequencies tell the ladder -------------------------------------------------------------------------------


def first_ladder(speeds):
    """Read a ladder off the measured frequencies; None where they do not fall, or rise, by one ratio."""
    index, pairs, share, sure = np.arange(len(speeds.inv_freq)), len(speeds.inv_freq), speeds.share, speeds.sure
    if sure.sum() < 2 or len(set(np.sign(speeds.inv_freq[sure]))) != 1:
        return None
    logs, weight = np.log(np.abs(speeds.inv_freq[sure])), 1 / share[sure] ** 2
    design = np.stack((np.ones(sure.sum()), -index[sure] / pairs), axis=-1)
    normal = design.T @ (weight[:, None] * design)
    first, base = np.linalg.solve(normal, design.T @ (weight * logs))
    off = np.abs(logs - design @ (first, base))
    single = limits.SINGLE_STEPS * UNIT["float32"]  # frequencies themselves may be of single precision
    if (off > limits.LADDER * share[sure] + single).any() or abs(base) > 200 or abs(first) > 200:
        return None
    errors = np.sqrt(np.diag(np.linalg.inv(normal)))
    return Ladder(math.exp(first), math.exp(base), *errors)


def refine(ladder, hands, sign, swapped, offset, free_first):
    """Fit a ladder to all hands at once, its first frequency too or only its base."""
    share, places = np.arange(hands.angles.shape[1]) / hands.angles.shape[1], hands.ids + offset
    logs = np.array([math.log(ladder.first), math.log(ladder.base)])
    for _ in range(6):
        inv_freq = sign * np.exp(logs[0] - share * logs[1])
        off = np.angle(turned_back(hands.angles, places, inv_freq, swapped))[hands.sound]
        angles = np.multiply.outer(places, inv_freq)
        columns = [angles, -angles * share] if free_first else [-angles * share]
        design = np.stack([column[hands.sound] for column in columns], axis=-1)
        normal = design.T @ design
        if not np.linalg.det(normal / max(normal.max(), 1e-300)) > 1e-14:
            return ladder
        logs[0 if free_first else 1 :] += np.clip(np.linalg.solve(normal, design.T @ off), -0.5, 0.5)
    noise = max(float(np.sqrt(np.mean(off**2))), hands.noise / 20)
    errors = noise * np.sqrt(np.diag(np.linalg.inv(normal)))
    return Ladder(*map(math.exp, logs), float(errors[0]) if free_first else 0.0, float(errors[-1]), noise)


def flipped(hands):
    """Count the pairs from the other end."""
    speeds = hands.speeds._make([*(each[::-1] for each in hands.speeds[:-1]), hands.speeds.noise])
    return hands._replace(angles=hands.angles[:, ::-1], sound=hands.sound[:, ::-1], speeds=speeds)


def ladders(hands):
    """Fit ladders: yield (ladder, turn) for each that fits, the turn with direction, exchange and offset."""
    ladder = first_ladder(hands.speeds)
    reverse = ladder is not None and -math.log(ladder.base) > max(limits.SINGLE, limits.LADDER * ladder.base_error)
    if reverse:
        hands = flipped(hands)
        ladder = first_ladder(hands.speeds)
    if ladder is None:
        return
    own, error, *_ = hands.speeds
    sign = int(np.sign(own[np.argmax(np.abs(own) * hands.sound.any(axis=0))]))
    share = np.arange(len(own)) / len(own)
    signed = sign * ladder.first * ladder.base**-share
    error = np.minimum(error, np.abs(signed) * np.hypot(ladder.first_error, share * ladder.base_error) + 1e-15)
    for swapped in (False, True):
        offsets = find_offsets(hands, hands.ids, signed, swapped, slack=limits.MATCH * error)
        for offset in offsets:
            turn = replace(hands.turn, sign=-sign if swapped else sign, swapped=swapped, offset=offset, reverse=reverse)
            yield from ((found, turn) for found in fitted(ladder, hands, sign, swapped, offset))
        if offsets:
            return


def fitted(ladder, hands, sign, swapped, offset):
    """Fit a ladder, with a first frequency of its own too where that explains more than rounding does."""
    free = refine(ladder, hands, sign, swapped, offset, True)
    fixed = refine(free._replace(first=1.0), hands, sign, swapped, offset, False)
    if fixed.noise <= max(limits.PLAIN * free.noise, hands.noise / 2):
        return [fixed]
    return [free, fixed] if fixed.noise <= limits.BOTH * free.noise else [free]


def named_ladders(ladder, turn, base):
    """Name a fitted ladder: yield turns for what may have been meant, with and without a base given."""
    ladder = ladder._replace(**{name: max(getattr(ladder, name), limits.FIT) for name in ("first_error", "base_error")})
    if near(ladder.base, 1.0, max(limits.SINGLE, limits.DECIMAL * ladder.base_error)):
        alike = replace(turn, base=base or limits.COMMON_BASES[0], power=0.0)
        yield divided(alike, shortest(1 / ladder.first, ladder.first_error))
        return
    if base is None:  # next to a common base that one is taken as meant: rounded frequencies look so
        common = (each for each in limits.COMMON_BASES if near(ladder.base, each, limits.SINGLE))
        base = next((each for each in common if not near(ladder.base, each, limits.DECIMAL * ladder.base_error)), None)
    for found in dict.fromkeys((shortest(ladder.base, ladder.base_error), ladder.base)):
        one = replace(turn, base=found)
        if ladder.first != 1.0:
            yield from scaled_ladder(ladder, one, base)
        elif base is None:
            yield from plain_ladder(ladder, one)
        else:
            yield from meant_ladder(ladder, one, base)


def plain_ladder(ladder, turn):
    """Name a ladder that starts at one radian a token, where any base may be meant."""
    yield turn
    for common, power in itertools.product(limits.COMMON_BASES[:3], POWERS):
        if near(turn.base, common**power, limits.DECIMAL * ladder.base_error):
            yield replace(turn, base=common, power=power)


def meant_ladder(ladder, turn, base):
    """Name a ladder that starts at one radian a token, where `base` is meant."""
    error, width = ladder.base_error, turn.width
    if near(turn.base, base, limits.DECIMAL * error):
        yield turn
        return
    if near(turn.base, base, limits.SINGLE):
        yield replace(turn, base=base, rounded="float32 angles")
    share = (width - 2) / width
    factor = shortest((turn.base / base) ** share, error * share) if width > 2 else 1.0
    if factor > 1 and len(f"{factor:g}") <= 4:
        yield replace(turn, base=base, scaling=("ntk", (("factor", factor),)))
    yield turn


def scaled_ladder(ladder, turn, base):
    """Name a ladder that starts at another frequency than one radian a token."""
    if base is not None and near(turn.base, base, limits.DECIMAL * ladder.base_error):
        turn = replace(turn, base=base)
    known = [replace(turn, times=2.0), *(replace(turn, first=first) for first in FIRSTS)]
    starts = [abs(frequencies(each, turn.width)[-1 if turn.reverse else 0]) for each in known]
    alike = [near(start, ladder.first, limits.KNOWN * ladder.first_error) for start in starts]
    yield from itertools.compress(known, alike)
    measured = dict.fromkeys((shortest(1 / ladder.first, ladder.first_error), 1 / ladder.first))
    for divisor in [1 / start for start in itertools.compress(starts, alike)] or measured:
        yield divided(turn, divisor)


# Where the frequencies form no ladder --------------------------------------------------------------------------------


def blended(hands, base):
    """Yield frequencies that follow no ladder and are near the measured ones: YaRN, Llama 3, pairs that stand still."""
    speeds, width = hands.speeds, hands.turn.width
    own, share = np.abs(speeds.inv_freq), speeds.share
    if base is None:
        if width == 2 or share[1] > limits.SURE_SHARE:
            return
        base = shortest(float(own[1]) ** (-width / 2), max(limits.FIT, width / 2 * float(share[1])))
    if base <= 1:
        return
    turn = replace(hands.turn, base=base)
    yield from standing_still(hands, turn)
    factor = largest_factor(speeds, inverse_frequencies(width, base))
    if factor is None:
        return
    usable = hands.sound.any(axis=0)
    for length, (name, extra) in itertools.product(limits.LENGTHS, BLENDS):
        scaled = METHODS[name].make(width, base, factor=factor, original_length=length, **extra)
        if (np.abs(scaled.inv_freq - own) <= limits.MATCH * speeds.error + limits.FIT)[usable].all():
            arguments = (("factor", factor), ("original_length", length), *extra.items())
            yield replace(turn, scaling=(by_its_length(name, hands, scaled), arguments))


def by_its_length(name, hands, scaled):
    """Tell YaRN from its frequencies alone: by the length factor."""
    if name != "yarn" or abs(hands.length - scaled.attention_factor) <= limits.KNOWN * hands.noise:
        return name
    return "ntk_by_parts"


def one_factor(hands, base):
    """Yield the frequencies of a base, divided by the one number that all measured ones show; none if there is none."""
    share, sure = hands.speeds.share, hands.speeds.sure
    ratio = inverse_frequencies(hands.turn.width, base) / np.maximum(np.abs(hands.speeds.inv_freq), 1e-100)
    if sure.sum() > 1 and np.ptp(np.log(ratio[sure])) <= 2 * limits.LADDER * share[sure].max():
        yield divided(replace(hands.turn, base=base), mean_ratio(ratio, share, sure))


def mean_ratio(ratio, share, some):
    """Return the weighted mean of some ratios as a short decimal."""
    weight = some / np.maximum(share, limits.FIT) ** 2
    return shortest(float((ratio * weight).sum() / weight.sum()), float(weight.sum() ** -0.5))


def largest_factor(speeds, own):
    """Measure by how much the slowest pairs are slowed; None if by nothing, or by too much."""
    ratio, share = np.where(speeds.sure, own / np.maximum(np.abs(speeds.inv_freq), 1e-100), 0.0), speeds.share
    slowest = int(np.argmax(ratio))
    if not limits.RATIOS[0] < ratio[slowest] < limits.RATIOS[1]:
        return None
    same = np.abs(ratio - ratio[slowest]) <= limits.MATCH * (share + share[slowest]) * ratio
    factor = mean_ratio(ratio, share, same)
    return factor if factor > 1 else None


def standing_still(hands, turn):
    """Yield the frequencies of a base without those of the pairs that do not turn."""
    error = hands.speeds.error
    turning = np.abs(hands.speeds.inv_freq) > limits.STANDS * error
    own = inverse_frequencies(turn.width, turn.base)
    if turning.any() and (own > limits.TURNS * error)[~turning].any():
        yield replace(turn, standing=tuple(np.flatnonzero(~turning).tolist()))


# The frequencies themselves ------------------------------------------------------------------------------------------


def as_measured(hands):
    """Yield the measured frequencies themselves, in the directions that they may have."""
    own, error, *_ = hands.speeds
    signs = set(np.sign(own[np.abs(own) > limits.LENGTH * error]))
    for sign in (1, -1):
        if signs <= {sign}:
            for offset in find_offsets(hands, hands.ids, own, False, slack=limits.MATCH * error)[:1]:
                yield replace(hands.turn, base=None, inv_freq=tuple(np.abs(own).tolist()), sign=sign, offset=offset)
