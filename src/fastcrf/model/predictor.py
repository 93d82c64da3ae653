"""`Predictor`: the methods and attributes that `Model` and all estimators share, under one set of names."""

from __future__ import annotations

import os
from abc import abstractmethod
from collections.abc import Callable
from typing import Any, Self
from weakref import WeakKeyDictionary

from fastcrf.data.model_file import container
from fastcrf.data.model_file.content import ModelContent
from fastcrf.exceptions import ModelFileError
from fastcrf.model.decoder import Decoder
from fastcrf.model.formats import bytes_as, bytes_for, content_of
from fastcrf.model.uncertainty import Uncertainty

MADE: WeakKeyDictionary[Decoder, dict[str, Any]] = WeakKeyDictionary()  # no part of a pickle, and gone with its model


class Predictor(Uncertainty):
    """A trained model, or an estimator that has one."""

    @classmethod
    @abstractmethod
    def _holding(cls, content: ModelContent) -> Self:
        """Return an object of the class with a model that was read from a file."""

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


def once(decoder: Decoder, name: str, make: Callable[[Decoder], Any]) -> Any:
    """Return what `make` makes of a decoder, made at the first call: programs ask for weights hundreds of times."""
    made = MADE.setdefault(decoder, {})
    if name not in made:
        made[name] = make(decoder)
    return made[name]
