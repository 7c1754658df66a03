"""What a `Turn` says of frequencies and positions, up to the tables of cos and sin."""

from dataclasses import replace

import numpy as np

from rope_ref import scaling
from rope_ref.faults.rounding import rounded_to
from rope_ref.frequencies import inverse_frequencies

__all__ = []


def ladder(turn, width):
    """Return the frequencies of a base, with a faulty exponent where there is one; shape (width // 2,)."""
    base, divisor = turn.base * turn.base_times, turn.exponent_width or width
    return inverse_frequencies(divisor, base)[: width // 2] ** turn.power * base ** (-2 * turn.first / divisor)


def frequencies(turn, width):
    """Return the frequencies of `width` features as float64, with their sign and before they are rounded."""
    if turn.inv_freq is not None:
        own = np.array(turn.inv_freq)
    elif turn.scaling:
        name, arguments = turn.scaling
        own = getattr(scaling, name)(width, turn.base, **dict(arguments)).inv_freq
    else:
        own = ladder(turn, width)
        for axis in set(turn.axes) if turn.own_ladders else ():
            reads = np.equal(turn.axes, axis)
            own[reads] = ladder(turn, 2 * int(reads.sum()))
    turning = ~np.isin(np.arange(own.size), turn.standing)
    return turn.sign * turn.times * (own[::-1] if turn.reverse else own) * turning


def held_frequencies(turn, width, nudge=0.0):
    """Return the frequencies of `width` features, rounded where the record says so."""
    return rounded_to(frequencies(turn, width), turn.rounded, "frequencies", nudge)


def places(turn, position_ids):
    """Return the positions that the tokens stand at, with the shape of those meant; `pieces` count all tokens."""
    ids = np.asarray(position_ids, np.float64)
    if turn.grid:
        return np.indices(turn.grid).reshape(len(turn.grid), -1).T.astype(np.float64)
    if turn.ids == "index":
        ids = np.broadcast_to(np.arange(float(ids.shape[-1])), ids.shape)
    if turn.ids == "first":
        ids = np.broadcast_to(ids[0], ids.shape)
    flat, found = ids.ravel(), ids.ravel().copy()
    for token, position, step in turn.pieces:
        found[token:] = position + step * (flat[token:] - flat[token : token + 1])
    return found.reshape(ids.shape) + turn.offset


def angles(turn, places, width, nudge=0.0):
    """Return the angle of every pair, each number on the way rounded where the record says so."""
    places = rounded_to(places, turn.rounded, "positions")
    own = held_frequencies(turn, width, nudge)
    exact = places[..., list(turn.axes)] * own if turn.axes else np.multiply.outer(places, own)
    return rounded_to(exact, turn.rounded, "angles", nudge)


def late(turn):
    """Return what holds from token `since` on."""
    return replace(turn, since=0, before=None)


def tables(turn, position_ids, width, nudge=0.0):
    """Return cos and sin as they enter the law, rounded, exchanged and times the factor, and their angles."""
    if turn.before is not None:
        halves = (
            tables(turn.before, position_ids[: turn.since], width, nudge),
            tables(late(turn), position_ids[turn.since :], width, nudge),
        )
        return tuple(np.concatenate(each) for each in zip(*halves, strict=True))
    turned = angles(turn, places(turn, position_ids), width, nudge)
    cos, sin = (rounded_to(table, turn.rounded, "tables", nudge) for table in (np.cos(turned), np.sin(turned)))
    cos, sin = (sin, cos) if turn.swapped else (cos, sin)
    return turn.factor * cos, turn.factor * sin, turned
