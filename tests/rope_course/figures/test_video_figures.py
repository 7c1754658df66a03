"""Figures and exercises of notebook 08: what is drawn and asked is what the released code of the models has."""

import numpy as np
import pytest
from matplotlib.colors import to_rgb
from matplotlib.patches import Rectangle
from numpy.testing import assert_allclose, assert_array_equal
from scipy.special import j0

import rope_course.figures as room
from rope_course.exercises import EXERCISES, verdict
from rope_course.exercises.entry import run
from rope_course.figures.video import with_turned_axes
from rope_ref.attention import relative_score

TIME = 10.0 ** (-np.arange(8) / 2)  # 10000^(-2i/16): 1, 0.316, 0.1, ...
SPACE = 10.0 ** (-np.arange(12) / 3)  # 10000^(-2i/24)


@pytest.fixture(scope="module")
def head():
    return room.head_map()


@pytest.fixture(scope="module")
def clocks():
    return room.two_clocks()


@pytest.fixture(scope="module")
def maps():
    return room.patch_maps()


@pytest.fixture(scope="module")
def rescaled():
    return room.grid_rescale()


@pytest.fixture(scope="module")
def shift():
    return room.clip_shift()


# The map of a head.


def test_each_axis_of_the_head_map_starts_again_at_speed_one(head):
    assert_allclose(head.data["inv_freq"], np.concatenate((TIME, SPACE, SPACE)), rtol=1e-14, atol=0)
    assert head.data["axis"].tolist() == [0] * 8 + [1] * 12 + [2] * 12
    lines = {len(line.get_ydata()): line.get_ydata() for line in head.figure.axes[1].lines}
    assert_allclose(lines[32], 10000.0 ** (-np.arange(32) / 32), rtol=1e-14, atol=0)
    assert "time 8 pairs from 1 to 0.000316, height 12 pairs from 1 to 0.000215" in head.alt


def test_axes_of_the_head_map_are_told_apart_by_hatching_and_by_marker(head):
    strip, speeds = head.figure.axes
    cells = [patch for patch in strip.patches if isinstance(patch, Rectangle)]
    hatches = [cell.get_hatch() for cell in cells]
    assert [hatches.count(each) for each in dict.fromkeys(hatches)] == [8, 12, 12]
    assert len({line.get_marker() for line in speeds.lines}) == 4  # three axes, and the dotted line without markers
    hues = [line.get_color() for line in speeds.lines[1:]]
    assert [to_rgb(cells[pair].get_edgecolor()) for pair in (0, 8, 20)] == [to_rgb(hue) for hue in hues]


# The clock of the document and that of the model.


def test_two_clocks_have_the_speeds_of_the_document_and_of_the_code(clocks):
    document, model = clocks.data["inv_freq"]
    assert_allclose(model, TIME, rtol=1e-14, atol=0)
    assert_allclose(document, 10000.0 ** (-np.arange(384) / 384), rtol=1e-13, atol=0)
    assert clocks.data["moved"] == [200, 5]
    least = [(int(curve.argmin()), round(float(curve.min()), 3)) for curve in clocks.data["curves"]]
    assert least == [(12, 0.662), (10, 0.456)]
    assert "0.9763 and last 0.000102" in clocks.alt and "0.3162 and 0.000316" in clocks.alt


def test_hands_of_the_clocks_point_where_their_angles_say(clocks):
    dials = clocks.figure.axes[0]
    drawn = [collection for collection in dials.collections if hasattr(collection, "get_segments")]
    assert [len(hands.get_segments()) for hands in drawn] == [384] * 3 + [8] * 3
    for hands, frame in zip(drawn[3:], (0, 2, 12), strict=True):
        (x, y) = np.transpose([end - start for start, end in hands.get_segments()])
        turned = np.arctan2(-y, x)  # the y axis of the figure runs down
        assert_allclose(np.cos(turned - frame * TIME), 1, rtol=0, atol=1e-12)


# Maps of scores.


@pytest.mark.parametrize(("row", "column"), [(15, 22), (15, 32), (22, 29), (0, 44), (29, 0)])
def test_score_on_the_map_is_a_sum_of_cosines(maps, row, column):
    want = 2 * (8 + np.cos((row - 15) * SPACE).sum() + np.cos((column - 22) * SPACE).sum())
    assert_allclose(maps.data["cross"][row, column], want, rtol=1e-12, atol=0)


def test_map_over_time_is_a_sum_of_cosines(maps):
    want = 2 * (12 + np.cos((11 - 6) * TIME).sum() + np.cos((3 - 22) * SPACE).sum())
    assert_allclose(maps.data["time"][11, 3], want, rtol=1e-12, atol=0)


def test_row_and_column_of_the_query_are_the_brightest(maps):
    for name, row in (("cross", 15), ("time", 6)):
        assert_array_equal(maps.data[name].argmax(axis=0), row)
        assert_array_equal(maps.data[name].argmax(axis=1), 22)


def test_turned_axes_make_a_round_map(maps):
    near = maps.data["far"] <= 15
    bessel = 16 + 4 * j0(maps.data["far"][..., None] * SPACE).sum(axis=-1)  # the mean of cos(r cos t) over all t
    assert_allclose(maps.data["round"][near], bessel[near], rtol=0, atol=1e-9)
    assert maps.data["spread"][0] > 7 and maps.data["spread"][1] < 0.2
    assert "53.9 at A" in maps.alt and "50.1 at B" in maps.alt


