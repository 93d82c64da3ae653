"""`Prediction`: the methods that predict and give probabilities, of `Model` and of all estimators."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from fastcrf.constraints.constraints import Constraints
from fastcrf.core.types import Floats
from fastcrf.model.best_labels import VITERBI, best_labels
from fastcrf.model.decoder import OWN, Decoder, split
from fastcrf.model.label_sequences import LabelSequences
from fastcrf.model.spans import Span, predicted_spans


class Prediction:
    """Predictions of a trained model."""

    @property
    @abstractmethod
    def _decoder(self) -> Decoder:
        """The decoder of the trained model; an estimator without a model raises NotFittedError."""

    def predict(
        self,
        X: Iterable[Iterable[Any]],
        *,
        constraints: Constraints | str | None = OWN,
        given: Iterable[Any] | None = None,
        decode: str = VITERBI,
        max_segments: int | Mapping[Any, int] | None = None,
    ) -> LabelSequences:
        """Predict the most probable label sequences (Viterbi).

        Parameters
        ----------
        X : iterable of sequences
            Sequences of tokens; a token is a dict or a list of strings, or a raw row where a template makes the
            attributes. Attributes that training has not seen do not count.
        constraints : Constraints, scheme name or None, default="model"
            Which label sequences are allowed. "model": those of the model's constraints; None: all.
        given : sequence of sequences, default=None
            What is known of the labels, as in y: a label, a set of labels, or None where nothing is known.
        decode : {"viterbi", "marginal", "mbr"}, default="viterbi"
            "viterbi": the most probable label sequence. "marginal": the most probable label of each token, which may
            break constraints on pairs. "mbr": the allowed label sequence with the most tokens right on average.
        max_segments : int or mapping, default=None
            The most segments of each type, or of some types by name, such as ``{"LOC": 1}``. The result is the most
            probable label sequence within these limits.

        Returns
        -------
        LabelSequences
            A list with a list of labels per sequence.

        Raises
        ------
        ConstraintError
            If no label sequence is allowed for a sequence of X; the message says where.
        """
        decoder = self._decoder
        corpus = decoder.encode(X)
        allowed = decoder.allowed(corpus, constraints, given)
        best = best_labels(decoder, corpus, allowed, decode, max_segments)
        return LabelSequences(split(corpus, decoder.names(best)))

    def predict_single(
        self,
        xseq: Iterable[Any],
        *,
        constraints: Constraints | str | None = OWN,
        given: Iterable[Any] | None = None,
        decode: str = VITERBI,
        max_segments: int | Mapping[Any, int] | None = None,
    ) -> list[Any]:
        """Predict the most probable labels of one sequence.

        Parameters
        ----------
        xseq : iterable of tokens
            One sequence, as in the X of `predict`.
        constraints : Constraints, scheme name or None, default="model"
            Which label sequences are allowed. "model": those of the model's constraints; None: all.
        given : sequence, default=None
            What is known of the labels, as in y: a label, a set of labels, or None where nothing is known.
        decode : {"viterbi", "marginal", "mbr"}, default="viterbi"
            As for `predict`.
        max_segments : int or mapping, default=None
            As for `predict`.

        Returns
        -------
        list
            A label per token.
        """
        decoder = self._decoder
        corpus = decoder.encode_one(xseq)
        allowed = decoder.allowed(corpus, constraints, alone(given))
        return decoder.names(best_labels(decoder, corpus, allowed, decode, max_segments))

    def predict_spans(
        self,
        X: Iterable[Iterable[Any]],
        *,
        offsets: Iterable[Any] | None = None,
        constraints: Constraints | str | None = OWN,
        given: Iterable[Any] | None = None,
        decode: str = VITERBI,
        max_segments: int | Mapping[Any, int] | None = None,
    ) -> list[list[Span]]:
        """Predict segments, such as names, with the probability of each.

        Parameters
        ----------
        X : iterable of sequences
            As for `predict`.
        offsets : sequence of sequences of (int, int), default=None
            First character and last character + 1 of each token. None: `start` and `end` count tokens.
        constraints : Constraints, scheme name or None, default="model"
            As for `predict`.
        given : sequence of sequences, default=None
            As for `predict`.
        decode : {"viterbi", "marginal", "mbr"}, default="viterbi"
            As for `predict`.
        max_segments : int or mapping, default=None
            As for `predict`. Probabilities are those without this limit.

        Returns
        -------
        list of lists of Span
            The segments (start, end, label, probability) of each sequence, as `fastcrf.metrics.segments` finds them in
            the labels of `predict`.
        """
        decoder = self._decoder
        corpus = decoder.encode(X)
        allowed = decoder.allowed(corpus, constraints, given)
        return predicted_spans(
            decoder, corpus, allowed, best_labels(decoder, corpus, allowed, decode, max_segments), offsets
        )

    def predict_marginals(
        self,
        X: Iterable[Iterable[Any]],
        *,
        constraints: Constraints | str | None = OWN,
        given: Iterable[Any] | None = None,
    ) -> list[list[dict[Any, float]]]:
        """Compute the probability of each label at each token, as dicts. `predict_proba` is faster.

        Parameters
        ----------
        X : iterable of sequences
            As for `predict`.
        constraints : Constraints, scheme name or None, default="model"
            Which label sequences are allowed. "model": those of the model's constraints; None: all.
        given : sequence of sequences, default=None
            What is known of the labels, as in y: a label, a set of labels, or None where nothing is known.

        Returns
        -------
        list of lists of dicts
            A dict from label to probability per token.
        """
        decoder = self._decoder
        corpus = decoder.encode(X)
        return split(corpus, decoder.rows(decoder.infer(corpus, decoder.allowed(corpus, constraints, given))[0]))

    def predict_marginals_single(
        self,
        xseq: Iterable[Any],
        *,
        constraints: Constraints | str | None = OWN,
        given: Iterable[Any] | None = None,
    ) -> list[dict[Any, float]]:
        """Compute the probability of each label at each token of one sequence.

        Parameters
        ----------
        xseq : iterable of tokens
            One sequence, as in the X of `predict`.
        constraints : Constraints, scheme name or None, default="model"
            Which label sequences are allowed. "model": those of the model's constraints; None: all.
        given : sequence, default=None
            What is known of the labels, as in y: a label, a set of labels, or None where nothing is known.

        Returns
        -------
        list of dicts
            A dict from label to probability per token.
        """
        decoder = self._decoder
        corpus = decoder.encode_one(xseq)
        return decoder.rows(decoder.infer(corpus, decoder.allowed(corpus, constraints, alone(given)))[0])

    def predict_proba(
        self,
        X: Iterable[Iterable[Any]],
        *,
        constraints: Constraints | str | None = OWN,
        given: Iterable[Any] | None = None,
    ) -> list[Floats]:
        """Compute the probability of each label at each token, as arrays.

        Parameters
        ----------
        X : iterable of sequences
            As for `predict`.
        constraints : Constraints, scheme name or None, default="model"
            Which label sequences are allowed. "model": those of the model's constraints; None: all.
        given : sequence of sequences, default=None
            What is known of the labels, as in y: a label, a set of labels, or None where nothing is known.

        Returns
        -------
        list of ndarrays of float64
            An array (n_tokens, n_labels) per sequence, with columns as in `classes_`. They are views of one array:
            ``np.concatenate(crf.predict_proba(X))`` has a row for every token of X.
        """
        decoder = self._decoder
        corpus = decoder.encode(X)
        return split(corpus, decoder.infer(corpus, decoder.allowed(corpus, constraints, given))[0])

    def constraint_proba(
        self,
        X: Iterable[Iterable[Any]],
        *,
        constraints: Constraints | str | None = OWN,
        given: Iterable[Any] | None = None,
    ) -> Floats:
        """Compute the probability that the labels satisfy constraints, in the distribution without any.

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
            Probabilities; 0.0 where no label sequence is allowed. Times the probabilities of `predict_proba` under the
            same constraints, they are those of both together.
        """
        decoder = self._decoder
        corpus = decoder.encode(X)
        return np.exp(decoder.log_share(corpus, decoder.allowed(corpus, constraints, given, check=False)))

    def log_proba(
        self,
        X: Iterable[Iterable[Any]],
        y: Iterable[Iterable[Any]],
        *,
        constraints: Constraints | str | None = OWN,
        given: Iterable[Any] | None = None,
    ) -> Floats:
        """Compute log p(y | x) of each label sequence.

        Parameters
        ----------
        X : iterable of sequences
            As for `predict`.
        y : iterable of sequences of labels
            One label per token.
        constraints : Constraints, scheme name or None, default="model"
            As for `predict`: the probability is that given that the constraints are satisfied.
        given : sequence of sequences, default=None
            As for `predict`.

        Returns
        -------
        ndarray of float64 of shape (n_sequences,)
            Logarithms of probabilities; -inf where y has a label that the model does not know, or breaks a constraint.

        Raises
        ------
        DataError
            If X and y differ in length, as a whole or in a sequence.
        """
        corpus, path = self._decoder.encode_labeled(X, y)
        allowed = self._decoder.allowed(corpus, constraints, given)
        return self._decoder.log_chances(corpus, path, self._decoder.infer(corpus, allowed)[1], allowed)

    def span_proba(
        self,
        X: Iterable[Iterable[Any]],
        y: Iterable[Iterable[Any]],
        spans: Sequence[Sequence[tuple[int, int]]],
        *,
        constraints: Constraints | str | None = OWN,
        given: Iterable[Any] | None = None,
    ) -> list[list[float]]:
        """Compute the probability that all tokens of a span have their labels in y, whatever the others have.

        Parameters
        ----------
        X : iterable of sequences
            As for `predict`.
        y : iterable of sequences of labels
            One label per token.
        spans : sequence of sequences of (int, int)
            The spans (first, last + 1) of each sequence, counted from 0.
        constraints : Constraints, scheme name or None, default="model"
            As for `predict`: the probability is that given that the constraints are satisfied.
        given : sequence of sequences, default=None
            As for `predict`.

        Returns
        -------
        list of lists of float
            A probability per span; 0.0 where the span has a label that the model does not know.

        Raises
        ------
        DataError
            If X, y and spans differ in length, or a span is empty or not within its sequence.
        """
        corpus, path = self._decoder.encode_labeled(X, y)
        return self._decoder.span_chances(corpus, path, spans, self._decoder.allowed(corpus, constraints, given))


def alone(given: Any) -> Any:
    """Return what is given of one sequence, as for a list of one."""
    return None if given is None else [given]
