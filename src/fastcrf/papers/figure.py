"""Figures of items, drawn from rows by matplotlib as SVG: the same color for the same solver everywhere.

Lines are medians over seeds where there are several. Texts stay texts, so that files are small; nothing in a file
depends on when it was made.
"""

from __future__ import annotations

import io
import math
from typing import Any

from fastcrf.papers.experiment import Curve
from fastcrf.papers.item import Figure, Panel
from fastcrf.papers.records import Record
from fastcrf.papers.view import View, middle

SIZE = (5.2, 3.6)  # inches of a panel
COLORS = {
    "pegasos": "#7f7f7f", "sg": "#1f77b4", "asg": "#17becf", "adagrad": "#2ca02c", "smd": "#bcbd22", "lbfgs": "#d62728",
    "hybrid": "#8c564b", "oeg": "#9467bd", "sag": "#ff9896", "sag-nus": "#ff7f0e", "sag-nus-star": "#000000",
    "owlqn": "#d62728", "sgd-l1-clipping": "#ff7f0e", "sgd-l1": "#2ca02c", "sgd-l1-naive": "#7f7f7f",
    "sgd": "#1f77b4", "l2sgd": "#1f77b4", "psa": "#ff7f0e", "staggered-aitken": "#000000", "newton-cg": "#000000",
    "pa": "#ff7f0e", "ngd": "#2ca02c",
}  # fmt: skip
TINTS = (0.0, 0.3, 0.5, 0.15, 0.4)  # of white, in the color of a solver's next curves
STYLES = ("-", "--", "-.", (0, (1, 1)), (0, (3, 1, 1, 1, 1, 1)))  # of curves that share a solver
X_TITLES = {"passes": "effective passes", "cpu_seconds": "CPU seconds", "step": "epochs"}
Y_TITLES = {
    "excess": "objective minus optimum, per sequence",
    "error": "test error (share of tokens)",
    "f1": "F1 on the test set, %",
    "train_f1": "F1 on the training set, %",
    "mean_objective": "objective per sequence",
    "likelihood": "regularized log-likelihood per sequence",
    "active": "active features",
    "accuracy": "test score (token accuracy), %",
    "train_accuracy": "training score (token accuracy), %",
}
LOGARITHMIC = ("excess",)
LOWEST = 1e-7  # what a logarithmic axis shows of distances; below, the optimum itself is not known
SHOWN = 3.0  # times the lowest error: what is above is not shown
FIRST_X = 1e-2
NAMES_BESIDE = 3  # in a line of the legend, for each column of panels


def draw(figure: Figure, view: View) -> bytes | None:
    """The SVG, or None if there is nothing to draw."""
    panels = [panel for panel in figure.panels if lines_of(figure, panel, view)]
    if not panels:
        return None
    import matplotlib
    from matplotlib.figure import Figure as Canvas

    with matplotlib.rc_context({"svg.fonttype": "none", "svg.hashsalt": "fastcrf", "font.size": 9}):
        columns = min(2, len(panels))
        rows = math.ceil(len(panels) / columns)
        canvas = Canvas(figsize=(SIZE[0] * columns, SIZE[1] * rows + 0.7), layout="constrained")
        axes: Any = canvas.subplots(rows, columns, squeeze=False)
        for ax in axes.flat[len(panels) :]:
            ax.set_visible(False)
        for ax, panel in zip(axes.flat, panels, strict=False):
            draw_panel(ax, figure, panel, view)
        known: dict[str, Any] = {}
        for ax in axes.flat:
            handles, labels = ax.get_legend_handles_labels()
            known |= {label: handle for label, handle in zip(labels, handles, strict=True) if label not in known}
        beside = min(NAMES_BESIDE * columns, len(known))
        canvas.legend(known.values(), known.keys(), loc="outside lower center", ncols=beside, frameon=False)
        buffer = io.BytesIO()
        canvas.savefig(buffer, format="svg", metadata={"Date": None, "Creator": None})
    return buffer.getvalue()


Line = tuple[Curve, list[Record], int]  # a curve, its runs, 0 for the best step size and 1 for the second best


def lines_of(figure: Figure, panel: Panel, view: View) -> list[Line]:
    """What a panel shows, in the order of the curves."""
    found: list[Line] = []
    for curve in view.curves(panel.set):
        if not figure.curves or curve.label in figure.curves:
            for rank in (0, 1) if figure.dotted and curve.etas else (0,):
                runs = view.runs(panel.set, curve.label, rank=rank)
                if runs:
                    found.append((curve, runs, rank))
    return found


def draw_panel(ax: Any, figure: Figure, panel: Panel, view: View) -> None:
    styles: dict[str, int] = {}
    heights: list[float] = []
    for curve, runs, rank in lines_of(figure, panel, view):
        own = styles[curve.solver] = styles.get(curve.solver, -1) + (rank == 0)
        xs, ys = course(figure.x, panel, runs, view)
        heights += ys
        style: Any = ":" if rank else STYLES[own % len(STYLES)]
        label = None if rank else curve.label
        ax.plot(xs, ys, color=color_of(curve.solver, own), linestyle=style, linewidth=1.4, label=label)
    first = view.reduced().get(panel.set)
    ax.set_title(panel.title if first is None else f"{panel.title}, first {first:,} sequences")
    ax.set_xlabel(X_TITLES[figure.x])
    ax.set_ylabel(Y_TITLES[panel.y])
    ax.grid(alpha=0.25)
    if figure.log_x:
        ax.set_xscale("log")
    if figure.last_x:
        ax.set_xlim(0.0, figure.last_x)
    if panel.y in LOGARITHMIC:
        ax.set_yscale("log")
    elif panel.limits:
        ax.set_ylim(*panel.limits)
    else:
        show_the_end(ax, panel.y, heights)


def color_of(solver: str, number: int) -> tuple[float, ...]:
    """The color of a solver; lighter in its second curve and those after it, which share the hue."""
    color, tint = COLORS.get(solver, "#e377c2"), TINTS[number % len(TINTS)]
    return tuple(part + tint * (1.0 - part) for part in (int(color[k : k + 2], 16) / 255.0 for k in (1, 3, 5)))


def show_the_end(ax: Any, y: str, heights: list[float]) -> None:
    """Curves begin far off, and what matters is near their ends."""
    known = sorted(value for value in heights if math.isfinite(value))
    if not known:
        return
    if y == "error":
        ax.set_ylim(0.9 * known[0], min(1.0, SHOWN * known[0]))
    elif y in ("f1", "train_f1"):
        ax.set_ylim(max(0.0, known[-1] - 15.0), min(100.0, known[-1] + 1.0))
    elif y == "mean_objective":
        ax.set_ylim(0.9 * known[0], 4.0 * known[0])
    elif y == "likelihood":
        ax.set_ylim(3.0 * known[-1], 0.9 * known[-1])


def course(x: str, panel: Panel, runs: list[Record], view: View) -> tuple[list[float], list[float]]:
    """The median over runs, row by row; beyond the end of the shortest, of those that are left."""
    xs, ys = [], []
    for k in range(max(len(record["rows"]) for record in runs)):
        alive = [(record, record["rows"][k]) for record in runs if k < len(record["rows"])]
        height = middle([view.value(panel.set, row, panel.y, record) for record, row in alive])
        place = middle([row.get(x, math.nan) for _, row in alive])
        if height is None or place is None or not math.isfinite(height):
            continue
        if panel.y in LOGARITHMIC:
            height = max(height, LOWEST)
        if x != "passes" or place > FIRST_X:
            xs.append(max(place, FIRST_X) if x == "cpu_seconds" else place)
            ys.append(height)
    return xs, ys
