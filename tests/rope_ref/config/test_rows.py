"""The rows of families.toml: every key is one that the reader knows, every value of the form that it takes."""

import re

import pytest

from rope_ref.config import families

KNOWN = {word for line in re.findall(r"(?m)^(\w+(?:, \w+)*)$", families.__doc__) for word in line.split(", ")}
KNOWN |= {"codes", "listed"}  # explained beside `cycle`
TEXTS = {"period", "kinds", "turns", "interval", "still_with", "turns_with", "layer_bases", "layer_shares"}
TEXTS |= {"scaled_layers", "base_times", "refused"}
LISTS = {"first", "cycle", "still", "needs", "unread", "ignored", "sections", "listed", "scaled"}
TABLES = {"bases", "labels", "codes", "on", "names", "only"}
CHOICES = {
    "pairing": {"interleaved", "half"},
    "order": {"blocks", "interleaved", "alternating"},
}


def complaints(row):
    """What is wrong with a row, as texts."""
    found = [f"{key}: not known" for key in row if key not in KNOWN]
    found += [f"{key}: must be a text" for key in TEXTS & set(row) if not isinstance(row[key], str)]
    found += [f"{key}: must be a table" for key in TABLES & set(row) if not isinstance(row[key], dict)]
    lists = {key for key in LISTS & set(row) if not isinstance(row[key], list)}
    found += [f"{key}: must be a list" for key in lists if (key, row[key]) != ("sections", "halves")]
    found += [
        f"{key}: must be one of {choices}"
        for key, choices in CHOICES.items()
        if row.get(key, min(choices)) not in choices
    ]
    for key in ("base", "head_dim", "share"):
        given = row.get(key, 1)
        values = given.values() if isinstance(given, dict) else [given]
        if not all(isinstance(value, int | float) and value > 0 for value in values):
            found.append(f"{key}: must be positive")
    if "pairing" not in row and "refused" not in row:
        found.append("pairing: must be given")
    return sorted(found)


def own(row):
    """A row without what the reader adds."""
    return {key: value for key, value in row.items() if key not in ("family", "read_from")}


def test_the_keys_are_those_that_the_docstring_explains():
    assert len(KNOWN) > 35 and {"pairing", "base", "still", "refused"} <= KNOWN


@pytest.mark.parametrize("name", families.rows())
def test_row_is_one_that_the_reader_understands(name):
    assert complaints(own(families.rows()[name])) == []


def test_every_known_key_is_used_by_some_row():
    assert {key for row in families.rows().values() for key in own(row)} == KNOWN


@pytest.mark.parametrize(
    ("change", "complaint"),
    [
        ({"bogus": 3}, "bogus: not known"),
        ({"pairing": "halves"}, "pairing: must be one of"),
        ({"pairing": None}, "pairing: must be one of"),
        ({"base": "x"}, "base: must be positive"),
        ({"share": {"full_attention": 0}}, "share: must be positive"),
        ({"still": "full_attention"}, "still: must be a list"),
        ({"names": ["a"]}, "names: must be a table"),
        ({"period": 6}, "period: must be a text"),
    ],
)
def test_planted_fault_in_a_row_is_found(change, complaint):
    (found,) = complaints({"pairing": "half", "base": 10000.0} | change)
    assert found.startswith(complaint)


def test_row_without_a_pairing_is_found():
    assert complaints({"base": 10000.0}) == ["pairing: must be given"]
    assert complaints({"refused": "it is another rotation"}) == []
