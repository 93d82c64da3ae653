"""Compile kernels, or load them from the cache, before the clock runs.

Without a warm-up, the first run of a process would count compile time as solver time.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from contextlib import suppress

from fastcrf.constrained_training.problem import ConstrainedProblem
from fastcrf.core.types import NOTHING, Corpus
from fastcrf.objective.merged_problem import MergedProblem
from fastcrf.objective.problem import Problem
from fastcrf.solvers.contract import Policy, Solver
from fastcrf.solvers.registry import changed
from fastcrf.stopping import MaxIterations
from fastcrf.training import driver
from fastcrf.training.driver import Score

WARM: set[tuple[object, ...]] = set()  # keys warmed up in this process: each has kernels of its own
STEPS = 2
SEQUENCES = 2


def warm_up(problem: Problem | MergedProblem, solver: Solver) -> None:
    """Run briefly on the first two sequences, to compile the kernels that the solver needs.

    A process does this once for each key: the solver, its options that are strings and which of the others are 0 (they
    choose kernels, other numbers do not), whether there is an L1 penalty (which has kernels of its own), the lane
    width, the order of the chain and whether it is constrained.
    """
    if isinstance(solver, Policy):  # a few sequences must lead to the same choices as the real run
        solver = solver.decided(problem)
    options = dataclasses.astuple(solver)  # type: ignore[call-overload]
    words = (value if isinstance(value, str) else bool(value) for value in options)
    of_chain = problem.likelihood.layout.width, problem.features.order, type(problem.likelihood)
    key = solver.name, *words, problem.c1 > 0.0, *of_chain
    if key in WARM:
        return
    WARM.add(key)
    run_briefly(small_problem(problem), solver)


def small_problem(problem: Problem | MergedProblem) -> Problem:
    """Return the problem of the first sequences."""
    if isinstance(problem, ConstrainedProblem):
        return problem.first_sequences(SEQUENCES)
    small = first_sequences(problem.corpus, SEQUENCES)
    return Problem(small, problem.features, problem.c1, problem.c2, problem.n_jobs)


def run_briefly(problem: Problem, solver: Solver, watch: Mapping[str, Score] = NOTHING) -> None:
    """Take two steps, with the scores that the real run watches.

    Errors are suppressed here, because the real run raises and reports them again. Ctrl-C is passed on.
    """
    with suppress(Exception):
        rules = [MaxIterations(STEPS)]
        if driver.minimize(problem, of_any_corpus(solver), stop=rules, watch=watch).status == "interrupted":
            raise KeyboardInterrupt


def of_any_corpus(solver: Solver) -> Solver:
    """Return the solver with default values for options that hold one number per sequence: they would not fit two
    sequences.
    """
    fields = dataclasses.fields(solver)  # type: ignore[arg-type]
    defaults = {field.name: field.default for field in fields if isinstance(getattr(solver, field.name), tuple)}
    return changed(solver, **defaults)


def first_sequences(corpus: Corpus, n: int) -> Corpus:
    """Return the first n sequences of a corpus, or all if it has fewer."""
    return corpus.slice_of(0, min(n, corpus.n_sequences))
