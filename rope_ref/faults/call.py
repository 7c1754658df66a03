"""A `Turn` as the call that gives its output back, with the public functions of the package."""

from dataclasses import fields

import numpy as np

from rope_ref.faults.rounding import BITS, bits_of

__all__ = []


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
        text = f"inverse_frequencies({turn.exponent_width or width}, {base!r})"
        text += f"[: {width // 2}]" if turn.exponent_width else ""
        text += f" ** {number(turn.power)}" if turn.power != 1 else ""
        text += f" * {base!r} ** ({number(-2 * turn.first)} / {width})" if turn.first else ""
    text = f"({text})[::-1]" if turn.reverse else text
    if turn.standing:
        turning = ~np.isin(np.arange(width // 2), turn.standing)
        early = (turning[:-1] >= turning[1:]).all()
        text += f" * (np.arange({width // 2}) < {turning.sum()})" if early else f" * np.array({turning.tolist()})"
    if turn.times != 1:
        text += f" * {number(turn.times)}" if turn.times > 1 else f" / {1 / turn.times!r}"
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


def angles_text(turn, places, own):
    """Write the angles of pairs that read one coordinate, or several."""
    axes = list(turn.axes)
    if not turn.own_ladders:
        return f"positions.axis_angles({places}, {own}, {axes})" if axes else f"rotation_angles({places}, {own})"
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
    angles = held(angles_text(turn, places, own), "angles")
    angles = f"np.float32({angles})" if turn.rounded == "float32 angles" else angles
    text = f"cos_sin({angles}" + (f", attention_factor={turn.factor!r})" if turn.factor != 1 else ")")
    text = f"[{held('table', 'tables')} for table in {text}]" if bits_of(turn.rounded, "tables") else text
    return f"{text}[::-1]" if turn.swapped else text


def record_text(turn):
    """Write the record itself, by what is not as usual in it."""
    changed = {each.name: getattr(turn, each.name) for each in fields(turn) if getattr(turn, each.name) != each.default}
    values = (f"{field}={record_text(each) if field == 'before' else repr(each)}" for field, each in changed.items())
    return f"Turn({', '.join(values)})"


def written(turn, head_dim, count, given):
    """Write the call that gives the output of a turn, of the record where no public function does; None if neither."""
    if turn.inv_freq is not None or turn.base is None:
        return None
    one_place = not turn.pieces or turn.pieces[0][::2] == (0, 0.0)
    if turn.before is not None or not one_place or turn.law != "rotated" or turn.table or turn.quarter:
        return f"{record_text(turn)}.rotate(x, {'position_ids' if given else f'np.arange({count})'})"
    width, x = turn.width or head_dim - turn.start, "x" if turn.axis == -2 else "np.swapaxes(x, -2, -3)"
    stop = turn.start + width
    part = f"{x}[..., {turn.start}:{stop}]" if turn.start else x
    pairing = ', pairing="half"' if turn.pairing == "half" else ""
    text = f"apply_rope({part}, *{tables_text(turn, width, count, given)}{pairing})"
    if turn.write not in (None, turn.pairing):
        text = f"to_{turn.write}({text}, {width})"
    if turn.start:
        text = f"np.concatenate(({x}[..., :{turn.start}], {text}, {x}[..., {stop}:]), axis=-1)"
    return text if turn.axis == -2 else f"np.swapaxes({text}, -2, -3)"
