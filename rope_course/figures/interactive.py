"""Small pages with sliders: one HTML and SVG string each, the same on every run, usable from the keyboard.

They need a browser that runs scripts. Beside each stands a still `Picture` for print, screen readers and CI.
"""

import json
import string

import numpy as np
from matplotlib import colormaps
from matplotlib.colors import to_hex

from rope_ref.checks import check_count, check_width
from rope_ref.frequencies import inverse_frequencies, rotation_angles
from rope_ref.positions import video_split


class Interactive:
    """A page with sliders, and the sentence that stands for it where no script runs."""

    def __init__(self, html, alt):
        self.html, self.alt = html, alt

    def _repr_mimebundle_(self, include=None, exclude=None):
        return {"text/html": self.html, "text/plain": self.alt}


# What every page has: its name keeps its styles and its script from meeting those of another page.
PAGE = string.Template("""\
<div class="$name" style="font-family:sans-serif;font-size:15px;max-width:760px">
<style>
$style.$name label{display:block;margin:8px 0}
.$name input[type=range]{width:100%;display:block;margin:2px 0;box-sizing:border-box}
.$name button{font-size:15px;padding:2px 12px}
</style>
$body<script>
(function () {
  const all = document.querySelectorAll(".$name"), box = all[all.length - 1];
  const get = function (name) { return box.querySelector("." + name); };
$script})();
</script>
</div>
""")

CLOCK_STYLE = """\
.rope-clock .dials{display:flex;flex-wrap:wrap;gap:6px}
.rope-clock figure{margin:0;width:86px;text-align:center}
.rope-clock svg{width:86px;height:86px;display:block}
.rope-clock figcaption{font-size:13px;line-height:1.25}
"""
CLOCK_BODY = string.Template("""\
<label>position m: <output class="m"></output>
<input class="position" type="range" min="0" max="$last" value="$start" step="1"></label>
<label>base b: <output class="b"></output>
<input class="base" type="range" min="2" max="7" value="4" step="0.1"></label>
<p><button type="button" class="play" aria-pressed="false">play</button>
<label style="display:inline"><input class="real" type="checkbox"> a wall clock instead, one tick a second</label></p>
<div class="dials" role="img" aria-live="polite"></div>
""")
CLOCK_SCRIPT = string.Template("""\
  const pairs = $pairs, width = 2 * pairs;
  let timer = null;
  const shown = function (x) { return x < 1000 ? x.toPrecision(3) : Math.round(x).toLocaleString("en"); };
  function draw() {
    const m = +get("position").value, base = Math.pow(10, +get("base").value), real = get("real").checked;
    const periods = real ? [60, 3600, 43200]
      : Array.from({length: pairs}, function (_, i) { return 2 * Math.PI * Math.pow(base, 2 * i / width); });
    get("m").textContent = m;
    get("b").textContent = real ? "none: the ratios are 60 and 12" : Math.round(base).toLocaleString("en");
    get("base").disabled = real;
    const turns = periods.map(function (p) { return m / p; });
    get("dials").innerHTML = periods.map(function (p, i) {
      const t = 2 * Math.PI * turns[i], x = (34 * Math.cos(t)).toFixed(2), y = (-34 * Math.sin(t)).toFixed(2);
      return '<figure><svg viewBox="-43 -43 86 86"><circle r="40" fill="#fff" stroke="#555" stroke-width="1.5"/>'
        + '<line x1="34" x2="40" stroke="#555" stroke-width="2"/><line x2="' + x + '" y2="' + y
        + '" stroke="#0072B2" stroke-width="4" stroke-linecap="round"/></svg><figcaption>'
        + (real ? ["second", "minute", "hour"][i] + " hand" : "hand " + i) + "<br>" + shown(p)
        + (real ? " ticks" : " tokens") + "<br>" + shown(turns[i]) + " turns</figcaption></figure>";
    }).join("");
    get("dials").setAttribute("aria-label", "At position " + m + " the hands have made "
      + turns.map(shown).join(", ") + " turns.");
  }
  get("play").onclick = function () {
    const on = timer === null;
    if (on) {
      timer = setInterval(function () {
        const slider = get("position");
        if (!document.contains(slider)) { clearInterval(timer); return; }
        slider.value = (+slider.value + 1) % (+slider.max + 1);
        draw();
      }, 120);
    } else { clearInterval(timer); timer = null; }
    this.textContent = on ? "pause" : "play";
    this.setAttribute("aria-pressed", on);
  };
  ["position", "base", "real"].forEach(function (name) { get(name).addEventListener("input", draw); });
  draw();
""")


