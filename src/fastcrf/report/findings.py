"""What a report says about predictions: scores by label, confusions, calibration and mistakes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from fastcrf.core.types import Floats
from fastcrf.markup.token_text import token_of
from fastcrf.model.model import Model

BINS = 10


class LabelScore(NamedTuple):
    """Precision, recall and F1 of the tokens with one label."""

    label: Any
    precision: float
    recall: float
    f1: float
    n_true: int


class Calibration(NamedTuple):
    """Predicted labels by their probability: how many there are in each bin, and how many of them are right."""

    confidence: Floats  # mean probability in each bin that is not empty
    accuracy: Floats
    counts: Floats
    error: float  # mean distance of the two, weighted by counts (expected calibration error)


class Mistake(NamedTuple):
    """A sequence with a wrong label."""

    number: int  # of the sequence, from 1
    tokens: list[str]
    true: list[Any]
    predicted: list[Any]
    chances: list[float]  # of the predicted labels

    @property
    def surest(self) -> float:
        """The largest probability of a wrong label."""
        wrong = (a != b for a, b in zip(self.true, self.predicted, strict=True))
        return max(chance for chance, is_wrong in zip(self.chances, wrong, strict=True) if is_wrong)


class Findings(NamedTuple):
    """Predictions on labeled sequences, next to the truth."""

    tokens: list[list[str]]
    true: list[list[Any]]
    predicted: list[list[Any]]
    chances: list[list[float]]  # of the predicted labels

    def label_scores(self) -> list[LabelScore]:
        """Return the scores of each label, the most frequent first."""
        pairs = self.confusions()
        true, predicted = Counter[Any](), Counter[Any]()
        for (truth, guess), n in pairs.items():
            true[truth] += n
            predicted[guess] += n
        labels = sorted(true | predicted, key=lambda label: (-true[label], str(label)))
        return [score_of(label, pairs[label, label], true[label], predicted[label]) for label in labels]

    def confusions(self) -> Counter[tuple[Any, Any]]:
        """Return the number of tokens for each pair (true label, predicted label)."""
        return Counter(pair for a, b in zip(self.true, self.predicted, strict=True) for pair in zip(a, b, strict=True))

    def calibration(self, bins: int = BINS) -> Calibration:
        """Compare the probabilities of the predicted labels with how often they are right."""
        chances = np.array([chance for sequence in self.chances for chance in sequence])
        pairs = (zip(*labels, strict=True) for labels in zip(self.true, self.predicted, strict=True))
        right = np.array([truth == guess for sequence in pairs for truth, guess in sequence])
        return calibrate(chances, right, bins)

    def mistakes(self, most: int) -> list[Mistake]:
        """Return sequences with a wrong label, those of which the model is surest first."""
        every = enumerate(zip(self.tokens, self.true, self.predicted, self.chances, strict=True), 1)
        wrong = [Mistake(number, *parts) for number, parts in every if parts[1] != parts[2]]
        return sorted(wrong, key=lambda mistake: -mistake.surest)[:most]


def predict(model: Model, X: Sequence[Any], y: Sequence[Sequence[Any]]) -> Findings:
    """Label the sequences, with the probability of each predicted label."""
    predicted = [list(labels) for labels in model.predict(X)]
    columns = {label: k for k, label in enumerate(model.classes_)}
    chances = [
        [float(row[columns[label]]) for row, label in zip(rows, labels, strict=True)]
        for rows, labels in zip(model.predict_proba(X), predicted, strict=True)
    ]
    return Findings(
        [[token_of(item) for item in xseq] for xseq in X], [list(labels) for labels in y], predicted, chances
    )


def score_of(label: Any, correct: int, n_true: int, n_predicted: int) -> LabelScore:
    precision, recall = correct / max(1, n_predicted), correct / max(1, n_true)
    return LabelScore(label, precision, recall, 2.0 * correct / max(1, n_true + n_predicted), n_true)


def calibrate(chances: Floats, right: np.ndarray, bins: int = BINS) -> Calibration:
    """Return mean probability and accuracy by bins of equal width."""
    which = np.minimum((chances * bins).astype(np.int64), bins - 1)
    counts = np.bincount(which, minlength=bins).astype(np.float64)
    used = counts > 0
    confidence = np.bincount(which, chances, bins)[used] / counts[used]
    accuracy = np.bincount(which, right, bins)[used] / counts[used]
    error = float(np.abs(confidence - accuracy) @ counts[used] / max(1.0, counts.sum()))
    return Calibration(confidence, accuracy, counts[used], error)
