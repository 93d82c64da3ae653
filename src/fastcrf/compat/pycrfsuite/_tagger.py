"""`Tagger`: labels and probabilities from a .crfsuite file."""

from __future__ import annotations

import contextlib
import math
import os
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

from fastcrf.compat.limits import Current
from fastcrf.compat.pycrfsuite._data import label_text
from fastcrf.compat.pycrfsuite._dumpparser import ParsedDump
from fastcrf.core.types import Floats
from fastcrf.data.encoding.encoder import Encoder
from fastcrf.decoding.decoder_choice import infer_corpus, path_scores, viterbi
from fastcrf.exceptions import ModelFileError
from fastcrf.interchange.crfsuite_dump import dump_lines, header_lines
from fastcrf.interchange.crfsuite_format import HEADER_SIZE, MAGIC
from fastcrf.interchange.crfsuite_reader import is_crfsuite
from fastcrf.model.best_labels import within_limits
from fastcrf.model.model import Model

NO_ITEMS: tuple[Any, ...] = ()


class Tagger:
    """Tags with the model of a file. `tag` and `set` make a sequence the current one, to which the rest refers."""

    def __init__(self) -> None:
        self._model: Model | None = None

    def open(self, name: str | os.PathLike[str]) -> contextlib.closing[Tagger]:
        """Open a model file; the result closes it as a context manager."""
        data = Path(name).read_bytes()
        if not is_crfsuite(data):
            raise ValueError(f"Invalid model file {name!r}")
        if len(data) <= HEADER_SIZE:
            raise ValueError(f"Model file {name!r} doesn't have a complete header")
        return self._open(data, f"Error opening model file {name!r}")

    def open_inmemory(self, value: bytes) -> contextlib.closing[Tagger]:
        """Open the content of a model file."""
        if not isinstance(value, bytes):
            raise TypeError(f"Argument 'value' has incorrect type (expected bytes, got {type(value).__name__})")
        if value[: len(MAGIC)] != MAGIC:
            raise ValueError("Invalid model")
        if len(value) < HEADER_SIZE:
            raise ValueError("Invalid model: incomplete header")
        return self._open(value, "Error opening model")

    def _open(self, data: bytes, complaint: str) -> contextlib.closing[Tagger]:
        try:
            self._model = Model.from_bytes(data)
        except ModelFileError as error:
            raise ValueError(f"{complaint}: {error}") from None
        self._data = data  # for dumps; the model needs it no more
        self._encoder, self._labels = Encoder(self._model.attributes), list(self._model.labels)
        self._ids = {label: k for k, label in enumerate(self._model.labels)}
        self.set(NO_ITEMS)
        return contextlib.closing(self)

    def close(self) -> None:
        """Forget the model."""
        self._model, self._data = None, b""

    def labels(self) -> list[str]:
        """Return the labels, by id."""
        return list(self._opened().labels)

    def set(self, xseq: Iterable[Any]) -> None:
        """Make a sequence of items the current one."""
        self._opened()
        self._current = self._encoder.encode_one(xseq)
        self._inferred: tuple[Floats, float] | None = None

    def tag(self, xseq: Iterable[Any] | None = None) -> list[str]:
        """Return the best labels of a sequence, or of the current one."""
        model = self._opened()
        if xseq is not None:
            self.set(xseq)
        labels = [self._labels[k] for k in viterbi(self._current, model.features, model.weights).tolist()]
        return self._limited(labels) if Current.limits.apply_to(labels) else labels

    def tag_all(self, X: Iterable[Any]) -> list[list[str]]:
        """Return the best labels of many sequences at once. The current sequence does not change."""
        return list(self._opened().predict(X))

    def marginals_of_all(self, X: Iterable[Any]) -> list[list[dict[str, float]]]:
        """Return the probability of each label at each position of many sequences."""
        return self._opened().predict_marginals(X)

    def _limited(self, labels: list[str]) -> list[str]:
        """Return the best labels of the current sequence within the limits; `labels` are the best without."""
        model = self._opened()
        path = np.array([self._ids[label] for label in labels], np.int32)
        best = within_limits(model._decoder, self._current, None, path, Current.limits.max_segments)
        return [self._labels[k] for k in best.tolist()]

    def probability(self, yseq: Iterable[str]) -> float:
        """Return the probability of these labels for the current sequence; 0 where it is empty."""
        model, labels = self._opened(), list(yseq)
        n_items = self._current.n_positions
        if not n_items:
            return 0.0
        if len(labels) != n_items:
            raise ValueError(f"The numbers of items and labels differ: |x| = {n_items}, |y| = {len(labels)}")
        ids = np.array([self._id_of(label) for label in labels], np.int32)
        score = path_scores(self._current, model.features, model.weights, ids)[0]
        return math.exp(min(score - self._inference(model)[1], 0.0))

    def marginal(self, y: str, pos: int) -> float:
        """Return the probability of a label at a position of the current sequence; 0 where it is empty."""
        model, n_items = self._opened(), self._current.n_positions
        if not n_items:
            return 0.0
        if not 0 <= pos < n_items:
            raise ValueError(f"The position, {pos} is out of range of {n_items}")
        return float(self._inference(model)[0][pos, self._id_of(y)])

    def dump(self, filename: str | os.PathLike[str] | None = None) -> None:
        """Write the model as text, to standard output if no file is given."""
        if filename is None:
            sys.stdout.writelines(self._dumped())
            return
        with open(filename, "w", encoding="utf-8", errors="surrogateescape", newline="\n") as file:
            file.writelines(self._dumped())

    def info(self) -> ParsedDump:
        """Return the content of the model."""
        model, parsed = self._not_closed(), ParsedDump()
        parsed.header = dict(line.split(": ", 1) for line in header_lines(self._data))
        parsed.labels = {label: str(k) for k, label in enumerate(model.labels)}
        parsed.attributes = {name: str(a) for a, name in enumerate(model.attributes.names())}
        parsed.transitions, parsed.state_features = model.transition_features_, model.state_features_
        return parsed

    def _dumped(self) -> Iterator[str]:
        self._not_closed()
        return (f"{line}\n" for line in dump_lines(self._data))

    def _opened(self) -> Model:
        if self._model is None:
            raise ValueError("The tagger is not opened")
        return self._model

    def _not_closed(self) -> Model:
        if self._model is None:
            raise RuntimeError("Tagger is closed")
        return self._model

    def _id_of(self, label: str) -> int:
        name = label_text(label)
        if name not in self._ids:
            raise RuntimeError(f"Failed to convert into label identifier: {name}")
        return self._ids[name]

    def _inference(self, model: Model) -> tuple[Floats, float]:
        """Compute the probabilities of the labels at each position, and log Z: once for the current sequence."""
        if self._inferred is None:
            probabilities, log_z = infer_corpus(self._current, model.features, model.weights)
            self._inferred = probabilities, float(log_z[0])
        return self._inferred
