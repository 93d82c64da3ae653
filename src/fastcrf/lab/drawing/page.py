"""A comparison as one self-contained web page: curves to hover over, zoom into and switch off, and the tables.

The page loads nothing: its style (`page.css`), its scripts (`scales.js`, `panel.js`, `page.js`) and its data are
inside. The scripts only draw; every figure in the tables comes from `summary`.
"""

from __future__ import annotations

import html
import json
from importlib.resources import files
from typing import Any

from fastcrf.lab.store import Row, Rows, plain
from fastcrf.lab.summary import Comparison, by_problem, by_run, compare
from fastcrf.lab.tables import (
    OUTCOME_HEAD,
    headline,
    machine_line,
    outcome_lines,
    race_head,
    race_lines,
    remarks,
    verdict,
)
from fastcrf.solvers.colors import color_of, repeats

COLUMNS = ("passes", "seconds", "suboptimality", "error", "active", "objective")
SCRIPTS = ("scales.js", "panel.js", "page.js")
DIGITS = 6  # significant ones, in the data of the page

OUTCOME_CAPTION = "how each run ended; of several seeds, medians"
RACE_CAPTION = "seconds (passes) until a relative gap; * is the first in seconds"

PAGE = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>fastcrf compare</title>
<style>
{style}</style>
</head>
<body>
<h1>Solvers compared</h1>
{verdicts}
<p class="note">{machine}</p>
<form id="controls"></form>
<div id="legend" role="group" aria-label="solvers"></div>
{sections}
<p class="note">Lines are medians over seeds, and bands reach from the best seed to the worst. Click a solver to hide or
show it. Drag across a panel to zoom; double-click to go back. With the keyboard: Tab to a panel, arrow keys to read
values, + and - to zoom, Escape to go back.</p>
<script type="application/json" id="data">{data}</script>
<script>
{script}</script>
</body>
</html>
"""

SECTION = """<section>
<h2>{title}</h2>
<div class="panels" data-problem="{number}"></div>
{outcome}
{remarks}
{race}
</section>"""


def page(rows: Rows) -> str:
    """The page of an experiment's rows."""
    here = files("fastcrf.lab.drawing")
    comparisons = compare(rows)
    return PAGE.format(
        style=here.joinpath("page.css").read_text("utf-8"),
        script="".join(here.joinpath(name).read_text("utf-8") for name in SCRIPTS),
        verdicts="\n".join(verdict_of(comparison, many=len(comparisons) > 1) for comparison in comparisons),
        machine=html.escape(machine_line(rows)),
        sections="\n".join(section(k, comparison) for k, comparison in enumerate(comparisons)),
        data=embedded([curves(own) for own in by_problem(rows)]),
    )


def verdict_of(comparison: Comparison, many: bool) -> str:
    """The sentence about who was first, after the name of the data if there are several."""
    name = f"{comparison.problem['dataset']}: " if many else ""
    return "".join(f'<p class="verdict">{html.escape(name + sentence)}</p>' for sentence in verdict(comparison))


def curves(rows: Rows) -> dict[str, Any]:
    """What the script draws of one problem."""
    ran = [run for run in by_run(rows) if run[-1]["step"] is not None]
    labels = list(dict.fromkeys(run[-1]["solver"] for run in ran))
    styles = dict(zip(labels, zip(map(color_of, labels), repeats(labels), strict=True), strict=True))
    return {"floor": rows[-1]["accuracy"], "runs": [run_curves(run, *styles[run[-1]["solver"]]) for run in ran]}


def run_curves(rows: Rows, color: str, dashes: int) -> Row:
    points = {name: [rounded(row.get(name)) for row in rows] for name in COLUMNS}
    return {"solver": rows[-1]["solver"], "seed": rows[-1]["seed"], "color": color, "dashes": dashes, **points}


def rounded(value: float | None) -> float | None:
    return None if value is None else float(f"{value:.{DIGITS}g}")


def embedded(data: Any) -> str:
    """JSON that cannot end the script element it stands in."""
    return json.dumps(plain(data), allow_nan=False, separators=(",", ":")).replace("<", "\\u003c")


def section(number: int, comparison: Comparison) -> str:
    notes = [line for note in remarks(comparison) for line in note.split("\n")]
    race = html_table("race", RACE_CAPTION, race_head(comparison), race_lines(comparison))
    return SECTION.format(
        title=html.escape(headline(comparison)).replace("e-", "e&#8209;"),  # 1e-9 stays on one line
        number=number,
        outcome=html_table("outcome", OUTCOME_CAPTION, *known_columns(OUTCOME_HEAD, outcome_lines(comparison))),
        remarks="".join(f"<p class='note'>{html.escape(note)}</p>" for note in notes),
        race=race if comparison.gaps() else "",
    )


def known_columns(head: tuple[str, ...], lines: list[list[str]]) -> tuple[tuple[str, ...], list[list[str]]]:
    """A table without the columns that have no value in any line."""
    kept = [k for k in range(len(head)) if any(cells[k] != "-" for cells in lines)]
    return tuple(head[k] for k in kept), [[cells[k] for k in kept] for cells in lines]


def html_table(kind: str, caption: str, head: tuple[str, ...], lines: list[list[str]]) -> str:
    """A table. Each cell has the title of its column, which a phone shows beside it."""
    titles = "".join(f'<th scope="col">{html.escape(title)}</th>' for title in head)
    body = "\n".join(f"<tr>{html_cells(head, cells)}</tr>" for cells in lines)
    return (
        f'<table class="{kind}">\n<caption>{html.escape(caption)}</caption>\n<thead><tr>{titles}</tr></thead>\n'
        f"<tbody>\n{body}\n</tbody></table>"
    )


def html_cells(head: tuple[str, ...], cells: list[str]) -> str:
    name, *others = (html.escape(cell) for cell in cells)
    beside = zip(head[1:], others, strict=True)
    return f'<th scope="row">{name}</th>' + "".join(
        f'<td data-title="{html.escape(t)}">{cell}</td>' for t, cell in beside
    )
