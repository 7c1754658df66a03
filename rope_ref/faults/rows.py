"""Every fault that has a name, from ``named.toml``: the field of a `Turn` that it changes, and a sentence."""

import tomllib
from collections import namedtuple
from pathlib import Path

from rope_ref.scaling import METHODS

__all__ = []

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
    looks = {
        "pieces": pattern,
        "times": lambda times: "slower" if times < 1 else "",
        "inv_freq": lambda own: own or "none",
    }
    return looks[field](value) if field in looks else value


def row_of(field, value, tables=(*PLANTED, *KINDS)):
    """Find the name and the sentence of a changed field: that of a planted fault, or of its kind."""
    if field == "scaling":
        title = METHODS[value[0]].title
        return Row(f"{title} scaling", field, value, f"Frequencies are changed for a longer context ({title}).")
    for row in tables:
        if row.field == field and row.value in (None, value, aspect(field, value)):
            return row
    return Row(value, field, value, f"{value[0].upper()}{value[1:]}: rounded too early.")
