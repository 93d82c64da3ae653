// The panels of each problem, the switches and the legend.
const problems = JSON.parse(document.getElementById("data").textContent);
const styles = new Map(problems.flatMap(problem => problem.runs.map(run => [run.solver, run])));

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

for (const [solver, { color, dashes }] of styles) {
  const button = document.createElement("button"), line = element("svg", { width: 26, height: 8, "aria-hidden": "true" });
  const dash = { "stroke-dasharray": DASHES[dashes % DASHES.length] };
  line.append(element("line", { x1: 0, x2: 26, y1: 4, y2: 4, class: "curve", style: `--own: ${color}`, ...dash }));
  button.type = "button";
  button.append(line, solver);
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

let drawnAt = document.body.clientWidth;
addEventListener("resize", () => {
  if (document.body.clientWidth === drawnAt) return;
  drawnAt = document.body.clientWidth;
  draw();
});
