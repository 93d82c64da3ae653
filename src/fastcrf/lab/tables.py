"""A comparison as text: how each run ended, and who came within which gap first."""

from __future__ import annotations

from collections.abc import Sequence

from fastcrf.lab.summary import Comparison, RunSummary, median, median_cost

OUTCOME_HEAD = ("solver", "ended", "passes", "seconds", "gap", "error", "active", "state MB", "peak MB")

BUSY = 0.85  # a run that got a core for less of its time was disturbed by others


def in_words(comparison: Comparison) -> str:
    """Everything, with a line about the problem above it."""
    parts = [headline(comparison), table(OUTCOME_HEAD, outcome_lines(comparison)), *remarks(comparison)]
    if comparison.gaps():
        race = table(race_head(comparison), race_lines(comparison))
        parts.append(f"seconds (passes) to a relative gap of ...; * is the first in seconds\n{race}")
    return "\n\n".join(parts)


def headline(comparison: Comparison) -> str:
    p = comparison.problem
    size = f"{p['sequences']:,} sequences, {p['positions']:,} tokens, {p['labels']} labels, {p['weights']:,} weights"
    if p["optimum"] is None:
        return f"{p['dataset']}: {size}; c1={p['c1']:g}, c2={p['c2']:g}"
    known = "no certificate" if p["accuracy"] is None else f"certified to {p['accuracy']:.0e}"
    return f"{p['dataset']}: {size}; c1={p['c1']:g}, c2={p['c2']:g}; optimum {p['optimum']:.6f} ({known})"


def outcome_lines(comparison: Comparison) -> list[list[str]]:
    return [outcome_line(solver, runs) for solver, runs in comparison.by_solver().items()]


def outcome_line(solver: str, runs: list[RunSummary]) -> list[str]:
    """One solver; of several seeds, medians."""
    endings = sorted({run.outcome["status"] for run in runs})
    figures = [
        number(median(runs, "passes"), ".1f"),
        number(median(runs, "seconds"), ".2f"),
        number(median(runs, "suboptimality"), ".1e"),
        number(median(runs, "error"), ".2%"),
        number(median(runs, "active"), ",.0f"),
        number(median(runs, "state_mb"), ",.1f"),
        number(median(runs, "peak_mb"), ",.1f"),
    ]
    return [solver, ", ".join(endings), *figures]


def remarks(comparison: Comparison) -> list[str]:
    """Why runs were skipped, failed or diverged, each reason once; and whose seconds are doubtful."""
    told = ("skipped", "failed", "diverged")
    lines = [
        f"{run.solver} {run.outcome['status']}: {run.outcome['reason']}"
        for run in comparison.runs
        if run.outcome["status"] in told
    ]
    starved = [run for run in comparison.runs if (run.outcome["cpu_share"] or 1.0) < BUSY]
    lines += [
        f"{run.solver} got a core for {run.outcome['cpu_share']:.0%} of its time: trust its passes, not its seconds."
        for run in starved
    ]
    return ["\n".join(dict.fromkeys(lines))] if lines else []


def race_head(comparison: Comparison) -> tuple[str, ...]:
    return ("solver", *(f"{gap:.0e}" for gap in comparison.gaps()))


def race_lines(comparison: Comparison) -> list[list[str]]:
    """When each solver came within each gap."""
    return [
        [solver, *(arrival(comparison, solver, runs, gap) for gap in comparison.gaps())]
        for solver, runs in comparison.by_solver().items()
        if any(run.reached for run in runs)
    ]


def arrival(comparison: Comparison, solver: str, runs: list[RunSummary], gap: float) -> str:
    seconds, passes = median_cost(runs, gap, "seconds"), median_cost(runs, gap, "passes")
    if seconds is None or passes is None:
        return "-"
    star = "*" if comparison.first_to(gap, "seconds") == solver else ""
    return f"{star}{seconds:.2f} ({passes:.1f})"


def number(value: float | None, form: str) -> str:
    return "-" if value is None else format(value, form)


def table(head: Sequence[str], lines: Sequence[Sequence[str]]) -> str:
    """Aligned columns: words to the left, numbers to the right."""
    rows = [list(head), *lines]
    widths = [max(len(row[k]) for row in rows) for k in range(len(head))]
    words = [k for k in range(len(head)) if head[k] in ("solver", "ended", "dataset")]
    return "\n".join(
        "  ".join(f"{cell:<{width}}" if k in words else f"{cell:>{width}}"
                  for k, (cell, width) in enumerate(zip(row, widths, strict=True))).rstrip()
        for row in rows
    )  # fmt: skip
