"""Small pages with sliders: one HTML and SVG string each, the same on every run, usable from the keyboard.

What a page is made of lies in `sliders/`: its parts in HTML, its styles, its script. Where the script does not run, in
a notebook that is not trusted or a browser without scripts, a still picture stays, and a sentence says what to do.
"""

import json
import string
from pathlib import Path

import numpy as np
from matplotlib import colormaps
from matplotlib.colors import to_hex
from matplotlib.figure import Figure
from matplotlib.patches import Circle, Wedge

from rope_course.figures.picture import BLUE, GREY, INK, SKY, Picture, house_style, number
from rope_ref.checks import check_count, check_integer, check_width
from rope_ref.frequencies import inverse_frequencies, rotation_angles, wavelengths
from rope_ref.positions import video_split

SLIDERS = Path(__file__).resolve().parent / "sliders"
# JupyterLab takes the arrow keys for itself, unless the very element that has the focus asks it not to.
KEYS = 'data-lm-suppress-shortcuts="true"'


class Interactive:
    """A page with sliders, and the sentence that stands for it where no script runs."""

    def __init__(self, html, alt):
        self.html, self.alt = html, alt

    def _repr_mimebundle_(self, include=None, exclude=None):
        return {"text/html": self.html, "text/plain": self.alt}


def filled(file, /, **values):
    """Read a part of a page and put the values where it names them."""
    return string.Template((SLIDERS / file).read_text(encoding="utf-8")).substitute(values)


def page(name, what, still, body, given):
    """Join the parts of one page. Its name keeps its styles and its script from meeting those of another."""
    html = filled(
        "page.html",
        name=f"rope-{name}",
        what=what,
        style=filled(f"{name}.css"),
        still=still._repr_mimebundle_()["text/html"],
        body=filled(f"{name}.html", keys=KEYS, **body),
        given=json.dumps(given),
        script=filled(f"{name}.js"),
    )
    return Interactive(html, f"{still.alt} With sliders, in a browser that runs scripts.")


def check_position(position, last, name):
    """Return a position that a slider from 0 to `last` can show, or raise."""
    position = check_integer(position, name)
    if not 0 <= position <= last:
        raise ValueError(f"{name} must be from 0 to {last}, got {position}")
    return position


# The clock -----------------------------------------------------------------------------------------------------------


def draw_dial(ax, turns):
    """Draw one dial: a hand that has made some turns from the right, and its way since it last stood there."""
    angle = 2 * np.pi * turns
    ax.add_patch(Circle((0, 0), 0.98, facecolor="white", edgecolor=GREY, linewidth=1.4))
    if turns >= 1:
        ax.add_patch(Wedge((0, 0), 0.93, 0, 360, width=0.09, facecolor=SKY, alpha=0.3))
    ax.add_patch(Wedge((0, 0), 0.93, 0, np.degrees(angle) % 360, width=0.09, facecolor=BLUE, alpha=0.6))
    ax.plot((0.82, 0.98), (0, 0), color=GREY, linewidth=1.6)
    ax.plot((0, 0.8 * np.cos(angle)), (0, 0.8 * np.sin(angle)), color=BLUE, linewidth=4, solid_capstyle="round")
    ax.plot(0, 0, "o", color=INK, markersize=5)
    ax.set(xlim=(-1, 1), ylim=(-1, 1), aspect="equal")
    ax.axis("off")


