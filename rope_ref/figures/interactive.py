"""Small pages with sliders: one HTML and SVG string each, the same on every run, usable from the keyboard.

They need a browser that runs scripts. Beside each stands a still `Picture` for print, screen readers and CI.
"""

import string

from rope_ref.pairing import check_count, check_width


class Interactive:
    """A page with sliders, and the sentence that stands for it where no script runs."""

    def __init__(self, html, alt):
        self.html, self.alt = html, alt

    def _repr_mimebundle_(self, include=None, exclude=None):
        return {"text/html": self.html, "text/plain": self.alt}


CLOCK = string.Template("""\
<div class="rope-clock" style="font-family:sans-serif;font-size:15px;max-width:760px">
<style>
.rope-clock .dials{display:flex;flex-wrap:wrap;gap:6px}
.rope-clock figure{margin:0;width:86px;text-align:center}
.rope-clock svg{width:86px;height:86px;display:block}
.rope-clock figcaption{font-size:13px;line-height:1.25}
.rope-clock label{display:block;margin:8px 0}
.rope-clock input[type=range]{width:100%;display:block;margin:2px 0;box-sizing:border-box}
.rope-clock button{font-size:15px;padding:2px 12px}
</style>
<label>position m: <output class="m"></output>
<input class="position" type="range" min="0" max="$last" value="$start" step="1"></label>
<label>base b: <output class="b"></output>
<input class="base" type="range" min="2" max="7" value="4" step="0.1"></label>
<p><button type="button" class="play" aria-pressed="false">play</button>
<label style="display:inline"><input class="real" type="checkbox"> a wall clock instead, one tick a second</label></p>
<div class="dials" role="img" aria-live="polite"></div>
<script>
(function () {
  const all = document.querySelectorAll(".rope-clock"), box = all[all.length - 1];
  const get = function (name) { return box.querySelector("." + name); };
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
})();
</script>
</div>
""")


def interactive_clock(rotary_dim=16, position=44, last=1000):
    """Show the clock with a slider for the position and one for the base, which starts at 10,000."""
    pairs = check_width(rotary_dim) // 2
    html = CLOCK.substitute(pairs=pairs, start=check_count(position, "position"), last=check_count(last, "last"))
    return Interactive(
        html, f"A clock of {pairs} hands with sliders for position and base; it needs a browser that runs scripts."
    )
