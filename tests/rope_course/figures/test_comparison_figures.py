"""Figures of notebook 05: adding and turning, drawn as the library and plain arithmetic have them."""

import itertools

import numpy as np
import pytest
from matplotlib.patches import FancyBboxPatch
from numpy.testing import assert_allclose, assert_array_equal

import rope_course.figures as room
from rope_course.figures import comparison
from rope_course.figures.comparison import COLUMNS, ROUNDING, STEPS, STOPS
from rope_ref.decay import decay_curve
from rope_ref.frequencies import inverse_frequencies
from rope_ref.rotation import rotation_matrix

SPEEDS = 10000.0 ** (-np.arange(0, 64, 2) / 64)


def row(m):
    """The sinusoidal row of position m, written out."""
    return np.stack((np.sin(m * SPEEDS), np.cos(m * SPEEDS)), axis=1).ravel()


def words():
    """The two tokens and the projections that figures 5.1 and 5.2 draw."""
    rng = np.random.default_rng(1)
    x, y = rng.standard_normal((2, 64))
    return x, y, *(rng.standard_normal((2, 64, 64)) / 8)


# The shift test.


@pytest.fixture(scope="module")
def shift():
    return room.shift_test()


@pytest.mark.parametrize("offset", [0, 1, 100, 200])
def test_scores_are_those_of_rows_added_and_of_dense_turns(shift, offset):
    x, y, w_q, w_k = words()
    m, n = 5 + offset, 3 + offset
    scores = {name: float(values[offset]) for name, values in shift.data["scores"].items()}
    q, k = rotation_matrix(m * SPEEDS) @ (x @ w_q), rotation_matrix(n * SPEEDS) @ (y @ w_k)
    assert_allclose(scores["sinusoid added"], (x + row(m)) @ w_q @ w_k.T @ (y + row(n)), rtol=0, atol=1e-10)
    assert_allclose(scores["sinusoids alone,\nno words"], np.cos(2 * SPEEDS).sum(), rtol=0, atol=1e-11)
    assert_allclose(scores["RoPE"], q @ k, rtol=0, atol=1e-11)


def test_learned_rows_are_small_but_change_the_score_by_more_than_rounding(shift):
    x, y, w_q, w_k = words()
    rows = 0.02 * np.random.default_rng(2).standard_normal((206, 64))
    want = [(x + rows[5 + offset]) @ w_q @ w_k.T @ (y + rows[3 + offset]) for offset in (0, 7, 200)]
    assert_allclose(shift.data["scores"]["learned row added"][[0, 7, 200]], want, rtol=0, atol=1e-12)
    assert shift.data["changes"]["learned row added"].min() > 1e-4


def test_two_lines_are_rounding_and_two_are_not(shift):
    added, table, alone, rope = shift.data["largest"].values()
    assert added > 5 and 0.1 < table < 2
    assert alone < ROUNDING and rope < ROUNDING
    assert "RoPE: below 1e-12" in shift.alt and "sinusoid added: up to 14" in shift.alt


def test_what_is_rounding_is_drawn_level_and_the_rest_to_scale(shift):
    (ax,) = shift.figure.axes
    for line, change in zip(ax.lines, shift.data["changes"].values(), strict=True):
        drawn = line.get_ydata()
        if change.max() < ROUNDING:
            assert len(set(drawn)) == 1 and drawn[0] < ROUNDING
        else:
            assert_array_equal(drawn, change)
    assert [line.get_linestyle() for line in ax.lines] == ["--", ":", "-.", "-"]


def test_far_out_the_title_admits_that_rope_is_rounded(monkeypatch):
    monkeypatch.setattr(comparison, "ROUNDING", 1e-18)
    picture = room.shift_test(last=20)
    assert picture.caption.startswith("So far out, the RoPE score changes by up to")


# The four terms.


@pytest.fixture(scope="module")
def terms():
    return room.score_terms()


@pytest.mark.parametrize(("place", "m", "n"), [(0, 5, 3), (1, 105, 103)])
def test_terms_are_the_products_written_out(terms, place, m, n):
    x, y, w_q, w_k = words()
    found = terms.data["terms"]
    plain, mixed = found["without projections"][place], found["with projections"][place]
    assert_allclose(plain, [x @ y, x @ row(n), row(m) @ y, row(m) @ row(n)], rtol=0, atol=1e-11)
    w = w_q @ w_k.T
    assert_allclose(mixed, [x @ w @ y, x @ w @ row(n), row(m) @ w @ y, row(m) @ w @ row(n)], rtol=0, atol=1e-11)
    assert_allclose(mixed.sum(), (x + row(m)) @ w @ (y + row(n)), rtol=0, atol=1e-11)


def test_only_the_terms_said_to_stay_do(terms):
    changes = {name: np.abs(found[1] - found[0]) > ROUNDING for name, found in terms.data["terms"].items()}
    assert changes["without projections"].tolist() == [False, True, True, False]
    assert changes["with projections"].tolist() == [False, True, True, True]
    said = [[text.get_text() for text in ax.texts if "changed" in text.get_text()] for ax in terms.figure.axes]
    assert said[0] == ["unchanged", "changed", "changed", "unchanged", "changed"]
    assert said[1] == ["unchanged", "changed", "changed", "changed", "changed"]


