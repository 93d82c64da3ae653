"use strict";
// Draws the curves of the page. A panel is one measure against one kind of effort; the state below is all there is.
const problems = JSON.parse(document.getElementById("data").textContent);
const SPENT = { passes: "effective passes over the data", seconds: "seconds in the solver" };
const MEASURES = {
  suboptimality: { name: "relative distance to the optimum", log: true },
  error: { name: "held-out token error", log: false },
  active: { name: "non-zero weights", log: false },
};
const COLOURS = ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#8c564b", "#7f7f7f", "#bcbd22", "#9467bd"];
const WIDTH = 560, HEIGHT = 340, BOX = { left: 62, right: 10, top: 24, bottom: 40 };
const state = { hidden: new Set(), logX: false, logError: true, active: false };

const solvers = [...new Set(problems.flatMap(problem => problem.runs.map(run => run.solver)))];
const colour = solver => COLOURS[solvers.indexOf(solver) % COLOURS.length];

function element(name, attributes = {}, text = "") {
  const made = document.createElementNS("http://www.w3.org/2000/svg", name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  if (text) made.textContent = text;
  return made;
}

// A scale maps values to pixels and back. Values that a logarithm cannot show are outside.
function makeScale(low, high, from, to, log) {
  const bend = log ? Math.log10 : value => value, unbend = log ? value => 10 ** value : value => value;
  const a = bend(low), span = bend(high) - a || 1;
  return {
    low, high, log,
    at: value => from + (bend(value) - a) / span * (to - from),
    inverse: pixel => unbend(a + (pixel - from) / (to - from) * span),
  };
}

function ticks({ low, high, log }) {
  if (log) {
    const found = [], first = Math.floor(Math.log10(low)), last = Math.ceil(Math.log10(high));
    const step = Math.max(1, Math.ceil((last - first) / 8)), within = last - first < 3 ? [1, 2, 5] : [1];
    for (let power = first; power <= last; power += step) found.push(...within.map(factor => factor * 10 ** power));
    const seen = found.filter(value => value >= low * 0.999 && value <= high * 1.001);
    if (seen.length > 1) return seen;
  }
  const rough = (high - low) / 5, unit = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].find(factor => factor * unit >= rough) * unit;
  const found = [];
  for (let value = Math.ceil(low / step) * step; value <= high + step * 1e-6; value += step) found.push(value);
  return found;
}

function shown(value) {
  if (value === 0) return "0";
  const size = Math.abs(value);
  if (size >= 1e5 || size < 1e-3) return value.toExponential(1).replace(".0e", "e").replace("e+", "e");
  return String(Number(value.toPrecision(4)));
}

