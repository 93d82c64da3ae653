"""Many penalties on the same data, from the strongest to the weakest, each from where the one before has ended.

A warm start carries the weights. With `Auto` it also carries what the solver knows of scales and curvature: of an L2
penalty both change by known terms, so that nothing is evaluated again (`Auto.carried`). Solvers with stored gradients
of the loss alone, such as SAG, resume from their state (Schmidt et al. 2015, footnote 1).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from fastcrf.core.checks import at_least, whole
from fastcrf.core.types import Corpus, FeatureMap, Floats
from fastcrf.data.corpus.reordering import reorder
from fastcrf.decoding.compiled_decoder import viterbi
from fastcrf.exceptions import DataError
from fastcrf.fitting.fit import answering
from fastcrf.fitting.plan import Plan
from fastcrf.fitting.problem_choice import choose_problem
from fastcrf.metrics import segment_scores
from fastcrf.objective.likelihood import Likelihood
from fastcrf.objective.merged_problem import MergedProblem
from fastcrf.objective.problem import Problem
from fastcrf.solvers.auto.auto import Auto
from fastcrf.solvers.contract import Policy, Solver
from fastcrf.training.driver import Result, minimize
from fastcrf.training.trace import Row
from fastcrf.training.warm_up import warm_up

SMALLEST_SHARE = 1e-3  # of the largest useful c1, at the end of a default path
DEFAULT_C2 = tuple(np.geomspace(10.0, 0.01, 10).tolist())
SCORES = ("likelihood", "accuracy", "segment_f1")


class PathPoint(NamedTuple):
    """The outcome for one penalty."""

    c1: float
    c2: float
    weights: Floats
    objective: float
    relative_gap: float  # certified
    n_nonzero: int  # weights that are not zero
    passes: float
    seconds: float
    scores: dict[str, float]  # on held-out data, higher is better


class PathScores:
    """Scores of weights on labeled data: mean log-likelihood of a token's share, token accuracy, F1 of segments."""

    def __init__(
        self, corpus: Corpus, features: FeatureMap, labels: Sequence[Any], wanted: Iterable[str] = SCORES
    ) -> None:
        self.corpus, self.features, self.labels, self.wanted = corpus, features, labels, tuple(wanted)
        known = known_part(corpus)
        if not known.n_positions and "likelihood" in self.wanted:
            raise DataError(
                "Every held-out sequence has a label that is not in the training data, so it has no likelihood; hold "
                "out other sequences, or choose scoring='accuracy' or 'segment_f1'."
            )
        self.likelihood = Likelihood(known, features)

    def of(self, weights: Floats) -> dict[str, float]:
        known = self.likelihood.corpus.n_positions
        predicted = viterbi(self.corpus, self.features, weights)
        scores = {
            "likelihood": lambda: -self.likelihood.value(weights) / known,
            "accuracy": lambda: float(np.mean(predicted == self.corpus.labels)),
            "segment_f1": lambda: segment_scores(self._named(self.corpus.labels), self._named(predicted)).overall.f1,
        }
        return {name: float(scores[name]()) for name in self.wanted}

    def _named(self, ids: np.ndarray) -> list[list[Any]]:
        starts = self.corpus.starts
        names = [str(self.labels[k]) if k >= 0 else "" for k in ids]
        return [names[first:last] for first, last in pairwise(starts)]


def known_part(corpus: Corpus) -> Corpus:
    """The sequences whose labels the model knows, without attributes that it does not know."""
    kept = corpus.attributes >= 0
    places = np.concatenate(([0], np.cumsum(kept)))
    clean = corpus._replace(
        offsets=places[corpus.offsets],
        attributes=corpus.attributes[kept],
        values=corpus.values[kept] if len(corpus.values) else corpus.values,
    )
    unknown = np.add.reduceat(corpus.labels < 0, corpus.starts[:-1]) > 0
    return reorder(clean, np.flatnonzero(~unknown)) if unknown.any() else clean


