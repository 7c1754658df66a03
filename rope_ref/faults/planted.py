"""Every fault that has a name, from ``named.toml``: the field of a `Turn` that it changes, and a sentence.

The planted ones are of the kinds that public fault reports describe. Tests, figures and exercises read them from here.
None of them is for use.
"""

import tomllib
from collections import namedtuple
from dataclasses import replace
from pathlib import Path

from rope_ref.faults.turn import Turn
from rope_ref.scaling import METHODS

__all__ = ["FAULTS", "rotate_correctly"]

Row = namedtuple("Row", "name field value what", defaults=(None, ""))
Row.__doc__ = """A name and a sentence for a changed field; `value` is the changed one, None where it may be any."""

NAMED = tomllib.loads(Path(__file__).with_name("named.toml").read_text(encoding="utf-8"))
PLANTED, KINDS = ([Row(**row) for row in NAMED[table]] for table in ("planted", "kind"))


def pattern(pieces):
    """Say in a word how positions go on; empty where it takes more."""
    if len(pieces) == 1 and pieces[0][0] == 0:
        return {0.0: "one position", -1.0: "reversed"}.get(pieces[0][2], "")
    if all(position == 0 and step == 1 for _, position, step in pieces):
        return "restart"
    return {0.0: "stuck", 1.0: "jump"}.get(pieces[0][2], "") if len(pieces) == 1 else ""


def aspect(field, value):
    """Say in a word what is looked up of a value that has many forms."""
    if field == "times":
        return "slower" if value < 1 else ""
    return pattern(value) if field == "pieces" else value or "none"


def row_of(field, value, tables=(*PLANTED, *KINDS)):
    """Find the name and the sentence of a changed field: that of a planted fault, or of its kind."""
    if field == "scaling":
        title = METHODS[value[0]].title
        return Row(f"{title} scaling", field, value, f"Frequencies are changed for a longer context ({title}).")
    for row in tables:
        if row.field == field and row.value in (None, value, aspect(field, value)):
            return row
    return Row(value, field, value, f"{value[0].upper()}{value[1:]}: rounded too early.")


# The planted ones -----------------------------------------------------------------------------------------------------

Fault = namedtuple("Fault", "name what rotate turn", defaults=(Turn(),))
Fault.__doc__ = """A wrong rotation: name, what is wrong, ``rotate(x, position_ids, base=10000.0)``, and its `Turn`."""


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
