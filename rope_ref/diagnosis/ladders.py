"""From measured speeds to the frequencies that may be meant: their base, what scaled them, what is wrong with them.

Most frequencies form a ladder: from pair to pair they fall by one ratio.
"""

import itertools
import math
from collections import namedtuple

import numpy as np

from rope_ref.diagnosis.laws import exchanges
from rope_ref.diagnosis.readings import find_offsets, turned_back
from rope_ref.frequencies import inverse_frequencies
from rope_ref.scaling import llama3, ntk_base, yarn

__all__ = []

COMMON_BASES = (10_000.0, 500_000.0, 1_000_000.0, 100_000.0, 150_000.0, 256.0)
ORIGINAL_LENGTHS = tuple(2**k for k in range(9, 19))
POWERS = {"exponent too small": 0.5, "exponent too large": 2.0}
BLENDS = (
    ("scaling.llama3", llama3, {}),
    ("scaling.yarn", yarn, {}),
    ("scaling.yarn", yarn, {"truncate": False}),
    ("scaling.yarn", yarn, {"ramp": "rotations"}),
)
SINGLE = 1e-5  # how near a base may lie to another if the frequencies of that one are rounded to float32
FIT = 1e-12  # relative error of fitted numbers at least, however fine the data

Candidate = namedtuple("Candidate", "faults base inv_freq text precision", defaults=("",))
Candidate.__doc__ = """Frequencies to try: what is wrong with them, their base, values, and the call that makes them.

`precision` names what must have been rounded, or is empty.
"""
Ladder = namedtuple("Ladder", "first base first_error base_error noise", defaults=(0.0,))
Ladder.__doc__ = (
    """Frequencies ``first * base ** (-2 i / d)``, the relative errors of both, and what is left of the angles."""
)


# Where a base is known -----------------------------------------------------------------------------------------------


def ordinary(width, base):
    """Make the frequencies of a base with nothing wrong."""
    return Candidate((), base, inverse_frequencies(width, base), f"inverse_frequencies({width}, {base!r})")


def variants(width, base, head_dim):
    """List what known faults make of the frequencies of a base; the right ones first."""
    right = ordinary(width, base)
    own, text, shift = right.inv_freq, right.text, float(base) ** (-2 / width)
    yield right
    for name, power in POWERS.items():
        yield Candidate((name,), base, own**power, f"{text} ** {power:g}")
    yield Candidate(("index from one",), base, own * shift, f"{text} * {base!r} ** (-2 / {width})")
    yield Candidate(("exponent (2i - 1) / d",), base, own * shift**-0.5, f"{text} * {base!r} ** (1 / {width})")
    counted = "exponent (2i - 1) / d, i from 1"
    yield Candidate((counted,), base, own * shift**0.5, f"{text} * {base!r} ** (-1 / {width})")
    yield Candidate(("applied twice",), base, 2 * own, f"2 * {text}")
    yield Candidate(("reversed frequencies",), base, own[::-1], f"{text}[::-1]")
    if head_dim > width and head_dim % 2 == 0:
        whole, pairs = ordinary(head_dim, base), width // 2
        name = "width of the head in the exponent"
        yield Candidate((name,), base, whole.inv_freq[:pairs], f"{whole.text}[: {pairs}]")


def same_function(candidate, base):
    """Yield a candidate, and the other fault that makes the same frequencies."""
    yield candidate
    fault, width, speeds = candidate.faults[:1], 2 * len(candidate.inv_freq), candidate.inv_freq
    if len(candidate.faults) != 1 or base is None:
        return
    if fault[0] in (*POWERS, "width of the head in the exponent") and width > 2:
        base = shortest(float(speeds[0] / speeds[1]) ** (width / 2), FIT)
        yield ordinary(width, base)._replace(faults=("wrong base",), inv_freq=speeds)
    if fault[0] in ("index from one", "exponent (2i - 1) / d", "exponent (2i - 1) / d, i from 1", "applied twice"):
        divisor = shortest(float(1 / speeds[0]), FIT)
        yield divided(ordinary(width, candidate.base), divisor)._replace(inv_freq=speeds)


def divided(candidate, divisor, name=None):
    """Divide the frequencies of a candidate by one number."""
    name = name or ("linear scaling" if divisor > 1 else "turned too fast")
    return candidate._replace(
        faults=(name, *candidate.faults),
        inv_freq=candidate.inv_freq * (1 / divisor),
        text=f"{candidate.text} / {divisor!r}",
    )


def shortest(value, error):
    """Return the decimal of fewest digits within three times the relative `error` of a positive value."""
    for digits in range(1, 17):
        rounded = float(f"{value:.{digits}g}")
        if near(rounded, value, 3 * error):
            return rounded
    return value


def near(one, other, error):
    """Tell whether two positive numbers differ by the relative `error` at most."""
    return abs(math.log(one / other)) <= error


# Where the speeds tell the ladder ------------------------------------------------------------------------------------


