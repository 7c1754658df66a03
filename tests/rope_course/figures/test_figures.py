"""Figures: what each one says is true, readable and the same bytes on every run."""

import importlib.metadata
import itertools
import os
import re
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path

import matplotlib
import numpy as np
import pytest
from matplotlib import ft2font
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.text import Text
from numpy._core._multiarray_umath import __cpu_dispatch__  # the instruction sets that NumPy may use
from numpy.testing import assert_allclose
from places import ROOT

import rope_course.figures as room
from rope_course.figures import FIGURES, Picture, figure
from rope_course.figures.clock import from_home, published_models
from rope_course.figures.gallery import gallery
from rope_course.figures.picture import first_where, number, spoken, thin_out, with_looks, wrapped
from rope_ref.files import write_file

STORED = ROOT / "figures"
NAMES = list(FIGURES)
PRINT_WIDTH = 6.5  # inches between the margins of a page


@pytest.fixture(scope="session")
def pictures():
    """Every figure, drawn once."""
    return {name: draw() for name, draw in FIGURES.items()}


# What is drawn is true.


def test_matrix_has_the_stated_numbers_of_entries(pictures):
    data = pictures["matrix_layouts"].data
    assert (data["non_zero"], data["non_zero_64"]) == ((16, 64), (128, 4096))
    for pairing, partner in (("interleaved", 1), ("half", 4)):
        assert_allclose(data[pairing][0, [0, partner]], [np.cos(3), -np.sin(3)], rtol=1e-15, atol=0)
        assert np.count_nonzero(data[pairing]) == 16


def test_all_forms_agree_and_the_other_pairing_does_not(pictures):
    data = pictures["forms_agreement"].data
    assert len(data["apart"]) == 6
    assert all(len(differences) == 100 for differences in data["apart"].values())
    assert data["largest"] < 1e-14
    assert data["other"].min() > 1


def test_clock_wall_comes_near_home_at_44_and_710(pictures):
    home = pictures["clock_wall"].data["from_home"]
    assert_allclose(home[:, 0], [0, 1, 7 - 2 * np.pi, 44 - 14 * np.pi, 710 - 226 * np.pi], rtol=0, atol=1e-9)
    assert 5e-5 < home[4, 0] < 7e-5 < 0.017 < home[3, 0] < 0.018
    assert_allclose(home[:, 7], np.array([0, 1, 7, 44, 710]) * 10000 ** (-14 / 16), rtol=1e-12, atol=1e-12)


def test_clock_wall_turns_the_given_vector_anticlockwise():
    picture = room.clock_wall(positions=(0, 1), rotary_dim=2, q=[2.0, 0.0])
    assert_allclose(picture.data["turned"], [[2, 0], [2 * np.cos(1), 2 * np.sin(1)]], rtol=1e-15, atol=0)


def test_distance_from_home_goes_the_short_way_round():
    assert_allclose(
        from_home(np.array([0.1, -0.1, 2 * np.pi - 0.1, 3.0, 4.0])), [0.1, 0.1, 0.1, 3, 2 * np.pi - 4], atol=1e-12
    )


def test_pair_speeds_count_the_pairs_that_do_not_finish(pictures):
    above = pictures["pair_speeds"].data["above"]
    assert (above[1e4, 2048], above[1e4, 4096], above[5e5, 8192]) == (23, 18, 29)
    periods = pictures["pair_speeds"].data["periods"][1e4]
    assert_allclose(periods[[0, -1]], [6.2832, 54410.14], rtol=1e-5, atol=0)


def test_odometer_has_the_stated_ratios(pictures):
    data = pictures["odometer"].data
    assert [f"{data['ratios'][d]:.2f}" for d in (64, 128)] == ["1.33", "1.15"]
    assert [int("".join(map(str, column)), 2) for column in data["digits"][::-1].T] == list(range(64))
    assert_allclose(data["cosines"][0], np.cos(np.arange(64)), rtol=0, atol=1e-15)


def test_positions_do_not_repeat(pictures):
    data = pictures["position_returns"].data
    assert f"{data['neighbour']:.2f}" == "1.47"
    assert f"{data['least']:.2f}" == "5.94"
    assert data["apart"][1:].min() > data["neighbour"]
    speeds = 10000.0 ** (-np.arange(0, 64, 2) / 64)
    chords = np.abs(np.exp(1j * 62832 * speeds) - 1)
    assert_allclose(data["apart"][62831], np.sqrt((chords**2).sum()), rtol=1e-9, atol=0)


