// A panel draws one measure against one kind of effort, and answers to pointer and keyboard.
const SPENT = { passes: "effective passes over the data", seconds: "seconds in the solver" };
const MEASURES = {
  suboptimality: { name: "relative gap to the optimum", log: true },
  error: { name: "held-out token error", log: false },
  active: { name: "non-zero weights", log: false },
};
const DASHES = ["", "8 4", "2 4", "8 4 2 4", "14 4"];
const BOX = { left: 58, right: 10, top: 24, bottom: 44 };
const state = { hidden: new Set(), logX: true, logError: true, active: false };

function element(name, attributes = {}, text = "") {
  const made = document.createElementNS("http://www.w3.org/2000/svg", name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  if (text) made.textContent = text;
  return made;
}

function pointsOf(floor, run, spent, measure, logX, logY) {
  const found = [];
  run[measure].forEach((value, k) => {
    if (value === null || run[spent][k] === null) return;
    const floored = measure === "suboptimality" ? Math.max(value, floor || 1e-12) : value;
    if ((!logY || floored > 0) && (!logX || run[spent][k] > 0)) found.push([run[spent][k], floored]);
  });
  return found;
}

class Panel {
  constructor(place, problem, spent, measure) {
    Object.assign(this, { problem, spent, measure, zoom: null });
    this.place = document.createElement("div");
    this.place.className = "panel";
    place.append(this.place);
    this.tip = document.createElement("div");
    this.tip.className = "tip";
    this.tip.setAttribute("aria-live", "polite");
    this.tip.hidden = true;
  }

  get log() { return this.measure === "error" ? state.logError : MEASURES[this.measure].log; }

  // One curve per solver: [effort, median, least, largest].
  curves() {
    const seeds = new Map();
    for (const run of this.problem.runs.filter(run => !state.hidden.has(run.solver))) {
      const points = pointsOf(this.problem.floor, run, this.spent, this.measure, state.logX, this.log);
      if (points.length) seeds.set(run.solver, [...(seeds.get(run.solver) || []), { run, points }]);
    }
    return [...seeds].map(([solver, own]) => ({
      solver, color: own[0].run.color, dashes: own[0].run.dashes, seeds: own.length,
      points: own.length > 1 ? bandOf(own.map(each => each.points), this.log) : own[0].points.map(([x, y]) => [x, y, y, y]),
    }));
  }

  draw() {
    this.width = Math.max(280, this.place.clientWidth || 560);
    this.height = Math.min(360, Math.max(270, 0.62 * this.width));
    const curves = this.curves(), label = `${MEASURES[this.measure].name} against ${SPENT[this.spent]}`;
    const focused = this.svg && document.activeElement === this.svg;
    const size = { viewBox: `0 0 ${this.width} ${this.height}`, width: this.width, height: this.height };
    this.svg = element("svg", { ...size, role: "img", tabindex: 0, "aria-label": label });
    this.place.replaceChildren(this.svg, this.tip);
    this.tip.hidden = true;
    this.svg.append(element("text", { x: BOX.left, y: 14, class: "name" }, MEASURES[this.measure].name));
    if (!curves.length) return;
    this.setScales(curves.flatMap(curve => curve.points));
    this.drawAxes();
    this.drawCurves(curves);
    this.listen(curves);
    if (focused) this.svg.focus();
  }

  drawCurves(curves) {
    const clip = `clip${Panel.count = (Panel.count || 0) + 1}`;
    const box = { x: BOX.left, y: BOX.top, width: this.width - BOX.left - BOX.right, height: this.height - BOX.top - BOX.bottom };
    const clipping = element("clipPath", { id: clip }), inside = element("g", { "clip-path": `url(#${clip})` });
    clipping.append(element("rect", box));
    const path = (points, k) => points.map(point => `${this.x.at(point[0]).toFixed(1)},${this.y.at(point[k]).toFixed(1)}`);
    for (const { points, color, dashes, seeds } of curves) {
      const style = `--own: ${color}`;
      if (seeds > 1) {
        const around = [...path(points, 3), ...path([...points].reverse(), 2)].join(" ");
        inside.append(element("polygon", { points: around, class: "band", style }));
      }
      const dash = { "stroke-dasharray": DASHES[dashes % DASHES.length] };
      inside.append(element("polyline", { points: path(points, 1).join(" "), class: "curve", style, ...dash }));
    }
    const bottom = this.height - BOX.bottom;
    this.cursor = element("line", { class: "cursor", y1: BOX.top, y2: bottom, visibility: "hidden" });
    this.chosen = element("rect", { class: "chosen", y: BOX.top, height: box.height, visibility: "hidden" });
    this.svg.append(clipping, inside, element("rect", { ...box, class: "frame" }), this.cursor, this.chosen);
  }

  setScales(all) {
    const inView = this.zoom ? all.filter(([x]) => x >= this.zoom[0] && x <= this.zoom[1]) : all;
    const xs = all.map(point => point[0]), seen = inView.length ? inView : all;
    const [left, right] = this.zoom || [Math.min(...xs), Math.max(...xs)];
    let low = Math.min(...seen.map(point => point[2])), high = Math.max(...seen.map(point => point[3]));
    if (this.log) [low, high] = [low / 1.3, high * 1.3];
    else { const margin = 0.05 * (high - low) || 0.05 * high || 1; [low, high] = [low - margin, high + margin]; }
    this.x = makeScale(left, right > left ? right : left + 1, BOX.left, this.width - BOX.right, state.logX);
    this.y = makeScale(low, high, this.height - BOX.bottom, BOX.top, this.log);
  }

  drawAxes() {
    const bottom = this.height - BOX.bottom, end = this.width - BOX.right;
    for (const value of ticks(this.x, 52)) {
      const x = this.x.at(value);
      this.svg.append(element("line", { class: "grid", x1: x, x2: x, y1: BOX.top, y2: bottom }));
      this.svg.append(element("text", { x, y: bottom + 17, "text-anchor": "middle" }, shown(value)));
    }
    for (const value of ticks(this.y, 30)) {
      const y = this.y.at(value);
      this.svg.append(element("line", { class: "grid", x1: BOX.left, x2: end, y1: y, y2: y }));
      this.svg.append(element("text", { x: BOX.left - 6, y: y + 4, "text-anchor": "end" }, shown(value)));
    }
    this.svg.append(element("text", { x: (BOX.left + end) / 2, y: this.height - 8, "text-anchor": "middle", class: "name" }, SPENT[this.spent]));
    const floor = this.problem.floor;
    if (this.measure === "suboptimality" && floor > this.y.low && floor < this.y.high) {
      const y = this.y.at(floor);
      this.svg.append(element("line", { class: "floor", x1: BOX.left, x2: end, y1: y, y2: y }));
      this.svg.append(element("text", { x: end - 4, y: y - 4, "text-anchor": "end" }, "optimum known to here"));
    }
  }

  within(x) { return Math.min(Math.max(x, BOX.left), this.width - BOX.right); }

  zoomTo(range) { this.zoom = range; this.draw(); }

  listen(curves) {
    let start = null;
    const pixel = event => {
      const box = this.svg.getBoundingClientRect();
      return this.within((event.clientX - box.left) / box.width * this.width);
    };
    this.svg.onpointerdown = event => { start = pixel(event); };
    this.svg.onpointermove = event => {
      const x = pixel(event);
      this.tell(x, curves);
      if (start === null) return;
      this.chosen.setAttribute("x", Math.min(start, x));
      this.chosen.setAttribute("width", Math.abs(x - start));
      this.chosen.setAttribute("visibility", "visible");
    };
    this.svg.onpointerup = event => {
      const [a, b] = [start, pixel(event)].sort((one, other) => one - other);
      const drawn = start !== null && b - a > 6;
      start = null;
      if (drawn) this.zoomTo([this.x.inverse(a), this.x.inverse(b)]);
    };
    this.svg.onpointerleave = () => { start = null; this.forget(); };
    this.svg.ondblclick = () => this.zoomTo(null);
    this.svg.onblur = () => this.forget();
    this.svg.onkeydown = event => this.answer(event, curves);
  }

  // Arrow keys move the cursor; + and - zoom around it; Escape shows everything again.
  answer(event, curves) {
    const middle = (BOX.left + this.width - BOX.right) / 2, x = this.at ?? middle, half = (this.width - BOX.left - BOX.right) / 2;
    const steps = { ArrowLeft: -10, ArrowRight: 10, Home: -this.width, End: this.width };
    if (event.key in steps) this.tell(this.within(x + steps[event.key]), curves);
    else if (event.key === "+") this.zoomTo([this.x.inverse(this.within(x - half / 2)), this.x.inverse(this.within(x + half / 2))]);
    else if (event.key === "-") this.zoomTo([this.x.inverse(x - 2 * half), this.x.inverse(x + 2 * half)]);
    else if (event.key === "Escape") this.zoomTo(null);
    else return;
    event.preventDefault();
  }

  forget() {
    this.at = undefined;
    this.tip.hidden = true;
    this.cursor.setAttribute("visibility", "hidden");
  }

  // The newest value of each curve at the effort under the cursor.
  tell(x, curves) {
    this.at = x;
    const effort = this.x.inverse(x);
    const lines = curves.map(({ solver, points }) => {
      const before = points.filter(point => point[0] <= effort).at(-1);
      return before && { name: solver, value: before[1] };
    }).filter(Boolean).sort((one, other) => one.value - other.value);
    this.tip.hidden = !lines.length;
    const wide = Math.max(...lines.map(line => line.name.length));
    this.tip.textContent = [`${shown(effort)} ${this.spent}`,
      ...lines.map(line => `${line.name.padEnd(wide)}  ${shown(line.value)}`)].join("\n");
    const share = x / this.width;
    this.tip.style.left = share < 0.5 ? `${100 * share + 2}%` : "auto";
    this.tip.style.right = share < 0.5 ? "auto" : `${100 * (1 - share) + 2}%`;
    this.cursor.setAttribute("x1", x);
    this.cursor.setAttribute("x2", x);
    this.cursor.setAttribute("visibility", "visible");
  }
}
