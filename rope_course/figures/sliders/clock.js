  const turn = 2 * Math.PI, width = 2 * given.pairs;
  let timer = null, distance = 0;
  const number = function (name) { return +get(name).value; };
  const shown = function (x) {
    const size = Math.abs(x) < 1000 ? Math.abs(x).toPrecision(3) : Math.round(Math.abs(x)).toLocaleString("en");
    return (x < 0 ? "−" : "") + size;
  };
  // A point of a dial: r from its middle, after some turns anticlockwise from the right.
  const at = function (r, turns) {
    return (r * Math.cos(turn * turns)).toFixed(2) + " " + (-r * Math.sin(turn * turns)).toFixed(2);
  };
  // The way from one number of turns to a later one, less than a turn apart.
  const arc = function (r, from, to) {
    return at(r, from) + "A" + r + " " + r + " 0 " + (to - from > 0.5 ? 1 : 0) + " 0 " + at(r, to);
  };
  // The trace of a turn: the way since the last time at the right, and pale all round if there was a whole turn.
  const trace = function (r, turns, color) {
    const look = ' fill="none" stroke="' + color + '" stroke-width="';
    return (turns >= 1 ? "<circle" + look + '9" stroke-opacity="0.25" r="' + r + '"/>' : "")
      + '<path class="trace"' + look + '9" stroke-opacity="0.6" d="M' + arc(r, 0, turns % 1) + '"/>';
  };
  const dial = function (turns, others) {
    let inside = trace(87, turns, "#0072B2");
    if (others !== null) {
      const between = (turns - others) % 1, low = between < 0 ? turns : others;
      inside += trace(75, others, "#D55E00") + '<path class="between" fill="#009E73" fill-opacity="0.45" '
        + 'stroke="#009E73" stroke-width="2" d="M0 0L' + arc(48, low, low + Math.abs(between)) + 'Z"/>'
        + '<path stroke="#D55E00" stroke-width="6" stroke-dasharray="11 6" d="M0 0L' + at(60, others) + '"/>'
        + '<circle r="7" fill="#fff" stroke="#D55E00" stroke-width="4" transform="translate('
        + at(64, others) + ')"/>';
    }
    return '<svg viewBox="-98 -98 196 196"><circle r="96" fill="#fff" stroke="#5A5A5A" stroke-width="2.5"/>'
      + '<path stroke="#5A5A5A" stroke-width="3" d="M81 0H96"/>' + inside
      + '<path class="hand" stroke="#0072B2" stroke-width="7" stroke-linecap="round" d="M0 0L' + at(78, turns)
      + '"/><circle r="5" fill="#1A1A1A"/></svg>';
  };
  const names = function (real, i) { return real ? ["second", "minute", "hour"][i] + " hand" : "hand " + i; };
  const sentence = function (m, n, turns, apart, real) {
    const last = turns.length - 1, unit = real ? " ticks" : " tokens";
    if (n === null) {
      return "After " + m + unit + ": " + names(real, 0) + " " + shown(turns[0]) + " turns, " + names(real, last) + " "
        + shown(turns[last]) + ". Blue: the way of a hand since it last stood at the right.";
    }
    const cosines = apart.reduce(function (sum, t) { return sum + Math.cos(turn * t); }, 0);
    return "m − n = " + (m - n + "").replace("-", "−") + unit + ". Green: the angle from n to m. It follows from m − n "
      + "alone" + (real ? "." : ", and so does the score of two tokens with equal vectors, one unit in each pair: "
      + "the cosines of the green angles add up to " + shown(cosines) + " of " + turns.length + ".");
  };
  function draw() {
    const m = number("position"), base = Math.pow(10, number("base")), real = get("real").checked;
    const n = get("two").checked ? number("other") : null;
    const periods = real ? [60, 3600, 43200]
      : Array.from({length: given.pairs}, function (_, i) { return turn * Math.pow(base, 2 * i / width); });
    const since = function (place) { return periods.map(function (period) { return place / period; }); };
    const turns = since(m), others = since(n), apart = since(m - n);
    const shownBase = real ? "none: the ratios are 60 and 12" : Math.round(base).toLocaleString("en");
    get("m").textContent = m;
    get("n").textContent = number("other");
    get("b").textContent = shownBase;
    get("base").setAttribute("aria-valuetext", shownBase);
    get("base").disabled = real;
    box.querySelectorAll(".pair").forEach(function (part) { part.hidden = n === null; });
    const captions = turns.map(function (t, i) {
      const two = "<br>m " + shown(t) + ", n " + shown(others[i]) + "<br>m − n: " + shown(apart[i]) + " turns";
      return "<b>" + names(real, i) + "</b><br>" + shown(periods[i]) + (real ? " ticks" : " tokens") + " a turn"
        + (n === null ? "<br>" + shown(t) + " turns" : two);
    });
    get("dials").innerHTML = turns.map(function (t, i) {
      return "<figure>" + dial(t, n === null ? null : others[i]) + "<figcaption>" + captions[i]
        + "</figcaption></figure>";
    }).join("");
    get("dials").setAttribute("aria-label", "Turns of the hands at position " + m + ": "
      + turns.map(shown).join(", ") + (n === null ? "." : "; at position " + n + ": " + others.map(shown).join(", ")
      + "; between the two: " + apart.map(shown).join(", ") + "."));
    get("says").textContent = sentence(m, n, turns, apart, real);
  }
  // Move one token; the other goes with it if the distance is kept, and both stop where one of them must.
  function move(name, place) {
    const partner = name === "position" ? "other" : "position", step = name === "position" ? -distance : distance;
    get(name).value = place;
    if (get("two").checked && get("keep").checked) {
      get(partner).value = number(name) + step;
      get(name).value = number(partner) - step;
    }
    draw();
  }
  function stop() {
    clearInterval(timer);
    timer = null;
    get("play").textContent = "play";
    get("play").setAttribute("aria-pressed", "false");
    get("says").setAttribute("aria-live", "polite");
  }
  function tick() {
    const slider = get("position"), before = slider.value;
    if (!document.contains(slider)) { stop(); return; }
    move("position", +before + 1);
    if (slider.value === before) { move("position", 0); }
  }
  get("play").addEventListener("click", function () {
    if (timer !== null) { stop(); return; }
    timer = setInterval(tick, 120);
    this.textContent = "pause";
    this.setAttribute("aria-pressed", "true");
    get("says").setAttribute("aria-live", "off"); // eight sentences a second are none
  });
  ["position", "other"].forEach(function (name) {
    get(name).addEventListener("input", function () { move(name, number(name)); });
  });
  get("keep").addEventListener("input", function () { distance = number("position") - number("other"); });
  ["base", "real", "two"].forEach(function (name) { get(name).addEventListener("input", draw); });
  draw();
