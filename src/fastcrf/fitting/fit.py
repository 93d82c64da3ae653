"""Training from data to model, in one call: encode, choose features, minimize, keep what matters."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple, Protocol

import numpy as np

from fastcrf.constrained_training.problem import ConstrainedProblem, check_gold
from fastcrf.constraints.allowed import Allowed, allowed_labels
from fastcrf.constraints.constraints import Constraints
from fastcrf.constraints.learning import learned
from fastcrf.constraints.rules import Rules, rules_of
from fastcrf.core.checks import whole
from fastcrf.core.types import NOTHING, Corpus, FeatureMap, Floats
from fastcrf.data.corpus.rare_attributes import without_rare
from fastcrf.data.encoding.attributes import Attributes
from fastcrf.data.encoding.encoder import NO_ITEMS, Encoder, encode_training
from fastcrf.data.model_file.rescue import check_space
from fastcrf.decoding.compiled_decoder import viterbi
from fastcrf.decoding.held_out_counts import Counts, count, read_marks
from fastcrf.exceptions import DataError
from fastcrf.feature_space.feature_map import build_feature_map
from fastcrf.fitting.plan import SCORES, Plan, check_held_out, without_certificate
from fastcrf.fitting.prior import check_numbers, check_plan, known_attributes, with_features_of
from fastcrf.fitting.problem_choice import choose_problem
from fastcrf.fitting.warm_start import starting_weights
from fastcrf.jit.compile_notice import announce_compilation
from fastcrf.model.model import Model
from fastcrf.model.pruning import named_by, prune
from fastcrf.objective.capabilities import TrainingProblem
from fastcrf.objective.merged_problem import MergedProblem
from fastcrf.objective.problem import Problem
from fastcrf.partial_labels.problem import PartialProblem
from fastcrf.solvers.contract import Policy
from fastcrf.solvers.registry import check_needs
from fastcrf.training.checkpoint import Checkpoint, digest
from fastcrf.training.driver import Result, minimize
from fastcrf.training.progress import Display
from fastcrf.training.trace import Row
from fastcrf.training.warm_up import warm_up

logger = logging.getLogger("fastcrf")

DEV_SCORES = tuple(f"dev_{score}" for score in SCORES)  # columns of held-out scores
NOT_CONVEX = "the objective of partial labels is not convex, so this may be a local optimum."
MOST_POINTS = 50  # of the curve that a model keeps
NEGLIGIBLE = 1e-6  # a relative gap beyond which a solver that finds no lower point has done its work


class Fit(NamedTuple):
    """A trained model, and how training went."""

    model: Model
    result: Result
    converged: bool  # a goal was met: a convergence rule, or a certified gap within tol
    ended_early: bool  # neither a goal nor the user ended it


class DevSet:
    """Held-out sequences and their scores. Labels that training never saw count as wrong."""

    def __init__(self, corpus: Corpus, features: FeatureMap, labels: Sequence[Any], rules: Rules | None = None) -> None:
        if not corpus.n_positions:
            raise DataError(
                "The held-out data contain no sequence with at least one item; give some, or leave them out."
            )
        self.corpus, self.features, self.marks = corpus, features, read_marks(labels)
        self.allowed = allowed_labels(rules, labels, corpus)

    def counts(self, weights: Floats) -> Counts:
        return count(self.corpus, viterbi(self.corpus, self.features, weights, self.allowed), self.marks)

    def fingerprint(self) -> str:
        return digest(self.corpus)


def fit_model(
    X: Iterable[Any],
    y: Iterable[Any],
    plan: Plan,
    *,
    attributes: Attributes = NO_ITEMS,
    sample_weight: Iterable[float] | None = None,
    **how: Any,
) -> Fit:
    """Train on sequences X with labels y.

    attributes: what is known beforehand; their kind says what the sequences hold (items, or rows for a template);
    how:        what `fit_corpus` takes.
    """
    check_held_out(plan, how.get("dev") is not None)  # before anything is read
    labels, prior = None, how.get("prior")
    if prior:
        check_plan(plan)
        attributes, labels = known_attributes(prior, attributes), prior.labels
    with announce_compilation():
        encoded = encode_training(X, y, sample_weight, attributes, labels)
    return fit_corpus(*encoded, plan, **how)


def fit_corpus(
    corpus: Corpus,
    learnt: Attributes,
    labels: list[Any],
    plan: Plan,
    *,
    dev: tuple[Iterable[Any], Iterable[Any]] | None = None,
    min_count: int = 1,
    features: Mapping[str, Any] = NOTHING,
    prior: Model | None = None,
    n_jobs: int = 1,
    constraints: Constraints | None = None,
    constrained_training: bool = False,
    partial: Allowed | None = None,
    **how: Any,
) -> Fit:
    """Train on an encoded corpus, in memory or mapped, with its attributes and labels.

    dev:      held-out sequences and labels, whose token accuracy and segment F1 are in each row of the trace;
    min_count: attributes that occur less often are left out, whatever their labels (the cut-off of CRF++);
    features: arguments of `build_feature_map`;
    prior:    a model whose weights are the mean of the penalty, and the starting point if there is no other;
    constraints: which label sequences are allowed, in predictions and, with `constrained_training`, in training;
    partial:  what is known of the labels, where the corpus has some label in place of the unknown ones;
    how:      what `fit_problem` takes besides.
    """
    check_held_out(plan, dev is not None)
    with announce_compilation():
        if constraints:
            constraints = learned(constraints, corpus, labels, learnt.names)
        if prior:
            check_numbers(prior, learnt, labels)
        n_known = len(prior.attributes) if prior else learnt.n_fixed
        corpus, learnt, feature_map = choose_features(corpus, learnt, labels, min_count, features, n_known)
        if prior:
            feature_map = with_features_of(prior.features, feature_map)
        mean = starting_weights(prior, learnt, labels, feature_map) if prior else None
        rules = rules_of(constraints, labels, learnt.names() if constraints.dictionary else ()) if constraints else None
        held_out = DevSet(Encoder(learnt).encode_labeled(*dev, labels), feature_map, labels, rules) if dev else None
        allowed = None
        if constrained_training:
            plan, allowed = constrained(plan, rules, corpus, labels)
        if partial is not None:
            plan = without_certificate(with_batch_solver(plan, "training on partial labels"))
            problem: Problem | MergedProblem = PartialProblem(corpus, feature_map, partial, plan.c1, plan.c2, n_jobs)
        else:
            problem = choose_problem(plan.solver, corpus, feature_map, plan.c1, plan.c2, n_jobs, mean, allowed)
        warm_up(problem, plan.solver)
        return fit_problem(problem, learnt, labels, plan, held_out=held_out, constraints=constraints, **how)


def constrained(plan: Plan, rules: Rules | None, corpus: Corpus, labels: list[Any]) -> tuple[Plan, Allowed]:
    """Return the plan for training over allowed label sequences, and what is allowed."""
    if rules is None:
        raise ValueError("constrained_training=True requires constraints; pass some, such as constraints='BIO'.")
    plan = with_batch_solver(plan, "constrained training")
    allowed = allowed_labels(rules, labels, corpus)
    assert allowed is not None
    check_gold(corpus, allowed, labels)
    return plan, allowed


def with_batch_solver(plan: Plan, where: str) -> Plan:
    """Return the plan with a solver that needs gradients alone; raise ValueError if its solver needs more."""
    solver = plan.solver.for_shards(plan.c1) if isinstance(plan.solver, Policy) else plan.solver
    try:
        check_needs(solver, ConstrainedProblem.provides)
    except ValueError as error:
        remedy = "use auto, lbfgs, owlqn or another batch solver"
        raise ValueError(f"{str(error).rstrip('.')} in {where}; {remedy}.") from None
    return plan._replace(solver=solver)


def choose_features(
    corpus: Corpus, learnt: Attributes, labels: list[Any], min_count: int, options: Mapping[str, Any], n_known: int = 0
) -> tuple[Corpus, Attributes, FeatureMap]:
    """Return corpus and attributes without rare ones, apart from the first `n_known`, and the features of the rest."""
    if whole("min_count", min_count, 1) > 1:
        corpus, frequent = without_rare(corpus, len(learnt), min_count, n_known)
        learnt = learnt.kept(frequent)
    return corpus, learnt, build_feature_map(corpus, len(learnt), len(labels), **options)


class HeldOut(Protocol):
    """Held-out data, in this process or on a cluster."""

    def counts(self, weights: Floats) -> Counts: ...

    def fingerprint(self) -> str: ...


class HeldOutScores:
    """Held-out scores of a solver's weights, which are decoded once for all scores."""

    def __init__(self, held_out: HeldOut, model_weights: Callable[[Floats], Floats]) -> None:
        self.held_out, self.model_weights = held_out, model_weights
        self.weights: Floats | None = None
        self.scores: dict[str, float] = {}

    def watch(self) -> dict[str, Callable[[Floats], float]]:
        """Return a function of the weights for each column."""
        return {f"dev_{score}": partial(self.score, score) for score in SCORES}

    def score(self, name: str, weights: Floats) -> float:
        if self.weights is None or not np.array_equal(weights, self.weights):
            self.scores = self.held_out.counts(self.model_weights(weights)).scores()
            self.weights = weights.copy()
        return self.scores[name]


