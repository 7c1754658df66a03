"""What a figure function returns, and the style that all figures share.

A figure function takes numbers, calls the library for the arrays, draws them and returns a `Picture`. The decorator
`figure` gives it the style, the title and a place in `FIGURES`. Nothing here touches matplotlib's global state.
"""

import base64
import contextlib
import functools
import html
import io
import textwrap
from pathlib import Path

import numpy as np

try:
    import matplotlib
    from PIL import Image  # comes with matplotlib
except ModuleNotFoundError as error:
    if error.name != "matplotlib":
        raise
    message = "figures need matplotlib; it comes with the extra: pip install 'rope_ref[notebooks]'"
    raise ModuleNotFoundError(message, name=error.name) from None

from rope_ref.files import write_file

# The hues of Okabe and Ito, told apart by colour-blind eyes. Every series has its own dash or marker as well.
BLUE, SKY = "#0072B2", "#56B4E9"
ORANGE, VERMILLION = "#E69F00", "#D55E00"
GREEN, PURPLE = "#009E73", "#CC79A7"
INK, GREY, PALE = "#1A1A1A", "#5A5A5A", "#E4E4E4"  # text, what stands behind, areas

WIDTH = 7.0  # inches; 10 pt text is still above 9 pt when a page shrinks it to 6.5
STYLE = {
    "axes.edgecolor": GREY,
    "axes.labelcolor": INK,
    "axes.spines.right": False,
    "axes.spines.top": False,
    "axes.titlesize": 10,
    "figure.constrained_layout.h_pad": 0.07,
    "figure.titlesize": 12,
    "figure.titleweight": "bold",
    "font.size": 10,
    "lines.linewidth": 1.8,
    "lines.markersize": 5,
    "pdf.fonttype": 42,
    "savefig.dpi": 150,
    "svg.fonttype": "path",  # looks the same on every screen; the text of the file is in its title and description
    "svg.hashsalt": "rope_ref",
    "text.color": INK,
    "xtick.color": GREY,
    "xtick.labelcolor": INK,
    "ytick.color": GREY,
    "ytick.labelcolor": INK,
}
SCREEN = 120  # pixels an inch in a notebook

FIGURES = {}
FORMATS = ("svg", "png", "pdf")


@contextlib.contextmanager
def house_style():
    """Draw with matplotlib's defaults and our style, whatever the reader's settings are; put those back."""
    with matplotlib.rc_context():
        matplotlib.rcdefaults()
        matplotlib.rcParams.update(STYLE)
        yield


def with_few_colours(png):
    """Give a PNG of at most 256 colours: a third of the bytes in a notebook, and no difference to the eye."""
    buffer = io.BytesIO()
    with Image.open(io.BytesIO(png)) as image:
        image.convert("RGB").quantize(256, dither=Image.Dither.NONE).save(buffer, "png")
    return buffer.getvalue()


class Picture:
    """A drawn figure, its alt text, and the arrays and numbers it shows."""

    def __init__(self, figure, alt, data, caption=None):
        self.figure = figure
        self.alt = alt
        self.data = data
        self.caption = caption  # only where the message depends on the data; else the decorator's

    def to_bytes(self, format="png"):
        """Give the bytes of a file, the same on every run."""
        if format not in FORMATS:
            raise ValueError(f"format must be one of {', '.join(FORMATS)}, got {format!r}")
        unsaid = {"svg": ("Date", "Creator"), "png": ("Software",), "pdf": ("CreationDate", "Creator", "Producer")}
        text = {"Title": self.caption, ("Subject" if format == "pdf" else "Description"): self.alt}
        buffer = io.BytesIO()
        with house_style():
            self.figure.savefig(buffer, format=format, metadata=text | dict.fromkeys(unsaid[format]))
        return buffer.getvalue()

    def save(self, path):
        """Write a file whose ending is svg, png or pdf."""
        write_file(path, self.to_bytes(Path(path).suffix.removeprefix(".")))

    def _repr_mimebundle_(self, include=None, exclude=None):
        payload = base64.b64encode(with_few_colours(self.to_bytes("png"))).decode("ascii")
        width = round(self.figure.get_figwidth() * SCREEN)
        image = (
            f'<img alt="{html.escape(self.alt)}" src="data:image/png;base64,{payload}" '
            f'width="{width}" style="max-width:100%;height:auto">'
        )
        return {"text/html": image, "text/plain": self.alt}

    def __repr__(self):
        return self.alt


