"""The figure of notebook 09, and the invariants behind it: what is ticked is what a second computation finds."""

from types import SimpleNamespace

import numpy as np
import pytest
from matplotlib.text import Annotation
from numpy.testing import assert_allclose

import rope_course.figures as room
from rope_course.exercises import EXERCISES
from rope_course.exercises.entry import run
from rope_course.figures import bugs
from rope_ref.faults.defects import DEFECTS, INVARIANTS, Program, finds_defect, head_of, knows_rows

# Defect: what finds it; "known rows" is the last column of the figure.
EXPECTED = {
    "wrong_axis": {"composition", "identity at 0", "known rows"},
    "mixed_layout": {"relative", "norm", "composition", "layout converter", "known rows"},
    "cached_scores": {"relative"},
    "half_precision": {"relative"},
    "shifted_speeds": {"known rows"},
    "yarn_speeds": {"known rows"},
    "partial_turn": {"known rows"},
    "turned_values": {"relative"},
}


def starter(name):
    return run(EXERCISES[name].starter, name)


def solution(name):
    return run(EXERCISES[name].solution, name)


@pytest.fixture(scope="module")
def table():
    return room.defects_and_invariants()


def test_ticks_stand_where_the_defect_is_found(table):
    (ax,) = table.figure.axes
    ticks = {(text.get_position()[1], text.get_position()[0]) for text in ax.texts if text.get_text() == "✓"}
    columns = [text.get_text().replace("\n", " ") for text in ax.texts if isinstance(text, Annotation)]
    rows = [label.get_text() for label in ax.get_yticklabels()]
    assert columns == [*INVARIANTS, "known rows"] and len(columns) == 6
    assert rows == [f"{number}  {DEFECTS[name].label}" for number, name in enumerate(EXPECTED, 1)]
    for row, found in enumerate(EXPECTED.values()):
        assert {columns[column] for each, column in ticks if each == row} == found
    counts = [int(label.get_text()) for label in ax.get_xticklabels()]
    assert counts == [sum(name in found for found in EXPECTED.values()) for name in columns] == [4, 1, 2, 1, 1, 5]


def test_frames_and_words_name_relative_and_known_rows(table):
    framed = [patch.get_x() + 0.5 for patch in table.figure.axes[0].patches if not patch.get_fill()]
    assert framed == list(table.data["chosen"]) == [0, 5]
    assert table.caption == "No single test finds all eight defects; relative and known rows together do"
    assert table.alt.endswith("No invariant finds 3 of the defects. The fewest columns that find all: " + FRAMED)


FRAMED = "relative and known rows."


def test_a_repaired_defect_loses_its_ticks(monkeypatch):
    repaired = {name: SimpleNamespace(starter=EXERCISES[name].solution) for name in DEFECTS}
    monkeypatch.setattr(bugs, "EXERCISES", repaired)
    picture = room.defects_and_invariants()
    assert not picture.data["found"].any()
    assert picture.alt.endswith("find all: none.")


@pytest.mark.parametrize("name", EXPECTED)
def test_a_repaired_defect_passes_everything(name):
    assert finds_defect(solution(name)) == []
    assert knows_rows(solution(name))


# Each invariant finds a planted turn, and no other invariant is needed for that.


def right(x, position_ids):
    """Turn pairs of neighbours as complex numbers, by another route than the package."""
    turns = np.exp(1j * np.multiply.outer(position_ids, 10000.0 ** (-np.arange(0, x.shape[-1], 2) / x.shape[-1])))
    return np.ascontiguousarray((x[..., 0::2] + 1j * x[..., 1::2]) * turns).view(np.float64)


def half_split(x, position_ids):
    """Turn features half a head apart."""
    order = np.arange(x.shape[-1]).reshape(2, -1).T.ravel()
    return right(x[..., order], position_ids)[..., np.argsort(order)]


def failing(turn, head=None):
    program = Program(turn, head or head_of(turn))
    return [name for name, holds in INVARIANTS.items() if not holds(program)]


@pytest.mark.parametrize(
    ("turn", "found"),
    [
        (right, []),
        (lambda x, ids: 1.1 * right(x, ids), ["norm", "composition", "identity at 0", "layout converter"]),
        (lambda x, ids: right(x, ids + 1), ["composition", "identity at 0"]),
        (lambda x, ids: right(x, ids**2), ["relative", "composition"]),
        (half_split, ["layout converter"]),
        (lambda x, ids: right(x, -ids), []),
    ],
    ids=["right", "longer", "one late", "squared", "half-split", "clockwise"],
)
def test_invariants_find_planted_turns(turn, found):
    assert failing(turn) == found


def test_relative_looks_at_outputs_and_far_out():
    def late(x, ids):
        return right(x, np.where(ids > 1000, 2 * ids, ids))

    def values_too(q, k, v, ids):
        return head_of(right)(q, k, right(v, ids), ids)

    assert failing(late) == ["relative"]
    assert failing(right, values_too) == ["relative"]


# What the notebook says of the defects.


def test_half_precision_table_is_off_as_stated():
    cos, sin = starter("half_precision")(2048, 64).astype(np.float64)
    angles = np.multiply.outer(np.arange(2048.0), 10000.0 ** (-np.arange(0, 64, 2) / 64))
    off = np.abs(cos - np.cos(angles))
    assert round(off.max(), 4) == 0.7819
    assert np.unravel_index(off.argmax(), off.shape) == (2008, 2)
    assert_allclose(cos**2 + sin**2, 1.0, rtol=0, atol=1e-6)  # each row is a turn


def test_yarn_on_the_changed_base_gives_the_published_wrong_speeds():
    # Case RI-102: head of 64, base 10,000, factor 40, 4,096 tokens; the ramp runs from pair 10 to pair 23.
    slow = np.clip((np.arange(32) - 10) / 13, 0, 1)
    pairs = [0, 10, 15, 23, 31]
    wrong = [1.0, 0.017108284134497553, 0.001505294163278163, 3.33380358040831e-05, 3.3338035804083097e-06]
    assert_allclose(starter("yarn_speeds")(64, 10000.0, 40.0, slow)[pairs], wrong, rtol=1e-12, atol=0)
    mended = solution("yarn_speeds")(64, 10000.0, 40.0, slow)
    own = 10000.0 ** (-np.arange(0, 64, 2) / 64)
    assert_allclose(mended[:11], own[:11], rtol=1e-15, atol=0)
    assert_allclose(mended[23:], own[23:] / 40, rtol=1e-15, atol=0)


def test_converter_with_swapped_direction_is_right_for_heads_of_four_only():
    def order(code, head_dim):
        rows = np.arange(float(head_dim))[:, None]
        return run(code, "convert_rows")(rows, 1)[:, 0].tolist()

    each = EXERCISES["convert_rows"]
    assert order(each.starter, 4) == order(each.solution, 4) == [0, 2, 1, 3]
    assert order(each.starter, 6) == [0, 3, 1, 4, 2, 5]
    assert order(each.solution, 6) == [0, 2, 4, 1, 3, 5]
