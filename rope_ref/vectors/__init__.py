r"""Inputs and exact outputs for the tests of other programs: what the command `vectors` writes.

Nothing here computes with the rest of the package. Speeds, positions and turns are worked out anew with 50 digits, by
another formula where there is one, so that the files and the library check each other. What a file holds stands in
`FIELDS`. Building needs mpmath.
"""

from rope_ref.vectors.cases import CASES
from rope_ref.vectors.files import FIELDS, SCHEMA, build, write_vectors

__all__ = ["CASES", "FIELDS", "SCHEMA", "build", "write_vectors"]
