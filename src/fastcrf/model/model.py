"""The trained model: labels, attributes, features and weights. It predicts, and is saved and loaded, by `Predictor`."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Self

from fastcrf.constraints.constraints import Constraints, constraints_of
from fastcrf.core.types import FeatureMap, Floats
from fastcrf.data.encoding.attributes import Attributes
from fastcrf.data.model_file.content import ModelContent
from fastcrf.model.decoder import Decoder
from fastcrf.model.predictor import Predictor


@dataclass(eq=False)
class Model(Predictor):
    """A trained linear-chain CRF: what `CRF.fit` leaves in `model_`, and what `fastcrf.load` returns.

    It predicts without scikit-learn, and the first sentences of a process without Numba. Threads can share a model:
    nothing changes after construction.

    Parameters
    ----------
    labels : list
        The labels, as in `classes_`.
    attributes : Attributes
        The vocabulary, which knows how to read a sequence; `attributes_` lists its names.
    features : FeatureMap
        Which (attribute, label) pairs and label n-grams have a weight.
    weights : ndarray of float64
        The weight of each feature.
    options : dict, default={}
        How the model was trained: the parameters and the outcome, as far as JSON can hold them.
    input : dict, default={"kind": "items"}
        What the sequences of X consist of: items, columns of a file, or rows for a template.
    constraints : Constraints, default=None
        Which label sequences are allowed, unless a call says otherwise.
    """

    labels: list[Any]
    attributes: Attributes = field(repr=False)
    features: FeatureMap = field(repr=False)
    weights: Floats = field(repr=False)
    options: dict[str, Any] = field(default_factory=dict)
    input: dict[str, Any] = field(default_factory=lambda: {"kind": "items"})
    constraints: Constraints | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        sizes = len(self.labels), len(self.attributes), len(self.weights)
        expected = self.features.n_labels, self.features.n_attributes, self.features.n_weights
        if sizes != expected:
            raise ValueError(
                f"A model of {sizes} labels, attributes and weights needs features for as many, not {expected}."
            )
        self.constraints = constraints_of(self.constraints)
        self._own_decoder = Decoder(self._content())

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), tuple(self._content())  # a pickle holds the fields alone

    def _content(self) -> ModelContent:
        return ModelContent(
            self.labels, self.attributes, self.features, self.weights, self.options, self.input, self.constraints
        )

    @property
    def _decoder(self) -> Decoder:
        return self._own_decoder

    @classmethod
    def _holding(cls, content: ModelContent) -> Self:
        return cls(*content)
