"""Figures of notebook 02 and of the planted faults: what is drawn is what the library computes."""

import cmath
import itertools

import numpy as np
import pytest
from matplotlib.colors import to_rgb
from matplotlib.text import Annotation
from numpy.testing import assert_allclose, assert_array_equal

import rope_course.figures as room
from rope_course.figures import bugs, forms
from rope_course.figures.bugs import message, smallest_set
from rope_course.figures.forms import LANDS
from rope_ref.faults import CHECKS, FAULTS, Fault, caught_by, rotate_correctly
from rope_ref.rotation import FORMS, rotate_complex


def shown(ax):
    """Text and place of everything written in an axes."""
    return {(round(text.get_position()[0]), round(text.get_position()[1])): text.get_text() for text in ax.texts}


# The matrix, and how far the forms agree.


@pytest.mark.parametrize(
    ("pairing", "says", "unsaid"), [("interleaved", "blocks", "stripes"), ("half", "stripes", "blocks")]
)
def test_one_pairing_alone_is_drawn_and_told(pairing, says, unsaid):
    picture = room.matrix_layouts(pairing=pairing)
    (ax,) = picture.figure.axes
    assert f'"{pairing}"' in ax.get_title(loc="left")
    for told in (picture.caption, picture.alt):
        assert says in told
        assert unsaid not in told
    assert [name for name in ("interleaved", "half") if name in picture.data] == [pairing]


def test_pairing_that_is_none_has_no_matrix():
    with pytest.raises(ValueError, match="pairing must be"):
        room.matrix_layouts(pairing="neox")


def drawn_heights(picture):
    """Heights of the points drawn in each column of the comparison of forms."""
    heights = {}
    for line in picture.figure.axes[0].lines[:-1]:  # the last is the limit
        heights.setdefault(round(np.mean(line.get_xdata())), []).append(line.get_ydata())
    return heights


def test_differences_below_rounding_are_one_flat_mark_a_column():
    picture = room.forms_agreement(seeds=20)
    heights = drawn_heights(picture)
    for column in range(6):
        assert_array_equal(np.unique(np.concatenate(heights[column])), [1e-14])
    assert_array_equal(heights[6][0], picture.data["other"])


def test_differences_above_rounding_stand_at_their_own_heights(monkeypatch):
    def rough(x, angles):
        return rotate_complex(x, angles) + 1e-9 * np.asarray(x)

    monkeypatch.setattr(forms, "FORMS", {**FORMS, "complex": rough})
    picture = room.forms_agreement(seeds=20)
    assert picture.caption.startswith("Two forms differ by")
    heights = drawn_heights(picture)
    for column, (names, differences) in enumerate(picture.data["apart"].items()):
        if "complex" in names:
            assert_array_equal(heights[column][0], differences)
        else:
            assert_array_equal(heights[column][-1], [1e-14, 1e-14])


# One pair as a complex number.


@pytest.mark.parametrize(("pair", "angle"), [((2.0, 1.0), 1.0), ((-1.5, 0.5), 4.0)])
def test_arrows_end_at_z_at_the_turn_and_at_their_product(pair, angle):
    picture = room.one_complex_pair(pair=pair, angle=angle)
    left = picture.figure.axes[0]
    tips = [one.xy for one in left.texts if isinstance(one, Annotation) and one.arrowprops]
    z, turn = complex(*pair), cmath.exp(1j * angle)
    assert_allclose(tips, [[v.real, v.imag] for v in (z, turn, z * turn)], rtol=0, atol=1e-15)
    assert_allclose(picture.data["turned"], [(z * turn).real, (z * turn).imag], rtol=0, atol=1e-15)


def test_each_feature_is_the_sum_of_the_products_that_land_there():
    picture = room.one_complex_pair(pair=(2.0, 1.0), angle=1.0)
    (a_cos, a_sin), (b_cos, minus_b_sin) = picture.data["products"]
    assert_allclose([a_cos + minus_b_sin, a_sin + b_cos], picture.data["turned"], rtol=0, atol=1e-15)
    assert "1.08 and -0.84 land in the first feature, 1.68 and 0.54 in the second" in picture.alt
    assert "0.24 + 2.22i" in picture.alt


def test_shade_and_word_of_each_product_name_the_same_feature():
    right = room.one_complex_pair(pair=(2.0, 1.0), angle=1.0).figure.axes[1]
    words = sorted((text.get_position()[0], text.get_position()[1], text.get_text()) for text in right.texts)
    values = [text for _, _, text in words if ":" in text]
    assert values == ["first: 1.08", "second: 0.54", "second: 1.68", "first: −0.84"]
    cells = sorted((patch.get_x(), patch.get_y(), patch.get_facecolor()[:3]) for patch in right.patches)
    assert [color for _, _, color in cells] == [to_rgb(LANDS[text.split(":")[0]]) for text in values]