def fit_problem(
    problem: TrainingProblem,
    learnt: Attributes,
    labels: list[Any],
    plan: Plan,
    *,
    held_out: HeldOut | None = None,
    start: Model | None = None,
    weights: Floats | None = None,
    callbacks: Iterable[Callable[[Row], Any]] = (),
    progress: Display | None = None,
    checkpoint: Checkpoint | None = None,
    options: Mapping[str, Any] = NOTHING,
    constraints: Constraints | None = None,
    destination: str | None = None,
) -> Fit:
    """Solve a problem, of this process or of others, and make a model of the weights.

    held_out: data whose token accuracy and segment F1 are in each row of the trace;
    start:    a model whose weights are the starting point; weights: the starting point itself, where there is no model;
    checkpoint: where the run is saved from time to time, and from where it may go on;
    options:  what the model remembers of its making, besides the outcome;
    constraints: what the model allows; attributes of its dictionary stay in the model;
    destination: where the caller will save the model: raise OSError before training if it has too little space. (With
    an L1 penalty the size of the model is not known before.)
    """
    check_held_out(plan, held_out is not None)
    if destination is not None and plan.c1 == 0.0:
        check_space(destination, problem.model_features.n_weights)
    if start:
        weights = problem.solver_weights(starting_weights(start, learnt, labels, problem.model_features))
    if checkpoint and held_out:
        checkpoint.held_out = held_out.fingerprint()
    result = minimize(
        problem,
        plan.solver,
        weights,
        stop=plan.stop,
        watch=HeldOutScores(held_out, problem.model_weights).watch() if held_out else {},
        best=plan.early_stopping.column if plan.early_stopping else None,
        callbacks=[answering(callback) for callback in callbacks],
        progress=progress,
        checkpoint=checkpoint,
    )
    if not result.certificate.convex:
        result = replace(result, reason=f"{result.reason.rstrip('.')}; {NOT_CONVEX}")
    elif result.status == "stopped":
        result = replace(result, reason=with_gap(result))
    if result.status == "interrupted" and progress is None:  # a display has said it
        logger.warning("%s The model of that step is kept. Press Ctrl-C twice to stop at once.", result.reason)
    converged = has_converged(result, plan.tol or 0.0)
    unplanned = result.status in ("finished", "diverged") or (result.status == "stopped" and plan.has_goal)
    weights = problem.model_weights(result.weights)
    pruned = prune(learnt, problem.model_features, weights, named_by(constraints, learnt))
    model = Model(labels, *pruned, options={**options, "training": summary(result)}, constraints=constraints)
    return Fit(model, result, converged, ended_early=unplanned and not converged)


