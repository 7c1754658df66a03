"""The fast turn behind `apply_rope`: blocks that stay in the processor's cache, and checks of where the result goes.

Here is all that is done for speed. What is computed stands plainly in `rotation.py`.
"""

import itertools

import numpy as np

from rope_ref.checks import as_array

__all__ = []

BLOCK = 2**17  # features turned at a time where a scratch array is needed: it stays in the processor's cache


def overlaps(a, b):
    """Tell whether two arrays share memory; where that is too hard to tell, say yes."""
    try:
        return np.shares_memory(a, b, max_work=10_000)
    except np.exceptions.TooHardError:
        return True


def overlaps_itself(a):
    """Tell whether two elements of an array lie at one address, as in a window that slides or a row repeated."""
    reach = a.itemsize  # of the axes with smaller steps
    for step, length in sorted((abs(step), length) for step, length in zip(a.strides, a.shape, strict=True)):
        if length > 1 and step < reach:
            return a.size > 0
        reach += step * (length - 1)
    return False


def check_out(out, x, cos, sin):
    """Return `out` as a plain array: of shape and dtype of `x`, sharing no memory with what is still to be read."""
    if not isinstance(out, np.ndarray) or out.dtype != x.dtype:
        raise TypeError(f"out must be an array of dtype {x.dtype}, as x is, got {getattr(out, 'dtype', type(out))}")
    if out.shape != x.shape:
        raise ValueError(f"out must have the shape of x, {x.shape}, got {out.shape}")
    out = as_array(out, "out")
    if not out.flags.writeable:
        raise ValueError("out must be writeable, got a read-only array")
    if not out.flags.c_contiguous and overlaps_itself(out):
        raise ValueError("out must have a place for each of its elements, got an array that overlaps itself")
    if out is not x and overlaps(out, x) and out.__array_interface__ != x.__array_interface__:
        raise ValueError("out must be x itself or share no memory with it, got an array that overlaps x in part")
    if overlaps(out, cos) or overlaps(out, sin):
        raise ValueError("out must share no memory with cos or sin, got an array that overlaps one of them")
    return out


def cut(shape, size):
    """Yield the blocks of an array of `shape` as tuples of slices, each block of at most `size` elements."""
    steps = []
    for length in reversed(shape):
        steps.insert(0, max(1, min(length, size)))
        size //= steps[0]
    starts = (range(0, length, step) for length, step in zip(shape, steps, strict=True))
    for corner in itertools.product(*starts):
        yield tuple(slice(start, start + step) for start, step in zip(corner, steps, strict=True))


def along(block, table):
    """Widen `block` to whole axes where `table` has one row for all."""
    return tuple(slice(None) if length == 1 else rows for length, rows in zip(table.shape, block, strict=False))


def complex_table(cos, sin, work):
    """Lay out cos and sin as complex numbers, to multiply pairs that lie side by side."""
    table = np.empty(cos.shape, np.result_type(work, np.complex64))
    table.real, table.imag = cos, sin
    return (table,)


def half_table(cos, sin, work):
    """Lay out cos and sin at full width: (cos, cos) and (sin, -sin)."""
    cos, sin = np.concatenate((cos, cos), axis=-1, dtype=work), np.concatenate((sin, sin), axis=-1, dtype=work)
    second = sin[..., sin.shape[-1] // 2 :]
    np.negative(second, out=second)
    return cos, sin


def turn_interleaved(x, out, turn):
    """Multiply each pair as a complex number; `x` and `out` are contiguous along their last axis."""
    np.multiply(x.view(turn.dtype), turn, out=out.view(turn.dtype))


def turn_half(x, out, cos, sin):
    """Turn pairs half a head apart: two products at full width, and a sum that crosses the halves of one."""
    halves = (*x.shape[:-1], 2, x.shape[-1] // 2)
    crossed = (x * sin).reshape(halves)[..., ::-1, :]
    np.multiply(x, cos, out=out)
    out = out.reshape(halves)  # a view: it only splits an axis
    np.add(out, crossed, out=out)


FAST = {"interleaved": (complex_table, turn_interleaved), "half": (half_table, turn_half)}


def turn_in_blocks(x, cos, sin, out, pairing, work):
    """Turn all of `x` into `out` in dtype `work`, some rows at a time: tables and scratch arrays stay in cache."""
    if x.shape[-1] == 2:
        pairing = "half"  # one pair lies alike in both, and NumPy rounds a lone complex product now this way, now that
    if x.size <= BLOCK and is_plain(x, out, work):  # one block: decoding, where every step counts
        make_table, turn = FAST[pairing]
        turn(x, out, *make_table(cos, sin, work))
        return
    scratch = pairing == "half" or not is_plain(x, out, work)
    size = BLOCK if scratch else 8 * BLOCK // work.itemsize  # the only array made is then a table of a megabyte
    for rows in cut(cos.shape[:-1], max(1, size // x.shape[-1])):
        every = along(rows, cos)
        turn_rows(x[every], cos[rows], sin[rows], out[every], pairing, work)


def is_plain(x, out, work):
    """Tell whether `x` and `out` can be used as they lie: of the computing dtype, features side by side."""
    return x.dtype == work and x.strides[-1] == out.strides[-1] == x.itemsize


def turn_rows(x, cos, sin, out, pairing, work):
    """Turn the rows that one block of tables serves."""
    make_table, turn = FAST[pairing]
    table = make_table(cos, sin, work)
    plain = is_plain(x, out, work)
    if plain and pairing == "interleaved":  # no scratch array, so nothing to cut
        turn(x, out, *table)
        return
    for part in cut(x.shape[:-1], max(1, BLOCK // x.shape[-1])):
        part_table = (t[along(part, cos)] for t in table)
        if plain:
            turn(x[part], out[part], *part_table)
        else:
            copy = np.array(x[part], work, order="C")
            turn(copy, copy, *part_table)
            out[part] = copy


def turn_into(out, x, cos, sin, pairing, work):
    """Turn the first features of `x` by tables aligned with it and copy the rest, into `out` or a new array."""
    width = 2 * cos.shape[-1]
    turned = np.empty(x.shape, x.dtype) if out is None else check_out(out, x, cos, sin)
    if width < x.shape[-1] and turned is not x:
        turned[..., width:] = x[..., width:]
    if x.size:
        turn_in_blocks(x[..., :width], cos, sin, turned[..., :width], pairing, work)
    return turned if out is None else out
