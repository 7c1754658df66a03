"""What came in, and the ways to read it: which token stands at which position, which features may be turned."""

from collections import namedtuple

import numpy as np

from rope_ref.checks import as_real, check_positive, check_rotary_dim
from rope_ref.diagnosis.tolerances import FEW
from rope_ref.faults.rounding import BITS, SMALLEST, UNIT, round_to_bits
from rope_ref.scaling import Scaling
from rope_ref.shapes import as_float_array

__all__ = []

View = namedtuple("View", "x y moved ids axes axis blocks wider dtype tiny given base rotary_dim scaling")
View.__doc__ = """Input and output as float64 of shape (rows, tokens, head_dim), and the positions that were meant.

`moved` tells which features changed, `blocks` lists (start, width) of those that may be turned, `wider` those
that may be where slow pairs turned too little to be seen. `ids` has shape
(tokens,), (batch, seq_len) where the tokens are those of a batch in one row, or, where `axes` says so, (tokens, axes).
`dtype` names the coarser of the two dtypes, `tiny` is half a unit of the smallest numbers of either, `given` tells
that the caller named the positions, `axis` along which axis they run; `base`, `rotary_dim` and `scaling` are what was
meant.
"""


def check_pair(x, y):
    """Return input and output as float arrays of one shape, or raise."""
    x, y = as_float_array(x), as_float_array(y, "y")
    if x.shape != y.shape or x.ndim < 2 or x.size == 0 or x.shape[-1] < 2:
        raise ValueError(
            "x and y must have one shape (..., seq_len, head_dim), not empty and with a pair of features at least, "
            f"got {x.shape} and {y.shape}"
        )
    for name, each in {"x": x, "y": y}.items():
        if not np.isfinite(each.astype(np.float64)).all():
            raise ValueError(f"{name} must be finite, got nan or inf")
    return x, y


def as_ids(position_ids, x):
    """Return positions as float64 of shape (seq_len,), (batch, seq_len), or either with a last axis, or raise.

    Tell also whether they have that last axis of coordinates.
    """
    if position_ids is None:
        return np.arange(float(x.shape[-2])), False
    ids, lead = as_real(position_ids, "position_ids"), (x.shape[0], x.shape[-2])
    if ids.ndim == 0:
        return np.full(x.shape[-2], float(ids)), False
    if ids.shape == (1, x.shape[-2]) or (ids.ndim == 3 and len(ids) == 1):
        ids = ids[0]
    if ids.shape == lead[1:] or (ids.shape == lead and x.ndim > 2):
        return ids, False
    if (ids.ndim == 2 and len(ids) == lead[1]) or (ids.ndim == 3 and x.ndim > 2 and ids.shape[:2] == lead):
        return ids, True
    raise ValueError(
        "position_ids must have shape (), (seq_len,) or (batch, seq_len) to meet x, or one of these with a last axis "
        f"of coordinates, got {ids.shape} for {x.shape}"
    )


def rounded_dtype(values):
    """Name the dtype that numbers were rounded to: a narrower one than their own where it holds them all."""
    wide = values.astype(np.float64)
    if values.dtype.name in BITS or np.unique(wide).size < FEW:
        return values.dtype.name
    bits = {**BITS, "float32": 24} if values.dtype.name == "float64" else BITS
    return next((name for name, most in bits.items() if (round_to_bits(wide, most) == wide).all()), values.dtype.name)


def views(x, y, position_ids, base, rotary_dim, scaling):
    """List the ways to lay positions on the tokens, the right one first; raise what is wrong with what was told."""
    x, y = check_pair(x, y)
    scaling = getattr(scaling, "scaling", scaling)
    if not isinstance(scaling, Scaling | None):
        raise TypeError(f"scaling must be a Scaling or a RopeConfig, got {scaling!r}")
    if scaling is not None and rotary_dim is None:
        rotary_dim = 2 * len(scaling.inv_freq)
    base = None if base is None else check_positive(base, "base")
    rotary_dim = None if rotary_dim is None else check_rotary_dim(rotary_dim, x.shape[-1])
    ids, axes = as_ids(position_ids, x)
    batch = ids.ndim - axes == 2
    choices = [(ids.reshape(-1, ids.shape[-1]) if axes and batch else ids, axes, -2, batch)]
    if x.ndim >= 3 and x.shape[-3] > 1:
        choices.append((np.arange(float(x.shape[-3])), False, -3, False))
    if x.ndim >= 3 and len(x) > 1 and not batch and not axes:
        choices.append((np.tile(ids, (len(x), 1)), False, -2, True))
    names = x.dtype.name, rounded_dtype(y)  # an input may be short by choice, an output is not
    tiny, dtype = max(SMALLEST.get(name, 0.0) for name in names), max(names, key=UNIT.get)
    recast = x.dtype != y.dtype or UNIT[rounded_dtype(x)] < UNIT[dtype]
    x, y = x.astype(np.float64), y.astype(np.float64)
    # A feature that is only copied is rounded where the dtypes differ.
    moved = np.abs(y - x) > (2 * UNIT[dtype] * np.abs(x) + tiny if recast else 0.0)
    likely, wider = blocks(moved, [rotary_dim or 0, x.shape[-1]]), blocks(moved)
    rest = likely, wider, dtype, tiny, position_ids is not None, base, rotary_dim, scaling
    return [View(*arrays((x, y, moved), *where), ids, axes, where[0], *rest) for ids, axes, *where in choices]


def arrays(made, axis, batch):
    """Put the axis of positions next to the last, all others in front, and the tokens of a batch in one row."""
    made = [np.moveaxis(each, axis, -2) for each in made]
    if batch:
        made = [np.moveaxis(each, 0, -3) for each in made]
        made = [each.reshape(*each.shape[:-3], -1, each.shape[-1]) for each in made]
    return [each.reshape(-1, *each.shape[-2:]) for each in made]


def blocks(moved, widths=None):
    """List (start, width) of the features that may be turned: those that changed, and wider ones that hold them.

    `widths` are likely ones; without any, all are listed, for slow pairs may have turned too little to be seen.
    """
    if not moved.any():
        return []
    head_dim, changed = moved.shape[-1], np.flatnonzero(moved.any(axis=tuple(range(moved.ndim - 1))))
    first, last = int(changed[0]) // 2 * 2, int(changed[-1]) + 1
    last += (last - first) % 2
    likely = [(0, width) for width in (range(last, head_dim) if widths is None else (*widths, last))]
    return [
        (start, width)
        for start, width in dict.fromkeys([*likely, *([] if widths is None else [(first, last - first)])])
        if width > 0 and width % 2 == 0 and start <= first and last <= start + width <= head_dim
    ]
