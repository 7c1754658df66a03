"""Nineteen planted faults, each the record of a turn with one field changed.

The planted ones are of the kinds that public fault reports describe. Tests, figures and exercises read them from here.
None of them is for use.
"""

from collections import namedtuple
from dataclasses import replace

from rope_ref.faults.rows import PLANTED
from rope_ref.faults.turn import Turn

__all__ = ["FAULTS", "rotate_correctly"]

Fault = namedtuple("Fault", "name what rotate turn", defaults=(Turn(),))
Fault.__doc__ = (
    """A wrong rotation: its name, what it does wrong, ``rotate(x, position_ids, base=10000.0)``, its `Turn`."""
)


def rotate_correctly(x, position_ids, base=10000.0):
    """Turn `x` as the package does by default: interleaved pairs, full width.

    Parameters
    ----------
    x : array_like of float, shape (..., seq_len, head_dim)
        Queries or keys.
    position_ids : array_like of int or float, shape (seq_len,)
        Positions, in tokens.
    base : float, optional
        Base of the frequencies.

    Returns
    -------
    ndarray, shape and dtype of `x`
        What every fault gets wrong in one way.

    Examples
    --------
    >>> rotate_correctly([[1.0, 2.0, 3.0, 4.0]], [1]).round(4)
    array([[-1.1426,  1.9221,  2.9599,  4.0298]])
    """
    return Turn().rotate(x, position_ids, base)


def planted(row):
    """Make the fault of a row."""
    turn = replace(Turn(), **{row.field: row.value})

    def rotate(x, position_ids, base=10000.0):
        return turn.rotate(x, position_ids, base)

    return Fault(row.name, row.what, rotate, turn)


FAULTS = {row.name: planted(row) for row in PLANTED}
