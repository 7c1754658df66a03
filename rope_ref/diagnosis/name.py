"""What a turn means: the fields in which it differs from what was meant, each with its name and its sentence."""

from dataclasses import replace

from rope_ref.faults.planted import PLANTED, Row
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
    if len(words) > 4:
        words = [*words[:3], f"{len(words) - 3} more"]
    return " and ".join([", ".join(words[:-1]), words[-1]] if len(words) > 1 else words)


def one_step(pieces):
    """Tell the step of positions that are one run from the first token on; None where they are several."""
    return pieces[0][2] if len(pieces) == 1 and pieces[0][0] == 0 else None


def restarts(pieces):
    """Tell whether runs start at one position again and again, as the first one does."""
    return bool(pieces) and pieces[0][0] > 0 and all(each[1:] == (0.0, 1.0) for each in pieces)


def stuck(pieces):
    """Tell whether from some token on all stand at one position."""
    return len(pieces) == 1 and pieces[0][0] > 0 and pieces[0][2] == 0


def jumps(pieces):
    """Tell whether from some token on all positions are off by one number."""
    return len(pieces) == 1 and pieces[0][0] > 0 and pieces[0][2] == 1


KINDS = [
    Row("output in the other order", "write", "interleaved", "half-split pairs are read, but written side by side."),
    Row("table of the other pairing", "table", bool, "Table and quarter turn are for different pairings."),
    Row("quarter turn of the other pairing", "quarter", bool, "Quarter turn and table are for different pairings."),
    Row("positions off by a constant", "offset", bool, "Every position is off by the same number of tokens."),
    Row("positions ignored", "pieces", lambda pieces: one_step(pieces) == 0, "All tokens stand at one position."),
    Row("positions reversed", "pieces", lambda pieces: one_step(pieces) == -1, "Positions run backwards."),
    Row("positions restart", "pieces", restarts, "Positions start again at 0."),
    Row("positions stuck", "pieces", stuck, "From one token on all stand at one position."),
    Row("positions jump", "pieces", jumps, "From one token on every position is off by the same number."),
    Row("positions in other runs", "pieces", bool, "Positions go on as they were meant in runs only."),
    Row("positions counted anew from 0", "ids", "index", "The token's index is taken for its position."),
    Row("positions of the first sequence for all", "ids", "first", "The batch takes those of its first sequence."),
    Row("exponent (2i - 1) / d", "first", -0.5, "Exponent (2i - 1)/d instead of 2i/d."),
    Row("exponent (2i - 1) / d, i from 1", "first", 0.5, "Exponent (2i - 1)/d, i from 1; (2i - 2)/d is meant."),
    Row("all pairs turn alike", "power", 0.0, "An exponent came out 0, as integer division makes it."),
    Row("wrong base", "base", bool, "The base is that of another model."),
    Row("width of the head in the exponent", "exponent_width", bool, "The exponent divides by the width of the head."),
    Row("pairs that stand still", "standing", bool, "Some pairs do not turn, as in a proportional width."),
    Row("linear scaling", "times", lambda times: times < 1, "All frequencies are divided by one number."),
    Row("turned too fast", "times", bool, "All frequencies are multiplied by one number."),
    Row("scaling left off", "inv_freq", lambda own: own is None, "The base's own frequencies, not the scaled ones."),
    Row("frequencies of no known law", "inv_freq", bool, "The pairs turn evenly, at frequencies of no known law."),
    Row("several axes", "axes", bool, "The pairs read several coordinates of the token."),
    Row("float32 angles", "rounded", "float32 angles", "Angles are held in single precision."),
    Row("wrong length factor", "factor", bool, "Lengths are not multiplied by the factor that was meant."),
    Row("wrong width", "width", bool, "Other features are turned than `rotary_dim` says."),
    Row("block at an offset", "start", bool, "The features that are turned do not start at the first one."),
]
# Some models mean it so: scaled frequencies and several axes are no faults by themselves.
NEUTRAL = {"linear scaling", "several axes", *(f"{method.title} scaling" for method in METHODS.values())}


def row_of(field, value):
    """Find the name and the sentence of a changed field: that of a planted fault, or of its kind."""
    if field == "scaling":
        name = f"{METHODS[value[0]].title} scaling"
        return Row(name, field, value, f"Frequencies are changed for a longer context ({METHODS[value[0]].title}).")
    for row in (*PLANTED, *KINDS):
        if row.field == field and (row.value(value) if callable(row.value) else row.value == value):
            return row
    return Row(value, field, value, f"{value[0].upper()}{value[1:]}: rounded too early.")


def as_meant(view, turn):
    """Return the turn that was meant: whatever was not told is taken as found."""
    own = None if view.scaling is None else tuple(view.scaling.inv_freq.tolist())
    known = {
        "pairing": turn.pairing,
        "width": view.rotary_dim or turn.width,
        "base": turn.base and (view.base or turn.base),
    }
    known |= {"start": 0 if view.rotary_dim else turn.start, "inv_freq": own}
    known |= {"factor": turn.factor if view.scaling is None else float(view.scaling.attention_factor)}
    known |= {"offset": 0.0 if view.given else turn.offset, "axes": turn.axes if view.given and not turn.grid else ()}
    return Turn(**known)


def changes(view, turn):
    """List the rows of all fields in which a turn differs from what was meant."""
    want = as_meant(view, turn)
    differs = [field for field in FIELDS if getattr(turn, field) != getattr(want, field)]
    if turn.law == "added":
        differs = [field for field in differs if field != "swapped"]
    return [row_of(field, getattr(turn, field)) for field in differs]


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
    goes = {1.0: f"positions go on from {position:g}", 0.0: f"all tokens stand at position {position:g}"}
    goes[-1.0] = f"positions run backwards from {position:g}"
    start = f"positions restart at {position:g}" if restarts(turn.pieces) else goes[step]
    return f"right up to token {token - 1:,}; from there {start}, where {ids.flat[token]:g} was meant"


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
        fast = next(row for row in KINDS if row.name == "turned too fast")
        ways.append((turn, [fast if row.field == "times" else row for row in ways[0][1]]))
    if turn.table or turn.quarter:
        other = replace(
            turn, pairing="half", table=turn.quarter and "interleaved", quarter=turn.table and "interleaved"
        )
        ways.append((other, changes(view, other)))
    if turn.pairing == "half" and turn.law == "rotated" and not turn.write:
        ways += [(turn, [row_of("pairing", "half"), *rows]) for turn, rows in ways]
    if not view.given and turn.offset == 1:
        ways += [(turn, [row_of("offset", 1.0), *rows]) for turn, rows in ways]
    return ways
