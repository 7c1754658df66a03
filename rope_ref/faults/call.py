"""A `Turn` as the call that gives its output back, with the public functions of the package."""

from dataclasses import fields, replace

import numpy as np

from rope_ref.faults.laws import layout
from rope_ref.faults.rounding import BITS, bits_of

__all__ = []

MIXED = (  # the laws that no public function computes: which field holds them, and which planted fault does the same
    ("law", "lost minus", "lost minus"),
    ("law", "in place", "in place overwrite"),
    ("quarter", "half", "quarter turn of the other pairing"),
    ("quarter", "interleaved", "table of the other pairing"),
    ("table", "half", "table of the other pairing"),
    ("table", "interleaved", "quarter turn of the other pairing"),
)


def number(value):
    """Write a number, whole ones without a point."""
    return f"{value:g}" if value == float(f"{value:g}") else repr(value)


def frequencies_text(turn, width):
    """Write the frequencies of a turn, without their sign."""
    base = turn.base * turn.base_times
    if turn.scaling:
        name, arguments = turn.scaling
        rest = "".join(f", {key}={value!r}" for key, value in arguments)
        text = f"scaling.{name}({width}, {base!r}{rest}).inv_freq"
    else:
        text = ladder_text(turn, width, base)
    text = f"({text})[::-1]" if turn.reverse else text
    if turn.standing:
        turning = ~np.isin(np.arange(width // 2), turn.standing)
        early = (turning[:-1] >= turning[1:]).all()
        text += f" * (np.arange({width // 2}) < {turning.sum()})" if early else f" * np.array({turning.tolist()})"
    if turn.times != 1:
        text += f" * {number(turn.times)}" if turn.times > 1 else f" / {1 / turn.times!r}"
    return text


def ladder_text(turn, width, base):
    """Write the frequencies of a base."""
    text = f"inverse_frequencies({turn.exponent_width or width}, {base!r})"
    if turn.exponent_width:
        text += f"[: {width // 2}]"
    if turn.power != 1:
        text += f" ** {number(turn.power)}"
    if turn.first:
        text += f" * {base!r} ** ({number(-2 * turn.first)} / {width})"
    return text


def places_text(turn, count, given):
    """Write the positions of a turn."""
    text = "position_ids" if given and turn.ids != "index" else f"np.arange({count})"
    text += "[0]" if turn.ids == "first" else ""
    if len(turn.pieces) == 1 and turn.pieces[0][::2] == (0, 0.0):
        return f"np.full({count}, {turn.pieces[0][1] + turn.offset!r})"
    if turn.grid:
        text = f"np.indices({turn.grid}).reshape({len(turn.grid)}, -1).T"
    return f"{text} + {number(turn.offset)}" if turn.offset else text


def axes_text(turn, places, own):
    """Write the angles of pairs that read several coordinates."""
    axes = list(turn.axes)
    if not turn.own_ladders:
        return f"positions.axis_angles({places}, {own}, {axes})"
    widths = tuple(2 * axes.count(axis) for axis in range(max(axes) + 1))
    dealt = "" if axes == sorted(axes) else ", alternating=True"
    return f"positions.axial_angles({places}, {widths}, {turn.base!r}{dealt})"


def tables_text(turn, width, count, given):
    """Write the call that makes the cosines and sines of a turn."""

    def held(text, stage):
        bits = bits_of(turn.rounded, stage)
        if stage == "frequencies" and bits == BITS["float16"]:
            return f"np.float16({text})"
        return text if bits is None else f"round_to_bits({text}, {bits})"

    own = frequencies_text(turn, width)
    own = held(f"-({own})" if turn.sign < 0 else own, "frequencies")
    places = held(places_text(turn, count, given), "positions")
    made = axes_text(turn, places, own) if turn.axes else f"rotation_angles({places}, {own})"
    angles = held(made, "angles")
    angles = f"np.float32({angles})" if turn.rounded == "float32 angles" else angles
    text = f"cos_sin({angles}" + (f", attention_factor={turn.factor!r})" if turn.factor != 1 else ")")
    text = f"[{held('table', 'tables')} for table in {text}]" if bits_of(turn.rounded, "tables") else text
    return f"{text}[::-1]" if turn.swapped else text


def written(turn, head_dim, count, given):
    """Write the call that gives the output of a turn; None where there is no short one."""
    if turn.inv_freq is not None or turn.base is None:
        return None
    x, width = "x" if turn.axis == -2 else "np.swapaxes(x, -2, -3)", turn.width or head_dim - turn.start
    mixed = next((name for field, value, name in MIXED if getattr(turn, field) == value), None)
    if turn.before is not None or (turn.pieces and turn.pieces[0][::2] != (0, 0.0)):
        text = f"{record_text(turn)}.rotate({x}, {'position_ids' if given else f'np.arange({count})'})"
    elif turn.law == "added":
        tables = tables_text(turn, width, count, given).removesuffix("[::-1]")
        text = f'{x} + join_pairs(*{tables}{"" if turn.swapped else "[::-1]"}, "{layout(turn)}")'
    elif mixed:
        text = planted_text(mixed, turn, x, places_text(turn, count, given))
    else:
        text = rotation_text(turn, x, head_dim, tables_text(turn, width, count, given))
    return text if turn.axis == -2 else f"np.swapaxes({text}, -2, -3)"


def record_text(turn):
    """Write the record itself, by what is not as usual in it."""
    changed = {each.name: getattr(turn, each.name) for each in fields(turn) if getattr(turn, each.name) != each.default}
    values = (f"{field}={record_text(each) if field == 'before' else repr(each)}" for field, each in changed.items())
    return f"Turn({', '.join(values)})"


def rotation_text(turn, x, head_dim, tables):
    """Write the call of a rotation, of all features or of a block of them."""
    stop = turn.start + (turn.width or head_dim - turn.start)
    part = f"{x}[..., {turn.start}:{stop}]" if turn.start else x
    text = f"apply_rope({part}, *{tables}" + (', pairing="half")' if turn.pairing == "half" else ")")
    if turn.write not in (None, turn.pairing):
        text = f"to_{turn.write}({text}, {stop - turn.start})"
    if not turn.start:
        return text
    return f"np.concatenate(({x}[..., :{turn.start}], {text}, {x}[..., {stop}:]), axis=-1)"


def planted_text(name, turn, x, places):
    """Write the call of a planted fault where the rest is as it is planted, else that of the record itself."""
    base = replace(turn, law="rotated", table=None, quarter=None, pairing="interleaved", width=None, offset=0.0)
    if replace(base, base=10000.0, ids="given", pieces=()) != type(turn)():
        return f"{record_text(replace(turn, offset=0.0, ids='given', pieces=()))}.rotate({x}, {places})"
    given = f"{places}, base={turn.base!r}"
    if turn.law != "rotated" and turn.pairing == "half":
        return f'to_half(FAULTS["{name}"].rotate(to_interleaved({x}), {given}))'
    return f'FAULTS["{name}"].rotate({x}, {given})'