def problem_of_path(
    solver: Solver, corpus: Corpus, features: FeatureMap, weakest_c2: float, n_jobs: int
) -> Problem | MergedProblem:
    """One problem for all penalties of a path; `with_penalty` gives it each of them."""
    return choose_problem(solver, corpus, features, 0.0, weakest_c2, n_jobs)


def weakest_c2(c1_values: Sequence[float] | int | None, c2_values: Sequence[float] | None, c2: float) -> float:
    """The smallest c2 of a path, whose other arguments are those of `penalties`."""
    if c1_values is not None:
        return at_least("c2", c2, 0.0)
    return min(
        (at_least("c2_values", value, 0.0) for value in (DEFAULT_C2 if c2_values is None else c2_values)), default=0
    )


def largest_useful_c1(problem: Problem | MergedProblem) -> float:
    """From here on every weight is zero: the largest slope of the loss at zero."""
    slopes = np.abs(problem.gradient(np.zeros(problem.n_weights))[1])
    return float((slopes / problem.c1_factors if len(problem.c1_factors) else slopes).max())


def penalties(
    problem: Problem | MergedProblem,
    c1_values: Sequence[float] | int | None,
    c2_values: Sequence[float] | None,
    c1: float,
    c2: float,
) -> list[tuple[float, float]]:
    """(c1, c2) from the strongest to the weakest. c1_values may be a number of values below the largest useful one."""
    if c1_values is not None and c2_values is not None:
        raise ValueError("A path goes along c1_values or c2_values, not both; leave one of them out.")
    if c1_values is None:
        values = [at_least("c2_values", value, 0.0) for value in (DEFAULT_C2 if c2_values is None else c2_values)]
        return [(at_least("c1", c1, 0.0), value) for value in sorted(values, reverse=True)]
    if isinstance(c1_values, int):
        top = largest_useful_c1(problem)
        values = np.geomspace(top, SMALLEST_SHARE * top, whole("c1_values", c1_values, 1)).tolist()
    else:
        values = [at_least("c1_values", value, 0.0) for value in c1_values]
    return [(value, at_least("c2", c2, 0.0)) for value in sorted(values, reverse=True)]


def follow_path(
    problem: Problem | MergedProblem,
    along: Sequence[tuple[float, float]],
    plan_of: Callable[..., Plan],
    *,
    held_out: PathScores | None = None,
    callbacks: Iterable[Callable[[Row], Any]] = (),
    done: Callable[[], None] = lambda: None,
) -> list[PathPoint]:
    """Train for each penalty in turn, as `plan_of(c1=..., c2=...)` says; call `done` after each."""
    before, result, points = problem, None, []
    for c1, c2 in along:
        plan, now = plan_of(c1=c1, c2=c2), problem.with_penalty(c1, c2)
        solver = plan.solver.with_target(None) if isinstance(plan.solver, Policy) else plan.solver
        warm_up(now, solver)
        listening = [answering(callback) for callback in callbacks]
        result = minimize(now, solver, **start_at(result, solver, before, now), stop=plan.stop, callbacks=listening)
        before = now
        last, certificate = result.trace[-1], result.certificate
        weights = now.model_weights(result.weights)
        scores = held_out.of(weights) if held_out else {}
        numbers = certificate.objective, certificate.relative_gap, int(np.count_nonzero(weights))
        points.append(PathPoint(c1, c2, weights, *numbers, last["passes"], last["seconds"], scores))
        done()
    return points


def start_at(
    result: Result | None, solver: Solver, before: Problem | MergedProblem, now: Problem | MergedProblem
) -> dict[str, Any]:
    """Return what `minimize` takes over from the end of the run before: the state, the weights, or nothing."""
    if result is None or getattr(solver, "starts", None) == "own":
        return {}
    if isinstance(solver, Auto):
        return {"state": solver.carried(result.state, before, now)}
    if getattr(solver, "resumes_with_other_c2", False) and now.c1 == before.c1:
        return {"state": result.state}
    return {"weights": result.weights}