def test_two_commensurable_hands_do_return_and_the_title_says_so():
    picture = room.position_returns(rotary_dim=4, base=100.0, last=1000, claimed=63)
    assert picture.data["nearest"] == 377
    assert picture.caption == "Position 377 looks more like position 0 than its neighbour does"


def test_curve_of_equal_vectors_crosses_zero_where_stated(pictures):
    data = pictures["equal_vectors_curve"].data
    assert data["first_negative"] == {64: 725, 128: 1707}
    assert data["first_rise"] == {64: 5, 128: 11}
    for d, zero in data["first_negative"].items():
        curve = np.concatenate(([1.0], data["curves"][d]))
        assert (curve[:zero] >= 0).all()
        assert curve[zero] < 0
        assert (curve[zero:] > 0).any()


def test_curve_without_a_crossing_says_so():
    picture = room.equal_vectors_curve(rotary_dims=(128,), last=1000)
    assert picture.data["first_negative"] == {128: None}
    assert picture.caption.endswith("is above zero up to 1,000")


def test_each_third_of_the_hands_fades_on_its_own_scale(pictures):
    data = pictures["which_hands_speak"].data
    assert data["below_half"] == [3, 65, 1333]
    whole = np.average(data["curves"], axis=0, weights=[22, 21, 21])
    assert_allclose(whole, pictures["equal_vectors_curve"].data["curves"][128], rtol=0, atol=1e-13)


def test_third_that_has_not_faded_says_so():
    assert "3, 64 and past 1,000 tokens" in room.which_hands_speak(rotary_dim=256, last=1000).caption


# The clocks of real models.


def test_model_file_is_complete():
    models = published_models()
    families = ("Llama 2", "Llama 3", "Mistral", "Qwen2.5", "GPT-NeoX", "GPT-J", "Phi-3", "Gemma")
    assert all(any(model["model"].startswith(family) for model in models) for family in families)
    assert len({model["model"] for model in models}) == len(models) >= 10
    for model in models:
        assert list(model) == ["model", "head_dim", "rotary_dim", "base", "trained_context", "rope_scaling", "source"]
        assert list(model["source"]) == ["repository", "file", "values"]
        assert model["rotary_dim"] % 2 == 0
        assert model["rotary_dim"] <= model["head_dim"]


# The names under which configurations state the numbers.
WIDTHS = ("n_embd", "hidden_size", "hidden-size", "d_model")
HEADS = ("n_head", "num_attention_heads", "num-attention-heads", "n_heads")
SHARES = ("rotary_percentage", "rotary_pct")
BASES = ("rope_base", "rope_theta")
CONTEXTS = ("block_size", "seq-length", "seq", "max_position_embeddings")


def stated(values, names, default=None):
    return next((values[name] for name in names if name in values), default)


@pytest.mark.parametrize("model", published_models(), ids=lambda model: model["model"])
def test_model_agrees_with_the_configuration_it_names(model):
    values = model["source"]["values"]
    width = values.get("head_dim") or stated(values, WIDTHS) / stated(values, HEADS)
    assert model["head_dim"] == width
    assert model["rotary_dim"] == values.get("pe_rotary_dims", stated(values, SHARES, 1.0) * width)
    assert model["base"] == stated(values, BASES, 10000.0)
    # Mistral's file gives a theoretical reach; what it was trained on stands beside it.
    assert model["trained_context"] == (8192 if model["model"].startswith("Mistral") else stated(values, CONTEXTS))


