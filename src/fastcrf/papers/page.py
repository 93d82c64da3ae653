"""Rows to pages: for each paper a page with its items, their verdicts and figures. Nothing is trained here."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from statistics import mean

from fastcrf.papers.experiment import OPTIMUM, Study
from fastcrf.papers.figure import draw
from fastcrf.papers.item import NOT_COMPARABLE, NOT_RUN, WORDS, Claim, Item, Paper, Quantity, Verdict
from fastcrf.papers.records import Book, Record, whole_of
from fastcrf.papers.runs import PROBE, is_older
from fastcrf.papers.substitutes import SETS
from fastcrf.papers.view import View
from fastcrf.system.atomic_write import replace_file

SHORTEST = 500.0  # characters of a verdict's reasons that a page shows


def view_of(item: Item, rows: Path) -> View:
    return View(item.studies, {study.name: Book(rows, study.name) for study in item.studies})


def verdicts_of(item: Item, view: View) -> list[tuple[str, Verdict]]:
    """What is judged, in the order of the page: quantities, then claims."""
    quantities = [(quantity.label, judged_quantity(quantity, view)[1]) for quantity in item.quantities]
    return [*quantities, *((claim.sentence, judged_claim(claim, view)) for claim in item.claims)]


def judged_quantity(quantity: Quantity, view: View) -> tuple[list[float], Verdict]:
    """Ours, and the verdict, which knows whether the sets that it looked at were reduced."""
    view.touched.clear()
    found = known(quantity.measure(view))
    return found, quantity.judge(found, bool(view.touched & view.reduced().keys()))


def judged_claim(claim: Claim, view: View) -> Verdict:
    view.touched.clear()
    view.whole = claim.whole
    verdict = claim.judge(view)
    view.whole = False
    reduced = bool(view.touched & view.reduced().keys())
    if claim.whole and reduced and verdict.word == NOT_RUN:
        return Verdict(NOT_COMPARABLE, "It depends on the number of sequences, and ours are fewer.")
    return verdict._replace(reduced=reduced and not claim.whole)


def known(values: Iterable[float]) -> list[float]:
    return [value for value in values if value == value]


def count(verdicts: Iterable[Verdict]) -> str:
    """How often each word is there."""
    every = list(verdicts)
    shown = sorted(dict.fromkeys(map(str, every)), key=lambda text: (WORDS.index(text.partition(" (")[0]), text))
    return ", ".join(f"{sum(str(verdict) == text for verdict in every)} {text}" for text in shown)


def write_paper(paper: Paper, rows: Path, folder: Path) -> list[Path]:
    """The page of a paper and its figures; the files that were written."""
    written, parts = [], [head(paper), sets_table(paper, rows), runs_table(paper, rows)]
    for item in paper.items:
        view = view_of(item, rows)
        svg = draw(item.figure, view) if item.figure else None
        image = folder / "figures" / f"{item.name.replace('/', '-')}.svg"
        if svg:
            image.parent.mkdir(parents=True, exist_ok=True)
            replace_file(image, svg)
            written.append(image)
        elif image.exists():
            image.unlink()
        parts.append(section(item, view, image.name if svg else None))
    page = folder / f"{paper.name}.md"
    folder.mkdir(parents=True, exist_ok=True)
    replace_file(page, ("\n\n".join(part for part in parts if part) + "\n").encode())
    return [page, *written]


def head(paper: Paper) -> str:
    learnt = f"\n\n**What the paper does not say.** {paper.learnt}" if paper.learnt else ""
    return (
        f"# {paper.title}\n\n{paper.citation}\n\n**What it claims.** {paper.says}{learnt}\n\n"
        "`fastcrf papers redraw` makes this page from [rows](rows) alone. How to read it: [index](index.md)."
    )


def section(item: Item, view: View, image: str | None) -> str:
    """One item: what the paper says, the figure, quantities, claims, and how to run it."""
    parts = [f"## {item.title}", f"Paper: {item.says}"]
    if item.differs:
        parts.append(f"Ours: {item.differs}")
    for name, number in view.reduced().items():
        again = f"`fastcrf papers run {item.name} --sets {name} --first {number}`"
        parts.append(f"**Reduced**: `{name}` is run on its first {number:,} training sequences: {again}.")
    if image:
        parts.append(f"![{item.title}](figures/{image})")
    if item.quantities:
        parts.append(quantity_table(item, view))
    if item.claims:
        parts.append(claim_table(item, view))
    hours = f"{item.hours:.1f} hours for all sets and seeds" if item.hours else "minutes"
    parts.append(f"Again: `fastcrf papers run {item.name}` ({hours}).")
    return "\n\n".join(parts)


def quantity_table(item: Item, view: View) -> str:
    lines = ["| quantity | paper | ours (mean, range, seeds) | verdict |", "|---|--:|--:|---|"]
    for quantity in item.quantities:
        found, verdict = judged_quantity(quantity, view)
        printed = "not printed" if quantity.printed is None else format(quantity.printed, quantity.form)
        lines.append(f"| {quantity.label} | {printed} | {in_short(found, quantity.form)} | {verdict.word} |")
    return "\n".join(lines)


def in_short(values: list[float], form: str) -> str:
    """Mean, range and number of seeds."""
    if not values:
        return "-"
    if len(values) == 1:
        return format(values[0], form)
    return f"{mean(values):{form}} ({min(values):{form}} to {max(values):{form}}, {len(values)})"


def claim_table(item: Item, view: View) -> str:
    lines = ["| claim | verdict | why |", "|---|---|---|"]
    for claim in item.claims:
        verdict = judged_claim(claim, view)
        why = verdict.why if len(verdict.why) <= SHORTEST else f"{verdict.why[: int(SHORTEST)]} ..."
        lines.append(f"| {claim.sentence} | {verdict} | {why.replace('|', '/')} |")
    return "\n".join(lines)


def sets_table(paper: Paper, rows: Path) -> str:
    """Features of each set, ours and the paper's, and how they differ."""
    lines = ["## Sets", "| set | data | sequences | our weights | the paper's | differs |", "|---|---|--:|--:|--:|---|"]
    facts = {record["set"]: record["facts"] for record in records_of(paper, rows)}
    for name in dict.fromkeys(name for item in paper.items for study in item.studies for name in study.sets):
        known_set, theirs = SETS[name], f"{paper.features[name]:,}" if name in paper.features else "not printed"
        for part in sorted(each for each in facts if whole_of(each)[0] == name) or [name]:
            own = facts.get(part)
            ours = f"{own['sequences']:,} | {own['weights']:,}" if own else "- | -"
            title = known_set.title if part == name else f"{known_set.title}, its first sequences"
            lines.append(f"| `{part}` | {title} | {ours} | {theirs} | {known_set.differs} |")
    return lines[0] + "\n\n" + "\n".join(lines[1:])


