"""Every suspect computed anew: what does not give the output back within the bound is dropped."""

import math

import numpy as np

from rope_ref.diagnosis.tolerances import CHUNK

__all__ = []


def errors(turn, view):
    """Yield how far a turn is from the output, in error bounds, some rows at a time; inf where bounds are zero.

    Features that are not turned did not change, or `view.blocks` would have taken them in.
    """
    turned = turn.features(view.x.shape[-1])
    some = max(1, CHUNK // view.x[0].size)
    for row in range(0, len(view.x), some):
        x, y = view.x[row : row + some], view.y[row : row + some]
        want, bound = turn.output_and_bound(x, view.ids, view.dtype, y)
        off, ratio = np.abs(y[..., turned] - want), np.zeros(x.shape)
        bound = bound + view.tiny
        ratio[..., turned] = np.divide(off, bound, out=np.where(off > 0, math.inf, 0.0), where=bound > 0)
        yield ratio


def confirmed(view, turns):
    """Keep the turns that give the output back, each with its largest error in bounds; drop the others early."""
    kept = []
    for turn in dict.fromkeys(turns):
        worst = 0.0
        for ratio in errors(turn, view):
            worst = max(worst, float(ratio.max()))
            if worst > 1:
                break
        else:
            kept.append((turn, worst))
    return kept
