"""Every fault that has a name, as the record of a turn with one field changed; nineteen of them are planted.

The planted ones are of the kinds that public fault reports describe. Tests, figures and exercises read them from here.
None of them is for use.
"""

from collections import namedtuple
from dataclasses import replace

from rope_ref.faults.turn import Turn

__all__ = ["FAULTS", "rotate_correctly"]

Fault = namedtuple("Fault", "name what rotate turn", defaults=(Turn(),))
Fault.__doc__ = (
    """A wrong rotation: its name, what it does wrong, ``rotate(x, position_ids, base=10000.0)``, its `Turn`."""
)

Row = namedtuple("Row", "name field value what")
Row.__doc__ = (
    """A name and a sentence for a changed field of a `Turn`; `value` is the changed one, or tells which it may be."""
)

PLANTED = [
    # Where the numbers go
    Row("concatenated output", "write", "half", "All first features are written out before all second ones."),
    Row("other pairing", "pairing", "half", "Pairs (i, i + d/2) where the weights expect (2i, 2i + 1)."),
    Row(
        "table of the other pairing",
        "table",
        "half",
        "A table for half-split pairs beside a quarter turn for interleaved ones.",
    ),
    Row(
        "quarter turn of the other pairing",
        "quarter",
        "half",
        "A quarter turn for half-split pairs beside a table for interleaved ones.",
    ),
    Row("in place overwrite", "law", "in place", "The second feature is computed from the first one's new value."),
    # Which way it turns
    Row("cos and sin swapped", "swapped", True, "Cos and sin change places."),
    Row("opposite direction", "sign", -1, "Every pair turns clockwise."),
    Row("lost minus", "law", "lost minus", "The minus sign of the first feature is lost."),
    Row("applied twice", "times", 2.0, "The turn is applied a second time to its own output."),
    Row("added instead of rotated", "law", "added", "A vector of cosines and sines is added, nothing is turned."),
    # How fast it turns
    Row("exponent too small", "power", 0.5, "Exponent i/d instead of 2i/d."),
    Row("exponent too large", "power", 2.0, "Exponent 4i/d instead of 2i/d."),
    Row("index from one", "first", 1.0, "The index i runs from 1 to d/2, not from 0 to d/2 - 1."),
    Row("wrong base", "base_times", 50.0, "The base of another model, fifty times larger."),
    Row("reversed frequencies", "reverse", True, "The last pair turns fastest."),
    # Where the token stands
    Row("positions from one", "offset", 1.0, "Positions count from 1."),
    Row(
        "positions along the head axis",
        "axis",
        -3,
        "The angle follows the head, not the token: position 0 where there is one head.",
    ),
    Row(
        "bfloat16 positions",
        "rounded",
        "bfloat16 positions",
        "Positions are held in bfloat16, which counts only to 256.",
    ),
    Row(
        "float16 angles",
        "rounded",
        "float16 angles",
        "Angles are held in float16, too coarse from a thousand radians on.",
    ),
]


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
