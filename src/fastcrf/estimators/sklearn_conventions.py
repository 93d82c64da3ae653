"""What scikit-learn expects of an estimator: warnings of convergence, and attributes that cost little."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any
from weakref import WeakKeyDictionary

from sklearn.exceptions import ConvergenceWarning

from fastcrf.fitting.fit import Fit
from fastcrf.model.model import Model

MADE: WeakKeyDictionary[Model, dict[str, Any]] = WeakKeyDictionary()  # no part of a pickle, and gone with its model


def once(model: Model, name: str, make: Callable[[Model], Any]) -> Any:
    """Return what `make` makes of a model, made at the first call: programs ask for the weights hundreds of times."""
    made = MADE.setdefault(model, {})
    if name not in made:
        made[name] = make(model)
    return made[name]


def warn_early_end(fit: Fit) -> None:
    """Issue a ConvergenceWarning that says why training ended and what to do."""
    result = fit.result
    if result.status == "stopped":
        sentence = f"Training did not converge. {result.reason} Increase the limit or tol."
    else:
        certificate = str(result.certificate)
        sentence = f"Training ended early. {result.reason} {certificate[:1].upper()}{certificate[1:]}."
    warnings.warn(sentence, ConvergenceWarning, stacklevel=3)