def first_ladder(reading):
    """Read a ladder off the measured speeds; None where they do not fall, or rise, by one ratio from pair to pair."""
    speeds, index = reading.speeds, np.arange(len(reading.speeds.speed))
    share = speeds.error / np.maximum(np.abs(speeds.speed), 1e-100)
    sure = reading.sound.any(axis=0) & (share < 0.05)
    if sure.sum() < 2 or len(set(np.sign(speeds.speed[sure]))) != 1:
        return None
    logs, weight = np.log(np.abs(speeds.speed[sure])), 1 / share[sure] ** 2
    design = np.stack((np.ones(sure.sum()), -index[sure] / len(index)), axis=-1)
    normal = design.T @ (weight[:, None] * design)
    first, base = np.linalg.solve(normal, design.T @ (weight * logs))
    if (np.abs(logs - design @ (first, base)) > 8 * share[sure] + 1e-9).any() or abs(base) > 200 or abs(first) > 200:
        return None
    errors = np.sqrt(np.diag(np.linalg.inv(normal)))
    return Ladder(math.exp(first), math.exp(base), *errors)


def refine(ladder, reading, sign, swapped, offset, free_first):
    """Fit a ladder to all hands at once, its first speed too or only its base."""
    share = np.arange(reading.hands.shape[1]) / reading.hands.shape[1]
    logs, places = np.array([math.log(ladder.first), math.log(ladder.base)]), reading.positions + offset
    for _ in range(6):
        speeds = sign * np.exp(logs[0] - share * logs[1])
        off = np.angle(turned_back(reading.hands, places, speeds, swapped))
        angles = np.multiply.outer(places, speeds)
        columns = [angles, -angles * share] if free_first else [-angles * share]
        design = np.stack([column[reading.sound] for column in columns], axis=-1)
        normal = design.T @ design
        if not np.linalg.det(normal / max(normal.max(), 1e-300)) > 1e-14:
            return ladder
        step = np.linalg.solve(normal, design.T @ off[reading.sound])
        logs[0 if free_first else 1 :] += np.clip(step, -0.5, 0.5)
    noise = max(float(np.sqrt(np.mean(off[reading.sound] ** 2))), reading.noise / 20)
    errors = noise * np.sqrt(np.diag(np.linalg.inv(normal)))
    first_error = float(errors[0]) if free_first else 0.0
    return Ladder(math.exp(logs[0]), math.exp(logs[1]), first_error, float(errors[-1]), noise)


def flipped(reading):
    """Count the pairs of a reading from the other end."""
    speeds = reading.speeds._replace(speed=reading.speeds.speed[::-1], error=reading.speeds.error[::-1])
    return reading._replace(hands=reading.hands[:, ::-1], sound=reading.sound[:, ::-1], speeds=speeds)


def ladders(reading):
    """Fit ladders to a reading: yield (ladder, rising, sign, swapped, offset) for each that fits."""
    ladder = first_ladder(reading)
    rising = ladder is not None and ladder.base < 1
    if rising:
        reading = flipped(reading)
        ladder = first_ladder(reading)
    if ladder is None:
        return
    speed, error = reading.speeds.speed, reading.speeds.error
    sign = float(np.sign(speed[np.argmax(np.abs(speed) * reading.sound.any(axis=0))]))
    share = np.arange(len(speed)) / len(speed)
    signed = sign * ladder.first * ladder.base**-share
    error = np.minimum(error, np.abs(signed) * np.hypot(ladder.first_error, share * ladder.base_error) + 1e-15)
    for swapped in exchanges(reading.law):
        offsets = find_offsets(reading, signed, swapped, slack=6 * error)
        for offset in offsets:
            free = refine(ladder, reading, sign, swapped, offset, True)
            fixed = refine(free._replace(first=1.0), reading, sign, swapped, offset, False)
            # A first speed of its own must explain more, and more than rounding does.
            plain = fixed.noise <= max(1.1 * free.noise, reading.noise / 2)
            yield (fixed if plain else free), rising, sign, swapped, offset
        if offsets:
            return


def named_ladders(ladder, rising, width, base):
    """Name a fitted ladder: yield candidates for what may have been meant, with and without a base given."""
    ladder = ladder._replace(**{name: max(getattr(ladder, name), FIT) for name in ("first_error", "base_error")})
    if base is None:  # next to a common base that one is taken as meant: rounded frequencies look so
        common = (each for each in COMMON_BASES if near(ladder.base, each, SINGLE))
        base = next((each for each in common if not near(ladder.base, each, 3 * ladder.base_error)), None)
    for found in dict.fromkeys((shortest(ladder.base, ladder.base_error), ladder.base)):
        if ladder.first != 1.0:
            named = scaled_ladder(ladder, ordinary(width, found), base)
        elif base is None:
            named = plain_ladder(ladder, ordinary(width, found))
        else:
            named = meant_ladder(ladder, ordinary(width, found), base)
        for each in named:
            yield turned_round(each) if rising else each


def turned_round(candidate):
    """Reverse the frequencies of a candidate."""
    return candidate._replace(
        faults=("reversed frequencies", *candidate.faults),
        inv_freq=candidate.inv_freq[::-1],
        text=f"({candidate.text})[::-1]",
    )


