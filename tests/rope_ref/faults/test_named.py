"""The rows of named.toml: each changes a field that a `Turn` has, and says what it does wrong in a sentence."""

from dataclasses import fields

import pytest

from rope_ref.faults import FAULTS, Turn
from rope_ref.faults.planted import KINDS, PLANTED, Row

FIELDS = {field.name for field in fields(Turn)}
ROWS = [*PLANTED, *KINDS]


def complaints(row):
    """What is wrong with a row, as texts."""
    found = [f"no field {row.field}"] if row.field not in FIELDS else []
    return found + ([] if row.what[:1].isupper() and row.what.endswith(".") else ["no sentence"])


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.name)
def test_row_is_a_change_of_a_field_in_a_sentence(row):
    assert complaints(row) == []


def test_names_and_changes_are_used_once():
    assert len({row.name for row in PLANTED}) == len(PLANTED) == len(FAULTS)
    assert len({(row.field, str(row.value)) for row in ROWS}) == len(ROWS)


def test_planted_row_changes_something():
    assert [row.name for row in PLANTED if getattr(Turn(), row.field) == row.value] == []


def test_planted_fault_in_a_row_is_found():
    assert complaints(Row("turned back", "sgin", -1, "x")) == ["no field sgin", "no sentence"]
