"""What a `Turn` says of how cos and sin enter the output: the rotation, and its mix-ups. Each is linear in the two."""

import numpy as np

from rope_ref.pairing import join_pairs, split_pairs

__all__ = []


def layout(turn):
    """Which features of the output share a cosine."""
    return turn.write or turn.table or turn.pairing


def parts(turn, x, y):
    """Split the law into what stands still, what cos is multiplied with and what sin is, each shaped like `x`.

    Only the overwrite in place looks at `y`, the output itself.
    """
    first, second = split_pairs(x, turn.quarter or turn.pairing)
    if turn.law == "added":
        none, one = np.zeros_like(first), np.ones_like(first)
        return x, join_pairs(none, one, layout(turn)), join_pairs(one, none, layout(turn))
    if turn.law == "in place":
        turned = -second, split_pairs(y, turn.quarter or turn.pairing)[0]
    else:
        turned = second if turn.law == "lost minus" else -second, first
    by_cos, by_sin = x, join_pairs(*turned, turn.quarter or turn.pairing)
    if turn.write:
        by_cos, by_sin = (join_pairs(*split_pairs(each, turn.pairing), turn.write) for each in (by_cos, by_sin))
    return np.zeros_like(x), by_cos, by_sin


def mix(turn, x, cos, sin):
    """Return what the law makes of the turned features `x`; an overwrite reads what its first pass wrote."""
    cos, sin = (join_pairs(table, table, layout(turn)) for table in (cos, sin))
    y = x
    for _ in range(2 if turn.law == "in place" else 1):
        still, by_cos, by_sin = parts(turn, x, y)
        y = still + by_cos * cos + by_sin * sin
    return y
