"""Figures of notebook 04: what each says is true; and the quick search behind the last of them."""

import base64
import io
import re

import numpy as np
import pytest
from numpy.testing import assert_allclose
from PIL import Image

import rope_course.figures as room
from rope_course.figures.decay import runs
from rope_ref.decay import decay_curve, first_negative
from rope_ref.frequencies import inverse_frequencies

NAMES = ["random_pairs_band", "chosen_peaks", "bound_and_scores", "softmax_weights", "base_and_context"]


# The quick search for the first distance below zero.


def plain_search(inv_freq, limit):
    below = np.flatnonzero(decay_curve(np.arange(1, limit + 1), inv_freq) < 0)
    return 1 + int(below[0]) if below.size else None


@pytest.mark.parametrize(
    "inv_freq",
    [
        inverse_frequencies(64),
        -inverse_frequencies(48, 300.0),
        1e9 * inverse_frequencies(6),
        np.pi / 2 * np.array([1, 3, 4, 0]),  # cosines that are 0 up to rounding
        np.array([np.pi * 1.5]),
        np.array([0.0, 1e-3]),
        inverse_frequencies(1024, 50.0),  # more pairs than one block takes
    ],
    ids=str,
)
@pytest.mark.parametrize("limit", [1, 2, 63, 64, 65, 724, 725, 2048, 2049])
def test_quick_search_is_exact_to_the_distance(inv_freq, limit):
    assert first_negative(inv_freq, limit) == plain_search(inv_freq, limit)


@pytest.mark.parametrize("crossing", [0.0, 0.5])
@pytest.mark.parametrize(("pairs", "step"), [(1, 1), (512, 16)])
def test_quick_search_is_exact_where_the_curve_only_just_crosses(crossing, pairs, step):
    # A quarter turn at a whole distance (0 up to rounding there), or half a step before.
    for distance in range(64, 400, step):
        inv_freq = np.full(pairs, np.pi / 2 / (distance - crossing))
        assert first_negative(inv_freq, distance) == plain_search(inv_freq, distance), distance


def test_quick_search_asks_for_no_angle_beyond_the_limit():
    assert first_negative([1e307], limit=3) == plain_search([1e307], 3)


# The figures.


@pytest.fixture(scope="module")
def pictures():
    return {name: getattr(room, name)() for name in NAMES}


def test_random_pairs_keep_mean_and_spread(pictures):
    data = pictures["random_pairs_band"].data
    error = 8 / np.sqrt(20_000)  # of the mean
    assert_allclose(data["mean"], 0, rtol=0, atol=4 * error)
    assert [f"{spread:.1f}" for spread in data["spread"]] == ["8.0"] * 6
    q, k = np.random.default_rng(3).standard_normal((2, 20_000, 64))
    products = (q[:, 0::2] + 1j * q[:, 1::2]) * (k[:, 0::2] - 1j * k[:, 1::2])
    scores = (products * np.exp(1000j * 10000.0 ** (-np.arange(0, 64, 2) / 64))).real.sum(axis=1)
    assert_allclose([data["mean"][4], data["spread"][4]], [scores.mean(), scores.std()], rtol=1e-9, atol=0)
    # Nearly normal: ten per cent lie 1.28 standard deviations out.
    assert_allclose(
        [data["low"], data["high"]], np.multiply.outer([-8 * 1.28, 8 * 1.28], np.ones(6)), rtol=0.04, atol=0
    )


def test_random_pairs_of_another_width_spread_by_its_root():
    picture = room.random_pairs_band(rotary_dim=16, distances=(0, 50), draws=50_000)
    assert_allclose(picture.data["spread"], 4, rtol=0.03, atol=0)
    assert picture.caption.endswith("spread 4.0 throughout")


def test_turned_keys_peak_where_chosen(pictures):
    data = pictures["chosen_peaks"].data
    assert data["best"].tolist() == [0, 37, 500]
    assert_allclose(data["curves"].max(axis=1), 1, rtol=1e-12, atol=0)
    q = np.random.default_rng(0).standard_normal(64)
    speeds = 10000.0 ** (-np.arange(0, 64, 2) / 64)
    weights = (q.reshape(-1, 2) ** 2).sum(axis=1) / (q @ q)
    for curve, peak in zip(data["curves"], (0, 37, 500), strict=True):
        assert_allclose(curve[100], weights @ np.cos((100 - peak) * speeds), rtol=1e-12, atol=0)


