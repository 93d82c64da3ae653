"""What any estimator does with its trained model: all that `Predictor` does, and score."""

from __future__ import annotations

import os
from abc import abstractmethod
from collections.abc import Iterable
from typing import Any, Self

from sklearn.base import BaseEstimator

from fastcrf.data.model_file.content import ModelContent
from fastcrf.metrics import flat_accuracy_score
from fastcrf.model.decoder import Decoder
from fastcrf.model.model import Model
from fastcrf.model.predictor import Predictor
from fastcrf.report.summary import summary_html

PathLike = str | os.PathLike[str]


class TrainedEstimator(Predictor, BaseEstimator):
    """An estimator that has a model once it is fitted. Not an estimator itself: `fit` is its heirs'."""

    @property
    @abstractmethod
    def model_(self) -> Model:
        """The trained model."""

    @classmethod
    @abstractmethod
    def _around(cls, model: Model) -> Self:
        """Return a fitted estimator with this model."""

    def score(self, X: Iterable[Iterable[Any]], y: Iterable[Iterable[Any]]) -> float:
        """Compute the token accuracy of `predict(X)`.

        Parameters
        ----------
        X : iterable of sequences
            As for `predict`.
        y : iterable of sequences of labels
            One label per token.

        Returns
        -------
        float
            The share of tokens with the right label.
        """
        return flat_accuracy_score(y, self.predict(X))

    @property
    def _decoder(self) -> Decoder:
        return self.model_._decoder

    @classmethod
    def _holding(cls, content: ModelContent) -> Self:
        return cls._around(Model(*content))

    def _repr_mimebundle_(self, **options: Any) -> dict[str, str]:
        """What notebooks show: scikit-learn's diagram of the parameters and, of a fitted estimator, its model."""
        bundle: dict[str, str] = super()._repr_mimebundle_(**options)
        if "text/html" in bundle and (model := getattr(self, "model_", None)):
            bundle["text/html"] += summary_html(model, str(getattr(self, "certificate_", "")))
        return bundle

    def _repr_html_(self) -> str | None:
        return self._repr_mimebundle_().get("text/html")

    def __sklearn_tags__(self) -> Any:
        """X is a list of sequences of dicts or strings, not a matrix; y is a list of lists, so it is no classifier."""
        tags = super().__sklearn_tags__()
        tags.input_tags.two_d_array = False
        tags.input_tags.dict = tags.input_tags.string = True
        tags.target_tags.required = True
        tags.target_tags.single_output = False
        return tags
