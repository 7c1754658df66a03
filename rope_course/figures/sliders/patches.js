  const parts = given.parts, shades = given.shades;
  const rows = parts.row.length, columns = parts.column.length, svg = get("map");
  let marked = null; // row and column of the patch under the pointer or the keyboard; null: the query's own
  const number = function (name) { return +get(name).value; };
  const least = function (values) { return Math.min.apply(null, values); };
  const most = function (values) { return Math.max.apply(null, values); };
  const say = function (x) { return x.toFixed(1).replace("-", "−"); };
  const added = function (x) { return x < 0 ? " − " + say(-x) : " + " + say(x); };
  let cells = "";
  for (let i = 0; i < rows * columns; i++) {
    cells += '<rect x="' + i % columns + '" y="' + Math.floor(i / columns) + '" width="1.02" height="1.02"/>';
  }
  const ring = '<circle r="0.75" fill="none" shape-rendering="auto" ';
  const edge = '<path class="mark" d="M-0.2 -0.2H1.2V1.2H-0.2Z" fill="none" shape-rendering="auto" ';
  svg.innerHTML = cells + ring + 'stroke="#fff" stroke-width="0.6"/>' + ring + 'stroke="#000" stroke-width="0.28"/>'
    + edge + 'stroke="#fff" stroke-width="0.5"/>' + edge + 'stroke="#D55E00" stroke-width="0.24"/>';
  const patches = Array.from(svg.querySelectorAll("rect"));
  const steps = function (count, one, back, on) {
    return count === 0 ? "" : Math.abs(count) + " " + one + (Math.abs(count) > 1 ? "s " : " ") + (count < 0 ? back : on);
  };
  // Where a patch lies as the query sees it.
  const where = function (down, across, t) {
    const way = [steps(t, "frame", "", "away"), steps(down, "row", "up", "down"), steps(across, "column", "left", "right")];
    return way.some(Boolean) ? "from the query: " + way.filter(Boolean).join(", ") : "the query itself";
  };
  // The lowest and the highest score that the colours reach: of this frame, or of all.
  const scale = function (t) {
    const all = get("all").checked, sides = least(parts.row) + least(parts.column);
    return [(all ? least(parts.frame) : parts.frame[t]) + sides,
      (all ? most(parts.frame) : parts.frame[t]) + parts.row[0] + parts.column[0]];
  };
  function draw() {
    const t = number("frame"), h = number("row"), w = number("column"), ends = scale(t);
    const row = marked ? marked[0] : h, column = marked ? marked[1] : w;
    patches.forEach(function (patch, i) {
      const down = Math.abs(Math.floor(i / columns) - h), across = Math.abs(i % columns - w);
      const share = (parts.frame[t] + parts.row[down] + parts.column[across] - ends[0]) / (ends[1] - ends[0]);
      patch.setAttribute("fill", shades[Math.round(share * (shades.length - 1))]);
    });
    svg.querySelectorAll("circle").forEach(function (circle) {
      circle.setAttribute("cx", w + 0.5);
      circle.setAttribute("cy", h + 0.5);
    });
    svg.querySelectorAll(".mark").forEach(function (mark) {
      mark.setAttribute("visibility", marked ? "visible" : "hidden");
      mark.setAttribute("transform", "translate(" + column + " " + row + ")");
    });
    get("t").textContent = t;
    get("h").textContent = h;
    get("w").textContent = w;
    const across = parts.column[Math.abs(column - w)], down = parts.row[Math.abs(row - h)];
    const score = parts.frame[t] + down + across;
    get("low").textContent = say(ends[0]);
    get("high").textContent = say(ends[1]);
    get("tick").style.left = 100 * (score - ends[0]) / (ends[1] - ends[0]) + "%";
    const says = "Row " + row + ", column " + column + " (" + where(row - h, column - w, t) + "): "
      + say(parts.frame[t]) + " from time" + added(down) + " from the row" + added(across)
      + " from the column = " + say(score) + ".";
    get("says").textContent = says + (marked ? "" : " Point at a patch, or go to the map with Tab and use the arrow "
      + "keys; a click or Enter puts the query there.");
    svg.setAttribute("aria-label", "Map of " + rows + " by " + columns + " scores in one frame. Arrow keys move over "
      + "the patches, Enter puts the query there. " + says);
  }
  const inside = function (place, count) { return Math.max(0, Math.min(count - 1, place)); };
  const pointed = function (event) {
    const spot = new DOMPoint(event.clientX, event.clientY).matrixTransform(svg.getScreenCTM().inverse());
    return [inside(Math.floor(spot.y), rows), inside(Math.floor(spot.x), columns)];
  };
  const mark = function (place) { marked = place; draw(); };
  function ask(place) {
    get("row").value = place[0];
    get("column").value = place[1];
    mark(place);
  }
  svg.addEventListener("pointermove", function (event) { mark(pointed(event)); });
  svg.addEventListener("pointerleave", function () { mark(null); });
  svg.addEventListener("click", function (event) { ask(pointed(event)); });
  svg.addEventListener("focus", function () { if (!marked) { mark([number("row"), number("column")]); } });
  svg.addEventListener("blur", function () { mark(null); });
  svg.addEventListener("keydown", function (event) {
    const step = {ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1]}[event.key];
    const here = marked || [number("row"), number("column")];
    if (step) {
      mark([inside(here[0] + step[0], rows), inside(here[1] + step[1], columns)]);
    } else if (event.key === "Enter" || event.key === " ") {
      ask(here);
    } else { return; }
    event.preventDefault();
  });
  get("bar").style.background = "linear-gradient(to right," + shades.join(",") + ")";
  ["frame", "row", "column", "all"].forEach(function (name) { get(name).addEventListener("input", draw); });
  draw();