def interactive_clock(rotary_dim=16, position=44, last=1000):
    """Show the clock with a slider for the position and one for the base, which starts at 10,000."""
    pairs = check_width(rotary_dim) // 2
    html = PAGE.substitute(
        name="rope-clock",
        style=CLOCK_STYLE,
        body=CLOCK_BODY.substitute(start=check_count(position, "position"), last=check_count(last, "last")),
        script=CLOCK_SCRIPT.substitute(pairs=pairs),
    )
    return Interactive(
        html, f"A clock of {pairs} hands with sliders for position and base; it needs a browser that runs scripts."
    )


PATCHES_STYLE = """\
.rope-patches svg{width:100%;max-width:600px;height:auto;display:block;cursor:pointer}
"""
PATCHES_BODY = string.Template("""\
<label>row of the query: <output class="h"></output>
<input class="row" type="range" min="0" max="$last_row" value="$row" step="1"></label>
<label>column of the query: <output class="w"></output>
<input class="column" type="range" min="0" max="$last_column" value="$column" step="1"></label>
<label>frames between the query and the keys: <output class="t"></output>
<input class="frame" type="range" min="0" max="$last_frame" value="0" step="1"></label>
<svg viewBox="0 0 $columns $rows" role="img" shape-rendering="crispEdges"></svg>
<p class="says" aria-live="polite"></p>
""")
PATCHES_SCRIPT = string.Template("""\
  const parts = $parts, shades = $shades;
  const rows = parts.row.length, columns = parts.column.length, svg = box.querySelector("svg");
  const least = function (values) { return Math.min.apply(null, values); };
  const low = least(parts.frame) + least(parts.row) + least(parts.column);
  const high = parts.frame[0] + parts.row[0] + parts.column[0];
  let cells = "";
  for (let i = 0; i < rows * columns; i++) {
    cells += '<rect x="' + i % columns + '" y="' + Math.floor(i / columns) + '" width="1.02" height="1.02"/>';
  }
  svg.innerHTML = cells + '<circle r="0.7" fill="none" stroke="#000" stroke-width="0.25" shape-rendering="auto"/>';
  function draw() {
    const t = +get("frame").value, h = +get("row").value, w = +get("column").value;
    const scores = Array.from(svg.querySelectorAll("rect"), function (cell, i) {
      const down = Math.abs(Math.floor(i / columns) - h), across = Math.abs(i % columns - w);
      const score = parts.frame[t] + parts.row[down] + parts.column[across];
      cell.setAttribute("fill", shades[Math.round((score - low) / (high - low) * (shades.length - 1))]);
      return score;
    });
    svg.querySelector("circle").setAttribute("cx", w + 0.5);
    svg.querySelector("circle").setAttribute("cy", h + 0.5);
    get("t").textContent = t;
    get("h").textContent = h;
    get("w").textContent = w;
    const says = "At the ring: " + parts.frame[t].toFixed(1) + " from time and "
      + (high - parts.frame[0]).toFixed(1) + " from row and column make " + scores[h * columns + w].toFixed(1)
      + ". The darkest patch of this frame has " + least(scores).toFixed(1) + ".";
    get("says").textContent = says;
    svg.setAttribute("aria-label", "Map of the scores in one frame. " + says);
  }
  svg.addEventListener("click", function (event) {
    const frame = svg.getBoundingClientRect();
    get("row").value = Math.floor((event.clientY - frame.top) / frame.height * rows);
    get("column").value = Math.floor((event.clientX - frame.left) / frame.width * columns);
    draw();
  });
  ["frame", "row", "column"].forEach(function (name) { get(name).addEventListener("input", draw); });
  draw();
""")


def interactive_patches(clip=(13, 30, 45), place=(15, 22), head_dim=64):
    """Show the score of a query of ones with a frame of keys, with sliders for its row, its column and the frame."""
    counts = [check_count(count, "clip") for count in clip]
    parts = {}  # the score is the sum of one number an axis, by the distance on that axis
    for name, count, width in zip(("frame", "row", "column"), counts, video_split(head_dim), strict=True):
        cosines = np.cos(rotation_angles(np.arange(count), inverse_frequencies(width)))
        parts[name] = (2 * cosines.sum(axis=-1)).round(3).tolist()
    shades = [to_hex(color) for color in colormaps["cividis"](np.linspace(0, 1, 60))]
    frames, rows, columns = counts
    row, column = place
    places = {"row": row, "column": column, "rows": rows, "columns": columns}
    html = PAGE.substitute(
        name="rope-patches",
        style=PATCHES_STYLE,
        body=PATCHES_BODY.substitute(places, last_row=rows - 1, last_column=columns - 1, last_frame=frames - 1),
        script=PATCHES_SCRIPT.substitute(parts=json.dumps(parts), shades=json.dumps(shades)),
    )
    return Interactive(
        html,
        f"A map of {rows} by {columns} patches, shaded by their score with a query, with sliders for its row, its "
        "column and the frame of the keys; it needs a browser that runs scripts.",
    )
