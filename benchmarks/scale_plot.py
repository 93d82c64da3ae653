"""The figures that `scale.py --rows` kept, as small plots with their slopes.

python benchmarks/scale_plot.py rows.jsonl docs/benchmarks/scale.png
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

import matplotlib.pyplot as plt
import numpy as np

PANELS = {  # command: what grows, and by what each position's or the whole time is shown
    "growth": ("positions", "seconds", "seconds a gradient"),
    "labels": ("labels", "ns_per_position", "ns a position"),
    "features": ("weights", "ns_per_position", "ns a position"),
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("rows")
    parser.add_argument("figure")
    arguments = parser.parse_args()
    rows = [json.loads(line) for line in Path(arguments.rows).read_text().splitlines()]
    figure, axes = plt.subplots(1, len(PANELS), figsize=(9, 2.8), layout="constrained")
    for axis, what in zip(axes, PANELS, strict=True):
        draw(axis, what, sorted((row for row in rows if row["what"] == what), key=lambda row: row["size"]))
    figure.savefig(arguments.figure, dpi=100)


def draw(axis: Any, what: str, rows: list[dict[str, Any]]) -> None:
    """A line on logarithmic axes, with the slope between neighbors beside it."""
    grows, column, shown = PANELS[what]
    x, y = np.array([row["size"] for row in rows], float), np.array([row[column] for row in rows])
    axis.loglog(x, y, "o-", markersize=4, linewidth=1)
    slopes = np.diff(np.log(y)) / np.diff(np.log(x))
    for place, height, slope in zip(np.sqrt(x[1:] * x[:-1]), np.sqrt(y[1:] * y[:-1]), slopes, strict=True):
        axis.annotate(f"{slope:.2f}", (place, height), (5, -9), textcoords="offset points", fontsize=8)
    axis.set_xlabel(grows)
    axis.set_title(shown, fontsize=9)
    axis.grid(alpha=0.3)


if __name__ == "__main__":
    main()
