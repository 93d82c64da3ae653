"""`Predictor`: the methods and attributes that `Model` and all estimators share, under one set of names."""

from __future__ import annotations

import os
from abc import abstractmethod
from collections.abc import Callable, Iterable, Sequence
from typing import Any, Self
from weakref import WeakKeyDictionary

import numpy as np

from fastcrf.constraints.constraints import Constraints
from fastcrf.core.types import Floats
from fastcrf.data.model_file import container
from fastcrf.data.model_file.content import ModelContent
from fastcrf.exceptions import ModelFileError
from fastcrf.model.decoder import OWN, Decoder, split
from fastcrf.model.formats import bytes_as, bytes_for, content_of
from fastcrf.model.label_sequences import LabelSequences
from fastcrf.model.uncertainty import Uncertainty

MADE: WeakKeyDictionary[Decoder, dict[str, Any]] = WeakKeyDictionary()  # no part of a pickle, and gone with its model


class Predictor(Uncertainty):
    """A trained model, or an estimator that has one."""

    @classmethod
    @abstractmethod
    def _holding(cls, content: ModelContent) -> Self:
        """Return an object of the class with a model that was read from a file."""

    def predict(
        self,
        X: Iterable[Iterable[Any]],
        *,
        constraints: Constraints | str | None = OWN,
        given: Iterable[Any] | None = None,
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
        best = decoder.best(corpus, decoder.allowed(corpus, constraints, given))
        return LabelSequences(split(corpus, decoder.names(best)))

    def predict_single(
        self,
        xseq: Iterable[Any],
        *,
        constraints: Constraints | str | None = OWN,
        given: Iterable[Any] | None = None,
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

        Returns
        -------
        list
            A label per token.
        """
        decoder = self._decoder
        corpus = decoder.encode_one(xseq)
        return decoder.names(decoder.best(corpus, decoder.allowed(corpus, constraints, alone(given))))

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

    @property
    def classes_(self) -> list[Any]:
        """Labels, in order of first appearance."""
        return list(self._decoder.labels)

    @property
    def attributes_(self) -> list[str]:
        """Names of the attributes that have a weight."""
        return once(self._decoder, "attributes", lambda decoder: decoder.content.attributes.names())

    @property
    def state_features_(self) -> dict[tuple[str, Any], float]:
        """Weights by (attribute, label), without those that are 0."""
        return once(self._decoder, "states", Decoder.state_weights)

    @property
    def transition_features_(self) -> dict[tuple[Any, Any], float]:
        """Weights by (label before, label after), without those that are 0."""
        return once(self._decoder, "transitions", Decoder.transition_weights)

    @property
    def ngram_features_(self) -> dict[tuple[Any, ...], float]:
        """Weights by three or more labels in a row, without those that are 0; a chain of order 1 has none."""
        return once(self._decoder, "ngrams", Decoder.ngram_weights)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Save the model to one file. An older file of that name is replaced only when the new one is complete.

        Parameters
        ----------
        path : str or path
            File to write. A path that ends in ".crfsuite" gets CRFsuite's format, any other fastcrf's own.

        Raises
        ------
        ModelFileError
            If the format cannot hold the model.
        """
        container.write(path, bytes_for(path, self._decoder.content))

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Self:
        """Load a model that `save`, CRFsuite, CRF++ (as text) or Wapiti wrote. Nothing in the file is executed.

        Parameters
        ----------
        path : str or path
            File to read.

        Returns
        -------
        Model or estimator
            An object of the class; an estimator is fitted and has the parameters that the file holds.

        Raises
        ------
        ModelFileError
            If the file is no model, or damaged.
        """
        try:
            return cls._holding(content_of(container.read(path)))
        except ModelFileError as error:
            raise ModelFileError(f"Cannot load {os.fspath(path)}: {error}.") from None

    def to_bytes(self, format: str = "fastcrf") -> bytes:
        """Return the content of a model file.

        Parameters
        ----------
        format : {"fastcrf", "crfsuite"}, default="fastcrf"
            The format of the file.

        Returns
        -------
        bytes
            The content.

        Raises
        ------
        ModelFileError
            If the format cannot hold the model.
        """
        return bytes_as(format, self._decoder.content)

    @classmethod
    def from_bytes(cls, data: bytes) -> Self:
        """Load a model from the content of a file, of any format that `load` reads.

        Parameters
        ----------
        data : bytes
            Content of the file.

        Returns
        -------
        Model or estimator
            As for `load`.

        Raises
        ------
        ModelFileError
            If the content is no model, or damaged.
        """
        try:
            return cls._holding(content_of(data))
        except ModelFileError as error:
            raise ModelFileError(f"Cannot load the model: {error}.") from None


def alone(given: Any) -> Any:
    """Return what is given of one sequence, as for a list of one."""
    return None if given is None else [given]


def once(decoder: Decoder, name: str, make: Callable[[Decoder], Any]) -> Any:
    """Return what `make` makes of a decoder, made at the first call: programs ask for weights hundreds of times."""
    made = MADE.setdefault(decoder, {})
    if name not in made:
        made[name] = make(decoder)
    return made[name]
