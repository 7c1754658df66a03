"""A `Turn` as the call that gives its output back, with the public functions of the package."""

from dataclasses import fields

import numpy as np

from rope_ref.faults.laws import layout
from rope_ref.faults.rounding import BITS, bits_of
from rope_ref.faults.tables import late

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


def places_text(turn, ids, count, given):
    """Write the positions of a turn."""
    text = ids if given and turn.ids != "index" else f"np.arange({count})"
    text += "[0]" if turn.ids == "first" else ""
    if len(turn.pieces) == 1 and turn.pieces[0][::2] == (0, 0.0):
        return f"np.full({count}, {turn.pieces[0][1] + turn.offset!r})"
    if turn.pieces:
        runs = list(pieces_text(turn.pieces, text, count))
        text = f"np.concatenate(({', '.join(runs)}))" if len(runs) > 1 else runs[0]
    if turn.grid:
        text = f"np.indices({turn.grid}).reshape({len(turn.grid)}, -1).T"
    return f"{text} + {number(turn.offset)}" if turn.offset else text


def pieces_text(pieces, ids, count):
    """Write each run of positions, those before the first as they were meant."""
    if pieces[0][0]:
        yield f"{ids}[:{pieces[0][0]}]"
    ends = [token for token, _, _ in pieces[1:]] + [None]
    for (token, position, step), end in zip(pieces, ends, strict=True):
        run = f"({ids}[{token}:{'' if end is None else end}] - {ids}[{token}])"
        yield f"{number(position)} + {'' if step == 1 else number(step) + ' * '}{run}"


def axes_text(turn, places, own):
    """Write the angles of pairs that read several coordinates."""
    axes = list(turn.axes)
    if not turn.own_ladders:
        return f"positions.axis_angles({places}, {own}, {axes})"
    widths = tuple(2 * axes.count(axis) for axis in range(max(axes) + 1))
    dealt = "" if axes == sorted(axes) else ", alternating=True"
    return f"positions.axial_angles({places}, {widths}, {turn.base!r}{dealt})"


def tables_text(turn, ids, width, count, given):
    """Write the call that makes the cosines and sines of a turn."""

    def held(text, stage):
        bits = bits_of(turn.rounded, stage)
        if stage == "frequencies" and bits == BITS["float16"]:
            return f"np.float16({text})"
        return text if bits is None else f"round_to_bits({text}, {bits})"

    own = frequencies_text(turn, width)
    own = held(f"-({own})" if turn.sign < 0 else own, "frequencies")
    places = held(places_text(turn, ids, count, given), "positions")
    made = axes_text(turn, places, own) if turn.axes else f"rotation_angles({places}, {own})"
    angles = held(made, "angles")
    angles = f"np.float32({angles})" if turn.rounded == "float32 angles" else angles
    text = f"cos_sin({angles}" + (f", attention_factor={turn.factor!r})" if turn.factor != 1 else ")")
    text = f"[{held('table', 'tables')} for table in {text}]" if bits_of(turn.rounded, "tables") else text
    return f"{text}[::-1]" if turn.swapped else text


def written(turn, head_dim, count, given, x="x", ids="position_ids"):
    """Write the call that gives the output of a turn; None where there is no short one."""
    if turn.before is not None:
        return written_in_halves(turn, head_dim, count, given)
    if turn.inv_freq is not None or turn.base is None:
        return None
    x = x if turn.axis == -2 else f"np.swapaxes({x}, -2, -3)"
    width = turn.width or head_dim - turn.start
    if turn.law == "added":
        back = "" if turn.swapped else "[::-1]"
        tables = tables_text(turn, ids, width, count, given).removesuffix("[::-1]")
        text = f'{x} + join_pairs(*{tables}{back}, "{layout(turn)}")'
    elif mixed := next((name for field, value, name in MIXED if getattr(turn, field) == value), None):
        text = planted_text(mixed, turn, x, places_text(turn, ids, count, given))
    else:
        text = rotation_text(turn, x, head_dim, tables_text(turn, ids, width, count, given))
    return text if turn.axis == -2 else f"np.swapaxes({text}, -2, -3)"


def written_in_halves(turn, head_dim, count, given):
    """Write the calls of the tokens before `since` and of those from there on."""
    cut = turn.since
    early = written(turn.before, head_dim, cut, given, f"x[..., :{cut}, :]", f"position_ids[:{cut}]")
    later = written(late(turn), head_dim, count - cut, given, f"x[..., {cut}:, :]", f"position_ids[{cut}:]")
    return early and later and f"np.concatenate(({early}, {later}), axis=-2)"


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
    usual = {"law", "table", "quarter", "pairing", "width", "base", "offset", "ids", "pieces"}
    changed = [
        (each.name, getattr(turn, each.name)) for each in fields(turn) if getattr(turn, each.name) != each.default
    ]
    if {field for field, _ in changed} - usual:
        inner = ", ".join(f"{field}={value!r}" for field, value in changed if field not in ("offset", "ids", "pieces"))
        return f"Turn({inner}).rotate({x}, {places})"
    given = f"{places}, base={turn.base!r}"
    if turn.law != "rotated" and turn.pairing == "half":
        return f'to_half(FAULTS["{name}"].rotate(to_interleaved({x}), {given}))'
    return f'FAULTS["{name}"].rotate({x}, {given})'