def answering(callback: Callable[[Row], Any]) -> Callable[[Row], bool]:
    """Return the callback as a function that asks to stop only by True itself, not by any other value."""

    def asks_to_stop(row: Row) -> bool:
        answer = callback(row)
        return isinstance(answer, bool | np.bool_) and bool(answer)

    return asks_to_stop


def with_gap(result: Result) -> str:
    """Return the reason of a run that ended at a limit, with what is certified of its weights."""
    gap = result.certificate.relative_gap
    certified = f"; the certified relative gap is {gap:.1e}." if gap <= 1.0 else "."
    return result.reason.rstrip(".") + certified


def has_converged(result: Result, tol: float) -> bool:
    """Return whether a goal was met: by a rule, by the certificate, or because nothing is left to gain."""
    if result.status == "diverged":
        return False
    if result.status == "finished":
        bounded = result.certificate.applies and result.certificate.convex
        return not bounded or result.certificate.relative_gap <= max(tol, NEGLIGIBLE)
    return result.status == "converged" or result.certificate.relative_gap <= tol


def summary(result: Result) -> dict[str, Any]:
    """Return the outcome in numbers and words that JSON can hold, without times: the same run gives the same file."""
    last, certificate = result.trace[-1], result.certificate
    return {
        "stop_reason": result.reason,
        **(
            {"objective": certificate.objective, "relative_gap": certificate.relative_gap}
            if certificate.applies
            else {}
        ),
        **{name: last[name] for name in ("step", "passes", *DEV_SCORES) if name in last},
        "curve": curve(result.trace),
    }


def curve(trace: Sequence[Row]) -> list[list[float]]:
    """Return passes over the data and certified relative gaps, at no more than about 50 steps of a run."""
    measured = [[row["passes"], row["relative_gap"]] for row in trace if (row["relative_gap"] or np.inf) < np.inf]
    step = -(-len(measured) // MOST_POINTS)
    return measured[::-step][::-1] if measured else []
