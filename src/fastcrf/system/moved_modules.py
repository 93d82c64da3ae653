"""Raise a helpful error for modules that have moved and that pickles of development versions still name."""

from __future__ import annotations

from collections.abc import Sequence
from types import ModuleType

MOVED = frozenset(
    f"fastcrf.{name}"
    for name in (
        "chain",
        "data.corpora",
        "data.templates.attributes",
        "data.templates.blocks",
        "data.templates.programme",
        "data.templates.tables",
        "estimator",
        "objective.certificate",
        "regularization",
        "solvers.average_gradient",
        "solvers.policies",
        "solvers.scaling",
        "training.crfsuite_log",
        "training.path",
        "training.stream",
        "types",
    )
)


def advice(name: str) -> str:
    return (
        f"{name} has moved, so objects that were pickled by a development version of fastcrf cannot be loaded. With "
        "the version that wrote the pickle, save the model by CRF.save; CRF.load reads that file here."
    )


class MovedModules:
    """A meta path finder, the last one: it finds no module, and raises for a module that has moved."""

    @staticmethod
    def find_spec(name: str, path: Sequence[str] | None, target: ModuleType | None = None) -> None:
        if name in MOVED:
            raise ModuleNotFoundError(advice(name), name=name)
