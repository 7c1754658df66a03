"""Every suspect computed anew: what does not give the output back within the bound is dropped."""

import math

import numpy as np

from rope_ref.diagnosis.views import in_chunks
from rope_ref.faults.turn import features, output_and_bound

__all__ = []


def errors(turn, view):
    """Yield how far a turn is from the output, in error bounds, some rows at a time; inf where bounds are zero.

    Features that are not turned did not change, or `blocks` would have taken them in.
    """
    turned = features(turn, view.x.shape[-1])
    for rows in in_chunks(view):
        x, y = view.x[rows], view.y[rows]
        want, bound = output_and_bound(turn, x, view.ids, view.dtype, y)
        off, ratio = np.abs(y[..., turned] - want), np.zeros(x.shape)
        bound = bound + view.tiny
        ratio[..., turned] = np.divide(off, bound, out=np.where(off > 0, math.inf, 0.0), where=bound > 0)
        yield ratio


def largest_error(turn, view):
    """Measure how far a turn is from the output, in error bounds; stop early where it is beyond the bound."""
    worst = 0.0
    for ratio in errors(turn, view):
        worst = max(worst, float(ratio.max()))
        if worst > 1:
            break
    return worst


def confirmed(view, turns):
    """Keep the turns that give the output back, each with its error: on the first row's few tokens first."""
    return [(turn, error) for turn in dict.fromkeys(turns) if (error := largest_error(turn, view)) <= 1]