def runs_table(paper: Paper, rows: Path) -> str:
    """What ran: runs, CPU time, seeds, machine, date, and whether the code has changed since."""
    head = "| study | runs | most seeds | CPU minutes | by older sources | dates | machine |"
    lines = ["## Runs", head, "|---|--:|--:|--:|--:|---|---|"]
    for study in studies_of_paper(paper):
        own = Book(rows, study.name).records
        seeds = len({record["seed"] for record in own if record["seed"] is not None})
        numbers = f"{len(own) or NOT_RUN} | {seeds or '-'} | {60.0 * cpu_hours(own):.1f} | {sum(map(is_older, own))}"
        dates = sorted({record["date"] for record in own if "date" in record})
        shown = " to ".join(dict.fromkeys((dates[0], dates[-1]))) if dates else "-"
        machines = sorted({record["machine"]["processor"] for record in own if record.get("machine")})
        lines.append(f"| `{study.name}` | {numbers} | {shown} | {', '.join(machines)} |")
    every = records_of(paper, rows)
    total = (
        f"{len(every)} runs, {cpu_hours(every):.2f} hours of CPU time in solvers; measuring and scoring come on top. "
        "The machine was shared: its CPU seconds are robust against that, its wall seconds are not."
    )
    chosen = chosen_options(paper, rows)
    return "\n\n".join(part for part in (lines[0], "\n".join(lines[1:]), total if every else "", chosen) if part)


def cpu_hours(records: Iterable[Record]) -> float:
    """What solvers spent, without measuring."""
    return sum(record["rows"][-1].get("cpu_seconds", 0.0) for record in records if record["rows"]) / 3600.0


def chosen_options(paper: Paper, rows: Path) -> str:
    """The options that whole runs have chosen."""
    lines = []
    for study in studies_of_paper(paper):
        view = View((study,), {study.name: Book(rows, study.name)})
        for name in study.sets:
            for curve in study.on(name):
                runs, part = view.runs(name, curve.label) if curve.etas else [], view.parts[name]
                if runs:
                    tried = {str(each["options"]) for each in view.records() if is_of(each, part, curve.label)}
                    options = ", ".join(f"{key} {value}" for key, value in runs[0]["options"].items())
                    lines.append(f"| `{study.name}` | `{part}` | {curve.label} | {options} | {len(tried)} |")
    return (
        "\n".join(["| study | set | curve | best options | tried |", "|---|---|---|---|--:|", *lines]) if lines else ""
    )


def is_of(record: Record, name: str, label: str) -> bool:
    return bool(record["set"] == name and record["curve"] == label and label not in (OPTIMUM.label, PROBE))


def studies_of_paper(paper: Paper) -> list[Study]:
    return list({study.name: study for item in paper.items for study in item.studies}.values())


def records_of(paper: Paper, rows: Path) -> list[Record]:
    return [record for study in studies_of_paper(paper) for record in Book(rows, study.name).records]
