"""The pages with sliders, as text: small, alone, the same on every run. tests/browser moves them."""

import json
import re
from html.parser import HTMLParser

import numpy as np
import pytest
from numpy.testing import assert_allclose

from rope_course.figures import interactive_clock, interactive_patches, patch_maps

TIME = 10.0 ** (-np.arange(8) / 2)  # 10000^(-2i/16): 1, 0.316, 0.1, ...
SHOWS = [interactive_clock, interactive_patches]


class Tags(HTMLParser):
    """Lists the tags of a page, and for each input whether it stands in a label."""

    def __init__(self, text):
        super().__init__()
        self.tags, self.labelled, self.inside = [], [], 0
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))
        self.inside += tag == "label"
        if tag == "input":
            self.labelled.append(self.inside > 0)

    def handle_endtag(self, tag):
        self.inside -= tag == "label"

    def attributes(self, name):
        return [attributes for tag, attributes in self.tags if tag == name]


def without_pixels(html):
    return re.sub("base64,[A-Za-z0-9+/=]+", "", html)


def given(html):
    return json.loads(re.search(r"const given = (\{.*\});", html)[1])


@pytest.mark.parametrize("place", [(15, 22, 0), (3, 44, 5), (29, 0, 12)])
def test_slider_page_adds_up_to_the_scores_of_the_map(place):
    row, column, frame = place
    parts = given(interactive_patches().html)["parts"]
    assert [len(parts[name]) for name in ("frame", "row", "column")] == [13, 30, 45]
    scores = patch_maps().data["cross"] - 16 + parts["frame"][frame]
    got = parts["frame"][frame] + parts["row"][abs(row - 15)] + parts["column"][abs(column - 22)]
    assert_allclose(got, scores[row, column], rtol=0, atol=2e-3)
    assert_allclose(parts["frame"][frame], 2 * np.cos(frame * TIME).sum(), rtol=0, atol=1e-3)


@pytest.mark.parametrize("show", SHOWS)
def test_page_with_sliders_is_small_alone_and_the_same_on_every_run(show):
    html = show().html
    assert html == show().html
    assert len(html.encode()) < 100_000 and len(without_pixels(html).encode()) < 12_000
    assert "$" not in without_pixels(html) and "http" not in html
    page = Tags(html)
    assert page.labelled and all(page.labelled)
    assert not any("id" in attributes for _, attributes in page.tags)
    name = page.tags[0][1]["class"]
    styles = re.search(r"<style>(.*?)</style>", html, re.S)[1].strip().splitlines()
    assert all(line.startswith(f".{name} ") for line in styles)
    assert set(re.findall(r"\.rope-\w+", without_pixels(html))) == {f".{name}"}
    assert show()._repr_mimebundle_()["text/plain"].endswith("With sliders, in a browser that runs scripts.")


@pytest.mark.parametrize("show", SHOWS)
def test_every_name_that_the_script_asks_for_is_on_the_page(show):
    html = show().html
    classes = {name for _, attributes in Tags(html).tags for name in attributes.get("class", "").split()}
    assert set(re.findall(r'get\("(\w+)"\)', html)) <= classes


@pytest.mark.parametrize("show", SHOWS)
def test_page_has_a_still_picture_and_says_what_to_do_until_its_script_runs(show):
    html = show().html
    (picture,) = Tags(html).attributes("img")
    assert picture["alt"] + " With sliders, in a browser that runs scripts." == show().alt
    assert "Run this cell to move" in html
    # An attribute without a value would be dropped where the notebook is not trusted, and the sliders seen.
    assert {"class": "live", "hidden": "hidden"} in Tags(html).attributes("div")


@pytest.mark.parametrize("show", SHOWS)
def test_keys_are_kept_from_jupyterlab_on_each_control_and_not_on_the_box(show):
    page = Tags(show().html)
    takers = [a for tag, a in page.tags if tag in {"input", "button"} or "tabindex" in a]
    assert all(attributes["data-lm-suppress-shortcuts"] == "true" for attributes in takers)
    assert sum("data-lm-suppress-shortcuts" in attributes for _, attributes in page.tags) == len(takers)


@pytest.mark.parametrize("show", SHOWS)
def test_no_element_but_the_slider_takes_its_label(show):
    # A label names the first element in it that can have one: an output before the slider would leave that nameless.
    labels = re.findall(r"<label.*?</label>", show().html, re.S)
    assert labels and all(len(re.findall(r"<(?:input|output|button|select|meter)", label)) == 1 for label in labels)


def test_sliders_reach_every_patch_and_start_at_the_place_given():
    page = Tags(interactive_patches(clip=(3, 4, 6), place=(1, 5)).html)
    ranges = {a["class"]: (a["min"], a["max"], a["value"]) for a in page.attributes("input") if a["type"] == "range"}
    assert ranges == {"row": ("0", "3", "1"), "column": ("0", "5", "5"), "frame": ("0", "2", "0")}


def test_still_clock_tells_the_turns():
    told = "A clock of 3 hands at position 44. Turns made: 7.00, 0.325, 0.0151."
    assert interactive_clock(rotary_dim=6).alt.startswith(told)


def test_still_map_tells_its_highest_and_lowest_score():
    scores = patch_maps(place=(0, 15, 22)).data["cross"]
    assert f"{scores.max():.1f} at the query" in interactive_patches().alt
    assert f"{scores.min():.1f} at least" in interactive_patches().alt


def test_second_token_can_stand_from_the_start():
    page = Tags(interactive_clock(second=25).html)
    fields = {a["class"]: a for a in page.attributes("input")}
    assert fields["other"]["value"] == "25" and "checked" in fields["two"]
    assert "checked" not in {a["class"]: a for a in Tags(interactive_clock().html).attributes("input")}["two"]


def test_clip_without_patches_is_refused():
    with pytest.raises(ValueError, match="clip must be positive, got 0"):
        interactive_patches(clip=(13, 0, 45))


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: interactive_clock(position=1001), ValueError, "position must be from 0 to 1000, got 1001"),
        (lambda: interactive_clock(second=-1), ValueError, "second must be from 0 to 1000, got -1"),
        (lambda: interactive_clock(position=1.5), TypeError, "position must be an integer, got 1.5"),
        (lambda: interactive_clock(rotary_dim=7), ValueError, "rotary_dim must be even, got 7"),
        (lambda: interactive_patches(place=(30, 2)), ValueError, r"place\[0\] must be from 0 to 29, got 30"),
    ],
)
def test_place_outside_the_sliders_is_refused(call, error, message):
    with pytest.raises(error, match=f"^{message}$"):
        call()
