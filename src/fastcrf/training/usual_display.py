"""Which display `verbose=True` means: a curve in a notebook, or else a bar or lines."""

from __future__ import annotations

import sys

from fastcrf.training.progress import Display, Progress


def usual_display() -> Display:
    """Return the display of `verbose=True`: a curve in a notebook, or else a bar or lines."""
    if in_notebook():
        from fastcrf.training.notebook_progress import NotebookProgress

        return NotebookProgress()
    return Progress()


def in_notebook() -> bool:
    """Return whether a Jupyter kernel runs this process. IPython in a terminal is a terminal."""
    shell = sys.modules["IPython"].get_ipython() if "IPython" in sys.modules else None
    return type(shell).__name__ == "ZMQInteractiveShell"
