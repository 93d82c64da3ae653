"""A comparison as one self-contained web page: curves to hover over, zoom into and switch off, and the tables.

The page loads nothing: its style (`page.css`), its script (`page.js`) and its data are inside. The script only draws;
every figure in the tables comes from `summary`.
"""

from __future__ import annotations

import html
import json
from importlib.resources import files
from typing import Any

from fastcrf.lab.store import Row, Rows, plain
from fastcrf.lab.summary import Comparison, by_problem, by_run, compare
from fastcrf.lab.tables import OUTCOME_HEAD, headline, outcome_lines, race_head, race_lines, remarks

COLUMNS = ("passes", "seconds", "suboptimality", "error", "active", "objective")
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
<p class="note">Drag across a panel to zoom, double-click to go back, click a solver to hide or show it.</p>
<form id="controls"></form>
<div id="legend" role="group" aria-label="solvers"></div>
{sections}
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
    return PAGE.format(
        style=here.joinpath("page.css").read_text("utf-8"),
        script=here.joinpath("page.js").read_text("utf-8"),
        sections="\n".join(section(k, comparison) for k, comparison in enumerate(compare(rows))),
        data=embedded([curves(own) for own in by_problem(rows)]),
    )


def curves(rows: Rows) -> dict[str, Any]:
    """What the script draws of one problem."""
    ran = [run for run in by_run(rows) if run[-1]["step"] is not None]
    return {"floor": rows[-1]["accuracy"], "runs": [run_curves(run) for run in ran]}


def run_curves(rows: Rows) -> Row:
    points = {name: [rounded(row.get(name)) for row in rows] for name in COLUMNS}
    return {"solver": rows[-1]["solver"], "seed": rows[-1]["seed"], **points}


def rounded(value: float | None) -> float | None:
    return None if value is None else float(f"{value:.{DIGITS}g}")


def embedded(data: Any) -> str:
    """JSON that cannot end the script element it stands in."""
    return json.dumps(plain(data), allow_nan=False, separators=(",", ":")).replace("<", "\\u003c")


def section(number: int, comparison: Comparison) -> str:
    notes = [line for note in remarks(comparison) for line in note.split("\n")]
    race = html_table("race", RACE_CAPTION, race_head(comparison), race_lines(comparison))
    return SECTION.format(
        title=html.escape(headline(comparison)),
        number=number,
        outcome=html_table("outcome", OUTCOME_CAPTION, OUTCOME_HEAD, outcome_lines(comparison)),
        remarks="".join(f"<p class='note'>{html.escape(note)}</p>" for note in notes),
        race=race if comparison.gaps() else "",
    )


def html_table(kind: str, caption: str, head: tuple[str, ...], lines: list[list[str]]) -> str:
    def line(tag: str, cells: Any) -> str:
        return "<tr>" + "".join(f"<{tag}>{html.escape(cell)}</{tag}>" for cell in cells) + "</tr>"

    body = "\n".join(line("td", cells) for cells in lines)
    return f"<table class='{kind}'>\n<caption>{html.escape(caption)}</caption>\n{line('th', head)}\n{body}\n</table>"
