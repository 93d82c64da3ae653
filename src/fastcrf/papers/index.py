"""All verdicts at a glance: the index page, and the list that the command line shows."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

from fastcrf.lab.tables import table
from fastcrf.papers.catalog import studies_of
from fastcrf.papers.item import Item, Paper
from fastcrf.papers.page import count, cpu_hours, records_of, verdicts_of, view_of, write_paper
from fastcrf.system.atomic_write import replace_file

EXAMPLE = "schmidt2015/figure-1"
HEAD = f"""# Five papers, reproduced

fastcrf exists because of five papers. Each page goes through a paper's experiments: every table and figure, with what
is printed beside ours.

- **confirmed**: every comparison that could be made holds, or our mean is near the printed figure;
- **refuted**: none holds; **undecided**: some hold and some do not, and the page says which;
- **(partly run)**: some of the comparisons could not be made yet, because sets or curves have not run;
- **(reduced)**: decided on the first sequences of a set, or of several; the page says how many;
- **not comparable**: it depends on hardware, data or settings that we do not have; **not run**: no rows yet.

Verdicts are computed from rows by thresholds that stand in `src/fastcrf/papers/experiments`, one file for each paper.
Time is CPU time of the solver on one thread; measuring, scoring and compiling are not in it. Curves are medians over
seeds. Step sizes are chosen by whole runs, which are never part of a curve.

```sh
export FASTCRF_DATA=folder                      # the corpora; what is not there is skipped
fastcrf papers list --rows docs/papers/rows
fastcrf papers run {EXAMPLE} --rows docs/papers/rows     # continues where it stopped
fastcrf papers run all --seeds 1 --rows docs/papers/rows     # all that is missing, at full size
fastcrf papers run {EXAMPLE} --sets dutch --first 1000 --rows docs/papers/rows     # on a part of a set
fastcrf papers run all --toy                    # the machinery on tiny data, in minutes
fastcrf papers redraw --rows docs/papers/rows
```"""


def write_pages(papers: Iterable[Paper], rows: Path, folder: Path) -> list[Path]:
    """Every page with its figures, and the index; the files that were written."""
    every = list(papers)
    written = [path for paper in every for path in write_paper(paper, rows, folder)]
    index = folder / "index.md"
    parts = [HEAD, total(every, rows), *(summary(paper, rows) for paper in every)]
    replace_file(index, ("\n\n".join(parts) + "\n").encode())
    return [index, *written]


def total(papers: Sequence[Paper], rows: Path) -> str:
    """One line for each paper: verdicts of all its items, runs and CPU time."""
    lines = ["| paper | items | verdicts | runs | CPU hours |", "|---|--:|---|--:|--:|"]
    for paper in papers:
        verdicts = [verdict for item in paper.items for _, verdict in verdicts_of(item, view_of(item, rows))]
        own = records_of(paper, rows)
        lines.append(
            f"| [{paper.title}]({paper.name}.md) | {len(paper.items)} | {count(verdicts)} | {len(own)} | "
            f"{cpu_hours(own):.2f} |"
        )
    hours = sum(sum(study.hours.values()) for study in studies_of([item for paper in papers for item in paper.items]))
    free = f"{hours:.0f} hours of one core that is free, from the time of these runs"
    lines += ["", f"All of it at full size, with all seeds, is estimated at {free}."]
    return "\n".join(lines)


def summary(paper: Paper, rows: Path) -> str:
    """The items of a paper with their verdicts."""
    lines = [f"## [{paper.title}]({paper.name}.md)", "", paper.says, "", "| item | verdicts |", "|---|---|"]
    for item in paper.items:
        verdicts = [verdict for _, verdict in verdicts_of(item, view_of(item, rows))]
        lines.append(f"| {item.title} | {count(verdicts)} |")
    if paper.learnt:
        lines += ["", f"Not in the paper: {paper.learnt}"]
    return "\n".join(lines)


def listed(items: Iterable[Item], rows: Path) -> str:
    """Items, verdicts and hours as text."""
    lines = []
    for item in items:
        verdicts = [verdict for _, verdict in verdicts_of(item, view_of(item, rows))]
        lines.append([item.name, f"{item.hours:.1f}", count(verdicts)])
    return table(("item", "hours", "verdicts"), lines)
