"""`Uncertainty`: what a model gives besides the best labels: other label sequences, and how sure it is."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import pairwise
from typing import Any

import numpy as np

from fastcrf.alternatives import of_corpus
from fastcrf.alternatives.of_corpus import NoSequence, Weighted
from fastcrf.constraints.constraints import Constraints
from fastcrf.core.checks import one_of, seed_of, whole
from fastcrf.core.types import Corpus, Floats
from fastcrf.model.decoder import OWN, Decoder
from fastcrf.model.explaining import explained
from fastcrf.model.explanation import Explanation
from fastcrf.model.prediction import Prediction
from fastcrf.model.ranking import MEASURES, Ranking, lengths_of, ranked


class Uncertainty(Prediction):
    """Predictions, and how sure a model is of them."""

    def predict_nbest(
        self,
        X: Iterable[Iterable[Any]],
        n: int,
        *,
        constraints: Constraints | str | None = OWN,
        given: Iterable[Any] | None = None,
    ) -> list[list[tuple[list[Any], float]]]:
        """Predict the n most probable label sequences, with their probabilities.

        Parameters
        ----------
        X : iterable of sequences
            As for `predict`.
        n : int
            How many label sequences. A sequence that has fewer gets all.
        constraints : Constraints, scheme name or None, default="model"
            As for `predict`.
        given : sequence of sequences, default=None
            As for `predict`.

        Returns
        -------
        list of lists of (list, float)
            Per sequence, label sequences and their probabilities, the most probable first. Of equally probable ones,
            the first is the one whose last label comes first in `classes_`, then the label before it, and so on.
        """
        decoder, n = self._decoder, whole("n", n, 1)
        corpus = decoder.encode(X)
        weighted, names = (
            weighted_by(decoder, corpus, constraints, given),
            np.array([None, *decoder.labels], object)[1:],
        )
        found = asked(decoder, corpus, weighted, of_corpus.best_paths, n)
        logs = of_corpus.log_chances_of_paths(corpus, weighted, found)
        return [
            list(zip(names[paths.labels].tolist(), np.exp(own).tolist(), strict=True))
            for paths, own in zip(found, logs, strict=True)
        ]

    def sample(
        self,
        X: Iterable[Iterable[Any]],
        n: int = 1,
        random_state: int | np.random.Generator | np.random.RandomState | None = None,
        *,
        constraints: Constraints | str | None = OWN,
        given: Iterable[Any] | None = None,
    ) -> list[list[list[Any]]]:
        """Sample label sequences by their probabilities.

        Parameters
        ----------
        X : iterable of sequences
            As for `predict`.
        n : int, default=1
            How many samples of each sequence.
        random_state : int, Generator, RandomState or None, default=None
            Seed, or a generator that it is taken from. None: different samples in each call.
        constraints : Constraints, scheme name or None, default="model"
            As for `predict`.
        given : sequence of sequences, default=None
            As for `predict`.

        Returns
        -------
        list of lists of lists
            Per sequence, n label sequences. They are independent samples from p(y | x).
        """
        decoder, n = self._decoder, whole("n", n, 1)
        corpus, random = decoder.encode(X), np.random.default_rng(seed_of(random_state))
        weighted, names = (
            weighted_by(decoder, corpus, constraints, given),
            np.array([None, *decoder.labels], object)[1:],
        )
        labels = asked(decoder, corpus, weighted, of_corpus.sample_paths, n, random)
        return [names[labels[:, first:last]].tolist() for first, last in pairwise(corpus.starts.tolist())]

    def pair_proba(
        self,
        X: Iterable[Iterable[Any]],
        *,
        constraints: Constraints | str | None = OWN,
        given: Iterable[Any] | None = None,
    ) -> list[Floats]:
        """Compute the probability of each pair of labels at adjacent tokens, as arrays.

        Parameters
        ----------
        X : iterable of sequences
            As for `predict`.
        constraints : Constraints, scheme name or None, default="model"
            As for `predict`.
        given : sequence of sequences, default=None
            As for `predict`.

        Returns
        -------
        list of ndarrays of float64
            An array (n_tokens - 1, n_labels, n_labels) per sequence: element [t, j, k] is the probability that token t
            has label j and token t + 1 label k, with labels as in `classes_`. They are views of one array.
        """
        decoder = self._decoder
        corpus = decoder.encode(X)
        weighted = weighted_by(decoder, corpus, constraints, given)
        pairs = asked(decoder, corpus, weighted, of_corpus.pair_probabilities)
        return [pairs[first : max(last - 1, first)] for first, last in pairwise(corpus.starts.tolist())]

    def entropy(
        self,
        X: Iterable[Iterable[Any]],
        *,
        constraints: Constraints | str | None = OWN,
        given: Iterable[Any] | None = None,
    ) -> Floats:
        """Compute the entropy of p(y | x) of each sequence: how unsure the model is of its labels as a whole.

        Parameters
        ----------
        X : iterable of sequences
            As for `predict`.
        constraints : Constraints, scheme name or None, default="model"
            As for `predict`.
        given : sequence of sequences, default=None
            As for `predict`.

        Returns
        -------
        ndarray of float64 of shape (n_sequences,)
            Entropies in nats: 0 where one label sequence is certain, at most n_tokens * log(n_labels).
        """
        decoder = self._decoder
        corpus = decoder.encode(X)
        return asked(decoder, corpus, weighted_by(decoder, corpus, constraints, given), of_corpus.entropies)

    def rank(
        self,
        X: Iterable[Iterable[Any]],
        by: str = "entropy",
        *,
        per_token: bool = False,
        constraints: Constraints | str | None = OWN,
        given: Iterable[Any] | None = None,
    ) -> Ranking:
        """Rank sequences by how unsure the model is of their labels: which ones to annotate next.

        Parameters
        ----------
        X : iterable of sequences
            As for `predict`.
        by : {"entropy", "margin", "least_confident"}, default="entropy"
            The measure. "entropy": as `entropy`. "margin": the probability of the best label sequence minus that of
            the second best one. "least_confident": 1 minus the probability of the best one.
        per_token : bool, default=False
            Whether to allow for length: entropies are divided by the number of tokens, and probabilities replaced by
            their geometric mean per token. Without this, long sequences come first.
        constraints : Constraints, scheme name or None, default="model"
            As for `predict`.
        given : sequence of sequences, default=None
            As for `predict`.

        Returns
        -------
        Ranking
            Two arrays, `indices` and `scores`, the most uncertain sequence first: the largest entropy, the smallest
            margin, or the largest probability of an error.
        """
        one_of("by", by, tuple(MEASURES))
        decoder = self._decoder
        corpus = decoder.encode(X)
        weighted = weighted_by(decoder, corpus, constraints, given)
        return ranked(by, asked(decoder, corpus, weighted, MEASURES[by], lengths_of(corpus, per_token)))

    def explain(
        self,
        xseq: Iterable[Any],
        place: int | tuple[int, int],
        against: Any = None,
        *,
        labels: Any = None,
        constraints: Constraints | str | None = OWN,
        given: Iterable[Any] | None = None,
    ) -> Explanation:
        """Explain the labels of a token or a span: what speaks for them, and what for others.

        Parameters
        ----------
        xseq : iterable of tokens
            One sequence, as in the X of `predict`.
        place : int or (int, int)
            The position of a token, or a span (first, last + 1), counted from 0.
        against : label or list of labels, default=None
            What to compare with: the best label sequence that has this label at the place, or in a span those of a
            list. None: the best one that differs at the place.
        labels : label or list of labels, default=None
            The labels to explain, as for `against`. None: those that the model predicts.
        constraints : Constraints, scheme name or None, default="model"
            As for `predict`.
        given : sequence, default=None
            As for `predict_single`; at the place, `labels` and `against` replace it.

        Returns
        -------
        Explanation
            The contributions of attributes and transitions, which add up to the difference of the two scores: the log
            of how many times as probable the explained label sequence is. Its ``str()`` is a table.

        Raises
        ------
        DataError
            If the place is not within the sequence, or the labels there are the same.
        """
        return explained(self._decoder, xseq, place, against, labels, constraints, given)


def weighted_by(decoder: Decoder, corpus: Corpus, constraints: Any, given: Any) -> Weighted:
    """Return what decodes a corpus under constraints."""
    return Weighted(decoder.features, decoder.weights, decoder.allowed(corpus, constraints, given))


def asked(decoder: Decoder, corpus: Corpus, weighted: Weighted, ask: Any, *more: Any) -> Any:
    """Return what `ask` finds; raise ConstraintError where no label sequence is allowed."""
    try:
        return ask(corpus, weighted, *more)
    except NoSequence as error:
        decoder.raise_conflict(corpus, weighted.allowed, error.sequence)
