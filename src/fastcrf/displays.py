"""Pictures of training and of trained models, by scikit-learn's convention for displays.

A display holds the data of a picture; `from_estimator` (or `from_rows`) makes and draws one, `plot(ax=None)` draws it
again elsewhere, and afterwards `ax_` and `figure_` are there to be changed. Matplotlib is imported when something is
drawn: ``pip install 'fastcrf[plot]'``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from fastcrf.training.trace import Row

__all__ = ["ConvergenceDisplay", "RegularizationPathDisplay", "TopFeaturesDisplay", "TransitionMatrixDisplay"]

Curve = tuple[Sequence[float], Sequence[float]]  # x and y of each step

AXES = {"passes": "effective passes over the data", "seconds": "seconds in the solver", "step": "steps"}
VALUES = {
    "suboptimality": "relative distance to the best known optimum",
    "relative_gap": "certified relative gap to the optimum",
    "error": "held-out token error",
    "objective": "objective",
    "active": "non-zero weights",
}
LOGARITHMIC = ("suboptimality", "relative_gap")
SMALLEST = 1e-12  # what a logarithmic axis shows of a gap that is zero


class ConvergenceDisplay:
    """How a measure falls with the effort that is spent.

    curves: for each name in the legend, its curves (one per seed); x: what was spent; y: what is measured;
    floor: gaps below it cannot be told from zero, and are drawn there.
    """

    def __init__(
        self, curves: Mapping[str, Sequence[Curve]], *, x: str = "passes", y: str = "relative_gap", floor: float = 0.0
    ) -> None:
        self.curves, self.x, self.y, self.floor = curves, x, y, floor

    @classmethod
    def from_estimator(
        cls, estimator: Any, *, x: str = "passes", y: str = "relative_gap", name: str | None = None, ax: Any = None,
        **line: Any,
    ) -> ConvergenceDisplay:  # fmt: skip
        """The history of a fitted `CRF`."""
        label = name or str(estimator.algorithm or "auto")
        return cls({label: [curve_of(estimator.history_, x, y)]}, x=x, y=y).plot(ax, **line)

    @classmethod
    def from_rows(
        cls, rows: Sequence[Row], *, x: str = "passes", y: str = "suboptimality", ax: Any = None, **line: Any
    ) -> ConvergenceDisplay:
        """Rows of the lab: one curve per run, one color per solver."""
        runs: dict[tuple[str, Any], list[Row]] = {}
        for row in rows:
            runs.setdefault((row["solver"], row.get("run", row.get("seed"))), []).append(row)
        curves: dict[str, list[Curve]] = {}
        for (solver, _), own in runs.items():
            curve = curve_of(own, x, y)
            if len(curve[0]):
                curves.setdefault(solver, []).append(curve)
        floor = max((row["accuracy"] for row in rows if row.get("accuracy")), default=0.0)
        return cls(curves, x=x, y=y, floor=floor if y == "suboptimality" else 0.0).plot(ax, **line)

    def plot(self, ax: Any = None, **line: Any) -> ConvergenceDisplay:
        """Draw into `ax`, or into a new figure; `line` are options of matplotlib's lines."""
        self.ax_ = axes_for(ax)
        self.figure_ = self.ax_.figure
        self.lines_ = []
        for k, (name, curves) in enumerate(self.curves.items()):
            for seed, (spent, measured) in enumerate(curves):
                style = {
                    "color": f"C{k % 10}",
                    "linestyle": "-" if k < 10 else "--",
                    "label": name if not seed else None,
                }
                self.lines_ += self.ax_.plot(spent, self._shown(measured), **{**style, **line})
        self.ax_.set(xlabel=AXES.get(self.x, self.x), ylabel=VALUES.get(self.y, self.y))
        if self.y in LOGARITHMIC:
            self.ax_.set_yscale("log")
        if self.curves:
            self.ax_.legend()
        return self

    def _shown(self, measured: Sequence[float]) -> np.ndarray:
        lowest = max(self.floor, SMALLEST) if self.y in LOGARITHMIC else -np.inf
        return np.maximum(np.asarray(measured, dtype=float), lowest)


class TransitionMatrixDisplay:
    """The weights of label bigrams: `matrix[j, k]` of label k after label j, NaN where there is no such feature."""

    def __init__(self, matrix: np.ndarray, labels: Sequence[Any]) -> None:
        self.matrix, self.labels = matrix, labels

    @classmethod
    def from_estimator(cls, estimator: Any, *, ax: Any = None, **image: Any) -> TransitionMatrixDisplay:
        """The transitions of a fitted `CRF`."""
        labels = list(estimator.classes_)
        place = {label: k for k, label in enumerate(labels)}
        matrix = np.full((len(labels), len(labels)), np.nan)
        for (before, after), weight in estimator.transition_features_.items():
            matrix[place[before], place[after]] = weight
        return cls(matrix, labels).plot(ax, **image)

    def plot(self, ax: Any = None, *, numbers: bool | None = None, **image: Any) -> TransitionMatrixDisplay:
        """Draw; red raises a bigram, blue lowers it. `numbers` in the cells, by default where there is room."""
        self.ax_ = axes_for(ax)
        self.figure_ = self.ax_.figure
        size = len(self.labels)
        largest = float(np.nanmax(np.abs(self.matrix), initial=0.0)) or 1.0
        self.im_ = self.ax_.imshow(self.matrix, **{"cmap": "RdBu_r", "vmin": -largest, "vmax": largest, **image})
        self.figure_.colorbar(self.im_, ax=self.ax_, label="weight")
        names = [str(label) for label in self.labels]
        self.ax_.set_xticks(range(size), names, rotation="vertical")
        self.ax_.set_yticks(range(size), names)
        self.ax_.set(xlabel="label", ylabel="label before")
        self.text_ = []
        if size <= 12 if numbers is None else numbers:
            for j, k in np.argwhere(np.isfinite(self.matrix)).tolist():
                dark = abs(self.matrix[j, k]) > 0.6 * largest
                style = {"ha": "center", "va": "center", "color": "white" if dark else "black", "size": "small"}
                self.text_.append(self.ax_.text(k, j, f"{self.matrix[j, k]:.1f}", **style))
        return self


