"""`verbose=True` in a notebook: the gap as it falls. A stand-in for IPython keeps what is drawn."""

from __future__ import annotations

import sys
from types import ModuleType, SimpleNamespace

import pytest

from fastcrf import CRF
from fastcrf.training.notebook_progress import NotebookProgress
from fastcrf.training.progress import Progress
from fastcrf.training.usual_display import usual_display
from reference.toy_sequences import toy_sequences


@pytest.fixture
def notebook(monkeypatch):
    """A Jupyter kernel as far as a display sees one; the states of the part below the cell."""
    states = []

    class ZMQInteractiveShell: ...

    def display(part, display_id):
        states.append(part.text)
        return SimpleNamespace(update=lambda part: states.append(part.text))

    top, shown = ModuleType("IPython"), ModuleType("IPython.display")
    top.get_ipython = lambda: ZMQInteractiveShell()
    shown.HTML, shown.display = lambda text: SimpleNamespace(text=text), display
    monkeypatch.setitem(sys.modules, "IPython", top)
    monkeypatch.setitem(sys.modules, "IPython.display", shown)
    return states


def test_a_fit_draws_the_certified_gap_and_ends_with_the_reason(notebook, monkeypatch, capfd):
    monkeypatch.setattr("fastcrf.training.notebook_progress.REFRESH", 0.0)
    crf = CRF(c2=0.5, tol=1e-4, verbose=True).fit(*toy_sequences(30))
    assert capfd.readouterr().err == ""
    assert len(notebook) > len(crf.history_) > 3
    assert "<svg" not in notebook[0]
    assert "Certified relative gap" in notebook[-1]
    assert f"step {crf.n_iter_}" in notebook[-1]
    assert "at most tol=0.0001" in notebook[-1]
    assert notebook[-1].count("<svg") == 1


def test_states_are_drawn_at_intervals_only(notebook):
    CRF(c2=0.5, tol=1e-4, verbose=True).fit(*toy_sequences(10))
    assert len(notebook) <= 4


def test_a_terminal_has_a_bar(notebook, monkeypatch):
    assert isinstance(usual_display(), NotebookProgress)
    monkeypatch.setattr(sys.modules["IPython"], "get_ipython", lambda: None)  # IPython was imported by a script
    assert isinstance(usual_display(), Progress)
    monkeypatch.delitem(sys.modules, "IPython")
    assert isinstance(usual_display(), Progress)
