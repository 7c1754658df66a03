"""The code of the README and of the page of the vectors runs, prints what it says, and names what there is."""

import contextlib
import io
import json
import re

import pytest
from places import DATA, ROOT

import rope_course.__main__
import rope_ref.__main__
from rope_ref import vectors

TEXT = (ROOT / "README.md").read_text(encoding="utf-8")
VECTORS = (ROOT / "vectors" / "README.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"```python\n(.*?)```", TEXT + VECTORS, re.S)
PAGES = [*ROOT.glob("*.md"), *ROOT.glob("*/README.md")]


def run(code, names=None):
    """Run a block and return what it prints, and its names."""
    names, printed = dict(names or {}), io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(code, names)
    return printed.getvalue(), names


def block(word):
    """Find the one block of Python that holds a word."""
    found = [code for code in BLOCKS if word in code]
    assert len(found) == 1, word
    return found[0]


def test_ten_lines_run_and_the_three_forms_are_equal():
    assert len(block("rotate_by_matrix").strip().splitlines()) <= 11
    _, names = run(block("rotate_by_matrix"))
    assert names["scores"].shape == (1, 8, 6, 6)


def test_any_model_runs():
    _, names = run(block("from_config"))
    assert names["rope"].pairing == "half" and len(names["turn"].inv_freq) == 64


def test_the_counts_of_model_types_are_those_of_the_table():
    table = json.loads((DATA / "families.json").read_text(encoding="utf-8"))
    right, refused, wrong = (table["counts"][key] for key in ("right", "refused", "wrong"))
    said = re.search(
        r"Of the (\d+) model types\s.*?, (\d+) are read right.*?none wrong, and (\d+) are refused", TEXT, re.S
    )
    assert [int(number) for number in said.groups()] == [right + refused + wrong, right, refused] and wrong == 0


def test_the_diagnosis_prints_what_the_page_shows():
    printed, _ = run(block("diagnose(x"))
    shown = re.search(r"```text\n(.*?)```", TEXT, re.S)[1]
    assert printed == shown


def test_the_vectors_are_read_as_the_page_says(monkeypatch):
    import numpy as np

    from rope_ref import RotaryEmbedding, inverse_frequencies

    monkeypatch.chdir(ROOT)

    def my_rope(x, position_ids, pairing="half"):
        return RotaryEmbedding(inverse_frequencies(x.shape[-1]), pairing=pairing).rotate(x, position_ids)

    _, names = run(block("json.loads"), {"my_rope": my_rope})
    with pytest.raises(AssertionError):
        run(block("json.loads"), {"my_rope": lambda x, ids: my_rope(x, ids, "interleaved")})
    _, names = run(block("allowed ="), names | {"np": np})
    assert names["allowed"].shape == names["arrays"]["y"].shape


def test_the_page_of_the_vectors_tells_every_field_and_no_other():
    rows = "".join(re.findall(r"\| (?:entry|array) \|.*?\n\n", VECTORS, re.S))
    named = {name for first in re.findall(r"(?m)^\| (`.*?) \|", rows) for name in re.findall(r"`(\w+)`", first)}
    assert named == set(vectors.FIELDS)


def test_every_command_stands_in_the_page():
    packages = {"rope_ref": rope_ref.__main__.COMMANDS, "rope_course": rope_course.__main__.COMMANDS}
    calls = [f"python -m {package} {name}" for package, commands in packages.items() for name in commands.known]
    assert [call for call in calls if call not in TEXT] == []


def dead_links(page, text):
    """Links of a page to files that are not there."""
    prose = re.sub(r"```.*?```", "", text, flags=re.S)
    links = [link for link in re.findall(r"\]\(([^)#]+)(?:#[\w-]*)?\)", prose) if "://" not in link]
    return [link for link in links if not (page.parent / link).exists()]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_every_file_that_a_page_links_to_exists(page):
    assert dead_links(page, page.read_text(encoding="utf-8")) == []


def test_dead_link_is_found():
    text = "[a](README.md#speed), [b](gone.md), [c](https://example.org), [d](gone/x.py#l1)"
    assert dead_links(ROOT / "README.md", text) == ["gone.md", "gone/x.py"]


def test_the_two_commands_stand_on_the_first_screen():
    first = TEXT.splitlines()[:40]
    assert "make figures" in first and "make test" in first
