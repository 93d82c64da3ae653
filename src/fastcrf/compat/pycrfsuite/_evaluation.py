"""Scores on the held-out group, counted and written as CRFsuite does after each iteration."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from fastcrf.core.types import Corpus, FeatureMap, Floats, Longs
from fastcrf.decoding.compiled_decoder import viterbi


class Evaluation:
    """Scores of weights on a corpus. Called with weights it gives the share of right labels and keeps the counts."""

    def __init__(self, corpus: Corpus, features: FeatureMap, labels: list[str]) -> None:
        self.corpus, self.features, self.labels = corpus, features, labels

    def __call__(self, weights: Floats) -> float:
        gold, found = self.corpus.labels, viterbi(self.corpus, self.features, weights)
        self.right = right = gold == found
        self.matches, self.found, self.there = (self.count(each) for each in (gold[right], found, gold))
        return float(right.mean()) if len(right) else 0.0

    def count(self, labels: np.ndarray) -> Longs:
        return np.bincount(labels, minlength=len(self.labels))

    def lines(self) -> Iterator[str]:
        """Return CRFsuite's lines for the weights that were scored last."""
        with np.errstate(invalid="ignore", divide="ignore"):
            precision = np.where(self.found > 0, self.matches / self.found, 0.0)
            recall = np.where(self.there > 0, self.matches / self.there, 0.0)
            f1 = np.where(self.matches > 0, 2 * precision * recall / (precision + recall), 0.0)
        yield "Performance by label (#match, #model, #ref) (precision, recall, F1):\n"
        for k, label in enumerate(self.labels):
            scores = f"{precision[k]:.4f}, {recall[k]:.4f}, {f1[k]:.4f}" if self.there[k] else "******, ******, ******"
            yield f"    {label}: ({self.matches[k]}, {self.found[k]}, {self.there[k]}) ({scores})\n"
        means = (float(np.mean(each * (self.there > 0))) for each in (precision, recall, f1))
        yield "Macro-average precision, recall, F1: ({:f}, {:f}, {:f})\n".format(*means)
        yield accuracy("Item", int(self.right.sum()), len(self.right))
        whole = [self.right[i:j].all() for i, j in zip(self.corpus.starts[:-1], self.corpus.starts[1:], strict=True)]
        yield accuracy("Instance", int(np.sum(whole)), len(whole))


def accuracy(what: str, right: int, total: int) -> str:
    return f"{what} accuracy: {right} / {total} ({right / total if total else 0.0:.4f})\n"