def plain_ladder(ladder, fitted):
    """Name a ladder that starts at one radian a token, where any base may be meant."""
    yield fitted
    for common, (name, power) in itertools.product(COMMON_BASES[:3], POWERS.items()):
        if near(fitted.base, common**power, 3 * ladder.base_error):
            text = f"{ordinary(2 * len(fitted.inv_freq), common).text} ** {power:g}"
            yield fitted._replace(faults=(name,), base=common, text=text)


def meant_ladder(ladder, fitted, base):
    """Name a ladder that starts at one radian a token, where `base` is meant."""
    width, error = 2 * len(fitted.inv_freq), ladder.base_error
    if near(fitted.base, base, 3 * error):
        yield fitted
        return
    if near(fitted.base, base, SINGLE):
        yield ordinary(width, base)._replace(precision="float32 angles")
    share = (width - 2) / width
    factor = shortest((fitted.base / base) ** share, error * share) if width > 2 else 1.0
    if factor > 1 and len(f"{factor:g}") <= 4:
        fitted = ordinary(width, ntk_base(width, base, factor=factor))
        text = f"inverse_frequencies({width}, scaling.ntk_base({width}, {base!r}, factor={factor!r}))"
        yield fitted._replace(faults=("NTK scaling",), base=base, text=text)
    yield fitted._replace(faults=("wrong base",))


def scaled_ladder(ladder, fitted, base):
    """Name a ladder that starts at another speed than one radian a token."""
    width, first, error = 2 * len(fitted.inv_freq), ladder.first, ladder.first_error
    if base is not None and not near(fitted.base, base, 3 * ladder.base_error):
        fitted = fitted._replace(faults=("wrong base",))
    known = {
        "applied twice": 1 / 2.0,
        "index from one": 1 / fitted.base ** (-2 / width),
        "exponent (2i - 1) / d": 1 / fitted.base ** (1 / width),
        "exponent (2i - 1) / d, i from 1": fitted.base ** (1 / width),
    }
    known = {name: divisor for name, divisor in known.items() if near(1 / divisor, first, 4 * error)}
    for name, divisor in known.items():
        yield divided(fitted, divisor, name)
    for divisor in known.values() or dict.fromkeys((shortest(1 / first, error), 1 / first)):
        yield divided(fitted, divisor)


# Where the speeds form no ladder -------------------------------------------------------------------------------------


def blended(reading, base):
    """Yield frequencies that follow no ladder and are near the measured ones: YaRN, Llama 3, pairs that stand still."""
    speeds, width = reading.speeds, reading.width
    speed, share = np.abs(speeds.speed), speeds.error / np.maximum(np.abs(speeds.speed), 1e-100)
    if base is None:
        if width == 2 or share[1] > 0.05:
            return
        base = shortest(float(speed[1]) ** (-width / 2), max(FIT, width / 2 * float(share[1])))
    if base <= 1:
        return
    right = ordinary(width, base)
    yield from standing_still(reading, right)
    usable = reading.sound.any(axis=0)
    ratio = np.where(usable & (share < 0.05), right.inv_freq / np.maximum(speed, 1e-100), 0.0)
    slowest = int(np.argmax(ratio))
    if not 1.01 < ratio[slowest] < 1e4:
        return
    same = np.abs(ratio - ratio[slowest]) <= 6 * (share + share[slowest]) * ratio
    weight = same / np.maximum(share, FIT) ** 2
    factor = shortest(float((ratio * weight).sum() / weight.sum()), float(weight.sum() ** -0.5))
    for length, (name, make, extra) in itertools.product(ORIGINAL_LENGTHS, BLENDS):
        scaled = make(width, base, factor=factor, original_length=length, **extra)
        if (np.abs(scaled.inv_freq - speed) <= 6 * speeds.error + FIT)[usable].all():
            inner = "".join(f", {key}={value!r}" for key, value in extra.items())
            text = f"{name}({width}, {base!r}, factor={factor!r}, original_length={length}{inner}).inv_freq"
            fault = "Llama 3 scaling"
            if make is yarn:
                fits = abs(reading.factor - scaled.attention_factor) <= 4 * reading.noise
                fault = "YaRN scaling" if fits else "NTK-by-parts scaling"
            yield Candidate((fault,), base, scaled.inv_freq, text)


def standing_still(reading, right):
    """Yield the frequencies of a base without those of the pairs that do not turn."""
    error = reading.speeds.error
    turning = np.abs(reading.speeds.speed) > 6 * error
    if not (right.inv_freq > 20 * error)[~turning].any() or not turning.any():
        return
    text = f"np.where({turning.tolist()}, {right.text}, 0.0)"
    if (turning[:-1] >= turning[1:]).all():
        text = f"{right.text} * (np.arange({len(turning)}) < {turning.sum()})"
    yield right._replace(faults=("pairs that stand still",), inv_freq=right.inv_freq * turning, text=text)
