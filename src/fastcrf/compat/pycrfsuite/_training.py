"""Train a model on a data set, with a message at each stage, for `Trainer.train`."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable

import numpy as np

from fastcrf.compat.pycrfsuite import _log
from fastcrf.compat.pycrfsuite._data import DataSet
from fastcrf.compat.pycrfsuite._evaluation import Evaluation
from fastcrf.compat.pycrfsuite._parameters import Parameters
from fastcrf.compat.pycrfsuite._plan import feature_options, planned
from fastcrf.core.types import FeatureMap
from fastcrf.data.encoding.attributes import ItemAttributes
from fastcrf.feature_space.feature_map import build_feature_map
from fastcrf.interchange.crfsuite_writer import crfsuite_bytes
from fastcrf.jit.compile_notice import announce_compilation
from fastcrf.model.pruning import prune
from fastcrf.objective.problem import Problem
from fastcrf.simd.vectors import norm
from fastcrf.system.threads import usable_jobs
from fastcrf.training.driver import Result, minimize
from fastcrf.training.trace import Row
from fastcrf.training.warm_up import warm_up

Say = Callable[[str], object]


def train(data: DataSet, parameters: Parameters, holdout: int, say: Say) -> bytes:
    """Return the content of the .crfsuite file of the trained model. Each message goes to `say`, which may raise."""
    plan = planned(parameters)  # what is wrong with the parameters comes before the first message
    tell(say, _log.generating(parameters, holdout))
    began = time.perf_counter()
    corpus, held_out = data.split(holdout)
    attributes, labels = data.attributes(), data.label_names()
    with announce_compilation():
        features = build_feature_map(corpus, len(attributes), len(labels), **feature_options(parameters))
        tell(say, _log.generated(features.n_weights, time.perf_counter() - began))
        tell(say, _log.beginning(parameters))
        weights = np.zeros(features.n_weights)
        if features.n_weights:
            problem = Problem(corpus, features, plan.c1, plan.c2, usable_jobs())
            warm_up(problem, plan.solver)
            story = Story(parameters.algorithm, Evaluation(held_out, features, labels) if held_out else None, say)
            result = minimize(problem, plan.solver, stop=plan.rules, watch=story.watched(), callbacks=[story])
            tell(say, _log.ending(parameters.algorithm, result.status, result.reason, seconds_of(result)))
            if result.status == "interrupted":
                raise KeyboardInterrupt
            weights = result.weights
        else:
            tell(say, _log.ending(parameters.algorithm, "empty", "there are no features", 0.0))
    return store(attributes, labels, features, weights, say)


class Story:
    """Tells each step, and how good it is on the held-out group."""

    def __init__(self, algorithm: str, evaluation: Evaluation | None, say: Say) -> None:
        self.algorithm, self.evaluation, self.say = algorithm, evaluation, say
        self.seconds = 0.0

    def watched(self) -> dict[str, Callable[..., float]]:
        scores = {"feature_norm": norm, "active_features": lambda weights: float(np.count_nonzero(weights))}
        return scores | ({"holdout_accuracy": self.evaluation} if self.evaluation else {})

    def __call__(self, row: Row) -> bool:
        """Return False, so that training continues."""
        if row["step"]:
            tell(self.say, _log.iteration(self.algorithm, row, row["seconds"] - self.seconds))
            if self.evaluation:
                tell(self.say, self.evaluation.lines())
            self.say("\n")
        self.seconds = row["seconds"]
        return False


def store(attributes: ItemAttributes, labels: list[str], features: FeatureMap, weights: np.ndarray, say: Say) -> bytes:
    """Return the content of the model's file."""
    began = time.perf_counter()
    kept_attributes, kept_features, kept_weights = prune(attributes, features, weights)
    content = crfsuite_bytes(labels, kept_attributes.names(), kept_features, kept_weights)
    counts = {
        "features": (kept_features.n_weights, features.n_weights),
        "attributes": (len(kept_attributes), len(attributes)),
        "labels": (len(labels), len(labels)),
    }
    tell(say, _log.storing(counts, time.perf_counter() - began))
    return content


def seconds_of(result: Result) -> float:
    return float(result.trace[-1]["seconds"])


def tell(say: Say, messages: Iterable[str]) -> None:
    for message in messages:
        say(message)
