"""What came in, and the ways to read it: which token stands at which position, which features may be turned."""

from collections import namedtuple

import numpy as np

from rope_ref.checks import as_real
from rope_ref.shapes import as_float_array

__all__ = []

UNIT = {"float64": 2.0**-53, "float32": 2.0**-24, "float16": 2.0**-11, "bfloat16": 2.0**-8}  # half a unit, relative
SMALLEST = {"float16": 2.0**-25, "bfloat16": 2.0**-134}  # half a unit of the smallest numbers
TOKENS, ROWS = 192, 8  # how much of a large input angles are read from; all of it is checked

View = namedtuple("View", "x y positions dtype recast given axis fault base rotary_dim any_width", defaults=(False,))
View.__doc__ = """Input and output as float64 of shape (rows, tokens, head_dim), and the position of each token.

`dtype` names the coarser of the two dtypes, `recast` tells that they differ, `given` that the caller named the
positions, `axis` along which axis they run, `fault` what is wrong if this view explains the output; `base` and
`rotary_dim` are what was meant. `any_width` says that slow pairs may have turned too little to be seen.
"""


def check_pair(x, y):
    """Return input and output as float arrays of one shape, or raise."""
    x, y = as_float_array(x), as_float_array(y, "y")
    if x.shape != y.shape or x.ndim < 2 or x.size == 0 or x.shape[-1] < 2:
        raise ValueError(
            "x and y must have one shape (..., seq_len, head_dim), not empty and with a pair of features at least, "
            f"got {x.shape} and {y.shape}"
        )
    for name, each in (("x", x), ("y", y)):
        if not np.isfinite(each.astype(np.float64)).all():
            raise ValueError(f"{name} must be finite, got nan or inf")
    return x, y


def as_ids(position_ids, x):
    """Return positions as float64 of shape (seq_len,) or (batch, seq_len), or raise."""
    if position_ids is None:
        return np.arange(float(x.shape[-2]))
    ids = as_real(position_ids, "position_ids")
    if ids.ndim == 0:
        return np.full(x.shape[-2], float(ids))
    if ids.ndim == 2 and ids.shape[0] == 1:
        ids = ids[0]
    if ids.shape != x.shape[-2:-1] and (x.ndim < 3 or ids.shape != (x.shape[0], x.shape[-2])):
        raise ValueError(
            f"position_ids must have shape (), (seq_len,) or (batch, seq_len) to meet x, got {ids.shape} for {x.shape}"
        )
    return ids


def as_view(x, y, ids, axis, fault, **rest):
    """Put the axis of positions next to the last, all others in front, and ids of a batch in one row."""
    x, y = (np.moveaxis(each, axis, -2) for each in (x, y))
    if ids.ndim == 2:  # (batch, seq_len): batch and tokens become one axis of positions
        x, y = (np.moveaxis(each, 0, -3).reshape(*each.shape[1:-2], -1, each.shape[-1]) for each in (x, y))
    x, y = (each.reshape(-1, *each.shape[-2:]) for each in (x, y))
    return View(x, y, ids.ravel(), axis=axis, fault=fault, **rest)


def views(x, y, position_ids, base, rotary_dim):
    """List the ways to lay positions on the tokens, the right one first."""
    rest = {
        "dtype": max(x.dtype.name, y.dtype.name, key=UNIT.get),
        "recast": x.dtype != y.dtype,
        "given": position_ids is not None,
        "base": base,
        "rotary_dim": rotary_dim,
    }
    ids, index = as_ids(position_ids, x), np.arange(float(x.shape[-2]))
    choices = [(ids, -2, None)]
    if (ids != index).any():
        choices.append((index, -2, "positions counted anew from 0"))
    if (ids != ids.flat[0]).any():
        choices.append((np.zeros(x.shape[-2]), -2, "positions ignored"))
    if ids.ndim == 2 and (ids != ids[0]).any():
        choices.append((ids[0], -2, "positions of the first sequence for all"))
    if x.ndim >= 3 and x.shape[-3] > 1:
        choices.append((np.arange(float(x.shape[-3])), -3, "positions along the head axis"))
    x, y = x.astype(np.float64), y.astype(np.float64)
    return [as_view(x, y, *choice, **rest) for choice in choices]


def changed(view):
    """Tell which features changed: one that is only copied is rounded where the dtypes differ."""
    copied = 2 * UNIT[view.dtype] * np.abs(view.x) + SMALLEST.get(view.dtype, 0.0) if view.recast else 0.0
    return np.abs(view.y - view.x) > copied


def blocks(view):
    """List (start, width) of the features that may be turned: those that changed, and wider ones that hold them."""
    head_dim = view.x.shape[-1]
    moved = np.flatnonzero(changed(view).any(axis=(0, 1)))
    first, last = int(moved[0]) // 2 * 2, int(moved[-1]) + 1
    last += (last - first) % 2
    likely = [(0, view.rotary_dim or 0), (0, head_dim), (0, last), (first, last - first)]
    if view.any_width:
        likely = [(0, width) for width in range(last, head_dim)]
    return [
        (start, width)
        for start, width in dict.fromkeys(likely)
        if width > 0 and width % 2 == 0 and start <= first and last <= start + width <= head_dim
    ]


def few(view):
    """Take a part of a large view, early, late and spread tokens of some rows, to read angles from."""
    tokens = view.x.shape[1]
    if tokens > TOKENS:
        spread = np.linspace(0, tokens - 1, TOKENS // 2).astype(int)
        some = np.unique(np.concatenate((np.arange(TOKENS // 2), spread)))
        view = view._replace(x=view.x[:, some], y=view.y[:, some], positions=view.positions[some])
    return view._replace(x=view.x[:ROWS], y=view.y[:ROWS])
