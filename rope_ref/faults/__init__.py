"""Wrong rotations, planted by name, and the checks that should find them.

To be read in this order:

``rounding.py``
    Which number on the way is rounded to which dtype.
``laws.py``, ``tables.py``, ``call.py``, ``turn.py``
    `Turn`: all that makes an output, in one record that rotates, bounds its error and writes its call.
``planted.py``
    `FAULTS`: that record with one field changed, by name; and all others that have a name.
``checks.py``
    `CHECKS`, and which of them a rotation fails.
``defects.py``
    Eight defects of published programs, rewritten, and five invariants that may find them.
"""

from rope_ref.faults.checks import CHECKS, Check, caught_by
from rope_ref.faults.planted import FAULTS, Fault, rotate_correctly
from rope_ref.faults.rounding import round_to_bits
from rope_ref.faults.turn import Turn

__all__ = ["CHECKS", "FAULTS", "Check", "Fault", "Turn", "caught_by", "rotate_correctly", "round_to_bits"]
