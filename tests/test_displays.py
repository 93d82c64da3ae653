"""Displays: scikit-learn's convention, the right numbers in the picture, and matplotlib only when one is drawn."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest

from fastcrf import CRF, regularization_path
from fastcrf.displays import (
    CalibrationDisplay,
    ConvergenceDisplay,
    RegularizationPathDisplay,
    TopFeaturesDisplay,
    TransitionMatrixDisplay,
)
from fastcrf.solvers.colors import color_of
from reference.lab_rows import lab_rows
from reference.toy_sequences import toy_sequences

matplotlib = pytest.importorskip("matplotlib")
matplotlib.use("Agg")


@pytest.fixture(scope="module")
def crf():
    return CRF(c2=0.5, tol=1e-4).fit(*toy_sequences(30))


@pytest.fixture
def ax():
    from matplotlib.figure import Figure

    return Figure().subplots()


def test_the_history_of_an_estimator_is_its_curve(crf, ax):
    display = ConvergenceDisplay.from_estimator(crf, ax=ax)
    (line,) = display.lines_
    known = [row for row in crf.history_ if row["relative_gap"] is not None]
    np.testing.assert_array_equal(line.get_xdata(), [row["passes"] for row in known])
    np.testing.assert_allclose(line.get_ydata(), [row["relative_gap"] for row in known])
    assert (display.ax_, display.figure_) == (ax, ax.figure)
    assert ax.get_yscale() == "log"
    assert ax.get_legend().get_texts()[0].get_text() == "auto"


def test_rows_give_a_curve_per_run_and_a_color_per_solver(ax):
    rows = [row for row in lab_rows() if row["dataset"] == "one"]
    display = ConvergenceDisplay.from_rows(rows, x="seconds", ax=ax)
    quick, steady = color_of("quick"), color_of("steady")
    assert [line.get_color() for line in display.lines_] == [quick, quick, steady]
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["quick", "steady"]
    np.testing.assert_allclose(
        display.lines_[2].get_ydata()[-1], 1e-7
    )  # a gap of 0 is drawn where the optimum is known


def test_held_out_errors_are_drawn_as_they_are(ax):
    display = ConvergenceDisplay.from_rows(lab_rows(), y="error", ax=ax)
    assert ax.get_yscale() == "linear"
    np.testing.assert_allclose(display.lines_[0].get_ydata(), [0.15, 0.055, 0.0505, 0.050005])


def test_a_display_can_be_drawn_again_elsewhere(ax):
    from matplotlib.figure import Figure

    display = ConvergenceDisplay.from_rows(lab_rows(), ax=ax)
    other = Figure().subplots()
    assert display.plot(other, linewidth=5) is display
    assert display.ax_ is other
    assert display.lines_[0].get_linewidth() == 5


def test_the_transition_matrix_holds_the_weights_and_leaves_unknown_pairs_empty(crf, ax):
    display = TransitionMatrixDisplay.from_estimator(crf, ax=ax)
    place = {label: k for k, label in enumerate(crf.classes_)}
    for (before, after), weight in crf.transition_features_.items():
        assert display.matrix[place[before], place[after]] == weight
    assert np.isnan(display.matrix).sum() == display.matrix.size - len(crf.transition_features_)
    assert [tick.get_text() for tick in ax.get_yticklabels()] == crf.classes_
    assert len(display.text_) == len(crf.transition_features_)


def test_numbers_are_left_out_where_there_is_no_space(ax):
    big = TransitionMatrixDisplay(np.ones((20, 20)), range(20)).plot(ax)
    assert big.text_ == []
    assert len(TransitionMatrixDisplay(np.ones((2, 2)), "ab").plot(ax, numbers=False).text_) == 0


def test_top_features_are_the_highest_and_the_lowest(crf, ax):
    display = TopFeaturesDisplay.from_estimator(crf, n=3, ax=ax)
    ranked = sorted(crf.state_features_.values(), reverse=True)
    assert list(display.weights) == ranked[:3] + ranked[-3:]
    assert [bar.get_width() for bar in display.bars_] == list(display.weights)
    assert all(
        crf.state_features_[pair] == weight for pair, weight in zip(display.features, display.weights, strict=True)
    )


def test_top_features_of_one_label(crf, ax):
    display = TopFeaturesDisplay.from_estimator(crf, n=2, label="B", ax=ax)
    assert {label for _, label in display.features} == {"B"}
    with pytest.raises(ValueError, match="no label 'Z'; its labels are"):
        TopFeaturesDisplay.from_estimator(crf, label="Z", ax=ax)


def test_a_path_along_c2_without_held_out_data_shows_the_norm_of_the_weights(ax):
    path = regularization_path(*toy_sequences(20), c2_values=[10.0, 1.0, 0.1])
    display = RegularizationPathDisplay.from_path(path, ax=ax)
    (line,) = display.lines_
    assert (np.diff(line.get_ydata()) > 0.0).all()  # a weaker penalty, longer weights
    np.testing.assert_allclose(line.get_ydata()[0], np.linalg.norm(path._weights[0]))
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("penalty c2", "norm of the weights")


def test_a_path_with_several_scores_names_them_in_a_legend(ax):
    RegularizationPathDisplay([1.0, 0.1], {"accuracy": [0.8, 0.9], "segment_f1": [0.5, 0.6]}).plot(ax)
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["accuracy", "segment_f1"]
    assert ax.get_ylabel() == "held-out score"


def test_long_names_are_inside_the_figure():
    from matplotlib import pyplot

    display = TopFeaturesDisplay(
        [(f"{'a long attribute ' * 3}{k}", "B") for k in range(4)], [2.0, 1.0, -1.0, -2.0]
    ).plot()
    display.figure_.canvas.draw()
    lefts = [tick.get_window_extent().x0 for tick in display.ax_.get_yticklabels()]
    pyplot.close(display.figure_)
    assert min(lefts) >= 0.0


def test_without_axes_a_new_figure_is_made(crf):
    from matplotlib import pyplot

    display = TopFeaturesDisplay.from_estimator(crf)
    assert display.figure_.number in pyplot.get_fignums()
    pyplot.close(display.figure_)


def test_importing_displays_does_not_import_matplotlib():
    code = "import sys, fastcrf.displays; sys.exit('matplotlib' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code]).returncode == 0


def test_without_matplotlib_one_sentence_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib.pyplot", None)
    with pytest.raises(ImportError, match=r"pip install 'fastcrf\[plot\]'"):
        TopFeaturesDisplay([], []).plot()


def test_calibration_compares_probabilities_with_how_often_labels_are_right(crf, ax):
    X, y = toy_sequences(60)
    display = CalibrationDisplay.from_estimator(crf, X, y, bins=4, name="toy", ax=ax)
    rows = [
        (row[guess], truth == guess)
        for chances, labels, gold in zip(crf.predict_marginals(X), crf.predict(X), y, strict=True)
        for row, guess, truth in zip(chances, labels, gold, strict=True)
    ]
    for n, (x, share, count) in enumerate(zip(display.confidence, display.accuracy, display.counts, strict=True)):
        first = sorted({min(int(4 * chance), 3) for chance, _ in rows})[n] / 4
        inside = [(chance, right) for chance, right in rows if first <= chance < first + 0.25 or chance == first == 1]
        assert count == len(inside)
        assert (x, share) == pytest.approx(tuple(np.mean(inside, axis=0)))
    assert sum(display.counts) == len(rows)
    distances = np.abs(display.confidence - display.accuracy)
    assert display.error == pytest.approx(distances @ display.counts / len(rows))
    np.testing.assert_array_equal(display.line_.get_xdata(), display.confidence)
    assert [text.get_text() for text in ax.get_legend().get_texts()][1].startswith("toy: calibration error")
    assert len(display.plot(ax).ax_.lines) == 3  # the diagonal is drawn once
