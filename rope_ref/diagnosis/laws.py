"""How the cosine and the sine of a pair enter two output features: in the rotation, and in its known mix-ups."""

from collections import namedtuple

import numpy as np

from rope_ref.pairing import join_pairs, split_pairs

__all__ = []

PAIRINGS = ("interleaved", "half")

Law = namedtuple("Law", "name read write causes turn")
Law.__doc__ = """A way of making y from x, cos and sin.

Features are read in pairs of the pairing `read`; cos and sin of pair i enter pair i of the pairing `write`. Each entry
of `causes` holds the faults that can have made it. `turn` takes (x, y, cos, sin), is linear in cos and sin, and gives
`y` back for the right ones; only the overwrite in place looks at `y`.
"""


def rotation(read, write, *causes):
    """Turn pairs of one pairing and write them in the order of another."""

    def turn(x, y, cos, sin):
        first, second = split_pairs(x, read)
        return join_pairs(first * cos - second * sin, first * sin + second * cos, write)

    return Law("rotation", read, write, causes, turn)


def lost_minus(pairing):
    """Lose the minus sign of the first feature."""

    def turn(x, y, cos, sin):
        first, second = split_pairs(x, pairing)
        return join_pairs(first * cos + second * sin, first * sin + second * cos, pairing)

    return Law("lost minus", pairing, pairing, (("lost minus",),), turn)


def in_place(pairing):
    """Compute the second feature from the first one's new value, which stands in `y`."""

    def turn(x, y, cos, sin):
        first, second = split_pairs(x, pairing)
        return join_pairs(first * cos - second * sin, split_pairs(y, pairing)[0] * sin + second * cos, pairing)

    return Law("in place overwrite", pairing, pairing, (("in place overwrite",),), turn)


def mixed(table, quarter):
    """Lay out the table for one pairing and take the quarter turn of the other."""
    causes = ("table of the other pairing",), ("quarter turn of the other pairing",)

    def turn(x, y, cos, sin):
        first, second = split_pairs(x, quarter)
        return x * join_pairs(cos, cos, table) + join_pairs(-second, first, quarter) * join_pairs(sin, sin, table)

    return Law("two pairings mixed", quarter, table, causes if table == "half" else causes[::-1], turn)


def added(layout, cosine_first):
    """Add a vector of cosines and sines."""

    def turn(x, y, cos, sin):
        return x + (join_pairs(cos, sin, layout) if cosine_first else join_pairs(sin, cos, layout))

    return Law("added instead of rotated", layout, layout, (("added instead of rotated",),), turn)


ROTATIONS = [
    rotation("interleaved", "interleaved", ()),
    rotation("half", "interleaved", ("output in the other order",)),
    rotation("half", "half", (), ("other pairing",)),
    rotation("interleaved", "half", ("concatenated output",)),
]
COSINE_FIRST = [added(layout, True) for layout in PAIRINGS]
MIX_UPS = [
    *(make(pairing) for make in (lost_minus, in_place) for pairing in PAIRINGS),
    mixed("interleaved", "half"),
    mixed("half", "interleaved"),
    *(added(layout, False) for layout in PAIRINGS),
    *COSINE_FIRST,
]


def output(law, x, cos, sin):
    """Compute what a law makes of `x`; for an overwrite the first pass finds the new values that the second reads."""
    y = law.turn(x, x, cos, sin)
    return law.turn(x, y, cos, sin) if law.name == "in place overwrite" else y


def weights_of(law, x, y, shape):
    """Split a law into what stands still, what cos is multiplied with and what sin is; `shape` is (tokens, pairs)."""
    none, one = np.zeros(shape), np.ones(shape)
    still = law.turn(x, y, none, none)
    return still, law.turn(x, y, one, none) - still, law.turn(x, y, none, one) - still


def exchanges(law):
    """Return 0 and 1 where cos and sin may have changed places; in a sum that is a law of its own."""
    return (0,) if law.name == "added instead of rotated" else (0, 1)