def wrapped(text, width):
    """Break a title into as few lines as fit, of about one length: no single word is left over."""
    lines = len(textwrap.wrap(text, width))
    while len(textwrap.wrap(text, width - 1)) == lines:
        width -= 1
    return textwrap.fill(text, width)


def round_limits(ax):
    """Round the limits of both axes: their last digits differ between processors, and SVG names parts after them."""
    for limits, set_limits in ((ax.get_xlim(), ax.set_xlim), (ax.get_ylim(), ax.set_ylim)):
        set_limits([float(f"{limit:.9g}") for limit in limits])


def figure(caption, format="svg"):
    """Make a figure function: drawn in the house style, with the message as its title, listed in `FIGURES`."""

    def register(draw):
        @functools.wraps(draw)
        def drawn(*args, **kwargs):
            with house_style():
                picture = draw(*args, **kwargs)
                picture.caption = picture.caption or caption
                shown = picture.figure
                shown.suptitle(wrapped(picture.caption, int(10 * shown.get_figwidth())), x=0.01, ha="left")
                for ax in shown.axes:
                    round_limits(ax)
                # The layout is settled here once: every file of this picture then has the same one.
                shown.draw_without_rendering()
                shown.set_layout_engine("none")
            return picture

        drawn.caption, drawn.format = caption, format
        FIGURES[draw.__name__] = drawn
        return drawn

    return register


def with_looks(values, looks, name):
    """Pair each value with its colour and marker, or raise: a value without a look would not be drawn."""
    if not 0 < len(values) <= len(looks):
        raise ValueError(f"{name} must hold from 1 to {len(looks)} values, got {len(values)}")
    return zip(values, looks, strict=False)


def first_where(condition):
    """Find the first index at which a condition holds, or None."""
    found = np.flatnonzero(condition)
    return int(found[0]) if found.size else None


def label_end(ax, x, y, text, **kwargs):
    """Write the name of a series at the right end of its line, where the eye arrives."""
    settings = {"xytext": (6, 0), "textcoords": "offset points", "va": "center", "ha": "left"} | kwargs
    return ax.annotate(text, (x, y), annotation_clip=False, **settings)


def thin_out(x, y, bins):
    """Keep the lowest and the highest point of each of `bins` steps of a logarithmic x axis, in order."""
    x, y = np.asarray(x), np.asarray(y)
    edges = np.geomspace(x[0], x[-1], bins + 1)[1:-1]
    starts = np.unique(np.concatenate(([0], np.searchsorted(x, edges))))
    parts = zip(starts, [*starts[1:], len(x)], strict=True)
    kept = sorted({start + pick(y[start:end]) for start, end in parts for pick in (np.argmin, np.argmax)})
    return x[kept], y[kept]


def plain(value, _=None):
    """Write a tick label as a whole number, 10,000 where matplotlib would write 10 to the 4."""
    return f"{value:,.0f}"


def spoken(values, none="none"):
    """Write whole numbers, or `none`, as words are listed: 3, 65 and 1,333."""
    words = [none if value is None else f"{value:,}" for value in values]
    return " and ".join([", ".join(words[:-1]), words[-1]] if len(words) > 1 else words)


def number(value):
    """Write a number for an alt text: whole ones with commas, others to three significant digits."""
    if float(value).is_integer() or abs(value) >= 1000:
        return f"{value:,.0f}"
    return f"{value:.3g}"