def test_peak_of_another_choice_is_found():
    assert room.chosen_peaks(peaks=(123,), rotary_dim=32).data["best"].tolist() == [123]


def test_bound_has_the_stated_values_and_holds(pictures):
    data = pictures["bound_and_scores"].data
    assert [f"{data['bound'][r]:.2f}" for r in (0, 10, 100, 250)] == ["32.50", "17.95", "10.23", "6.55"]
    assert (np.diff(data["bound"]) > 0).any()
    assert data["share"] < 0.05
    assert data["scores"].shape == (200, 257)
    # No trend: the mean score of the near half and of the far half differ by less than the bound falls.
    near, far = data["average"][1:129].mean(), data["average"][129:].mean()
    assert abs(far / near - 1) < 0.05
    assert data["bound"][129:].mean() < 0.8 * data["bound"][1:129].mean()


def test_score_in_units_of_the_bound_is_right_by_hand():
    # One pair: the only partial sum has length 1, the constant is |h|, and a score is |h| times a cosine.
    data = room.bound_and_scores(rotary_dim=2, last=20, draws=2, drawn=1).data
    (q, _), (k, _) = np.random.default_rng(0).standard_normal((2, 2, 2))
    lead = np.arctan2(q[1], q[0]) - np.arctan2(k[1], k[0])
    assert_allclose(data["bound"], 1, rtol=1e-14, atol=0)
    assert_allclose(data["scores"][0], np.abs(np.cos(np.arange(21) + lead)), rtol=0, atol=1e-14)


def test_constant_of_the_bound_is_right_by_hand():
    data = room.bound_and_scores(rotary_dim=4, last=3, draws=20, drawn=1).data
    q, k = np.random.default_rng(0).standard_normal((2, 20, 4)).view(complex)
    first, second = (q * k.conj()).T
    constant = 2 * np.maximum(np.abs(second - first), np.abs(second))
    assert_allclose(data["scores"][:, 0], np.abs((first + second).real) / constant, rtol=1e-12, atol=0)


def test_softmax_prefers_near_keys_only_where_all_equal_the_query(pictures):
    data = pictures["softmax_weights"].data
    for weights in data["weights"].values():
        assert_allclose(weights.sum(axis=1), 1, rtol=1e-12, atol=0)
    near, far = data["shares"]["equal"]
    assert 30 < near < 42
    assert 6 < far < 9
    near, far = data["shares"]["random"]
    assert_allclose([near, far], [100 * 8 / 512, 100 * 128 / 512], rtol=0.1, atol=0)
    assert (data["weights"]["match"].argmax(axis=1) == 400).all()
    assert 60 < data["found"]["match"] < 80
    assert data["found"]["copy"] < 2


def test_softmax_weights_are_those_of_the_closed_form(pictures):
    data = pictures["softmax_weights"].data
    q = np.random.default_rng(0).standard_normal((100, 64))
    speeds = 10000.0 ** (-np.arange(0, 64, 2) / 64)
    lengths = (q[7].reshape(-1, 2) ** 2).sum(axis=1)
    want = np.exp(np.cos(np.outer(np.arange(512), speeds)) @ lengths / 8)
    assert_allclose(data["weights"]["equal"][7], want / want.sum(), rtol=1e-10, atol=0)


def test_share_of_the_match_grows_with_the_size_of_the_features():
    data = room.softmax_weights(draws=20, size=1.5).data
    q = 1.5 * np.random.default_rng(0).standard_normal((20, 64))[7]
    keys = 1.5 * np.random.default_rng(1).standard_normal((20, 512, 64))[7]
    speeds = 10000.0 ** (-np.arange(0, 64, 2) / 64)
    products = (q[0::2] + 1j * q[1::2]) * (keys[:, 0::2] - 1j * keys[:, 1::2])  # in order of the position
    scores = (products * np.exp(1j * np.outer(np.arange(511, -1, -1), speeds))).real.sum(axis=1)[::-1]
    scores[400] = q @ q
    want = np.exp((scores - scores.max()) / 8)
    assert_allclose(data["weights"]["match"][7], want / want.sum(), rtol=1e-10, atol=0)
    small = room.softmax_weights(draws=20, size=0.5)
    assert small.data["found"]["match"] < 5 < 95 < data["found"]["match"]
    assert small.caption.endswith(f"gets {small.data['found']['match']:.2g} %, where an equal share is 0.2 %")


