"""A comparison as text: how each run ended, and who came within which gap first."""

from __future__ import annotations

from collections.abc import Sequence

from fastcrf.lab.store import Rows
from fastcrf.lab.summary import Comparison, RunSummary, median, median_cost

OUTCOME_HEAD = ("solver", "ended", "passes", "seconds", "gap", "error", "active", "state MB", "peak MB")

USEFUL_GAP = 1e-3  # a smaller gap does not change predictions
BUSY = 0.85  # a run that got a core for less of its time was disturbed by others


def in_words(comparison: Comparison) -> str:
    """Everything, with a line about the problem above it."""
    parts = [
        headline(comparison),
        *verdict(comparison),
        table(OUTCOME_HEAD, outcome_lines(comparison)),
        *remarks(comparison),
    ]
    if comparison.gaps():
        race = table(race_head(comparison), race_lines(comparison))
        parts.append(f"seconds (passes) to a relative gap of ...; * is the first in seconds\n{race}")
    return "\n\n".join(parts)


def headline(comparison: Comparison) -> str:
    p = comparison.problem
    size = f"{p['sequences']:,} sequences, {p['positions']:,} tokens, {p['labels']} labels, {p['weights']:,} weights"
    if p["optimum"] is None:
        return f"{p['dataset']}: {size}; c1={p['c1']:g}, c2={p['c2']:g}"
    known = "no certificate" if p["accuracy"] is None else f"certified to {power(p['accuracy'])}"
    return f"{p['dataset']}: {size}; c1={p['c1']:g}, c2={p['c2']:g}; optimum {p['optimum']:.6f} ({known})"


def verdict(comparison: Comparison) -> list[str]:
    """One sentence: which solver was the first to a useful gap, and how far ahead; none if no solver came so far."""
    gaps = [gap for gap in comparison.gaps() if gap >= USEFUL_GAP]
    if not gaps:
        return []
    gap = gaps[-1]
    costs = {solver: median_cost(runs, gap, "seconds") for solver, runs in comparison.by_solver().items()}
    ranked = sorted((cost, solver) for solver, cost in costs.items() if cost is not None)
    if not ranked:
        return []
    (best, winner), others = ranked[0], ranked[1:]
    leads = [f"{cost / best:.3g} times sooner than {solver}" for cost, solver in others] if best > 0.0 else []
    ahead = ", ".join(leads[:1] + leads[-1:]) if len(leads) > 1 else "".join(leads)
    late = [solver for solver, cost in costs.items() if cost is None and ran(comparison, solver)]
    missing = f" {', '.join(late)} did not reach it." if late else ""
    return [f"{winner} reaches a relative gap of {power(gap)} in {best:.2g} s{', ' if ahead else ''}{ahead}.{missing}"]


def ran(comparison: Comparison, solver: str) -> bool:
    return any(run.outcome["step"] is not None for run in comparison.by_solver()[solver])


def machine_line(rows: Rows) -> str:
    """The version, the machine and the dates of some rows, as far as they tell."""
    machines = [row["machine"] for row in rows if row.get("machine")]
    if not machines:
        return ""
    last = machines[-1]
    dates = sorted({machine["date"] for machine in machines if machine.get("date")})
    versions = sorted({str(row["version"]).partition("+")[0] for row in rows if row.get("version")})
    parts = [
        f"fastcrf {', '.join(versions)}", " to ".join(dict.fromkeys((dates[0], dates[-1]))) if dates else "",
        f"{last['processor']}, {last['cores']} cores", last["system"],
        f"Python {last['python']}, NumPy {last['numpy']}, Numba {last['numba']}",
    ]  # fmt: skip
    return "; ".join(filter(None, parts))


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
    lines += busy_machine([run for run in comparison.runs if (run.outcome["cpu_share"] or 1.0) < BUSY])
    return ["\n".join(dict.fromkeys(lines))] if lines else []


def busy_machine(starved: list[RunSummary]) -> list[str]:
    """A warning about runs that waited for a core."""
    if not starved:
        return []
    least, most = (each(run.outcome["cpu_share"] for run in starved) for each in (min, max))
    shares = f"{least:.0%}" if least == most else f"{least:.0%} to {most:.0%}"
    names = ", ".join(dict.fromkeys(run.solver for run in starved))
    return [f"The machine was busy: rely on passes, not on seconds. Share of a core: {shares}, for {names}."]


def race_head(comparison: Comparison) -> tuple[str, ...]:
    return ("solver", *map(power, comparison.gaps()))


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


def power(value: float) -> str:
    """A small number with one digit, without zeros in its exponent: 1e-3."""
    digit, _, exponent = f"{value:.0e}".partition("e")
    return f"{digit}e{int(exponent)}"


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
