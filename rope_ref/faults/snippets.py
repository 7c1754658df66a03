"""Code kept as text: how it is run, and how pieces of it are replaced."""

from textwrap import dedent

__all__ = []

PREAMBLE = "import numpy as np\nfrom rope_ref import *\n"  # what the code may use


def tidy(text):
    """Take the indentation of an entry, and the blank lines around it, off a text."""
    return dedent(text).strip()


def run(code, name="answer"):
    """Run code that assigns or defines `name`, and return what it made."""
    made = {}
    exec(PREAMBLE + code, made)
    return made[name]


def edit(code, *changes):
    """Replace pieces of code, given as pairs (old, new); each old one must be there."""
    code = tidy(code)
    for old, new in changes:
        if old not in code:
            raise ValueError(f"changes must each replace a piece of the code, got {old!r}")
        code = code.replace(old, new)
    return code
