"""Learning from a stream: sequences come in chunks, and are not kept.

Each chunk is one epoch of a solver that resumes from its state. Attributes and labels that are new
extend the weights and that memory (growth.py); what a stream of any length needs is the model, a chunk, and what the
solver keeps of each weight. The objective is

    sum_i -log p(y_i | x_i, w) + c1 |w|_1 + c2 |w|^2     over N sequences,

N those seen so far or, if the user knows, those to be expected; a chunk of n sequences bears the share n / N of the
penalty, so that lambda = 2 c2 / N is the same for every solver whatever the chunks are.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from fastcrf.core.types import Diverged, FeatureMap, Floats
from fastcrf.data.encoding.attributes import Attributes
from fastcrf.data.encoding.encoder import encode_training
from fastcrf.exceptions import DataError
from fastcrf.feature_space.feature_map import build_feature_map
from fastcrf.feature_space.feature_union import NO_FEATURES, every_state, merge
from fastcrf.fitting.growth import extended, extended_memory
from fastcrf.jit.compile_notice import announce_compilation
from fastcrf.model.model import Model
from fastcrf.model.pruning import prune
from fastcrf.objective.problem import Problem
from fastcrf.solvers.contract import Solver, Streaming
from fastcrf.solvers.registry import check
from fastcrf.training.trace import Row

NO_RARE = "Online learning cannot drop rare features, because it does not know future counts"


@dataclass
class Stream:
    """What was learnt so far. `learn` either takes in a whole chunk or, after an error, nothing of it."""

    solver: Solver
    c1: float
    c2: float
    attributes: Attributes
    feature_options: Mapping[str, Any]  # arguments of `build_feature_map`
    expected: int | None = None  # sequences that there will be, if anyone knows
    labels: list[Any] = field(default_factory=list)
    features: FeatureMap = NO_FEATURES
    weights: Floats = field(default_factory=lambda: np.zeros(0))
    state: Mapping[str, Any] | None = None  # the solver's
    seen: int = 0  # sequences so far
    chunks: int = 0
    seconds: float = 0.0  # in the solver

    def __post_init__(self) -> None:
        check_streams(self.solver)
        if self.feature_options.get("min_freq", 0.0) > 0.0:
            raise ValueError(f"{NO_RARE}; set min_freq=0.")

    def learn(
        self,
        X: Iterable[Any],
        y: Iterable[Any],
        classes: Iterable[Any] | None = None,
        sample_weight: Iterable[float] | None = None,
    ) -> list[Row]:
        """Take in a chunk: a row for each Step of the solver."""
        known = list(dict.fromkeys([*self.labels, *(classes if classes is not None else ())]))
        corpus, attributes, labels = encode_training(X, y, sample_weight, self.attributes, known)
        new = build_feature_map(corpus, len(attributes), len(labels), **self.feature_options)
        if self.feature_options.get("all_states"):
            new = every_state(new)  # attributes of earlier chunks get the new labels, too
        features, places = merge(self.features, new)
        weights, state = extended(self.weights, places, features.n_weights), None
        if self.state is not None:
            state = extended_memory(self.solver.state_fields, self.state, places, features.n_weights)
        seen = self.seen + corpus.n_sequences
        share = corpus.n_sequences / max(seen, self.expected or 0)
        problem = Problem(corpus, features, self.c1 * share, self.c2 * share)
        check(problem, self.solver)
        rows = self._epoch(problem, weights, state)
        self.attributes, self.labels, self.features = attributes, labels, features
        self.seen, self.chunks = seen, self.chunks + 1
        return [{**row, "sequences": seen, "weights": features.n_weights, "labels": len(labels)} for row in rows]

    def _epoch(self, problem: Problem, weights: Floats, state: Mapping[str, Any] | None) -> list[Row]:
        """One epoch of the solver over a chunk; where it ends becomes this stream's."""
        rows: list[Row] = []
        began = time.perf_counter()
        steps = self.solver.iterate(problem, weights, state)  # type: ignore[arg-type]
        try:
            with announce_compilation():
                next(steps)
                done = False
                while not done:
                    step = next(steps)
                    seconds = self.seconds + time.perf_counter() - began
                    rows.append({"chunk": self.chunks, "passes": step.passes, "seconds": seconds, **step.info})
                    done = not step.state["sampled"]
        except Diverged as failure:
            raise DataError(f"Online learning diverged, and the chunk is dropped. {failure}") from None
        self.weights, self.state = step.weights.copy(), dict(step.state)
        self.seconds = seconds
        return rows

    def model(self, options: Mapping[str, Any]) -> Model:
        """What was learnt so far, as a model that tags."""
        outcome = {"stop_reason": f"Trained online on {self.seen} sequences.", "sequences": self.seen}
        pruned = prune(self.attributes, self.features, self.weights)
        return Model(self.labels, *pruned, options={**options, "training": outcome})


def check_streams(solver: Solver) -> None:
    """Raise one sentence unless the solver can go on with other sequences than those that it began with."""
    if isinstance(solver, Streaming) and solver.streams:
        return
    if any(kept.axis == "sequences" for kept in solver.state_fields.values()):
        why = "keeps a table of the sequences that it has seen, which a stream would make longer and longer"
    elif "sequences" in solver.needs:
        why = "measures what it does against one corpus that it can return to"
    else:
        why = "needs the whole corpus for every step"
    raise ValueError(
        f"{solver.name} does not support online learning: it {why}; use psa, staggered-aitken, adagrad, asg or sgd."
    )