def test_match_that_does_not_win_is_not_called_the_winner():
    assert "beats" not in room.softmax_weights(rotary_dim=16, draws=5).caption


# Su's table, read as the first base that passes; ours is the first of a grid of steps of 0.58 %.
FIRST = {1024: 4.3e3, 2048: 1.2e4, 4096: 2.7e4, 8192: 8.4e4, 16_384: 2.3e5}


def test_first_bases_agree_with_the_published_table(pictures):
    data = pictures["base_and_context"].data
    for length, published in FIRST.items():
        assert_allclose(data["first"][length], published, rtol=0.07, atol=0)


def test_marks_are_the_first_base_that_passes_and_the_last_that_fails(pictures):
    data = pictures["base_and_context"].data
    k = np.arange(1420, 2520)
    curve = {
        length: lambda k, n=length: decay_curve(np.arange(n), inverse_frequencies(128, 10 ** (k / 400)))
        for length in FIRST
    }
    for length in (1024, 4096):
        first = round(400 * np.log10(data["first"][length]))
        last = round(400 * np.log10(data["last"][length]))
        assert first < last
        assert [curve[length](one).min() >= 0 for one in (first - 1, first, last, last + 1)] == [
            False,
            True,
            False,
            True,
        ]
        assert (data["first_negative"][k < first] < length).all()
        assert (data["first_negative"][k > last] >= length).all()
        assert_allclose(data["first"][length], 10 ** (first / 400), rtol=1e-12, atol=0)


def test_base_passes_if_the_curve_first_fails_at_the_end_of_the_context():
    assert first_negative(inverse_frequencies(64, 10 ** (1607 / 400))) == 726
    data = room.base_and_context(lengths=(726,), rotary_dim=64, steps=(1606, 1608)).data
    assert_allclose(
        [data["first"][726], data["last"][726]], [10 ** (1607 / 400), 10 ** (1606 / 400)], rtol=1e-12, atol=0
    )


def test_runs_are_found():
    assert runs(np.array([True, False, True, True])).tolist() == [[0, 1], [2, 4]]
    assert runs(np.zeros(3, bool)).tolist() == []


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: room.random_pairs_band(draws=0), "draws must be positive, got 0"),
        (lambda: room.chosen_peaks(peaks=(1, 2, 3, 4)), "peaks must hold from 1 to 3 values, got 4"),
        (lambda: room.bound_and_scores(last=-1), "last must be positive, got -1"),
        (lambda: room.softmax_weights(match=512), "match must be a distance from 0 to 511, got 512"),
        (lambda: room.softmax_weights(size=0.0), "size must be positive and finite in float64, got 0.0"),
        (
            lambda: room.base_and_context((1024,), steps=(1500, 2520)),
            "a base that fails at 1024 to one that passes, got (1500, 2520)",
        ),
        (
            lambda: room.base_and_context((1024,), steps=(1420, 1450)),
            "a base that fails at 1024 to one that passes, got (1420, 1450)",
        ),
    ],
)
def test_bad_input_is_refused(call, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        call()


def test_picture_in_a_notebook_is_small_and_looks_the_same(pictures):
    picture = pictures["softmax_weights"]
    full = Image.open(io.BytesIO(picture.to_bytes("png"))).convert("RGB")
    payload = re.search('base64,([^"]*)', picture._repr_mimebundle_()["text/html"])[1]
    shown = Image.open(io.BytesIO(base64.b64decode(payload)))
    assert shown.mode == "P"
    assert len(payload) < len(picture.to_bytes("png")) / 2
    apart = np.abs(np.asarray(full, int) - np.asarray(shown.convert("RGB"), int))
    assert (apart.max(axis=-1) > 16).mean() < 3e-3
