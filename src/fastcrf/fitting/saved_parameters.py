"""Which parameters of an estimator a model file holds: one list for saving and for loading.

A file from a stranger may say anything. It sets only parameters that `saved` writes, of plain types, and no path.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import asdict
from typing import Any

import numpy as np

from fastcrf.solvers import registry
from fastcrf.solvers.contract import Solver

TYPES = (str, int, float, bool, type(None))
NEVER_SAVED = frozenset({"callbacks", "template", "engine", "stopping", "constraints"})
OPTIONS = "algorithm_options"  # of a Solver object, beside its name
OLDER_NAMES = {"averaged-perceptron": "ap", "passive-aggressive": "pa"}  # in files of versions before 0.1.0


def saved(parameters: Mapping[str, Any]) -> dict[str, Any]:
    """Return the parameters that a model file holds: plain values, and a Solver object as its name and options."""
    solver = parameters.get("algorithm")
    if isinstance(solver, Solver) and solver.name in registry.names():
        parameters = {**parameters, "algorithm": solver.name}
        options = plain_ones(asdict(solver))  # type: ignore[call-overload]
        return {**plain_ones(parameters), OPTIONS: options}
    return plain_ones(parameters)


def restored(parameters: Any, names: Iterable[str]) -> dict[str, Any]:
    """Return the estimator's parameters, by name, that a model file sets."""
    if not isinstance(parameters, Mapping):
        return {}
    known = plain_ones({name: parameters[name] for name in names if name in parameters})
    if isinstance(known.get("algorithm"), str):
        known["algorithm"] = solver_of(known["algorithm"], parameters.get(OPTIONS))
    return known


def solver_of(algorithm: str, options: Any) -> Any:
    """Return the Solver object of a name and its options; the name alone where there are none, or they do not fit."""
    name = OLDER_NAMES.get(algorithm.lower(), algorithm.lower())
    if not isinstance(options, Mapping):
        return name
    try:
        return registry.make(name, **options)
    except (ValueError, TypeError):
        return name


def plain_ones(parameters: Mapping[str, Any]) -> dict[str, Any]:
    """Return those that a file can hold, with NumPy's numbers as Python's."""
    values = {name: plain(value) for name, value in sorted(parameters.items()) if name not in NEVER_SAVED}
    return {name: value for name, value in values.items() if type(value) in TYPES}


def plain(value: Any) -> Any:
    """Return NumPy's numbers as Python's."""
    return value.item() if isinstance(value, np.generic) else value
