"""The trained model: attributes, labels, features and weights; it tags, gives probabilities, is saved and loaded."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from fastcrf.core.types import Corpus, FeatureMap, Floats
from fastcrf.data.encoding.attributes import Attributes
from fastcrf.data.encoding.encoder import Encoder
from fastcrf.data.model_file import container
from fastcrf.data.model_file.content import ModelContent
from fastcrf.decoding.decoder_choice import infer_corpus, log_chances, viterbi
from fastcrf.decoding.input_checks import check_scores
from fastcrf.exceptions import ModelFileError
from fastcrf.features.histories import labels_of
from fastcrf.model.formats import bytes_for, bytes_of, bytes_of_crfsuite, content_of
from fastcrf.system.memory_budget import SMALL, require_room

BYTES_IN_A_DICT = 100  # that a float and its place in a dict take


class Scored(NamedTuple):
    """The best labels of a sequence, and how sure the model is of them."""

    labels: list[Any]
    probability: float  # of all labels together
    marginals: list[dict[Any, float]]  # of each label at each position


@dataclass(eq=False)
class Model:
    """A linear-chain CRF with its weights. Safe to share between threads: nothing changes after construction."""

    labels: list[Any]
    attributes: Attributes = field(repr=False)
    features: FeatureMap = field(repr=False)
    weights: Floats = field(repr=False)
    options: dict[str, Any] = field(default_factory=dict)  # how it was trained; whatever JSON can hold
    input: dict[str, Any] = field(default_factory=lambda: {"kind": "items"})  # or {"kind": "columns", "n_columns": 2}

    def __post_init__(self) -> None:
        sizes = len(self.labels), len(self.attributes), len(self.weights)
        expected = self.features.n_labels, self.features.n_attributes, self.features.n_weights
        if sizes != expected:
            raise ValueError(
                f"A model of {sizes} labels, attributes and weights needs features for as many, not {expected}."
            )
        self.encoder = Encoder(self.attributes)
        self.largest_weight = float(np.abs(self.weights).max(initial=0.0))

    def encode(self, X: Iterable[Iterable[Any]]) -> Corpus:
        """The corpus of all sequences, whose scores are finite."""
        return self.checked(self.encoder.encode(X))

    def encode_one(self, sequence: Iterable[Any]) -> Corpus:
        return self.checked(self.encoder.encode_one(sequence))

    def checked(self, corpus: Corpus) -> Corpus:
        check_scores(corpus, self.largest_weight)
        return corpus

    def tag(self, X: Iterable[Iterable[Any]]) -> list[list[Any]]:
        """The best labels of each sequence."""
        corpus = self.encode(X)
        return split(corpus, self.names(viterbi(corpus, self.features, self.weights)))

    def tag_one(self, sequence: Iterable[Any]) -> list[Any]:
        """The best labels of one sequence."""
        return self.names(viterbi(self.encode_one(sequence), self.features, self.weights))

    def names(self, labels: np.ndarray) -> list[Any]:
        """Label ids -> labels as they were given in training."""
        return [self.labels[k] for k in labels.tolist()]

    def marginals(self, X: Iterable[Iterable[Any]]) -> list[list[dict[Any, float]]]:
        """The probability of each label at each position of each sequence."""
        corpus = self.encode(X)
        return split(corpus, self.probabilities(corpus))

    def marginals_one(self, sequence: Iterable[Any]) -> list[dict[Any, float]]:
        """The probability of each label at each position of one sequence."""
        return self.probabilities(self.encode_one(sequence))

    def probabilities(self, corpus: Corpus) -> list[dict[Any, float]]:
        """The probability of each label at each position of a corpus."""
        return self.rows(infer_corpus(corpus, self.features, self.weights)[0])

    def rows(self, probabilities: Floats) -> list[dict[Any, float]]:
        """Probabilities [P, K] by label."""
        if BYTES_IN_A_DICT * probabilities.size > SMALL:
            what = f"The probabilities of {len(self.labels):,} labels for {len(probabilities):,} tokens"
            require_room(BYTES_IN_A_DICT * probabilities.size, what, "ask for fewer tokens at a time")
        return [dict(zip(self.labels, row, strict=True)) for row in probabilities.tolist()]

    def scored(self, X: Iterable[Iterable[Any]]) -> list[Scored]:
        """The best labels of each sequence with their probabilities."""
        corpus = self.encode(X)
        best = viterbi(corpus, self.features, self.weights)
        posterior, log_z = infer_corpus(corpus, self.features, self.weights)
        chances = np.exp(log_chances(corpus, self.features, self.weights, best, log_z))
        labels, marginals = split(corpus, self.names(best)), split(corpus, self.rows(posterior))
        return [Scored(*each) for each in zip(labels, chances.tolist(), marginals, strict=True)]

    def span_probabilities(
        self, X: Iterable[Iterable[Any]], labels: Iterable[Sequence[Any]], spans: Sequence[Sequence[tuple[int, int]]]
    ) -> list[list[float]]:
        """The probability that all tokens of a span, (first, last + 1), have these labels, whatever is beside it."""
        from fastcrf.decoding.plain_decoder import span_probabilities

        corpus, ids = self.encode(X), {label: k for k, label in enumerate(self.labels)}
        path = np.array([ids[label] for sequence in labels for label in sequence], np.int32)
        return span_probabilities(corpus, self.features, self.weights, path, spans)

    def state_weights(self) -> dict[tuple[str, Any], float]:
        """Non-zero weights of (attribute, label) pairs."""
        names, labels, features = self.attributes.names(), self.labels, self.features
        attributes = np.repeat(np.arange(features.n_attributes), np.diff(features.offsets))
        kept = np.flatnonzero(self.weights[: features.n_state])
        rows = zip(attributes[kept].tolist(), features.labels[kept].tolist(), self.weights[kept].tolist(), strict=True)
        return {(names[a], labels[k]): weight for a, k, weight in rows}

    def transition_weights(self) -> dict[tuple[Any, Any], float]:
        """Non-zero weights of (label before, label after) pairs."""
        return {(j, k): weight for (j, k), weight in self._transitions(self.features.sources < len(self.labels))}

    def gram_weights(self) -> dict[tuple[Any, ...], float]:
        """Non-zero weights of three labels in a row or, as far as the order goes, more: none in a chain of order 1."""
        return dict(self._transitions(self.features.sources >= len(self.labels)))

    def _transitions(self, wanted: np.ndarray) -> list[tuple[tuple[Any, ...], float]]:
        """(labels before and label, weight) of some transitions, where the weight is not 0."""
        features, weights = self.features, self.weights[self.features.n_state :]
        used = wanted & (weights != 0.0)
        before = labels_of(features.sources[used], features.n_labels)
        grams = np.column_stack((before, features.targets[used])).tolist()
        names = (tuple(self.labels[k] for k in gram if k >= 0) for gram in grams)
        return list(zip(names, weights[used].tolist(), strict=True))

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the model to one file; an older file of that name is replaced only when the new one is complete.

        A path that ends in ".crfsuite" gets CRFsuite's format, any other fastcrf's own.
        """
        container.write(path, bytes_for(path, self.content()))

    def to_bytes(self) -> bytes:
        """The content of a file in fastcrf's own format."""
        return bytes_of(self.content())

    def to_crfsuite(self) -> bytes:
        """The content of a .crfsuite file."""
        return bytes_of_crfsuite(self.content())

    def content(self) -> ModelContent:
        return ModelContent(self.labels, self.attributes, self.features, self.weights, self.options, self.input)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Model:
        """Read a model of any format: of `save`, CRFsuite, CRF++ (as text) or Wapiti.

        Nothing in it is executed; what cannot be used says why.
        """
        try:
            return cls(*content_of(container.read(path)))
        except ModelFileError as error:
            raise ModelFileError(f"Cannot load {os.fspath(path)}: {error}.") from None

    @classmethod
    def from_bytes(cls, data: bytes) -> Model:
        """The model in the content of a file."""
        try:
            return cls(*content_of(data))
        except ModelFileError as error:
            raise ModelFileError(f"Cannot load the model: {error}.") from None


def split(corpus: Corpus, rows: list[Any]) -> list[list[Any]]:
    """Rows per position -> rows per sequence."""
    return [rows[start:end] for start, end in pairwise(corpus.starts.tolist())]
