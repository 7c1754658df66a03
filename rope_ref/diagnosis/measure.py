"""Each law solved for cos and sin, for each pair at each token; a law is out where cos² + sin² is not one number.

A law is linear in the two, so they are solved for by least squares over all rows. They are kept as one complex number,
the hand of a clock.
"""

import math
from collections import namedtuple
from dataclasses import replace

import numpy as np

from rope_ref.diagnosis.numbers import shortest
from rope_ref.diagnosis.tolerances import ALIKE, LENGTH, MIXED_NOISE, NOISE, NUMBERS, ROUGH, ROWS, SOUND, TOKENS
from rope_ref.faults.laws import layout, parts
from rope_ref.faults.rounding import UNIT
from rope_ref.faults.turn import Turn
from rope_ref.pairing import split_pairs

__all__ = []

PAIRINGS = ("interleaved", "half")
ROTATIONS = [Turn(), Turn(pairing="half", write="interleaved"), Turn(pairing="half"), Turn(write="half")]
MIX_UPS = [
    *(Turn(pairing=pairing, law=law) for law in ("lost minus", "in place") for pairing in PAIRINGS),
    Turn(quarter="half"),
    Turn(table="half"),
    *(Turn(pairing=pairing, law="added") for pairing in PAIRINGS),
]

Hands = namedtuple("Hands", "turn angles sound ids noise spread length index whole speeds", defaults=(None, None))
Hands.__doc__ = """What a law makes of the data: `angles`, unit complex numbers of shape (tokens, pairs), where `sound`.

`turn` holds the law, the features and the factor; `ids` are the positions meant, shape (tokens,) or (tokens, axes).
`noise` is how far angles may be off, in radians, `spread` how far lengths differ, `length` the mean of them. `index`
numbers the tokens; `whole` holds the same for all tokens; `speeds` are the frequencies, where they could be read.
"""


def measure(view, laws):
    """Read the data under every law and block of features under which all hands are of one length."""
    tokens = view.x.shape[1]
    index, found = few(tokens), []
    for law in laws:
        for start, width in view.blocks:
            if width > 2 or law == ROTATIONS[0]:  # a single pair is the same in every pairing
                turn = replace(law, start=start, width=width, axis=view.axis)
                part = solve(turn, view, index)
                whole = part if part is None or len(index) == tokens else solve(turn, view, np.arange(tokens))
                found += [] if whole is None else [part._replace(whole=whole)]
    return [each for each in found if not too_little(each)]


def few(tokens):
    """Choose tokens of a long input, the early ones and some spread over all, to read angles from."""
    if tokens <= TOKENS:
        return np.arange(tokens)
    spread = np.linspace(0, tokens - 1, TOKENS // 2).astype(int)
    return np.unique(np.concatenate((np.arange(TOKENS // 2), spread)))


def too_little(hands):
    """Tell whether there is one pair at one position, where a length and an angle fit any output."""
    return hands.sound.sum() == 1 and hands.turn.factor != 1


def firm(hands):
    """Tell whether so many hands, or hands so alike, cannot be of one length by chance."""
    return hands.sound.sum() > 11 or hands.spread < max(NOISE * hands.noise, ALIKE)


def solve(turn, view, index):
    """Solve a law for cos and sin of every pair at some tokens; None where they do not lie on a circle."""
    rows = max(1, min(ROWS, NUMBERS // (len(index) * view.x.shape[-1])))
    block = slice(turn.start, turn.start + turn.width)
    x, y = (each[:rows, index, block] for each in (view.x, view.y))
    still, by_cos, by_sin = parts(turn, x, y)
    hands, size, misfit = least_squares(y - still, by_cos, by_sin, layout(turn))
    sound = size > 0
    if not sound.any() or not (length := float(np.median(np.abs(hands[sound])))):
        return None
    spread = float((np.abs(np.abs(hands) / length - 1) + misfit / length)[sound].max())
    if spread > ROUGH:
        return None
    length = float((np.abs(hands) * size).sum() / size.sum())
    noise = (
        NOISE * UNIT[view.dtype] * (1 if turn.law == "rotated" and not (turn.table or turn.quarter) else MIXED_NOISE)
    )
    if abs(length - 1) > LENGTH * noise:
        turn = replace(turn, factor=shortest(length, noise / LENGTH / math.sqrt(sound.sum())))
    hands = np.where(sound, hands / np.where(sound, np.abs(hands), 1.0), 0.0)
    ids = view.ids if view.axes else view.ids.ravel()
    return Hands(turn, hands, sound, ids[index], noise, spread, length, index)


def least_squares(rest, by_cos, by_sin, pairing):
    """Solve ``rest = cos * by_cos + sin * by_sin`` for each token and pair, over all rows and both features.

    Returns cos + i sin, the weight of each, 0 where it cannot be solved for, and what is left.
    """

    def dot(a, b):
        return sum(part.sum(axis=0) for part in split_pairs(a * b, pairing))

    cc, ss, cs = dot(by_cos, by_cos), dot(by_sin, by_sin), dot(by_cos, by_sin)
    rc, rs, rr = dot(rest, by_cos), dot(rest, by_sin), dot(rest, rest)
    size, area = (cc + ss) / 2, cc * ss - cs**2
    sound = area > SOUND * size**2
    area, strength = np.where(sound, area, 1.0), np.where(sound, size, 1.0)
    hands = ((rc * ss - rs * cs) + 1j * (rs * cc - rc * cs)) / area
    misfit = rr - (hands.conj() * (rc + 1j * rs)).real
    return hands, np.where(sound, size, 0.0), np.sqrt(np.maximum(misfit / strength, 0))


def some_tokens(hands, some):
    """Keep a part of the tokens, in the order given."""
    return hands._replace(
        ids=hands.ids[some], angles=hands.angles[some], sound=hands.sound[some], index=hands.index[some], whole=None
    )
