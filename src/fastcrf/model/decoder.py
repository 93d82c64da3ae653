"""What a model answers: sequences are encoded, decoded, and the result gets the names of labels."""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import Any, NoReturn

import numpy as np

from fastcrf.constraints.allowed import Allowed, allowed_labels
from fastcrf.constraints.conflicts import raise_conflict
from fastcrf.constraints.constraints import constraints_of
from fastcrf.constraints.rules import Rules, rules_of
from fastcrf.core.types import Corpus, Floats, Ints
from fastcrf.data.encoding.encoder import UNKNOWN, Encoder, add_labels
from fastcrf.data.encoding.input_shapes import pairs_of
from fastcrf.data.model_file.content import ModelContent
from fastcrf.decoding.decoder_choice import infer_corpus, log_chances, viterbi
from fastcrf.decoding.input_checks import check_scores
from fastcrf.exceptions import DataError
from fastcrf.feature_space.label_contexts import labels_of
from fastcrf.system.memory_budget import SMALL, require_memory

OWN = "model"  # the constraints that are saved with the model
BYTES_IN_A_DICT = 100  # that a float and its place in a dict take


class Decoder:
    """The content of a model, ready to decode. Safe to share between threads."""

    def __init__(self, content: ModelContent) -> None:
        self.content = content
        self.labels, self.features, self.weights = content.labels, content.features, content.weights
        self.encoder = Encoder(content.attributes)
        self.largest_weight = float(np.abs(content.weights).max(initial=0.0))
        self._latest: tuple[Any, Rules | None] = None, None  # the latest constraints, and their rules

    def allowed(self, corpus: Corpus, constraints: Any = OWN, given: Any = None, check: bool = True) -> Allowed | None:
        """Return the labels that constraints and given labels allow at each position; None: all.

        With `check`, raise ConstraintError where they leave no label to a position.
        """
        if isinstance(constraints, str) and constraints == OWN:
            constraints = self.content.constraints
        return allowed_labels(self._rules(constraints_of(constraints)), self.labels, corpus, given, check)

    def _rules(self, constraints: Any) -> Rules | None:
        """Return the rules of constraints for this model, made once for those that are used again and again."""
        if constraints is None:
            return None
        latest, rules = self._latest
        if latest is not constraints:
            names = self.content.attributes.names() if constraints.dictionary else ()
            rules = rules_of(constraints, self.labels, names)
            self._latest = constraints, rules
        return rules

    def encode(self, X: Iterable[Iterable[Any]]) -> Corpus:
        """Return the corpus of all sequences, whose scores are finite."""
        return self._checked(self.encoder.encode(X))

    def encode_one(self, sequence: Iterable[Any]) -> Corpus:
        """Return the corpus of one sequence."""
        return self._checked(self.encoder.encode_one(sequence))

    def encode_labeled(self, X: Iterable[Iterable[Any]], y: Iterable[Iterable[Any]]) -> tuple[Corpus, Ints]:
        """Return the corpus of all sequences, and the label id of each position: -1 where the model has no such one."""
        corpus, ids = self.encode(X), {label: k for k, label in enumerate(self.labels)}
        path = array("i")
        for i, (n_tokens, gold) in enumerate(pairs_of(np.diff(corpus.starts).tolist(), y)):
            n_labels = add_labels(path, gold, lambda label: ids.get(label, UNKNOWN), f"y[{i}]")
            if n_labels != n_tokens:
                raise DataError(f"X[{i}] has {n_tokens} items and y[{i}] has {n_labels} labels; give one per item.")
        return corpus, np.array(path, np.int32)

    def best(self, corpus: Corpus, allowed: Allowed | None = None) -> Ints:
        """Return the id of the best label of each position; raise ConstraintError where no sequence is allowed."""
        labels = viterbi(corpus, self.features, self.weights, allowed)
        if allowed is not None:
            wrong = np.flatnonzero(labels == UNKNOWN)
            self._check_possible(corpus, allowed, np.searchsorted(corpus.starts, wrong, "right") - 1)
        return labels

    def _check_possible(self, corpus: Corpus, allowed: Allowed, impossible: Any) -> None:
        """Raise ConstraintError if there are sequences that nothing is allowed for."""
        if len(impossible):
            self.raise_conflict(corpus, allowed, int(impossible[0]))

    def raise_conflict(self, corpus: Corpus, allowed: Allowed | None, i: int) -> NoReturn:
        """Raise ConstraintError for sequence i, which nothing is allowed for."""
        assert allowed is not None
        raise_conflict(allowed, corpus.starts, self.labels, i)

    def names(self, ids: Ints) -> list[Any]:
        """Return the labels of these ids, as they were given in training."""
        return [self.labels[k] for k in ids.tolist()]

    def infer(self, corpus: Corpus, allowed: Allowed | None = None) -> tuple[Floats, Floats]:
        """Return p(y_t = k | x) of each position, [P, K], and log Z of each sequence, [N], over what is allowed."""
        probabilities, log_z = infer_corpus(corpus, self.features, self.weights, allowed)
        if allowed is not None:
            self._check_possible(corpus, allowed, np.flatnonzero(log_z == -np.inf))
        return probabilities, log_z

    def log_share(self, corpus: Corpus, allowed: Allowed | None) -> Floats:
        """Return the log of the probability that all that is allowed has in the whole distribution, [N]."""
        if allowed is None:
            return np.zeros(corpus.n_sequences)
        within, whole = (infer_corpus(corpus, self.features, self.weights, each)[1] for each in (allowed, None))
        return np.minimum(within - whole, 0.0)

    def rows(self, probabilities: Floats) -> list[dict[Any, float]]:
        """Return probabilities [P, K] as dicts by label."""
        if BYTES_IN_A_DICT * probabilities.size > SMALL:
            what = f"The probabilities of {len(self.labels):,} labels for {len(probabilities):,} tokens"
            require_memory(BYTES_IN_A_DICT * probabilities.size, what, "ask for fewer tokens at a time")
        return [dict(zip(self.labels, row, strict=True)) for row in probabilities.tolist()]

    def log_chances(self, corpus: Corpus, path: Ints, log_z: Floats, allowed: Allowed | None = None) -> Floats:
        """Return the log of the probability of each sequence's labels, [N], given its log Z.

        It is -inf where a label is unknown or not allowed.
        """
        right, known = path != UNKNOWN, np.where(path != UNKNOWN, path, 0).astype(np.int32)
        if allowed is not None:
            right &= allowed.keeps(known, corpus.starts)
        wrong = np.unique(np.repeat(np.arange(corpus.n_sequences), np.diff(corpus.starts))[~right])
        log_z = log_z.copy()
        log_z[wrong] = 0.0
        chances = log_chances(corpus, self.features, self.weights, known, log_z, allowed)
        chances[wrong] = -np.inf
        return chances

    def span_chances(
        self, corpus: Corpus, path: Ints, spans: Sequence[Sequence[tuple[int, int]]], allowed: Allowed | None = None
    ) -> list[list[float]]:
        """Return the probability of the labels of each span; 0.0 where one of them is unknown."""
        from fastcrf.decoding.plain_decoder import span_probabilities

        check_spans(corpus, spans)
        if allowed is not None:
            self.infer(corpus, allowed)  # raises if nothing is allowed
        known = path != UNKNOWN
        found = span_probabilities(corpus, self.features, self.weights, np.where(known, path, 0), spans, allowed)
        for start, wanted, chances in zip(corpus.starts.tolist(), spans, found, strict=False):
            for k, (first, last) in enumerate(wanted):
                if not known[start + first : start + last].all():
                    chances[k] = 0.0
        return found

    def state_weights(self) -> dict[tuple[str, Any], float]:
        """Return the non-zero weights of (attribute, label) pairs."""
        names, labels, features = self.content.attributes.names(), self.labels, self.features
        attributes = np.repeat(np.arange(features.n_attributes), np.diff(features.offsets))
        kept = np.flatnonzero(self.weights[: features.n_state])
        rows = zip(attributes[kept].tolist(), features.labels[kept].tolist(), self.weights[kept].tolist(), strict=True)
        return {(names[a], labels[k]): weight for a, k, weight in rows}

    def transition_weights(self) -> dict[tuple[Any, Any], float]:
        """Return the non-zero weights of (label before, label after) pairs."""
        return {(j, k): weight for (j, k), weight in self._transitions(self.features.sources < len(self.labels))}

    def ngram_weights(self) -> dict[tuple[Any, ...], float]:
        """Return the non-zero weights of three or more labels in a row: none in a chain of order 1."""
        return dict(self._transitions(self.features.sources >= len(self.labels)))

    def _transitions(self, wanted: np.ndarray) -> list[tuple[tuple[Any, ...], float]]:
        """Return (labels before and label, weight) of some transitions, where the weight is not 0."""
        features, weights = self.features, self.weights[self.features.n_state :]
        used = wanted & (weights != 0.0)
        before = labels_of(features.sources[used], features.n_labels)
        grams = np.column_stack((before, features.targets[used])).tolist()
        names = (tuple(self.labels[k] for k in gram if k >= 0) for gram in grams)
        return list(zip(names, weights[used].tolist(), strict=True))

    def _checked(self, corpus: Corpus) -> Corpus:
        check_scores(corpus, self.largest_weight)
        return corpus


def check_spans(corpus: Corpus, spans: Sequence[Sequence[tuple[int, int]]]) -> None:
    """Raise DataError unless there is a list of spans (first, last + 1) per sequence, each within it."""
    if len(spans) != corpus.n_sequences:
        raise DataError(
            f"X has {corpus.n_sequences} sequences and spans has {len(spans)}; give one list of spans per sequence."
        )
    for i, (wanted, n_tokens) in enumerate(zip(spans, np.diff(corpus.starts).tolist(), strict=True)):
        for first, last in wanted:
            if not 0 <= first < last <= n_tokens:
                raise DataError(
                    f"spans[{i}] has the span ({first}, {last}) and X[{i}] has {n_tokens} items; "
                    "give (first, last + 1), counted from 0."
                )


def split(corpus: Corpus, rows: Any) -> list[Any]:
    """Return rows per position, a list or an array, as rows per sequence: of an array they are views."""
    return [rows[start:end] for start, end in pairwise(corpus.starts.tolist())]
