"""What came in, and the ways to read it: which token stands at which position, which features may be turned."""

from collections import namedtuple

import numpy as np

from rope_ref.checks import as_real
from rope_ref.diagnosis.tolerances import CHUNK, NUMBERS, ROWS, TOKENS
from rope_ref.faults.rounding import SMALLEST, UNIT
from rope_ref.shapes import as_float_array

__all__ = []

View = namedtuple("View", "x y ids dtype tiny recast given axis base rotary_dim scaling any_width", defaults=(False,))
View.__doc__ = """Input and output as float64 of shape (rows, tokens, head_dim), and the positions that were meant.

`ids` has shape (tokens,), (batch, seq_len) where the tokens are those of a batch in one row, or (tokens, axes).
`dtype` names the coarser of the two dtypes, `tiny` is half a unit of the smallest numbers of either, `recast` tells
that they differ, `given` that the caller named the positions, `axis` along which axis they run; `base`, `rotary_dim`
and `scaling` are what was meant. `any_width` says that slow pairs may have turned too little to be seen.
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
    """Return positions as float64 of shape (seq_len,), (batch, seq_len), or either with a last axis, or raise."""
    if position_ids is None:
        return np.arange(float(x.shape[-2]))
    ids, lead = as_real(position_ids, "position_ids"), (x.shape[0], x.shape[-2])
    if ids.ndim == 0:
        return np.full(x.shape[-2], float(ids))
    if ids.shape == (1, x.shape[-2]) or (ids.ndim == 3 and len(ids) == 1):
        ids = ids[0]
    if ids.shape == lead[1:] or (ids.shape == lead and x.ndim > 2):
        return ids
    if (ids.ndim == 2 and len(ids) == lead[1]) or (ids.ndim == 3 and x.ndim > 2 and ids.shape[:2] == lead):
        return ids
    raise ValueError(
        "position_ids must have shape (), (seq_len,) or (batch, seq_len) to meet x, or one of these with a last axis "
        f"of coordinates, got {ids.shape} for {x.shape}"
    )


def has_axes(ids, x):
    """Tell whether positions have a last axis of coordinates."""
    return ids.ndim == 3 or (ids.ndim == 2 and (x.ndim < 3 or ids.shape != (x.shape[0], x.shape[-2])))


def reads_axes(view):
    """Tell whether the positions of a view have a last axis of coordinates."""
    return view.ids.ndim == 2 and len(view.ids) == view.x.shape[1]


def as_view(x, y, ids, axis, batch, **rest):
    """Put the axis of positions next to the last, all others in front, and the tokens of a batch in one row."""
    x, y = (np.moveaxis(each, axis, -2) for each in (x, y))
    if batch:
        x, y = (np.moveaxis(each, 0, -3).reshape(*each.shape[1:-2], -1, each.shape[-1]) for each in (x, y))
    x, y = (each.reshape(-1, *each.shape[-2:]) for each in (x, y))
    return View(x, y, ids, axis=axis, **rest)


def views(x, y, position_ids, **meant):
    """List the ways to lay positions on the tokens, the right one first."""
    ids = as_ids(position_ids, x)
    rest = {
        "dtype": max(x.dtype.name, y.dtype.name, key=UNIT.get),
        "tiny": max(SMALLEST.get(each.dtype.name, 0.0) for each in (x, y)),
        "recast": x.dtype != y.dtype,
        "given": position_ids is not None,
        **meant,
    }
    axes = has_axes(ids, x)
    batch = ids.ndim - axes == 2
    flat = ids.reshape(-1, ids.shape[-1]) if axes and batch else ids
    choices = [(flat, -2, batch)]
    if x.ndim >= 3 and x.shape[-3] > 1:
        choices.append((np.arange(float(x.shape[-3])), -3, False))
    if x.ndim >= 3 and len(x) > 1 and not batch and not axes:
        choices.append((np.tile(ids, (len(x), 1)), -2, True))
    x, y = x.astype(np.float64), y.astype(np.float64)
    return [as_view(x, y, *choice, **rest) for choice in choices]


def changed(view):
    """Tell which features changed: one that is only copied is rounded where the dtypes differ."""
    copied = 2 * UNIT[view.dtype] * np.abs(view.x) + view.tiny if view.recast else 0.0
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


def few(tokens):
    """Choose tokens of a long input, the early ones and some spread over all, to read angles from."""
    if tokens <= TOKENS:
        return np.arange(tokens)
    spread = np.linspace(0, tokens - 1, TOKENS // 2).astype(int)
    return np.unique(np.concatenate((np.arange(TOKENS // 2), spread)))


def rows_of(view, tokens):
    """Count the rows that angles are read from."""
    return max(1, min(ROWS, NUMBERS // (tokens * view.x.shape[-1])))


def in_chunks(view):
    """Yield rows of input and output, some at a time."""
    some = max(1, CHUNK // view.x[0].size)
    for row in range(0, len(view.x), some):
        yield slice(row, row + some)