def test_first_head_keeps_its_axes_and_frames_never_turn():
    places = np.array([[3.0, 1.0, 2.0], [5.0, -4.0, 0.5]])
    turned = with_turned_axes(places, 4)
    assert_allclose(turned[0], places, rtol=0, atol=1e-15)
    assert_array_equal(turned[..., 0], np.broadcast_to(places[:, 0], (4, 2)))
    assert_allclose(np.hypot(*turned[..., 1:].T).T, np.broadcast_to(np.hypot(*places[:, 1:].T), (4, 2)), rtol=1e-14)
    assert_allclose(turned[2, 0, 1:], np.array([[1, 1], [-1, 1]]) / np.sqrt(2) @ [1, 2], rtol=1e-14)


# The clip moves.


def by_differences(query, key):
    """Score the vectors of the figure by the closed form of each axis, from the places of query and key."""
    q, k = np.random.default_rng(0).standard_normal((2, 64))
    parts = ((slice(0, 16), TIME), (slice(16, 40), SPACE), (slice(40, 64), SPACE))
    terms = [
        relative_score(q[part], k[part], a - b, speeds) for (part, speeds), a, b in zip(parts, query, key, strict=True)
    ]
    return sum(terms)


def test_scores_before_and_after_the_move_follow_from_the_differences(shift):
    places = {"text": [(0, 0, 0)] * 2, "q": [(2, 3, 4), (7, 13, 24)], "k": [(1, 7, 9), (6, 17, 29)]}
    for (asks, answers), scores in shift.data["scores"].items():
        at_q, at_k = places["text" if asks == "text" else "q"], places["text" if answers == "text" else "k"]
        want = [by_differences(*each) for each in zip(at_q, at_k, strict=True)]
        assert_allclose(scores, want, rtol=0, atol=1e-12)


def test_only_scores_between_text_and_video_change(shift):
    changes = shift.data["changes"]
    assert len(changes) == 4
    for (asks, answers), change in changes.items():
        assert (abs(change) < 1e-12) == (asks == answers)
        assert asks == answers or abs(change) > 4
    words = [text.get_text() for text in shift.figure.axes[0].texts]
    assert words.count("unchanged") == 2
    assert shift.alt.endswith("Changes below 1e-12: video with video, text with text.")


def test_bars_are_as_high_as_the_scores(shift):
    heights = [bar.get_height() for bar in shift.figure.axes[0].patches]
    assert_allclose(heights, np.ravel(list(shift.data["scores"].values())), rtol=0, atol=1e-15)


# Another size.


def test_tall_video_is_squeezed_inside_or_counted_beyond_the_trained_grid(rescaled):
    data = rescaled.data
    assert data["beyond"] == {"trained": 0, "linspace": 0, "slice": 15 * 30}
    squeezed, sliced = data["grids"]["linspace"], data["grids"]["slice"]
    assert_allclose(squeezed[::30, 1], np.arange(45) * 30 / 45, rtol=1e-14, atol=0)
    # From the start of the part, 12, to 29/30 of its end, 32, in 29 steps.
    assert_allclose(squeezed[:30, 2], 12 + np.arange(30) * (32 * 29 / 30 - 12) / 29, rtol=1e-14, atol=0)
    assert_allclose(data["steps"]["linspace"], (2 / 3, (32 * 29 / 30 - 12) / 29), rtol=1e-12, atol=0)
    assert (sliced[:, 1].max(), sliced[:, 2].max()) == (44, 29)


def test_video_of_the_trained_size_stays_where_it_was():
    picture = room.grid_rescale(size=(30, 45))
    assert picture.data["beyond"] == {"trained": 0, "linspace": 0, "slice": 0}
    assert_array_equal(picture.data["grids"]["linspace"], picture.data["grids"]["trained"])


def test_coordinates_are_drawn_with_the_mark_of_their_kind(rescaled):
    axes = rescaled.figure.axes
    counts = [{line.get_marker(): len(line.get_xdata()) for line in ax.lines} for ax in axes]
    assert counts == [{"o": 1350, "x": 0}, {"o": 1350, "x": 0}, {"o": 900, "x": 450}]


# The exercises.


@pytest.mark.parametrize(
    ("name", "answer"),
    [
        ("video_tokens", 17550),
        ("pairs_per_axis", [8, 12, 12]),
        ("axis_periods", [19869, 29164]),
        ("straight_or_slanted", "A"),
        ("clip_moves", [True, False, False, True]),
        ("squeezed_rows", [0.6667, 29.3333]),
        ("text_after_video", [9, 5]),
        ("true_or_false_08", [False, False, True, True, True, False]),
    ],
)
def test_stated_answer_of_lesson_8_is_right(name, answer):
    assert verdict(name, answer).startswith("Right. ")


def test_solutions_of_lesson_8_give_the_stated_numbers():
    assert run(EXERCISES["patch_index"].solution, "patch_index")(2, 10, 20) == 3170
    assert run(EXERCISES["with_text"].solution, "with_text")(226, 13, 30, 45).shape == (17776, 3)
    angles = run(EXERCISES["mend_axes"].solution, "mend_axes")(2.0, 10.0, 20.0)
    assert_allclose(angles, np.concatenate((2 * TIME, 10 * SPACE, 20 * SPACE)), rtol=1e-12, atol=0)


def test_right_coordinates_and_angles_in_other_ways_of_writing_pass():
    def with_text(text_tokens, frames, height, width):
        patches = [(t, h, w) for t in range(frames) for h in range(height) for w in range(width)]
        return [(0, 0, 0)] * text_tokens + patches

    def mend_axes(t, h, w):
        return [t / 10 ** (i / 2) for i in range(8)] + [c / 10 ** (i / 3) for c in (h, w) for i in range(12)]

    assert verdict("with_text", with_text).startswith("Right. ")
    assert verdict("mend_axes", mend_axes).startswith("Right. ")