def test_unfinished_hands_are_those_the_closed_form_gives(pictures):
    clocks = pictures["model_clocks"].data["clocks"]
    assert len(clocks["Llama 2 7B"]["unfinished"]) == 18
    assert len(clocks["Llama 3 8B"]["unfinished"]) == 29
    for clock in clocks.values():
        # 2 pi b^(2i/d) > L where i > (d/2) log(L / 2 pi) / log(b)
        last_done = clock["rotary_dim"] / 2 * np.log(clock["trained_context"] / (2 * np.pi)) / np.log(clock["base"])
        assert clock["unfinished"].tolist() == list(range(int(last_done) + 1, clock["rotary_dim"] // 2))


def test_title_counts_the_models_that_have_unfinished_hands():
    done = {"model": "all done", "rotary_dim": 4, "base": 100.0, "trained_context": 100}
    assert room.model_clocks([done]).caption.startswith("In 0 of 1 models")
    assert room.model_clocks([done, done | {"model": "not", "trained_context": 50}]).caption.startswith(
        "In 1 of 2 models"
    )


# Bad input.


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: room.pair_speeds(bases=(1, 2, 3, 4, 5)), "bases must hold from 1 to 4 values, got 5"),
        (lambda: room.equal_vectors_curve(rotary_dims=()), "rotary_dims must hold from 1 to 3 values, got 0"),
        (lambda: room.position_returns(last=100, claimed=101), "claimed must lie from 1 to 100, got 101"),
        (lambda: room.which_hands_speak(last=999), "last must be at least 1000"),
        (lambda: room.odometer(positions=0), "positions must be positive, got 0"),
        (lambda: Picture(Figure(), "alt", {}).to_bytes("jpg"), "format must be one of svg, png, pdf, got 'jpg'"),
    ],
)
def test_bad_input_is_refused(call, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        call()


# What readers see. Each check is shown to fail below.


def few_numbers(picture):
    numbers = re.findall(r"\d+(?:[.,]\d+)*(?:e-\d+)?", picture.alt)
    return (
        [] if 3 <= len(numbers) and len(picture.alt) <= 450 else [f"alt text of {len(numbers)} numbers: {picture.alt}"]
    )


def other_title(picture):
    title = picture.figure.get_suptitle().replace("\n", " ")
    return [] if title and title == picture.caption else [f"title {title!r}"]


def bare_axes(picture):
    """Axes without a label; panels that share an axis need one label between them, a colour bar one in all."""
    found = []
    for ax in picture.figure.axes:
        labels = {}
        for which, shared in (("x", ax.get_shared_x_axes()), ("y", ax.get_shared_y_axes())):
            labels[which] = any(getattr(one, f"get_{which}label")() for one in shared.get_siblings(ax))
        missing = [which for which, there in labels.items() if not there]
        found += missing if ax.get_label() != "<colorbar>" else missing[1:]
    return found


def tick_labels_beyond(figure):
    """Labels of ticks beyond the limits of their axis: they exist but are not drawn."""
    for axis in (axis for ax in figure.axes for axis in (ax.xaxis, ax.yaxis)):
        low, high = sorted(axis.get_view_interval())
        for tick in (*axis.majorTicks, *axis.minorTicks):
            if not low <= tick.get_loc() <= high:
                yield from (tick.label1, tick.label2)


def texts(picture):
    """Every piece of text that is drawn, with its box in pixels."""
    beyond = set(tick_labels_beyond(picture.figure))
    renderer = FigureCanvasAgg(picture.figure).get_renderer()
    for text in picture.figure.findobj(Text):
        if text.get_text().strip() and text.get_visible() and text not in beyond:
            yield text, Text.get_window_extent(text, renderer)  # of the letters, without the leader of an annotation


def small_texts(picture):
    shrunk = min(1, PRINT_WIDTH / picture.figure.get_figwidth())
    return [text.get_text() for text, _ in texts(picture) if text.get_fontsize() * shrunk < 8.8]


def cut_texts(picture):
    page = picture.figure.bbox
    boxes = texts(picture)
    return [t.get_text() for t, b in boxes if b.x0 < -1 or b.y0 < -1 or b.x1 > page.x1 + 1 or b.y1 > page.y1 + 1]


def texts_on_texts(picture):
    boxes = [(text.get_text(), box.padded(-1)) for text, box in texts(picture)]
    return [(a, b) for (a, first), (b, second) in itertools.combinations(boxes, 2) if first.overlaps(second)]


CHECKS = [few_numbers, other_title, bare_axes, small_texts, cut_texts, texts_on_texts]


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__)
@pytest.mark.parametrize("name", NAMES)
def test_figure_is_readable(pictures, name, check):
    assert check(pictures[name]) == []


@pytest.fixture
def drawing(monkeypatch):
    """A small figure; whatever is drawn here stays out of the list of figures."""
    monkeypatch.setattr("rope_course.figures.picture.FIGURES", {})

    def draw(change=lambda ax: None, alt="From 1 to 2.5 and 3e-4.", caption="A line rises"):
        @figure(caption="A line rises")
        def small():
            shown = Figure(figsize=(7, 3), layout="constrained")
            ax = shown.subplots()
            ax.plot([1, 2.5])
            ax.set(xlabel="x", ylabel="y")
            change(ax)
            return Picture(shown, alt, {}, caption)

        return small()

    return draw


