"""Figures of notebook 06: the numbers drawn are those of the committed table, and those of the trained head."""

import csv
import itertools
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import rope_course.figures as room
from rope_course.exercises import EXERCISES, verdict
from rope_course.exercises.entry import run
from rope_course.figures import training
from rope_course.figures.training import ASKED, LOOKS, REPAIR_LOOKS, comes_back, message, spread, told
from rope_course.training import REPAIRS, SCHEMES, TASKS, Settings, accuracy, new_head, position_scores, train
from rope_course.training.grid import models, rows_of, write_results
from rope_ref.rotation import rotation_matrix

TABLE = Path(training.__file__).parents[1] / "training" / "results.csv"
SPEEDS = 10000.0 ** (-np.arange(16) / 16)


def table():
    """The committed table, read line by line: accuracies of each seed by scheme, repair and task."""
    lines = TABLE.read_text(encoding="utf-8").splitlines()
    rows = list(csv.DictReader(lines[1:]))
    found = {}
    for row in rows:
        key = row["scheme"], row["repair"], row["task"]
        found.setdefault(key, []).append([float(row[n]) for n in ("32", "64", "128", "256", "512")])
    return {key: np.array(shares) for key, shares in found.items()}


@pytest.fixture(scope="module")
def schemes():
    return room.accuracy_by_length()


@pytest.fixture(scope="module")
def repairs():
    return room.repaired_at_run_time()


def keys(figure, task):
    """Which rows of the table each line of a panel shows, in the order of drawing."""
    if figure == "schemes":
        return {name: (name, "none", task) for name in LOOKS}
    return {name: ("rope", name, task) for name in REPAIR_LOOKS}


# Accuracy against length, and the repairs.


@pytest.mark.parametrize("figure", ["schemes", "repairs"])
def test_lines_bands_and_labels_are_those_of_the_committed_table(figure, request):
    picture, rows = request.getfixturevalue(figure), table()
    looks = LOOKS if figure == "schemes" else REPAIR_LOOKS
    for ax, task in zip(picture.figure.axes, TASKS, strict=True):
        assert ax.get_title("left") == ASKED[task]
        labels = {text.get_text(): text.xy for text in ax.texts}
        assert len(labels) == len(looks) == 5
        guess, *lines = ax.lines
        assert set(guess.get_ydata()) == {1 / 16 if task.startswith("copy") else 1 / 8}
        for (name, key), line, band in zip(keys(figure, task).items(), lines, ax.collections, strict=True):
            shares = rows[key]
            assert shares.shape == (3, 5)
            assert_array_equal(line.get_xdata(), [32, 64, 128, 256, 512])
            assert_allclose(line.get_ydata(), shares.mean(axis=0), rtol=0, atol=1e-12)
            edges = band.get_paths()[0].vertices
            for length, low, high in zip(line.get_xdata(), shares.min(axis=0), shares.max(axis=0), strict=True):
                there = edges[edges[:, 0] == length, 1]
                assert_allclose([there.min(), there.max()], [low, high], rtol=0, atol=1e-12)
            assert_allclose(labels[looks[name][0]], [512, shares[:, 4].mean()], rtol=0, atol=1e-12)
            assert_array_equal(picture.data["shares"][task][name], shares)


def test_every_scheme_and_repair_of_the_table_is_drawn():
    assert set(LOOKS) == set(SCHEMES)
    assert set(REPAIR_LOOKS) == set(REPAIRS)
    assert set(ASKED) == set(TASKS)


@pytest.mark.parametrize("looks", [LOOKS, REPAIR_LOOKS])
def test_each_line_has_a_dash_and_a_marker_of_its_own(looks, schemes):
    for each in zip(*looks.values(), strict=True):
        assert len(set(each)) == 5
    drawn = [line.get_color() for line in schemes.figure.axes[0].lines[1:]]
    assert drawn == [color for _, color, _, _ in LOOKS.values()]


def test_alt_texts_tell_the_ranges_of_the_table(schemes, repairs):
    rows = table()

    def span(column, *key):
        return f"{rows[key][:, column].min():.2f} to {rows[key][:, column].max():.2f}"

    assert f"3 back, 64 tokens: RoPE {span(1, 'rope', 'none', 'copy-3')}, sinusoidal" in schemes.alt
    assert f"512 tokens: learned 1.00, RoPE {span(4, 'rope', 'none', 'special')}, ALiBi" in schemes.alt
    assert f"128 tokens: none {span(2, 'rope', 'none', 'copy-3')}, PI 0.06, NTK" in repairs.alt
    assert f"4 turns {span(2, 'rope', 'by-parts', 'copy-3')}, of 32 turns 0.06. " in repairs.alt
    assert f"Recent: none {span(2, 'rope', 'none', 'recent')}, PI {span(2, 'rope', 'pi', 'recent')}." in repairs.alt