class TopFeaturesDisplay:
    """The weights that decide most: (attribute, label) pairs, from the highest to the lowest."""

    def __init__(self, features: Sequence[tuple[str, Any]], weights: Sequence[float]) -> None:
        self.features, self.weights = features, weights

    @classmethod
    def from_estimator(
        cls, estimator: Any, *, n: int = 10, label: Any = None, ax: Any = None, **bars: Any
    ) -> TopFeaturesDisplay:
        """The `n` highest and `n` lowest weights of a fitted `CRF`, of all labels or of one."""
        known = estimator.state_features_
        if label is not None and label not in estimator.classes_:
            listed = ", ".join(map(str, estimator.classes_))
            raise ValueError(f"The model has no label {label!r}; its labels are {listed}.")
        pairs = [(pair, weight) for pair, weight in known.items() if label is None or pair[1] == label]
        ranked = sorted(pairs, key=lambda pair: -pair[1])
        chosen = ranked if len(ranked) <= 2 * n else ranked[:n] + ranked[len(ranked) - n :]
        return cls([pair for pair, _ in chosen], [weight for _, weight in chosen]).plot(ax, **bars)

    def plot(self, ax: Any = None, **bars: Any) -> TopFeaturesDisplay:
        """Draw a bar for each feature, the highest weight on top."""
        self.ax_ = axes_for(ax)
        self.figure_ = self.ax_.figure
        colors = ["tab:red" if weight > 0 else "tab:blue" for weight in self.weights]
        self.bars_ = self.ax_.barh(range(len(self.weights)), self.weights, **{"color": colors, **bars})
        names = [f"{attribute} \N{RIGHTWARDS ARROW} {label}" for attribute, label in self.features]
        self.ax_.set_yticks(range(len(names)), names)
        self.ax_.invert_yaxis()
        self.ax_.axvline(0.0, color="black", linewidth=0.8)
        self.ax_.set(xlabel="weight")
        return self


class RegularizationPathDisplay:
    """Scores and the number of active weights along the penalties of a path."""

    def __init__(self, penalty: Any, curves: Mapping[str, Sequence[float]], name: str = "c2") -> None:
        self.penalty, self.curves, self.name = penalty, curves, name

    @classmethod
    def from_path(cls, path: Any, *, ax: Any = None, **line: Any) -> RegularizationPathDisplay:
        """Draw what `regularization_path` returned: held-out scores, or the number of weights without such."""
        curves = path.scores or {VALUES["active"]: path.n_nonzero}
        return cls(*varied(path.c1, path.c2, curves)).plot(ax, **line)

    @classmethod
    def from_estimator(cls, estimator: Any, *, ax: Any = None, **line: Any) -> RegularizationPathDisplay:
        """The mean scores of a fitted `CRFCV`."""
        curves = {estimator.scoring: estimator.scores_.mean(axis=1)}
        return cls(*varied(estimator.c1_values_, estimator.c2_values_, curves)).plot(ax, **line)

    def plot(self, ax: Any = None, **line: Any) -> RegularizationPathDisplay:
        """Draw into `ax`, or into a new figure; `line` are options of matplotlib's lines."""
        self.ax_ = axes_for(ax)
        self.figure_ = self.ax_.figure
        self.lines_ = []
        for name, values in self.curves.items():
            self.lines_ += self.ax_.plot(self.penalty, values, **{"marker": "o", "label": name, **line})
        if min(self.penalty, default=0.0) > 0.0:
            self.ax_.set_xscale("log")
        self.ax_.set(xlabel=self.name)
        self.ax_.legend()
        return self


def varied(
    c1: np.ndarray, c2: np.ndarray, curves: Mapping[str, Sequence[float]]
) -> tuple[np.ndarray, Mapping[str, Sequence[float]], str]:
    """The penalty that a path goes along, its curves and its name."""
    return (c1, curves, "c1") if np.ptp(c1) > 0.0 else (c2, curves, "c2")


def curve_of(rows: Sequence[Row], x: str, y: str) -> Curve:
    """The points of the rows in which both are known."""
    points = [(row[x], row[y]) for row in rows if row.get(x) is not None and row.get(y) is not None]
    return [point[0] for point in points], [point[1] for point in points]


def axes_for(ax: Any) -> Any:
    """The given axes, or those of a new figure."""
    if ax is not None:
        return ax
    return import_pyplot().subplots()[1]


def import_pyplot() -> Any:
    try:
        import matplotlib.pyplot as pyplot
    except ImportError:
        raise ImportError("Drawing needs matplotlib, which is not installed: pip install 'fastcrf[plot]'.") from None
    return pyplot
