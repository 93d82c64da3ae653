// Filters the table of solvers by words, tier and penalty. Without scripts the table shows every solver.
document.addEventListener("DOMContentLoaded", () => {
  const form = document.getElementById("solver-filter");
  if (!form) return;
  const rows = [...document.querySelectorAll("table.solvers tbody tr")];
  const count = document.getElementById("solver-count");
  const update = () => {
    const words = form.elements.words.value.toLowerCase().split(/\s+/).filter(Boolean);
    const wanted = [form.elements.tier, form.elements.penalty];
    let shown = 0;
    for (const row of rows) {
      const cells = [...row.cells].map((cell) => cell.textContent.trim());
      const text = cells.join(" ").toLowerCase();
      const fits =
        words.every((word) => text.includes(word)) &&
        wanted.every(({ name, value }) => !value || cells[name === "tier" ? 2 : 3].split(", ").includes(value));
      row.hidden = !fits;
      shown += fits;
    }
    count.textContent = `${shown} of ${rows.length} solvers`;
  };
  form.hidden = false;
  form.addEventListener("input", update);
  form.addEventListener("submit", (event) => event.preventDefault());
  update();
});
