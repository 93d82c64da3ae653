"""`CRF` with the parameters, attributes, return values and pickles of sklearn-crfsuite's."""

from __future__ import annotations

import inspect
from collections.abc import Iterable
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.exceptions import NotFittedError

from fastcrf.compat.pycrfsuite import Tagger
from fastcrf.compat.pycrfsuite._dumpparser import ParsedDump
from fastcrf.compat.pycrfsuite._parameters import ALGORITHMS, FEATURES
from fastcrf.compat.sklearn_crfsuite._fileresource import FileResource
from fastcrf.compat.sklearn_crfsuite.trainer import LinePerIterationTrainer
from fastcrf.data.encoding.input_shapes import pairs_of
from fastcrf.metrics import flat_accuracy_score

__all__ = ["CRF"]

OTHER_NAMES = {  # apart from these, a dot of the trainer's name is an underline here
    "feature.minfreq": "min_freq",
    "feature.possible_states": "all_possible_states",
    "feature.possible_transitions": "all_possible_transitions",
    "type": "pa_type",
}
OF_THE_TRAINER = {
    OTHER_NAMES.get(name, name.replace(".", "_")): name for group in (FEATURES, *ALGORITHMS.values()) for name in group
}  # our parameter: the trainer's


class CRF(BaseEstimator):
    """A linear-chain CRF. None stands for CRFsuite's default of the algorithm; before `fit` attributes are None.

    docs/how-to/from-crfsuite.md lists the parameter of fastcrf.CRF for each. The model is a .crfsuite file,
    `model_filename` or a temporary one; `trainer_cls` is a subclass of `pycrfsuite.Trainer`.
    """

    def __init__(
        self,
        algorithm: str | None = None,
        min_freq: float | None = None,
        all_possible_states: bool | None = None,
        all_possible_transitions: bool | None = None,
        c1: float | None = None,
        c2: float | None = None,
        max_iterations: int | None = None,
        num_memories: int | None = None,
        epsilon: float | None = None,
        period: int | None = None,
        delta: float | None = None,
        linesearch: str | None = None,
        max_linesearch: int | None = None,
        calibration_eta: float | None = None,
        calibration_rate: float | None = None,
        calibration_samples: int | None = None,
        calibration_candidates: int | None = None,
        calibration_max_trials: int | None = None,
        pa_type: int | None = None,
        c: float | None = None,
        error_sensitive: bool | None = None,
        averaging: bool | None = None,
        variance: float | None = None,
        gamma: float | None = None,
        verbose: bool = False,
        model_filename: Any = None,
        keep_tempfiles: bool = False,
        trainer_cls: Any = None,
    ) -> None:
        given = locals()
        for name in self._get_param_names():
            setattr(self, name, given[name])
        self.modelfile = FileResource(model_filename, keep_tempfiles, suffix=".crfsuite", prefix="model")
        self.training_log_: Any = None
        self._tagger: Tagger | None = None
        self._info_cached: ParsedDump | None = None

    def fit(
        self,
        X: Iterable[Any],
        y: Iterable[Any],
        X_dev: Iterable[Any] | None = None,
        y_dev: Iterable[Any] | None = None,
    ) -> CRF:
        """Train on sequences X of items with labels y; scores on X_dev, y_dev are in `training_log_`."""
        if (X_dev is None) != (y_dev is None):
            raise ValueError("Pass both X_dev and y_dev to use the holdout data, or neither.")
        trainer = self._trainer()
        self._load(trainer, "training", X, y, group=0)
        if X_dev is not None:
            self._load(trainer, "dev", X_dev, y_dev, group=1)
        self._tagger = self._info_cached = None
        self.modelfile.refresh()
        trainer.train(self.modelfile.name, holdout=-1 if X_dev is None else 1)
        self.training_log_ = trainer.logparser
        return self

    def predict(self, X: Iterable[Any]) -> np.ndarray:
        """Return the best labels: an array of lists, or of two dimensions if all sequences have the same length."""
        return np.array(self._fitted().tag_all(X), dtype=object)

    def predict_single(self, xseq: Iterable[Any]) -> list[str]:
        """Return the best labels of one sequence."""
        return self._fitted().tag(xseq)

    def predict_marginals(self, X: Iterable[Any]) -> np.ndarray:
        """Return the probability of each label at each position, in an array of the same kind as that of `predict`."""
        return np.array(self._fitted().marginals_of_all(X), dtype=object)

    def predict_marginals_single(self, xseq: Iterable[Any]) -> list[dict[str, float]]:
        """Return the probability of each label at each position of one sequence."""
        return self._fitted().marginals_of_all([xseq])[0]

    def score(self, X: Iterable[Any], y: Iterable[Any]) -> float:
        """Compute the token accuracy."""
        return flat_accuracy_score(y, self.predict(X))

    @property
    def tagger_(self) -> Tagger | None:
        """Return the tagger of the model."""
        if self._tagger is None and self.modelfile.is_there:
            tagger = Tagger()
            if self.modelfile.auto:
                tagger.open_inmemory(self.modelfile.content())
            else:
                tagger.open(self.modelfile.name)
            self._tagger = tagger
        return self._tagger

    @property
    def classes_(self) -> list[str] | None:
        """Return labels in order of first appearance."""
        return None if self.tagger_ is None else self.tagger_.labels()

    @property
    def size_(self) -> int | None:
        """Return bytes of the model file."""
        return None if self._info is None else int(self._info.header["size"])

    @property
    def num_attributes_(self) -> int | None:
        """Number of attributes that have a weight."""
        return None if self._info is None else int(self._info.header["num_attrs"])

    @property
    def attributes_(self) -> list[str] | None:
        """Return names of the attributes that have a weight."""
        return None if self._info is None else list(self._info.attributes)

    @property
    def state_features_(self) -> dict[tuple[str, str], float] | None:
        """Return weights by (attribute, label)."""
        return None if self._info is None else self._info.state_features

    @property
    def transition_features_(self) -> dict[tuple[str, str], float] | None:
        """Return weights by (label before, label after)."""
        return None if self._info is None else self._info.transitions

    @property
    def _info(self) -> ParsedDump | None:
        if self._info_cached is None and self.tagger_ is not None:
            self._info_cached = self.tagger_.info()
        return self._info_cached

    def _fitted(self) -> Tagger:
        if self.tagger_ is None:
            raise NotFittedError("This CRF is not fitted: call fit, or let model_filename be a .crfsuite file.")
        return self.tagger_

    def _trainer(self) -> Any:
        given = {theirs: getattr(self, ours) for ours, theirs in OF_THE_TRAINER.items()}
        set_ones = {name: value for name, value in given.items() if value is not None}
        return (self.trainer_cls or LinePerIterationTrainer)(
            algorithm=self.algorithm, params=set_ones, verbose=self.verbose
        )

    def _load(self, trainer: Any, what: str, X: Any, y: Any, group: int) -> None:
        count = 0
        for items, labels in pairs_of(X, y):
            trainer.append(items, labels, group)
            count += 1
        if self.verbose:
            print(f"loading {what} data: {count} sequences\n")

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_tagger": None, "_info_cached": None}

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Restore a pickle; those of older versions lack parameters of newer ones."""
        defaults = {name: p.default for name, p in inspect.signature(type(self)).parameters.items()}
        others = {"training_log_": None, "_tagger": None, "_info_cached": None}
        self.__dict__.update({**defaults, **others, **state})
