"""Compiling or loading the kernels before the clock runs: a rehearsal of the run on two sequences.

Without it the first run of a process would show the compiler's seconds as the solver's.
"""

from __future__ import annotations

import dataclasses
from contextlib import suppress

from fastcrf.objective.problem import Problem
from fastcrf.solvers.contract import Solver
from fastcrf.training.driver import minimize
from fastcrf.training.stopping import MaxSteps
from fastcrf.types import Corpus

REHEARSED: set[tuple[object, ...]] = set()  # of this process: each has kernels of its own


def rehearse(problem: Problem, solver: Solver) -> None:
    """Take two steps on the first two sequences, once in a process for each solver, its options that are words (they
    choose kernels, numbers do not), whether there is an L1 penalty (which has kernels of its own), and lane width.

    What goes wrong here goes wrong in the run, where it is reported. Ctrl-C means the run, so it is passed on.
    """
    words = (value for value in dataclasses.astuple(solver) if isinstance(value, str))  # type: ignore[call-overload]
    key = solver.name, *words, problem.c1 > 0.0, problem.likelihood.layout.width
    if key in REHEARSED:
        return
    REHEARSED.add(key)
    small = Problem(first_sequences(problem.corpus, 2), problem.features, problem.c1, problem.c2, problem.n_jobs)
    with suppress(ValueError, ArithmeticError):
        if minimize(small, of_any_corpus(solver), stop=[MaxSteps(2)]).status == "interrupted":
            raise KeyboardInterrupt


def of_any_corpus(solver: Solver) -> Solver:
    """The solver with the defaults of options that hold a number for each sequence: they would not fit two."""
    fields = dataclasses.fields(solver)  # type: ignore[arg-type]
    defaults = {field.name: field.default for field in fields if isinstance(getattr(solver, field.name), tuple)}
    return dataclasses.replace(solver, **defaults)  # type: ignore[type-var]


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