@pytest.mark.parametrize(
    ("check", "change"),
    [
        (bare_axes, lambda ax: ax.set_xlabel("")),
        (bare_axes, lambda ax: ax.set_ylabel("")),
        (small_texts, lambda ax: ax.annotate("small", (0.1, 2), fontsize=8)),
        (cut_texts, lambda ax: ax.figure.text(0.98, 0.5, "beyond")),
        (texts_on_texts, lambda ax: (ax.text(0.1, 2, "one"), ax.text(0.12, 2, "two"))),
        (texts_on_texts, lambda ax: ax.set_xticks([0.1, 0.102], ["1,000", "1,001"])),
    ],
)
def test_check_finds_a_planted_fault(drawing, check, change):
    picture = drawing(change)
    assert [one.__name__ for one in CHECKS if one(picture)] == [check.__name__]


def test_good_figure_passes_every_check(drawing):
    picture = drawing()
    assert [check.__name__ for check in CHECKS if check(picture)] == []


@pytest.mark.parametrize("alt", ["", "A line.", "From 1 to 2.", "1 2 3" + " and on" * 70])
def test_poor_alt_text_is_found(drawing, alt):
    assert few_numbers(drawing(alt=alt))


def test_missing_title_is_found(drawing):
    picture = drawing()
    picture.figure.suptitle("")
    assert other_title(picture)


# In a notebook.


class Images(HTMLParser):
    def __init__(self, text):
        super().__init__()
        self.tags = []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))


def test_picture_shows_an_image_with_escaped_alt_text(drawing):
    alt = 'Text with "quotes", <tags> & numbers 1, 2, 3'
    bundle = drawing(alt=alt)._repr_mimebundle_()
    assert bundle["text/plain"] == alt
    assert 'alt="Text with &quot;quotes&quot;, &lt;tags&gt; &amp; numbers 1, 2, 3"' in bundle["text/html"]
    ((tag, attributes),) = Images(bundle["text/html"]).tags
    assert tag == "img"
    assert attributes["alt"] == alt
    assert attributes["src"].startswith("data:image/png;base64,iVBOR")
    assert "max-width:100%" in attributes["style"]


def test_pixels_match_the_pattern_that_notebook_tests_pass_over(drawing):
    sanitize = (ROOT / "tests" / "nbval_sanitize.cfg").read_text(encoding="utf-8")
    pattern = re.search(r"(?m)^regex: (.*)$", sanitize)[1]
    html = drawing()._repr_mimebundle_()["text/html"]
    assert re.sub(pattern, "IMAGE", html).count("IMAGE") == 1
    assert "base64" not in re.sub(pattern, "IMAGE", html)


def test_file_carries_its_title_and_alt_text(drawing):
    picture = drawing(alt="Alt with θ, 1, 2, 3")
    assert "<title>A line rises</title>" in picture.to_bytes("svg").decode()
    assert "Alt with θ, 1, 2, 3" in picture.to_bytes("svg").decode()
    assert "Alt with θ, 1, 2, 3".encode() in picture.to_bytes("png")
    assert picture.to_bytes("pdf").startswith(b"%PDF")


# The same on every run.


