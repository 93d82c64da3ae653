"""A bar over models or files: on a terminal with the time left, elsewhere nothing."""

from __future__ import annotations

import io

import pytest
from rich.console import Console

from fastcrf import CRF, CRFCV, regularization_path
from fastcrf.training.count_bar import CountBar
from reference.toy_sequences import toy_sequences


def shown(terminal, quiet=False):
    console = Console(file=io.StringIO(), force_terminal=terminal, width=100)
    with CountBar("files", 3, quiet, console) as bar:
        for name in ("a.txt", "b.txt", "c.txt"):
            bar.advance(name)
    return console.file.getvalue()


def test_a_terminal_shows_how_many_are_done_and_their_names():
    text = shown(terminal=True)
    assert "3/3" in text
    assert "a.txt" in text
    assert "\x1b[?25h" in text  # the cursor is back


def test_a_pipe_and_a_quiet_terminal_show_nothing():
    assert shown(terminal=False) == ""
    assert shown(terminal=True, quiet=True) == ""


@pytest.fixture
def counted(monkeypatch):
    """The totals of bars, and how often they advance."""
    found = []

    class Recorder(CountBar):
        def __enter__(self):
            found.append([self.title, self.total, 0, self.quiet])
            return self

        def advance(self, text=""):
            found[-1][2] += 1

    for module in ("regularization", "cross_validation"):
        monkeypatch.setattr(f"fastcrf.estimators.{module}.CountBar", Recorder)
    return found


def test_a_path_counts_its_models(counted):
    X, y = toy_sequences(12)
    regularization_path(X, y, estimator=CRF(c2=0.1, verbose=True), c1_values=3)
    regularization_path(X, y, c2_values=[1.0, 0.1])
    assert counted == [["path", 3, 3, False], ["path", 2, 2, True]]


def test_cross_validation_counts_the_models_of_all_folds(counted):
    CRFCV(CRF(verbose=True), c2_values=[1.0, 0.1], cv=3, refit=False, n_jobs=2).fit(*toy_sequences(12))
    assert counted == [["cross-validation", 6, 6, False]]
