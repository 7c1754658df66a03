"""What a turn means: the fields in which it differs from what was meant, each with its name and its sentence."""

from dataclasses import replace

from rope_ref.faults.planted import KINDS, pattern, row_of
from rope_ref.faults.turn import Turn
from rope_ref.scaling import METHODS

__all__ = []

# The order in which faults are told: where numbers go, where tokens stand, which way and how fast, the rest.
FIELDS = (
    "pairing write table quarter law offset swapped sign reverse times first power exponent_width standing scaling "
    "base inv_freq axes rounded factor width start ids pieces axis"
).split()


def listed(tokens):
    """List tokens as words."""
    words = [f"{token:,}" for token in tokens]
    words = words if len(words) <= 4 else [*words[:3], f"{len(words) - 3} more"]
    return " and ".join([", ".join(words[:-1]), words[-1]] if len(words) > 1 else words)


# Some models mean it so: scaled frequencies and several axes are no faults by themselves.
NEUTRAL = {"linear scaling", "several axes", *(f"{method.title} scaling" for method in METHODS.values())}


def as_meant(view, turn):
    """Return the turn that was meant: whatever was not told is taken as found."""
    scaling = view.scaling
    return Turn(
        pairing=turn.pairing,
        start=0 if view.rotary_dim else turn.start,
        width=view.rotary_dim or turn.width,
        base=turn.base and (view.base or turn.base),
        inv_freq=None if scaling is None else tuple(scaling.inv_freq.tolist()),
        axes=turn.axes if view.given and not turn.grid else (),
        offset=0.0 if view.given else turn.offset,
        factor=turn.factor if scaling is None else float(scaling.attention_factor),
    )


def changes(view, turn):
    """List the rows of all fields in which a turn differs from what was meant."""
    want = as_meant(view, turn)
    if turn.law == "added":
        want = replace(want, swapped=turn.swapped)
    return [row_of(field, getattr(turn, field)) for field in FIELDS if getattr(turn, field) != getattr(want, field)]


def phrase(row, turn, count):
    """Say a fault in a few words, with the tokens it starts at."""
    if row.name == "positions restart":
        return f"{row.name} at token{'s' if len(turn.pieces) > 1 else ''} {listed(piece[0] for piece in turn.pieces)}"
    if row.name == "positions stuck":
        (token, position, _), last = turn.pieces[0], count - 1
        return f"{row.name}: tokens {token:,} to {last:,} stand at position {position + turn.offset:g}"
    return row.name


def parting(turn, ids):
    """Say up to where an output is right, and what happens from there on; empty where it is wrong from the start."""
    if turn.before is not None:
        return f"right up to token {turn.since - 1:,}; from there it is not"
    if not turn.pieces or turn.pieces[0][0] == 0 or turn.offset:
        return ""
    token, position, step = turn.pieces[0]
    goes = {1.0: "positions go on from", 0.0: "all tokens stand at position", -1.0: "positions run backwards from"}
    start = "positions restart at" if pattern(turn.pieces) == "restart" else goes[step]
    return f"right up to token {token - 1:,}; from there {start} {position:g}, where {ids.flat[token]:g} was meant"


def backwards(view, turn):
    """Yield positions that run backwards, where a turn the other way is the same function."""
    if view.given and turn.sign == -1 and not turn.swapped and view.ids.ndim == 1 and not turn.pieces:
        start = -float(view.ids[0] + turn.offset)
        if start == view.ids.max() != view.ids[0]:
            yield replace(turn, sign=1, offset=0.0, pieces=((0, start, -1.0),))


def meanings(view, turn):
    """List every way to understand a turn, as (turn, rows): other names of one function."""
    ways = [(each, changes(view, each)) for each in (turn, *backwards(view, turn))]
    if turn.times == 2:
        fast = row_of("times", 2.0, KINDS)
        ways.append((turn, [fast if row.field == "times" else row for row in ways[0][1]]))
    if turn.table or turn.quarter:
        layouts = {"table": turn.quarter and "interleaved", "quarter": turn.table and "interleaved"}
        other = replace(turn, pairing="half", **layouts)
        ways.append((other, changes(view, other)))
    if turn.pairing == "half" and turn.law == "rotated" and not turn.write:
        ways += [(turn, [row_of("pairing", "half"), *rows]) for turn, rows in ways]
    if not view.given and turn.offset == 1:
        ways += [(turn, [row_of("offset", 1.0), *rows]) for turn, rows in ways]
    return ways