# The map between the two pairings.


@pytest.mark.parametrize(("rotary_dim", "order"), [(8, [0, 2, 4, 6, 1, 3, 5, 7]), (6, [0, 2, 4, 1, 3, 5]), (2, [0, 1])])
def test_lines_lead_from_interleaved_to_half_split_places(rotary_dim, order):
    picture = room.reordering_map(rotary_dim=rotary_dim)
    (ax,) = picture.figure.axes
    assert picture.data["order"].tolist() == order
    assert [tuple(line.get_ydata()) for line in ax.lines] == [(old, new) for new, old in enumerate(order)]
    assert f"old places {', '.join(map(str, order))}." in picture.alt


def test_both_columns_name_the_feature_that_stands_there():
    written = shown(room.reordering_map().figure.axes[0])
    assert [written[0, place] for place in range(4)] == [
        "first of pair 0",
        "second of pair 0",
        "first of pair 1",
        "second of pair 1",
    ]
    assert [written[2, place] for place in (0, 3, 4, 7)] == [
        "first of pair 0",
        "first of pair 3",
        "second of pair 0",
        "second of pair 3",
    ]


def test_a_head_of_odd_width_has_no_map():
    with pytest.raises(ValueError, match="must be even"):
        room.reordering_map(rotary_dim=7)


# Planted faults and checks.


@pytest.fixture(scope="module")
def table():
    return room.faults_and_checks()


def test_ticks_stand_where_the_check_finds_the_fault(table):
    (ax,) = table.figure.axes
    ticks = {(text.get_position()[1], text.get_position()[0]) for text in ax.texts if text.get_text() == "✓"}
    rows = [label.get_text().replace("\n", " ") for label in ax.get_yticklabels()]
    columns = [text.get_text().replace("\n", " ") for text in ax.texts if isinstance(text, Annotation)]
    assert sorted(rows) == sorted(FAULTS)
    assert columns == list(CHECKS)
    for (row, fault), (column, check) in itertools.product(enumerate(rows), enumerate(columns)):
        assert ((row, column) in ticks) == (check in caught_by(FAULTS[fault].rotate))
    counts = [int(label.get_text()) for label in ax.get_xticklabels()]
    assert counts == [sum(column == each for _, column in ticks) for each in range(len(columns))]


def test_title_and_frames_tell_of_the_fewest_checks_that_find_all(table):
    assert table.caption == "No single check finds every fault; two together do"
    assert not any(all(check in caught_by(fault.rotate) for fault in FAULTS.values()) for check in CHECKS)
    names = {table.data["checks"][column] for column in table.data["chosen"]}
    assert names == {"distance alone far out", "case by hand"}
    assert all(names & set(caught_by(fault.rotate)) for fault in FAULTS.values())
    framed = [patch.get_x() + 0.5 for patch in table.figure.axes[0].patches if not patch.get_fill()]
    assert framed == list(table.data["chosen"])


def test_dashed_line_parts_what_the_usual_two_checks_find_from_what_they_miss(table):
    (line,) = table.figure.axes[0].lines
    above = int(line.get_ydata()[0] + 0.5)
    usual = table.data["found"][:, :2].any(axis=1)
    assert table.data["checks"][:2] == list(bugs.USUAL)
    assert_array_equal(usual, np.arange(len(usual)) < above)
    assert len(table.data["unseen"]) == len(usual) - above == 13
    assert "miss 13 faults" in table.alt


def test_fault_that_no_check_finds_changes_the_title(monkeypatch):
    hidden = Fault("hidden", "It is no fault at all.", rotate_correctly)
    monkeypatch.setattr(bugs, "FAULTS", {"hidden": hidden, "wrong base": FAULTS["wrong base"]})
    picture = room.faults_and_checks()
    assert picture.caption == "Every check misses 1 of the 2 faults"
    assert picture.alt.endswith("find all: none.")


@pytest.mark.parametrize(
    ("found", "chosen", "says"),
    [
        ([[1, 0], [1, 1]], (0,), "One check finds every fault"),
        ([[1, 0, 0], [0, 1, 0], [1, 0, 1]], (0, 1), "No single check finds every fault; two together do"),
        ([[1, 0, 0], [0, 1, 0], [0, 0, 1]], (0, 1, 2), "No single check finds every fault; three together do"),
        ([[1, 1], [0, 0]], (), "Every check misses 1 of the 2 faults"),
    ],
)
def test_smallest_set_is_found_and_told(found, chosen, says):
    found = np.array(found, bool)
    assert smallest_set(found) == chosen
    assert message(found, chosen) == says
