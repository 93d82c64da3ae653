"""Which problem a solver is given: the data as they are, or a smaller one with the same optimum."""

from __future__ import annotations

from fastcrf.constrained_training.problem import ConstrainedProblem
from fastcrf.constraints.allowed import Allowed
from fastcrf.core.types import Corpus, FeatureMap, Floats
from fastcrf.objective.merged_problem import MergedProblem
from fastcrf.objective.merging import merge_equal
from fastcrf.objective.problem import Problem
from fastcrf.solvers.contract import Policy, Solver


def choose_problem(
    solver: Solver,
    corpus: Corpus,
    features: FeatureMap,
    c1: float = 0.0,
    c2: float = 0.0,
    n_jobs: int = 1,
    prior: Floats | None = None,
    allowed: Allowed | None = None,
) -> Problem | MergedProblem:
    """Merge attributes that always occur together where the solver declares it and c2 > 0 (`objective/merging.py`).

    Other solvers stand for what is published under their names, and take the data as they are. So do problems with a
    prior, whose means may differ where the data do not. `allowed` are the labels that constrained training allows.
    """
    if allowed is not None:
        return ConstrainedProblem(corpus, features, allowed, c1, c2, n_jobs, prior)
    if isinstance(solver, Policy) and solver.merges_attributes and c2 > 0.0 and prior is None:
        merging = merge_equal(corpus, features)
        if merging is not None:
            return MergedProblem(merging, features, c1, c2, n_jobs)
    return Problem(corpus, features, c1, c2, n_jobs, prior)