def test_titles_say_that_no_line_is_best_in_every_task(schemes, repairs):
    assert schemes.caption == "Which scheme survives past the training length depends on the task"
    assert schemes.data["best"] == {"copy-1": "alibi", "copy-3": "rope", "recent": "alibi", "special": "none"}
    assert repairs.caption == "Which change of speeds helps a trained RoPE head depends on the task"
    assert len(set(repairs.data["best"].values())) > 1


def own_table(path, best):
    """A table of another run, in which one scheme and one repair are best."""
    settings = Settings(times=(1, 3), length=8, seeds=(0, 1))
    results = {}
    for number, model in enumerate(models(settings)):
        for key in rows_of(*model):
            results[key] = (1.0, 0.9) if key[:2] in best else (0.5, 0.001 * number)
    write_results(path, settings, results)
    return path


def test_own_table_is_drawn_with_its_own_lengths_and_title(tmp_path):
    path = own_table(tmp_path / "own.csv", {("sinusoidal", "none"), ("rope", "ntk")})
    picture, repaired = room.accuracy_by_length(path), room.repaired_at_run_time(path)
    assert picture.caption == "At the longest length sinusoidal is best in every task"
    assert repaired.caption == "At the longest length NTK is best in every task"
    assert picture.data["lengths"] == [8, 24]
    assert "at 8 to 24 tokens" in picture.alt and "at 8 to 24 tokens" in repaired.alt
    assert "3 back, 24 tokens: none" in repaired.alt
    assert "mean of 2 trained heads" in picture.figure._supxlabel.get_text()


def test_range_that_rounds_to_one_number_is_told_as_one():
    shares = np.array([[0.061, 0.2], [0.063, 0.4]])
    assert (told(shares, 0), told(shares, 1)) == ("0.06", "0.20 to 0.40")


def test_title_names_the_line_that_is_best_everywhere():
    high, low = np.array([[0.5, 0.9]]), np.array([[1.0, 0.2]])
    shares = {"recent": {"pi": high, "ntk": low}, "special": {"pi": high, "ntk": low}}
    assert message(shares, REPAIR_LOOKS, "else") == "At the longest length PI is best in every task"
    shares["special"] = {"pi": low, "ntk": high}
    assert message(shares, REPAIR_LOOKS, "else") == "else"


# Labels beside their lines.


@pytest.mark.parametrize("values", [[0.5], [0.1, 0.9], [0.07, 0.06, 0.065, 0.9, 0.08], [1.0, 1.0, 1.0, 0.97, 0.9]])
def test_labels_stand_apart_in_the_order_of_their_lines_and_in_bounds(values):
    places = spread(values, 0.1, 0.0, 1.0)
    assert_array_equal(np.argsort(places, kind="stable"), np.argsort(values, kind="stable"))
    assert np.diff(np.sort(places)).min(initial=1) > 0.0999
    assert places.min() >= 0 and places.max() <= 1
    if np.diff(np.sort(values)).min(initial=1) > 0.1:
        assert_array_equal(places, values)


# The learned kernel.


@pytest.fixture(scope="module")
def heads():
    """One head trained for a moment, one as first drawn."""
    return {
        "copy-3": train("rope", "copy-3", settings=Settings(steps=60)),
        "as drawn": new_head("rope", np.random.default_rng(5)),
    }


@pytest.fixture(scope="module")
def learned(heads):
    return room.learned_kernel(heads, last=80)


@pytest.mark.parametrize(("task", "distance"), [("copy-3", 0), ("copy-3", 3), ("copy-3", 79), ("as drawn", 47)])
def test_scores_are_the_mean_over_all_pairs_of_tokens(heads, learned, task, distance):
    weights = heads[task].weights
    q, k = weights["embedding"] @ weights["query"], weights["embedding"] @ weights["key"]
    turned = q @ rotation_matrix(distance * SPEEDS).T
    all_hands, slow_hands = learned.data["curves"][task]
    pairs = list(itertools.product(range(16), repeat=2))
    want = np.mean([turned[a] @ k[b] for a, b in pairs]) / np.sqrt(32)
    slow = np.mean([turned[a, 6:] @ k[b, 6:] for a, b in pairs]) / np.sqrt(
        32
    )  # 2 pi / SPEEDS[2] < 32 < 2 pi / SPEEDS[3]
    assert_allclose([all_hands[distance], slow_hands[distance]], [want, slow], rtol=0, atol=1e-10)