def test_drawing_leaves_matplotlib_as_it_was():
    code = (
        "import sys, matplotlib\n"
        "matplotlib.rcParams['font.size'] = 31\n"
        "before = matplotlib.rcParams.copy()\n"
        "import rope_course.figures as room\n"
        "picture = room.pair_speeds(); picture.to_bytes('svg'); picture._repr_mimebundle_()\n"
        "assert matplotlib.rcParams.copy() == before\n"
        "assert 'matplotlib.pyplot' not in sys.modules\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True, cwd=ROOT)


def test_failing_figure_leaves_matplotlib_as_it_was(drawing):
    before = matplotlib.rcParams.copy()
    with pytest.raises(ZeroDivisionError):
        drawing(lambda ax: 1 / 0)
    assert matplotlib.rcParams.copy() == before


def test_bytes_are_the_same_with_other_settings_and_on_a_plainer_processor(pictures, tmp_path):
    settings = tmp_path / "settings"
    settings.mkdir()
    (settings / "matplotlibrc").write_text("font.size: 31\naxes.grid: True\nxtick.direction: in\n", encoding="utf-8")
    environment = os.environ | {
        "MATPLOTLIBRC": str(settings),
        "PYTHONHASHSEED": "7",
        "TZ": "Asia/Tokyo",
        "NPY_DISABLE_CPU_FEATURES": " ".join(__cpu_dispatch__),
        "OPENBLAS_CORETYPE": "Nehalem",  # no fused multiply and add; elsewhere than on x86 it says nothing
    }
    command = [sys.executable, "-m", "rope_course", "figures", "--out", str(tmp_path / "drawn")]
    subprocess.run(command, check=True, cwd=ROOT, env=environment, capture_output=True)
    differ = [
        name
        for name, picture in pictures.items()
        if (tmp_path / "drawn" / f"{name}.{FIGURES[name].format}").read_bytes()
        != picture.to_bytes(FIGURES[name].format)
    ]
    assert differ == []


def why_not_comparable():
    """Say why the stored figures cannot be compared with what is drawn here, or None."""
    pins = dict(re.findall(r"(?m)^(matplotlib|pillow)==(.*)$", (ROOT / "constraints.txt").read_text(encoding="utf-8")))
    for package, pinned in pins.items():
        here = importlib.metadata.version(package)
        if here != pinned:
            return f"figures are stored as {package} {pinned} draws them, and this is {package} {here}"
    if ft2font.__freetype_build_type__ == "system":
        return "figures are stored as matplotlib's own FreeType draws letters, and this one uses the system's"
    return None


def skip_unless_ci(reason):
    """Skip a test; where a skipped test would go unseen, fail."""
    if os.environ.get("CI"):
        pytest.fail(f"skipped in CI: {reason}")
    pytest.skip(reason)


def test_stored_figures_are_what_is_drawn(pictures):
    reason = why_not_comparable()
    if reason:
        skip_unless_ci(reason)
    fresh = {
        f"{name}.{FIGURES[name].format}": picture.to_bytes(FIGURES[name].format) for name, picture in pictures.items()
    }
    stored = {path.name: path.read_bytes() for path in STORED.iterdir() if path.name != "README.md"}
    differ = sorted(name for name in fresh.keys() | stored.keys() if fresh.get(name) != stored.get(name))
    assert differ == [], "draw them again with `make figures`"


def test_stored_gallery_tells_of_every_figure(pictures):
    drawn = {
        name: (f"{name}.{FIGURES[name].format}", picture.caption, picture.alt) for name, picture in pictures.items()
    }
    assert (STORED / "README.md").read_text(encoding="utf-8") == gallery(drawn), "draw them again with `make figures`"


def test_other_versions_are_a_reason(monkeypatch):
    monkeypatch.setattr(importlib.metadata, "version", lambda package: "1.0")
    assert "this is matplotlib 1.0" in why_not_comparable()


def test_skipping_fails_in_ci(monkeypatch):
    monkeypatch.delenv("CI", raising=False)
    with pytest.raises(pytest.skip.Exception, match="another version"):
        skip_unless_ci("another version")
    monkeypatch.setenv("CI", "true")
    with pytest.raises(pytest.fail.Exception, match="skipped in CI: another version"):
        skip_unless_ci("another version")


# Helpers.


def test_file_is_replaced_whole_or_not_at_all(tmp_path, monkeypatch):
    path = tmp_path / "new" / "file"
    write_file(path, b"old")
    assert path.read_bytes() == b"old"

    def fail(self, target):
        raise OSError("disk full")

    monkeypatch.setattr(Path, "replace", fail)
    with pytest.raises(OSError, match="disk full"):
        write_file(path, b"new")
    assert [one.name for one in path.parent.iterdir()] == ["file"]
    assert path.read_bytes() == b"old"


def test_thinning_keeps_the_extremes_of_every_step():
    x = np.arange(1, 10_001)
    y = np.random.default_rng(0).standard_normal(10_000)
    y[4321], y[77] = 9, -9
    few_x, few_y = thin_out(x, y, 50)
    assert len(few_x) <= 102
    assert {4322, 78, 1} <= set(few_x)
    assert (np.diff(few_x) > 0).all()
    assert_allclose(few_y, y[few_x - 1], rtol=0, atol=0)


def test_titles_break_into_lines_of_about_one_length():
    assert wrapped("one two three", 20) == "one two three"
    assert wrapped("aaaa bbbb cccc dddd e", 19) == "aaaa bbbb\ncccc dddd e"


def test_numbers_are_written_for_readers():
    assert [number(value) for value in (3, 19869.18, 6.2832, 0.0177)] == ["3", "19,869", "6.28", "0.0177"]
    assert spoken([725]) == "725"
    assert spoken([3, None, 1333]) == "3, none and 1,333"


def test_first_index_is_found():
    assert first_where(np.array([False, True, True])) == 1
    assert first_where(np.array([False])) is None


def test_every_value_gets_a_look_of_its_own():
    assert list(with_looks("ab", "123", "letters")) == [("a", "1"), ("b", "2")]
