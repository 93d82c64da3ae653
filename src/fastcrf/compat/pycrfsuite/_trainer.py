"""`Trainer`: collects sequences, and trains a model file of them."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from typing import Any

from fastcrf.compat.pycrfsuite._data import DataSet
from fastcrf.compat.pycrfsuite._logparser import TrainLogParser
from fastcrf.compat.pycrfsuite._parameters import ALGORITHMS, ALIASES, Parameters
from fastcrf.data.model_file.container import write


class BaseTrainer:
    """A data set and the parameters of an algorithm. Messages of training go to `message`."""

    _parameters: Parameters
    _data: DataSet
    verbose: Any = None

    def __new__(cls, *args: Any, **options: Any) -> BaseTrainer:
        """Set what must exist even if a subclass has a constructor that does not call this one."""
        trainer = super().__new__(cls)
        trainer._parameters, trainer._data = Parameters(), DataSet()
        return trainer

    def __init__(
        self, algorithm: str | None = None, params: Mapping[str, Any] | None = None, verbose: bool = True
    ) -> None:
        if algorithm is not None:
            self.select(algorithm)
        if params is not None:
            self.set_params(params)
        self.verbose = verbose

    def message(self, message: str) -> None:
        """Receive each message of training; print it if `verbose`. An exception ends training."""
        if self.verbose:
            print(message, end="")

    def append(self, xseq: Iterable[Any], yseq: Iterable[str], group: int = 0) -> None:
        """Add a sequence of items with its labels; sequences of a group may be held out."""
        self._data.append(xseq, yseq, group)

    def select(self, algorithm: str, type: str = "crf1d") -> None:
        """Choose an algorithm; its parameters have their defaults then."""
        name = algorithm.lower()
        name = ALIASES.get(name, name)
        if name not in ALGORITHMS or type != "crf1d":
            raise ValueError(f"Bad arguments: algorithm={name!r}, type={type!r}")
        self._parameters = Parameters(name)

    def train(self, model: str | os.PathLike[str], holdout: int = -1) -> None:
        """Train on all groups but `holdout`, and write the .crfsuite file `model` (none if it is empty)."""
        from fastcrf.compat.pycrfsuite._training import train  # here, because taggers need none of it

        self._before_train()
        content = train(self._data, self._parameters, holdout, self.message)
        if os.fspath(model):
            write(model, content)

    def params(self) -> list[str]:
        """Return the names of the parameters of the algorithm."""
        return list(self._parameters.known)

    def set_params(self, params: Mapping[str, Any]) -> None:
        """Set parameters by name."""
        for name, value in params.items():
            self.set(name, value)

    def get_params(self) -> dict[str, Any]:
        """Return all parameters of the algorithm by name."""
        return {name: self.get(name) for name in self.params()}

    def set(self, name: str, value: Any) -> None:
        """Set one parameter."""
        self._parameters.set(name, value)

    def get(self, name: str) -> Any:
        """Return the value of one parameter."""
        return self._parameters.get(name)

    def help(self, name: str) -> str:
        """Describe a parameter."""
        if name not in self._parameters.known:
            raise ValueError(f"Parameter not found: {name}")
        return self._parameters.known[name].help

    def clear(self) -> None:
        """Forget all sequences."""
        self._data = DataSet()

    def _before_train(self) -> None:
        """Do nothing; subclasses may override it."""


class Trainer(BaseTrainer):
    """A trainer that parses its messages (`logparser`) and, if `verbose`, calls a method at each stage."""

    logparser: TrainLogParser | None = None

    def _before_train(self) -> None:
        self.logparser = TrainLogParser()

    def message(self, message: str) -> None:
        assert self.logparser is not None
        event = self.logparser.feed(message)
        if not self.verbose or event is None:
            return
        log = self.logparser.last_log
        if event == "featgen_progress":
            self.on_featgen_progress(log, self.logparser.featgen_percent)
        elif event == "iteration":
            self.on_iteration(log, self.logparser.last_iteration)
        else:
            getattr(self, f"on_{event}")(log)

    def on_start(self, log: str) -> None:
        """Handle the line with which the log begins."""
        print(log, end="")

    def on_featgen_progress(self, log: str, percent: int) -> None:
        """Handle progress in generating features."""
        print(log, end="")

    def on_featgen_end(self, log: str) -> None:
        """Handle the end of generating features."""
        print(log, end="")

    def on_prepared(self, log: str) -> None:
        """Handle the line that training is prepared."""
        print(log, end="")

    def on_prepare_error(self, log: str) -> None:
        """Handle an error in preparing training."""
        print(log, end="")

    def on_iteration(self, log: str, info: Any) -> None:
        """Handle the scores of an iteration."""
        print(log, end="")

    def on_optimization_end(self, log: str) -> None:
        """Handle the end of the optimization."""
        print(log, end="")

    def on_end(self, log: str) -> None:
        """Handle the end of the log."""
        print(log, end="")
