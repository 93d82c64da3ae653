"""Pictures of training and of trained models, by scikit-learn's convention for displays.

A display holds the data of a picture; `from_estimator` (or `from_rows`) makes and draws one, `plot(ax=None)` draws it
again elsewhere, and afterwards `ax_` and `figure_` are there to be changed. Matplotlib is imported when something is
drawn: ``pip install 'fastcrf[plot]'``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from fastcrf.core.checks import whole
from fastcrf.report.findings import predict as findings_of
from fastcrf.solvers.colors import color_of, repeats

if TYPE_CHECKING:
    from fastcrf.training.trace import Row

__all__ = [
    "CalibrationDisplay", "ConvergenceDisplay", "RegularizationPathDisplay", "TopFeaturesDisplay",
    "TransitionMatrixDisplay",
]  # fmt: skip

Curve = tuple[Sequence[float], Sequence[float]]  # x and y of each step

AXES = {"passes": "effective passes over the data", "seconds": "seconds in the solver", "step": "steps"}
VALUES = {
    "suboptimality": "relative gap to the best known optimum",
    "relative_gap": "certified relative gap to the optimum",
    "error": "held-out token error",
    "objective": "objective",
    "active": "non-zero weights",
}
LINESTYLES = ("-", "--", ":", "-.")  # of solvers that share a color: the same solver with other options
LOGARITHMIC = ("suboptimality", "relative_gap")
SMALLEST = 1e-12  # what a logarithmic axis shows of a gap that is zero


class ConvergenceDisplay:
    """Convergence curves: a measure against passes, seconds or iterations.

    Parameters
    ----------
    curves : dict of sequences of (x, y)
        For each name in the legend, its curves, one per seed.
    x : {"passes", "seconds", "step"}, default="passes"
        The effort.
    y : {"relative_gap", "suboptimality", "objective", "error", "active"}, default="relative_gap"
        The measure.
    floor : float, default=0.0
        Gaps below this are drawn at this value.

    Attributes
    ----------
    ax_, figure_, lines_
        The axes, the figure and the lines, after `plot`.
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
        """Draw the history of a fitted `CRF`.

        Parameters
        ----------
        estimator : CRF
            A fitted estimator.
        x : {"passes", "seconds", "step"}, default="passes"
            The effort.
        y : {"relative_gap", "suboptimality", "objective", "error", "active"}
            The measure.
        name : str, default=None
            Name in the legend. None: the name of the solver.
        ax : Axes, default=None
            Where to draw. None: a new figure.
        **line
            Options of matplotlib's lines.

        Returns
        -------
        ConvergenceDisplay
            The display, drawn.
        """
        label = name or str(estimator.algorithm or "auto")
        return cls({label: [curve_of(estimator.history_, x, y)]}, x=x, y=y).plot(ax, **line)

    @classmethod
    def from_rows(
        cls, rows: Sequence[Row], *, x: str = "passes", y: str = "suboptimality", ax: Any = None, **line: Any
    ) -> ConvergenceDisplay:
        """Draw rows of the lab: one curve per run, one color per solver.

        Parameters
        ----------
        rows : sequence of dicts
            What `fastcrf compare --rows` wrote.
        x : {"passes", "seconds", "step"}, default="passes"
            The effort.
        y : {"relative_gap", "suboptimality", "objective", "error", "active"}
            The measure.
        ax : Axes, default=None
            Where to draw. None: a new figure.
        **line
            Options of matplotlib's lines.

        Returns
        -------
        ConvergenceDisplay
            The display, drawn.
        """
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
        """Draw the curves.

        Parameters
        ----------
        ax : Axes, default=None
            Where to draw. None: a new figure.
        **line
            Options of matplotlib's lines.

        Returns
        -------
        ConvergenceDisplay
            The display, drawn.
        """
        self.ax_ = axes_for(ax)
        self.figure_ = self.ax_.figure
        self.lines_ = []
        names = list(self.curves)
        for name, curves, dashes in zip(names, self.curves.values(), repeats(names), strict=True):
            for seed, (spent, measured) in enumerate(curves):
                style = {
                    "color": color_of(name),
                    "linestyle": LINESTYLES[dashes % len(LINESTYLES)],
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
    """Transition weights as a matrix.

    Parameters
    ----------
    matrix : ndarray of shape (n_labels, n_labels)
        ``matrix[j, k]`` is the weight of label k after label j, NaN where there is no such feature.
    labels : sequence of labels
        Names of rows and columns.

    Attributes
    ----------
    ax_, figure_, im_, text_
        The axes, the figure, the image and the numbers, after `plot`.
    """

    def __init__(self, matrix: np.ndarray, labels: Sequence[Any]) -> None:
        self.matrix, self.labels = matrix, labels

    @classmethod
    def from_estimator(cls, estimator: Any, *, ax: Any = None, **image: Any) -> TransitionMatrixDisplay:
        """Draw the transitions of a fitted `CRF`.

        Parameters
        ----------
        estimator : CRF
            A fitted estimator.
        ax : Axes, default=None
            Where to draw. None: a new figure.
        **image
            Options of matplotlib's `imshow`.

        Returns
        -------
        TransitionMatrixDisplay
            The display, drawn.
        """
        labels = list(estimator.classes_)
        place = {label: k for k, label in enumerate(labels)}
        matrix = np.full((len(labels), len(labels)), np.nan)
        for (before, after), weight in estimator.transition_features_.items():
            matrix[place[before], place[after]] = weight
        return cls(matrix, labels).plot(ax, **image)

    def plot(self, ax: Any = None, *, numbers: bool | None = None, **image: Any) -> TransitionMatrixDisplay:
        """Draw the matrix; red raises the score of a transition, blue lowers it.

        Parameters
        ----------
        ax : Axes, default=None
            Where to draw. None: a new figure.
        numbers : bool, default=None
            Whether to write weights into the cells. None: if there are at most 12 labels.
        **image
            Options of matplotlib's `imshow`.

        Returns
        -------
        TransitionMatrixDisplay
            The display, drawn.
        """
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
    """The largest and smallest weights of (attribute, label) pairs, from the highest to the lowest.

    Parameters
    ----------
    features : sequence of (attribute, label)
        Names of the bars.
    weights : sequence of float
        Their lengths.

    Attributes
    ----------
    ax_, figure_, bars_
        The axes, the figure and the bars, after `plot`.
    """

    def __init__(self, features: Sequence[tuple[str, Any]], weights: Sequence[float]) -> None:
        self.features, self.weights = features, weights

    @classmethod
    def from_estimator(
        cls, estimator: Any, *, n: int = 10, label: Any = None, ax: Any = None, **bars: Any
    ) -> TopFeaturesDisplay:
        """Draw the highest and lowest weights of a fitted `CRF`.

        Parameters
        ----------
        estimator : CRF
            A fitted estimator.
        n : int, default=10
            Number of highest weights, and of lowest ones.
        label : label, default=None
            Show the weights of this label. None: of all labels.
        ax : Axes, default=None
            Where to draw. None: a new figure.
        **bars
            Options of matplotlib's `barh`.

        Returns
        -------
        TopFeaturesDisplay
            The display, drawn.
        """
        known = estimator.state_features_
        if label is not None and label not in estimator.classes_:
            listed = ", ".join(map(str, estimator.classes_))
            raise ValueError(f"The model has no label {label!r}; its labels are {listed}.")
        pairs = [(pair, weight) for pair, weight in known.items() if label is None or pair[1] == label]
        ranked = sorted(pairs, key=lambda pair: -pair[1])
        chosen = ranked if len(ranked) <= 2 * n else ranked[:n] + ranked[len(ranked) - n :]
        return cls([pair for pair, _ in chosen], [weight for _, weight in chosen]).plot(ax, **bars)

    def plot(self, ax: Any = None, **bars: Any) -> TopFeaturesDisplay:
        """Draw a bar for each feature, the highest weight on top.

        Parameters
        ----------
        ax : Axes, default=None
            Where to draw. None: a new figure.
        **bars
            Options of matplotlib's `barh`.

        Returns
        -------
        TopFeaturesDisplay
            The display, drawn.
        """
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
    """Scores, or the number of nonzero weights, along the penalties of a path.

    Parameters
    ----------
    penalty : sequence of float
        The penalties.
    curves : dict of sequences of float
        For each name in the legend, a value per penalty.
    name : str, default="c2"
        Name of the penalty.

    Attributes
    ----------
    ax_, figure_, lines_
        The axes, the figure and the lines, after `plot`.
    """

    def __init__(self, penalty: Any, curves: Mapping[str, Sequence[float]], name: str = "c2") -> None:
        self.penalty, self.curves, self.name = penalty, curves, name

    @classmethod
    def from_path(cls, path: Any, *, ax: Any = None, **line: Any) -> RegularizationPathDisplay:
        """Draw a regularization path: held-out scores if it has any.

        Without held-out data, the number of nonzero weights along c1, and the norm of the weights along c2.

        Parameters
        ----------
        path : RegularizationPath
            The result of `regularization_path`.
        ax : Axes, default=None
            Where to draw. None: a new figure.
        **line
            Options of matplotlib's lines.

        Returns
        -------
        RegularizationPathDisplay
            The display, drawn.
        """
        along_c1 = np.ptp(path.c1) > 0.0
        size = {"non-zero weights": path.n_nonzero} if along_c1 else {"norm of the weights": path.norm}
        return cls(*varied(path.c1, path.c2, path.scores or size)).plot(ax, **line)

    @classmethod
    def from_estimator(cls, estimator: Any, *, ax: Any = None, **line: Any) -> RegularizationPathDisplay:
        """Draw the mean scores of a fitted `CRFCV`.

        Parameters
        ----------
        estimator : CRFCV
            A fitted estimator.
        ax : Axes, default=None
            Where to draw. None: a new figure.
        **line
            Options of matplotlib's lines.

        Returns
        -------
        RegularizationPathDisplay
            The display, drawn.
        """
        curves = {estimator.scoring: estimator.scores_.mean(axis=1)}
        return cls(*varied(estimator.c1_values_, estimator.c2_values_, curves)).plot(ax, **line)

    def plot(self, ax: Any = None, **line: Any) -> RegularizationPathDisplay:
        """Draw the curves.

        Parameters
        ----------
        ax : Axes, default=None
            Where to draw. None: a new figure.
        **line
            Options of matplotlib's lines.

        Returns
        -------
        RegularizationPathDisplay
            The display, drawn.
        """
        self.ax_ = axes_for(ax)
        self.figure_ = self.ax_.figure
        self.lines_ = []
        for name, values in self.curves.items():
            self.lines_ += self.ax_.plot(self.penalty, values, **{"marker": "o", "label": name, **line})
        if min(self.penalty, default=0.0) > 0.0:
            self.ax_.set_xscale("log")
        names = list(self.curves)
        self.ax_.set(xlabel=f"penalty {self.name}", ylabel=names[0] if len(names) == 1 else "held-out score")
        if len(names) > 1:
            self.ax_.legend()
        return self


class CalibrationDisplay:
    """How often labels are right, against the probabilities that the model gives them.

    Parameters
    ----------
    confidence : ndarray
        Mean probability of the predicted labels of each bin.
    accuracy : ndarray
        Share of them that are right.
    counts : ndarray
        How many labels each bin has.
    error : float
        Expected calibration error: the mean distance of the two, weighted by counts.
    name : str, default=None
        Name in the legend.

    Attributes
    ----------
    ax_, figure_, line_
        The axes, the figure and the line, after `plot`.
    """

    def __init__(
        self,
        confidence: np.ndarray,
        accuracy: np.ndarray,
        counts: np.ndarray,
        error: float,
        name: str | None = None,
    ) -> None:
        self.confidence, self.accuracy, self.counts, self.error, self.name = confidence, accuracy, counts, error, name

    @classmethod
    def from_estimator(
        cls, estimator: Any, X: Any, y: Any, *, bins: int = 10, name: str | None = None, ax: Any = None, **line: Any
    ) -> CalibrationDisplay:
        """Draw the calibration of a fitted `CRF` or a `Model` on labeled sequences.

        Parameters
        ----------
        estimator : CRF, CRFCV or Model
            What predicts.
        X, y : sequences
            Labeled sequences that it was not trained on.
        bins : int, default=10
            How many intervals of equal width the probabilities are put into.
        name : str, default=None
            Name in the legend.
        ax : Axes, default=None
            Where to draw. None: a new figure.
        **line
            Options of matplotlib's `plot`.

        Returns
        -------
        CalibrationDisplay
            The display, drawn.
        """
        found = findings_of(estimator, list(X), list(y)).calibration(whole("bins", bins, 1))
        return cls(found.confidence, found.accuracy, found.counts, found.error, name).plot(ax, **line)

    def plot(self, ax: Any = None, **line: Any) -> CalibrationDisplay:
        """Draw the curve and the diagonal, on which probabilities are right on average.

        Parameters
        ----------
        ax : Axes, default=None
            Where to draw. None: a new figure.
        **line
            Options of matplotlib's `plot`.

        Returns
        -------
        CalibrationDisplay
            The display, drawn.
        """
        self.ax_ = axes_for(ax)
        self.figure_ = self.ax_.figure
        if not self.ax_.lines:
            self.ax_.plot([0.0, 1.0], [0.0, 1.0], ":", color="gray", label="right on average")
        error = f"calibration error {self.error:.2%}"
        label = error if self.name is None else f"{self.name}: {error}"
        (self.line_,) = self.ax_.plot(self.confidence, self.accuracy, **{"marker": "o", "label": label, **line})
        self.ax_.set(xlabel="mean probability of the predicted label", ylabel="share of labels that are right")
        self.ax_.legend(loc="upper left")
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
    """The given axes, or those of a new figure that has room for long names."""
    if ax is not None:
        return ax
    return import_pyplot().subplots(layout="constrained")[1]


def import_pyplot() -> Any:
    try:
        import matplotlib.pyplot as pyplot
    except ImportError:
        raise ImportError("Drawing needs matplotlib, which is not installed: pip install 'fastcrf[plot]'.") from None
    return pyplot