def still_clock(rotary_dim, position):
    """Draw what the clock shows at first: every hand at one position, four dials a row."""
    periods = wavelengths(inverse_frequencies(rotary_dim))
    turns = position / periods
    rows = -(-len(turns) // 4)
    with house_style():
        fig = Figure(figsize=(6.4, 2.25 * rows), layout="constrained")
        axes = fig.subplots(rows, 4, squeeze=False).ravel()
        for ax in axes[len(turns) :]:
            ax.axis("off")
        for i, (ax, made, period) in enumerate(zip(axes, turns, periods, strict=False)):
            draw_dial(ax, made)
            ax.text(0, -1.1, f"hand {i}\n{number(period)} tokens a turn\n{made:#.3g} turns", ha="center", va="top")
    told = ", ".join(f"{made:#.3g}" for made in turns)
    return Picture(fig, f"A clock of {len(turns)} hands at position {position}. Turns made: {told}.", {"turns": turns})


def key(dashes, color):
    """Draw the hand of a token, as it looks on the dials, for the label of its slider."""
    line = f'<path d="M5 7H43" stroke="{color}" stroke-width="5"{dashes}/>'
    return f'<svg class="key" viewBox="0 0 48 14" aria-hidden="true">{line}</svg>'


def interactive_clock(rotary_dim=16, position=44, last=1000, second=None):
    """Show the clock with sliders for the position, for that of a second token, and for the base (at first 10,000)."""
    rotary_dim, last = check_width(rotary_dim), check_count(last, "last")
    position = check_position(position, last, "position")
    body = {
        "position": position,
        "last": last,
        "second": max(position - 12, 0) if second is None else check_position(second, last, "second"),
        "two": "" if second is None else " checked",
        "off": " hidden" if second is None else "",
        "key_m": key("", BLUE),
        "key_n": key(' stroke-dasharray="9 5"', "#D55E00"),
    }
    return page("clock", "the clock", still_clock(rotary_dim, position), body, {"pairs": rotary_dim // 2})


# The map of patches --------------------------------------------------------------------------------------------------


def scores_by_distance(counts, head_dim):
    """Compute what each axis adds to the score of two tokens of ones, by the distance on that axis."""
    parts = {}
    for name, count, width in zip(("frame", "row", "column"), counts, video_split(head_dim), strict=True):
        cosines = np.cos(rotation_angles(np.arange(count), inverse_frequencies(width)))
        parts[name] = (2 * cosines.sum(axis=-1)).round(3).tolist()
    return parts


def still_patches(parts, row, column):
    """Draw what the map shows at first: the scores of one query with the patches of its own frame."""
    down, across = np.array(parts["row"]), np.array(parts["column"])
    rows, columns = len(down), len(across)
    low, high = (parts["frame"][0] + pick(down) + pick(across) for pick in (np.min, np.max))
    scores = (
        parts["frame"][0] + down[np.abs(np.arange(rows) - row)][:, None] + across[np.abs(np.arange(columns) - column)]
    )
    with house_style():
        fig = Figure(figsize=(5.4, 5.4 * rows / columns + 0.8), layout="constrained")
        ax = fig.subplots()
        drawn = ax.imshow(scores, cmap="cividis", vmin=low, vmax=high, interpolation="nearest")
        ax.plot(column, row, "o", markersize=11, markerfacecolor="none", markeredgecolor="white", markeredgewidth=3.5)
        ax.plot(column, row, "o", markersize=11, markerfacecolor="none", markeredgecolor="black", markeredgewidth=1.5)
        ax.set(xlabel="column", ylabel="row")
        fig.colorbar(drawn, orientation="horizontal", label="score", aspect=40)
    alt = (
        f"A map of {rows} by {columns} patches of one frame, shaded by their score with the query in row {row}, column "
        f"{column}: {scores.max():.1f} at the query, brightest in its row and its column, {scores.min():.1f} at least."
    )
    return Picture(fig, alt, {"scores": scores, "ends": (low, high)})


def interactive_patches(clip=(13, 30, 45), place=(15, 22), head_dim=64):
    """Show the score of a query of ones with a frame of keys, with sliders for its row, its column and the frame."""
    frames, rows, columns = counts = [check_count(count, "clip") for count in clip]
    row = check_position(place[0], rows - 1, "place[0]")
    column = check_position(place[1], columns - 1, "place[1]")
    parts = scores_by_distance(counts, head_dim)
    still = still_patches(parts, row, column)
    low, top = (f"{end:.1f}".replace("-", "−") for end in still.data["ends"])
    body = {"row": row, "column": column, "last_row": rows - 1, "last_column": columns - 1, "last_frame": frames - 1}
    body |= {"low": low, "top": top, "wide": columns + 1.2, "high": rows + 1.2}
    shades = [to_hex(color) for color in colormaps["cividis"](np.linspace(0, 1, 60))]
    return page("patches", "the query", still, body, {"parts": parts, "shades": shades})
