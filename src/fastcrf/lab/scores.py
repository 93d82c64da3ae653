"""What is measured of weights besides the objective: scores by name, on the training and the held-out part.

active        weights other than zero
error         share of held-out tokens with a wrong label
f1            of the held-out segments, as conlleval counts them
log_loss      mean loss of a held-out sequence: minus its log-likelihood; one with an unseen label has none
train_error, train_f1       the same of the training set

Labels that training never saw count as wrong.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from fastcrf.core.types import Corpus, FeatureMap, Floats, Ints
from fastcrf.data.corpus.occurrences import with_attributes
from fastcrf.data.corpus.reordering import reorder
from fastcrf.decoding.compiled_decoder import viterbi
from fastcrf.decoding.held_out_counts import find_segments, read_marks
from fastcrf.metrics import Label
from fastcrf.objective.problem import Problem

if TYPE_CHECKING:
    from fastcrf.lab.dataset import Dataset

Score = Callable[[Floats], float]
USUAL = ("active", "error")
TRAINING = "train_"
NAMES = ("active", "error", "f1", "log_loss", "train_error", "train_f1")


def make_scores(dataset: Dataset, names: Sequence[str]) -> dict[str, Score]:
    """The scores of some names that the dataset has the data for."""
    made: dict[str, Score] = {}
    parts = {TRAINING: LabeledPart(dataset.corpus, dataset.features, dataset.label_names)}
    if dataset.held_out is not None:
        parts[""] = LabeledPart(dataset.held_out, dataset.features, dataset.label_names)
    for name in names:
        if name not in NAMES:
            raise ValueError(f"There is no score {name!r}; the scores are {', '.join(NAMES)}.")
        part = parts.get(TRAINING if name.startswith(TRAINING) else "")
        if name == "active":
            made[name] = lambda weights: float(np.count_nonzero(weights))
        elif part is not None:
            made[name] = getattr(part, name.removeprefix(TRAINING))
    return made


class LabeledPart:
    """Sequences with gold labels, and how well weights label them. They are decoded once for all scores."""

    def __init__(self, corpus: Corpus, features: FeatureMap, label_names: Sequence[Label]) -> None:
        self.corpus, self.features = corpus, features
        self.marks = read_marks(label_names)
        self.gold = find_segments(self.marks, corpus.labels, corpus.starts)
        self._weights: Floats = np.empty(0)
        self._decoded: Ints = np.empty(0, np.int32)

    def decoded(self, weights: Floats) -> Ints:
        if not np.array_equal(weights, self._weights):
            self._decoded, self._weights = viterbi(self.corpus, self.features, weights), weights.copy()
        return self._decoded

    def error(self, weights: Floats) -> float:
        return 1.0 - float(np.mean(self.decoded(weights) == self.corpus.labels))

    def f1(self, weights: Floats) -> float:
        """In per cent, as papers print it."""
        found = find_segments(self.marks, self.decoded(weights), self.corpus.starts)
        total = len(found) + len(self.gold)
        return 200.0 * len(np.intersect1d(found, self.gold, assume_unique=True)) / total if total else 0.0

    def log_loss(self, weights: Floats) -> float:
        return self.known.value(weights) / self.known.n_sequences

    @cached_property
    def known(self) -> Problem:
        """What training has seen of these data: attributes that it knows, sequences whose labels all have an id."""
        unseen = np.add.reduceat(self.corpus.labels < 0, self.corpus.starts[:-1])
        corpus, n = reorder(self.corpus, np.flatnonzero(unseen == 0)), self.features.n_attributes
        numbers = np.append(np.arange(n), -1).astype(np.int32)  # the last place is that of an unknown one, -1
        return Problem(with_attributes(corpus, numbers >= 0, numbers), self.features)