def test_position_with_position_is_the_rope_score_of_a_one_in_each_pair(terms):
    half_of_ones = 32 * decay_curve(2, inverse_frequencies(64))  # a vector of ones has two in each pair
    alone = terms.data["terms"]["without projections"][:, 3]
    assert_allclose([terms.data["rope"], *alone], half_of_ones, rtol=0, atol=1e-11)
    assert terms.alt.count("28.3039") == 2


def test_bars_are_as_long_as_the_terms_and_their_sum(terms):
    for ax, found in zip(terms.figure.axes, terms.data["terms"].values(), strict=True):
        heights = [bar.get_height() for bar in ax.patches]
        want = np.concatenate([[*values, values.sum()] for values in found])
        assert_allclose(heights, want, rtol=0, atol=1e-12)


# The order of words.


@pytest.fixture(scope="module")
def swap():
    return room.order_swap()


def by_hand(sentence, scheme):
    """Weights of one sentence, by loops and dense matrices, as a table of words."""
    rng = np.random.default_rng(8)
    token = dict(zip(("dog", "bites", "man"), rng.standard_normal((3, 64)), strict=True))
    w_q, w_k = rng.standard_normal((2, 64, 64)) / 8
    table = {}
    for m, asks in enumerate(sentence):
        scores = {}
        for n, seen in enumerate(sentence):
            added = scheme == "sinusoid added"
            q, k = (token[asks] + added * row(m)) @ w_q, (token[seen] + added * row(n)) @ w_k
            if scheme == "RoPE":
                q, k = rotation_matrix(m * SPEEDS) @ q, rotation_matrix(n * SPEEDS) @ k
            if not (scheme == "causal mask alone" and n > m):
                scores[seen] = np.exp(q @ k / 8)
        table |= {(asks, seen): score / sum(scores.values()) for seen, score in scores.items()}
    words = ("dog", "bites", "man")
    return np.array([[table.get((asks, seen), 0.0) for seen in words] for asks in words])


@pytest.mark.parametrize("scheme", ["no position", "causal mask alone", "sinusoid added", "RoPE"])
def test_weights_are_those_of_plain_attention_listed_by_word(swap, scheme):
    sentences = ("dog", "bites", "man"), ("man", "bites", "dog")
    want = [by_hand(sentence, scheme) for sentence in sentences]
    assert_allclose(swap.data["grids"][scheme], want, rtol=0, atol=1e-13)


def test_only_attention_without_position_or_mask_is_blind(swap):
    apart = swap.data["apart"]
    assert apart["no position"] < ROUNDING
    assert min(value for name, value in apart.items() if name != "no position") > 0.2
    titles = [ax.get_title(loc="left") for ax in swap.figure.axes if ax.get_title(loc="left")]
    assert [title.splitlines()[1] for title in titles] == [
        "no difference",
        "differ by 0.91",
        "differ by 0.28",
        "differ by 0.26",
    ]


def test_written_weights_are_those_of_the_panel(swap):
    panels = [ax for ax in swap.figure.axes if ax.images]
    grids = [grids[sentence] for sentence in (0, 1) for grids in swap.data["grids"].values()]
    for ax, grid in zip(panels, grids, strict=True):
        written = {(round(text.get_position()[1]), round(text.get_position()[0])): text.get_text() for text in ax.texts}
        assert written == {place: f"{weight:.2f}" for place, weight in np.ndenumerate(grid) if weight}


# The layer.


@pytest.fixture(scope="module")
def layer():
    return room.where_rope_sits()


def test_only_queries_and_keys_are_turned_and_after_their_projection(layer):
    assert layer.data["turns"] == ["queries", "keys"]
    height = {(columns, text): y for columns, y, text, _ in STEPS}
    for column, projection in (("queries", "$W_q$"), ("keys", "$W_k$")):
        assert height[(column,), "RoPE: turn"] > height[(column,), projection]
    assert height[("keys",), "key cache"] > height[("keys",), "RoPE: turn"]
    assert "3 projections" in layer.alt and "2 boxes" in layer.alt


def test_every_step_has_its_box_and_its_text(layer):
    (ax,) = layer.figure.axes
    boxes = [patch for patch in ax.patches if isinstance(patch, FancyBboxPatch)]
    assert len(boxes) == len(STEPS) + 3  # the tokens, what is added, the next layer
    written = [text.get_text() for text in ax.texts]
    assert all(text in written for _, _, text, _ in STEPS)
    assert sum("RoPE" in text for text in written) == 3  # the two boxes, and that adding does without


def test_arrows_of_a_column_stop_at_every_box_on_it():
    names = list(COLUMNS)
    for name, stops in STOPS.items():
        over = [
            height
            for columns, height, _, _ in STEPS
            if names.index(columns[0]) <= names.index(name) <= names.index(columns[-1])
        ]
        # The weights, not the keys, go on to the sum; its box lies over the keys all the same.
        assert [height for height in over if height <= stops[-1]] == list(stops)


def test_boxes_do_not_lie_on_each_other(layer):
    (ax,) = layer.figure.axes
    boxes = [patch.get_window_extent() for patch in ax.patches if isinstance(patch, FancyBboxPatch)]
    assert not any(a.overlaps(b) for a, b in itertools.combinations(boxes, 2))
