"""What any estimator does with its trained model: predict, score, save, and show what was learnt."""

from __future__ import annotations

import os
from abc import abstractmethod
from collections.abc import Iterable
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator

from fastcrf.estimators.sklearn_conventions import once
from fastcrf.metrics import flat_accuracy_score
from fastcrf.model.model import Model

PathLike = str | os.PathLike[str]


class TrainedEstimator(BaseEstimator):
    """An estimator that has a model once it is fitted. Not an estimator itself: `fit` is its heirs'."""

    @property
    @abstractmethod
    def model_(self) -> Model:
        """The trained model."""

    def predict(self, X: Iterable[Any]) -> list[list[Any]]:
        """The best labels of each sequence."""
        return Predictions(self.model_.tag(X))

    def predict_single(self, xseq: Iterable[Any]) -> list[Any]:
        """The best labels of one sequence."""
        return self.model_.tag_one(xseq)

    def predict_marginals(self, X: Iterable[Any]) -> list[list[dict[Any, float]]]:
        """The probability of each label at each position of each sequence."""
        return Predictions(self.model_.marginals(X))

    def predict_marginals_single(self, xseq: Iterable[Any]) -> list[dict[Any, float]]:
        """The probability of each label at each position of one sequence."""
        return self.model_.marginals_one(xseq)

    def score(self, X: Iterable[Any], y: Iterable[Any]) -> float:
        """Token accuracy."""
        return flat_accuracy_score(y, self.predict(X))

    def save(self, path: PathLike) -> None:
        """Write the model to one file; an older file of that name is replaced when the new one is complete.

        A path that ends in ".crfsuite" gets CRFsuite's format.
        """
        self.model_.save(path)

    def to_bytes(self) -> bytes:
        """The content of the file that `save` writes."""
        return self.model_.to_bytes()

    @property
    def classes_(self) -> list[Any]:
        """Labels in order of first appearance."""
        return list(self.model_.labels)

    @property
    def attributes_(self) -> list[str]:
        """Names of the attributes that have a weight."""
        return once(self.model_, "attributes", lambda model: model.attributes.names())

    @property
    def num_attributes_(self) -> int:
        return len(self.model_.attributes)

    @property
    def size_(self) -> int:
        """Size of the model file in bytes."""
        return once(self.model_, "size", lambda model: len(model.to_bytes()))

    @property
    def state_features_(self) -> dict[tuple[str, Any], float]:
        """Weights by (attribute, label), without those that are 0."""
        return once(self.model_, "state", Model.state_weights)

    @property
    def transition_features_(self) -> dict[tuple[Any, Any], float]:
        """Weights by (label before, label after), without those that are 0."""
        return once(self.model_, "transitions", Model.transition_weights)

    @property
    def gram_features_(self) -> dict[tuple[Any, ...], float]:
        """Weights by (two or more labels before, label), without those that are 0; of order 1 there are none."""
        return once(self.model_, "grams", Model.gram_weights)

    def __sklearn_tags__(self) -> Any:
        """X is a list of sequences of dicts or strings, not a matrix; y is a list of lists, so it is no classifier."""
        tags = super().__sklearn_tags__()
        tags.input_tags.two_d_array = False
        tags.input_tags.dict = tags.input_tags.string = True
        tags.target_tags.required = True
        tags.target_tags.single_output = False
        return tags


class Predictions(list[Any]):
    """A list of sequences that NumPy, and so `cross_val_predict`, takes as a 1-D array of lists of any lengths."""

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        array = np.empty(len(self), dtype=object)
        for i, sequence in enumerate(self):
            array[i] = sequence
        return array
