"""CRFsuite's L-BFGS as a competitor in a comparison, where python-crfsuite is installed.

It trains on the same encoded data under the same objective. Its log gives the objective after each iteration; the clock
runs only inside its trainer. It reports neither weights nor a certificate, so its rows never decide the optimum.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.util import find_spec
from typing import Any, ClassVar

import numpy as np

from fastcrf.core.types import Corpus, FeatureMap
from fastcrf.lab.experiment import Objective
from fastcrf.lab.limits import FINISHED, Limits
from fastcrf.lab.observed import CPU
from fastcrf.lab.store import Row, Rows
from fastcrf.training.progress import Display, Silent

NAME = "crfsuite"
MODULE = "pycrfsuite"
LEAST_IMPROVEMENT = 1e-10  # its stopping criterion `delta`: the limits of the comparison end the run, not this
MOST_ITERATIONS = 100_000


class LimitReached(Exception):
    """Ends CRFsuite's training from its log."""


@dataclass(frozen=True)
class CRFsuite:
    """Stands where a solver does in the list of an experiment. It has no options."""

    name: ClassVar[str] = NAME

    def reason_to_skip(self, objective: Objective) -> str | None:
        """Return why CRFsuite cannot minimize this objective."""
        if not is_installed():
            return "crfsuite needs python-crfsuite: pip install python-crfsuite."
        if len(objective.dataset.corpus.weights):
            return "crfsuite does not support sequence weights."
        return None

    def run(self, objective: Objective, limits: Limits, display: Display | None) -> tuple[Rows, str, str]:
        """Train until a limit. Return the rows, and how the run ended: a word and a sentence."""
        log = Log(limits, display or Silent())
        trainer = make_trainer(objective, log)
        try:
            log.start()
            trainer.train("")
        except LimitReached:
            pass
        finally:
            log.finish()
        status, reason = log.ending or (FINISHED, "CRFsuite ended by its own criterion.")
        return log.rows, status, reason


def is_installed() -> bool:
    """Return whether python-crfsuite itself is there; `fastcrf.compat` may stand under its name."""
    spec = find_spec(MODULE)
    return spec is not None and "fastcrf" not in str(spec.origin)


class Log:
    """The rows of a run, from what CRFsuite prints after each iteration."""

    def __init__(self, limits: Limits, display: Display) -> None:
        self.limits, self.display = limits, display
        self.rows: Rows = []
        self.passes = 1.0  # the evaluation at the start
        self.ending: tuple[str, str] | None = None

    def start(self) -> None:
        self.display.start(NAME, self.limits.rules())
        self.began, self.cpu = time.perf_counter(), time.process_time()

    def add(self, info: dict[str, Any]) -> None:
        """Add a row; raise LimitReached at a limit."""
        seconds, cpu = time.perf_counter() - self.began, time.process_time() - self.cpu
        self.passes += info["linesearch_trials"]
        row: Row = {
            "step": info["num"], "passes": self.passes, "seconds": seconds, "wall": seconds, CPU: cpu,
            "objective": info["loss"], "gradient_norm": None, "gap": None, "relative_gap": None,
            "active": float(info["active_features"]), "error": None,
        }  # fmt: skip
        self.rows.append(row)
        self.display.update(row)
        self.ending = self.limits.ending_at(row, self.rows[:-1])
        if self.ending:
            raise LimitReached

    def finish(self) -> None:
        self.display.finish(self.rows[-1] if self.rows else None, self.ending[1] if self.ending else "CRFsuite ended.")


def make_trainer(objective: Objective, log: Log) -> Any:
    """Return a trainer that holds the data; raise ValueError in training if its features are not ours."""
    import pycrfsuite

    corpus, features = objective.dataset.corpus, objective.dataset.features

    class Trainer(pycrfsuite.Trainer):  # type: ignore[misc]
        def message(self, message: str) -> None:
            event = self.logparser.feed(message)
            if event == "featgen_end" and self.logparser.featgen_num_features != features.n_weights:
                found = self.logparser.featgen_num_features
                raise ValueError(f"CRFsuite makes {found} features of these data, fastcrf {features.n_weights}.")
            if event == "iteration":
                log.add(self.logparser.last_iteration)

    trainer = Trainer("lbfgs", parameters(objective, features), verbose=True)
    for items, labels in zip(named_items(corpus), label_names(corpus), strict=True):
        trainer.append(items, labels)
    return trainer


def parameters(objective: Objective, features: FeatureMap) -> dict[str, Any]:
    return {
        **objective.penalty._asdict(),
        "feature.possible_states": features.n_state == features.n_attributes * features.n_labels,
        "feature.possible_transitions": len(features.sources) == features.n_labels**2,
        "delta": LEAST_IMPROVEMENT,
        "max_iterations": MOST_ITERATIONS,
    }


def named_items(corpus: Corpus) -> Iterator[list[Any]]:
    """Yield each sequence as CRFsuite reads it, with ids as names of attributes."""
    names = np.arange(int(corpus.attributes.max(initial=-1)) + 1).astype(str).tolist()
    for first, last in zip(corpus.starts[:-1].tolist(), corpus.starts[1:].tolist(), strict=True):
        items: list[Any] = []
        for p in range(first, last):
            ids = slice(corpus.offsets[p], corpus.offsets[p + 1])
            item = [names[a] for a in corpus.attributes[ids].tolist()]
            items.append(dict(zip(item, corpus.values[ids].tolist(), strict=True)) if len(corpus.values) else item)
        yield items


def label_names(corpus: Corpus) -> Iterator[list[str]]:
    for first, last in zip(corpus.starts[:-1].tolist(), corpus.starts[1:].tolist(), strict=True):
        yield [str(label) for label in corpus.labels[first:last].tolist()]