function points(problem, run, spent, measure, scaleX, log) {
  const found = [];
  run[measure].forEach((value, k) => {
    if (value === null || run[spent][k] === null) return;
    const floored = measure === "suboptimality" ? Math.max(value, problem.floor || 1e-12) : value;
    if ((!log || floored > 0) && (!scaleX || run[spent][k] > 0)) found.push([run[spent][k], floored]);
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
    this.tip.hidden = true;
  }

  get log() { return this.measure === "error" ? state.logError : MEASURES[this.measure].log; }

  curves() {
    return this.problem.runs.filter(run => !state.hidden.has(run.solver)).map(run => ({
      solver: run.solver, seed: run.seed, points: points(this.problem, run, this.spent, this.measure, state.logX, this.log),
    })).filter(curve => curve.points.length);
  }

  draw() {
    const curves = this.curves(), all = curves.flatMap(curve => curve.points);
    const label = `${MEASURES[this.measure].name} against ${SPENT[this.spent]}`;
    this.svg = element("svg", { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, role: "img", "aria-label": label });
    this.place.replaceChildren(this.svg, this.tip);
    this.tip.hidden = true;
    this.svg.append(element("text", { x: BOX.left, y: 14, class: "name" }, MEASURES[this.measure].name));
    if (!all.length) return;
    this.setScales(all);
    this.drawAxes();
    const clip = `clip${Panel.count = (Panel.count || 0) + 1}`;
    const box = { x: BOX.left, y: BOX.top, width: WIDTH - BOX.left - BOX.right, height: HEIGHT - BOX.top - BOX.bottom };
    const clipping = element("clipPath", { id: clip });
    clipping.append(element("rect", box));
    const inside = element("g", { "clip-path": `url(#${clip})` });
    for (const curve of curves) {
      const path = curve.points.map(([x, y]) => `${this.x.at(x).toFixed(1)},${this.y.at(y).toFixed(1)}`).join(" ");
      inside.append(element("polyline", { points: path, class: "curve", stroke: colour(curve.solver) }));
    }
    this.cursor = element("line", { class: "cursor", y1: BOX.top, y2: HEIGHT - BOX.bottom, visibility: "hidden" });
    this.chosen = element("rect", { class: "chosen", y: BOX.top, height: box.height, visibility: "hidden" });
    this.svg.append(clipping, inside, element("rect", { ...box, class: "frame" }), this.cursor, this.chosen);
    this.listen(curves);
  }

  setScales(all) {
    const inView = this.zoom ? all.filter(([x]) => x >= this.zoom[0] && x <= this.zoom[1]) : all;
    const xs = all.map(point => point[0]), ys = (inView.length ? inView : all).map(point => point[1]);
    const [left, right] = this.zoom || [Math.min(...xs), Math.max(...xs)];
    let low = Math.min(...ys), high = Math.max(...ys);
    if (this.log) [low, high] = [low / 1.3, high * 1.3];
    else { const margin = 0.05 * (high - low) || 0.05 * high || 1; [low, high] = [low - margin, high + margin]; }
    this.x = makeScale(left, right > left ? right : left + 1, BOX.left, WIDTH - BOX.right, state.logX);
    this.y = makeScale(low, high, HEIGHT - BOX.bottom, BOX.top, this.log);
  }

  drawAxes() {
    const bottom = HEIGHT - BOX.bottom;
    for (const value of ticks(this.x)) {
      const x = this.x.at(value);
      this.svg.append(element("line", { class: "grid", x1: x, x2: x, y1: BOX.top, y2: bottom }));
      this.svg.append(element("text", { x, y: bottom + 16, "text-anchor": "middle" }, shown(value)));
    }
    for (const value of ticks(this.y)) {
      const y = this.y.at(value);
      this.svg.append(element("line", { class: "grid", x1: BOX.left, x2: WIDTH - BOX.right, y1: y, y2: y }));
      this.svg.append(element("text", { x: BOX.left - 6, y: y + 4, "text-anchor": "end" }, shown(value)));
    }
    const middle = (BOX.left + WIDTH - BOX.right) / 2;
    this.svg.append(element("text", { x: middle, y: HEIGHT - 6, "text-anchor": "middle", class: "name" }, SPENT[this.spent]));
    const floor = this.problem.floor;
    if (this.measure === "suboptimality" && floor > this.y.low && floor < this.y.high) {
      const y = this.y.at(floor), line = { class: "floor", x1: BOX.left, x2: WIDTH - BOX.right, y1: y, y2: y };
      this.svg.append(element("line", line));
      this.svg.append(element("text", { x: WIDTH - BOX.right - 4, y: y - 4, "text-anchor": "end" }, "optimum known to here"));
    }
  }

  listen(curves) {
    let start = null;
    const pixel = event => {
      const box = this.svg.getBoundingClientRect(), x = (event.clientX - box.left) / box.width * WIDTH;
      return Math.min(Math.max(x, BOX.left), WIDTH - BOX.right);
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
      if (drawn) { this.zoom = [this.x.inverse(a), this.x.inverse(b)]; this.draw(); }
    };
    this.svg.onpointerleave = () => { start = null; this.tip.hidden = true; this.cursor.setAttribute("visibility", "hidden"); };
    this.svg.ondblclick = () => { this.zoom = null; this.draw(); };
  }

  // The newest value of each curve at the effort under the pointer.
  tell(x, curves) {
    const effort = this.x.inverse(x);
    const lines = curves.map(curve => {
      const before = curve.points.filter(point => point[0] <= effort).at(-1);
      const name = curve.seed ? `${curve.solver} (seed ${curve.seed})` : curve.solver;
      return before && { name, value: before[1] };
    }).filter(Boolean).sort((one, other) => one.value - other.value);
    this.tip.hidden = !lines.length;
    const wide = Math.max(...lines.map(line => line.name.length));
    this.tip.textContent = [`${shown(effort)} ${this.spent}`,
      ...lines.map(line => `${line.name.padEnd(wide)}  ${shown(line.value)}`)].join("\n");
    this.tip.style.fontFamily = "ui-monospace, monospace";
    const share = x / WIDTH;
    this.tip.style.left = share < 0.5 ? `${100 * share + 2}%` : "auto";
    this.tip.style.right = share < 0.5 ? "auto" : `${100 * (1 - share) + 2}%`;
    this.tip.style.top = "2rem";
    this.cursor.setAttribute("x1", x);
    this.cursor.setAttribute("x2", x);
    this.cursor.setAttribute("visibility", "visible");
  }
}

const known = (problem, measure) => problem.runs.some(run => run[measure].some(value => value !== null));
const panels = [...document.querySelectorAll(".panels")].flatMap(place => {
  const problem = problems[Number(place.dataset.problem)];
  return Object.keys(MEASURES).filter(measure => known(problem, measure)).flatMap(
    measure => Object.keys(SPENT).map(spent => new Panel(place, problem, spent, measure)));
});

function draw() {
  for (const panel of panels) {
    panel.place.hidden = panel.measure === "active" && !state.active;
    if (!panel.place.hidden) panel.draw();
  }
}

function addSwitch(name, key) {
  const label = document.createElement("label"), box = document.createElement("input");
  Object.assign(box, { type: "checkbox", checked: state[key] });
  box.onchange = () => { state[key] = box.checked; for (const panel of panels) panel.zoom = null; draw(); };
  label.append(box, ` ${name}`);
  document.getElementById("controls").append(label);
}
addSwitch("logarithmic effort", "logX");
addSwitch("logarithmic error", "logError");
addSwitch("non-zero weights", "active");

for (const solver of solvers) {
  const button = document.createElement("button");
  Object.assign(button, { type: "button", textContent: solver });
  button.style.setProperty("--own", colour(solver));
  button.setAttribute("aria-pressed", "true");
  button.onclick = () => {
    const hide = !state.hidden.has(solver);
    state.hidden[hide ? "add" : "delete"](solver);
    button.setAttribute("aria-pressed", String(!hide));
    draw();
  };
  document.getElementById("legend").append(button);
}
draw();