def test_curves_drawn_are_the_scores_and_the_marks_their_peaks(learned):
    for ax, (task, curves) in zip(learned.figure.axes, learned.data["curves"].items(), strict=True):
        everything, slow, best, rival = ax.lines
        assert_array_equal([everything.get_ydata(), slow.get_ydata()], curves)
        assert_array_equal(everything.get_xdata(), np.arange(81))
        assert everything.get_linestyle() != slow.get_linestyle()
        places = [int(best.get_xdata()[0]), int(rival.get_xdata()[0])]
        assert places == list(learned.data["peaks"][task])
        assert places == [np.argmax(curves[0][:32]), 32 + np.argmax(curves[0][32:])]
        (shade,) = ax.patches
        assert (shade.get_x(), shade.get_width()) == (0, 31)
        labels = {text.get_text(): text.xy for text in ax.texts}
        assert labels["all hands"] == (80, curves[0][-1]) and labels["slow hands"] == (80, curves[1][-1])


def test_head_trained_to_copy_3_back_has_its_peak_there_and_rivals_past_training(learned):
    best, rival = learned.data["peaks"]["copy-3"]
    scores = learned.data["curves"]["copy-3"][0]
    assert best == 3
    assert f"copy the token 3 back: {scores[3]:.3g} at distance 3, past the trained distances" in learned.alt
    assert f"{scores[rival]:.3g}, at {rival};" in learned.alt
    assert scores[rival] > 0.8 * scores[3]


def test_title_says_that_scores_rise_again_only_where_they_do(heads):
    assert comes_back(np.array([5.0, -5.0, 4.1]), 0, 2)
    assert not comes_back(np.array([5.0, -5.0, 3.9]), 0, 2)
    far = room.learned_kernel({"copy-3": heads["copy-3"]}, last=256)
    assert far.caption == "Past the trained distances the score rises again, where training never looked"
    near = room.learned_kernel({"copy-3": heads["copy-3"]}, last=33)
    assert near.caption == "Past the trained distances the score is whatever the hands give"


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"last": 31}, "last must be at least trained, got 31 and 32"),
        ({"last": 0}, "last must be positive, got 0"),
        ({"trained": -1}, "trained must be positive, got -1"),
        ({"heads": {"recent": new_head("alibi", np.random.default_rng(0))}}, "heads must all have the scheme rope"),
    ],
)
def test_wrong_input_is_refused(options, message):
    with pytest.raises(ValueError, match=message):
        room.learned_kernel(**options)


# What the exercises of the lesson state.


def test_stated_answers_are_those_of_the_table_and_of_a_trained_head(heads):
    for share in table()["learned", "none", "copy-3"][:, 1]:
        assert verdict("learned_at_twice", share).startswith("Right. ")
    peak = position_scores(heads["copy-3"], 64, inv_freq=REPAIRS["pi"](32, 32, 2)).argmax()
    assert verdict("repaired_peak", peak).startswith("Right. ")
    assert verdict("hands_to_keep", np.count_nonzero(32 * SPEEDS >= 2 * np.pi)).startswith("Right. ")


def test_keeping_the_fast_hands_mends_a_trained_head(heads):
    keep_fast = run(EXERCISES["keep_fast"].solution, "keep_fast")
    bare, mended = (accuracy(heads["copy-3"], "copy-3", 128, inv_freq=keep_fast(SPEEDS, 32, each)) for each in (1, 4))
    assert mended > bare + 0.2


@pytest.mark.parametrize(
    "task",
    [
        lambda tokens: tokens[:, np.arange(tokens.shape[1]) // 2],
        lambda tokens: np.where(np.arange(tokens.shape[1]) < 16, tokens[:, :1], tokens),
        lambda tokens: np.where(np.arange(tokens.shape[1]) < 5, -1, tokens[:, 5:6]),
    ],
    ids=["half way", "the first, then the own", "always place 5"],
)
def test_other_tasks_that_need_the_place_are_right(task):
    assert verdict("place_task", task).startswith("Right. ")


def test_task_is_judged_by_the_distances_that_both_places_can_see():
    def first_then_second(tokens):
        targets = np.full_like(tokens, -1)
        targets[:, 8], targets[:, 9] = tokens[:, 0], tokens[:, 1]  # 8 back from both
        targets[:, 20] = tokens[:, 0]  # 20 back, which 8 and 9 cannot see; 20 can see 8 back, and must not prefer it
        return targets

    assert verdict("place_task", first_then_second).startswith("One order of distances serves all your places.")
