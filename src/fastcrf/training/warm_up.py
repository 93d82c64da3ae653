"""Kernels are compiled, or loaded from the cache, before the clock runs; and while that happens, somebody says so.

Without a warm-up the first run of a process would show the compiler's seconds as the solver's.
"""

from __future__ import annotations

import dataclasses
import logging
from collections.abc import Mapping
from contextlib import AbstractContextManager, suppress
from typing import TYPE_CHECKING, Any

from numba.core import event

from fastcrf.solvers.contract import Solver
from fastcrf.solvers.registry import changed
from fastcrf.types import NOTHING, Corpus

if TYPE_CHECKING:
    from fastcrf.objective.problem import Problem
    from fastcrf.training.driver import Score

logger = logging.getLogger("fastcrf")

NOTICE = "fastcrf is compiling its kernels for this machine; this takes a few seconds and happens only once."
WARM: set[tuple[object, ...]] = set()  # what this process has warmed up: each has kernels of its own
STEPS = 2
SEQUENCES = 2


class Announcer(event.Listener):
    """Logs the notice when Numba really compiles a kernel of ours. (Loading one from the cache is no such event.)"""

    def __init__(self) -> None:
        self.announced = False

    def on_start(self, event: Any) -> None:
        ours = event.data["dispatcher"].py_func.__module__.startswith("fastcrf.")
        if ours and not self.announced:
            self.announced = True
            logger.warning(NOTICE)

    def on_end(self, event: Any) -> None:
        """Nothing to say."""


ANNOUNCER = Announcer()


def announce_compilation() -> AbstractContextManager[Any]:
    """Within, the first compilation of a kernel in this process is announced through the logger `fastcrf`."""
    return event.install_listener("numba:compile", ANNOUNCER)


def warm_up(problem: Problem, solver: Solver) -> None:
    """Run briefly on the first two sequences, once in a process for each solver, its options that are words (they
    choose kernels, numbers do not), whether there is an L1 penalty (which has kernels of its own), and lane width.
    """
    from fastcrf.objective.problem import Problem  # here: whoever tags may have to compile, and needs no problem

    words = (value for value in dataclasses.astuple(solver) if isinstance(value, str))  # type: ignore[call-overload]
    key = solver.name, *words, problem.c1 > 0.0, problem.likelihood.layout.width
    if key in WARM:
        return
    WARM.add(key)
    small = first_sequences(problem.corpus, SEQUENCES)
    run_briefly(Problem(small, problem.features, problem.c1, problem.c2, problem.n_jobs), solver)


def run_briefly(problem: Problem, solver: Solver, watch: Mapping[str, Score] = NOTHING) -> None:
    """Take two steps, with the scores that the real run will be watched by.

    What goes wrong here goes wrong in the run, where it is reported. Ctrl-C means the run, so it is passed on.
    """
    from fastcrf.training.driver import minimize  # here, for the same reason
    from fastcrf.training.stopping import MaxSteps

    with suppress(Exception):
        if minimize(problem, of_any_corpus(solver), stop=[MaxSteps(STEPS)], watch=watch).status == "interrupted":
            raise KeyboardInterrupt


def of_any_corpus(solver: Solver) -> Solver:
    """The solver with the defaults of options that hold a number for each sequence: they would not fit two."""
    fields = dataclasses.fields(solver)  # type: ignore[arg-type]
    defaults = {field.name: field.default for field in fields if isinstance(getattr(solver, field.name), tuple)}
    return changed(solver, **defaults)


def first_sequences(corpus: Corpus, n: int) -> Corpus:
    """The first n sequences of a corpus, or all if it has fewer."""
    starts = corpus.starts[: n + 1]
    offsets = corpus.offsets[: starts[-1] + 1]
    return Corpus(
        starts=starts,
        offsets=offsets,
        attributes=corpus.attributes[: offsets[-1]],
        values=corpus.values[: offsets[-1]],
        labels=corpus.labels[: starts[-1]],
        weights=corpus.weights[:n],
    )
