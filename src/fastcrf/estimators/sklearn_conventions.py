"""How the estimator bears with scikit-learn: warnings of a search, scorers without sequences, frequent questions."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable
from types import FrameType
from typing import Any
from weakref import WeakKeyDictionary

from sklearn.exceptions import ConvergenceWarning

from fastcrf.fitting.fit import Fit
from fastcrf.model.model import Model

AT_A_LIMIT = (
    "Training ended at max_iterations or max_passes, before its goal: raise the limit, or loosen tol. stop_reason_ and "
    "certificate_ say where it stands."
)
WARNED: set[tuple[str, int]] = set()  # file and line of the calls of `fit` that ended at a limit
MADE: WeakKeyDictionary[Model, dict[str, Any]] = WeakKeyDictionary()  # no part of a pickle, and gone with its model


def once(model: Model, name: str, make: Callable[[Model], Any]) -> Any:
    """What `make` makes of a model, made when it is first asked for: programs ask for the weights hundreds of times."""
    made = MADE.setdefault(model, {})
    if name not in made:
        made[name] = make(model)
    return made[name]


def warn_early_end(fit: Fit) -> None:
    """Say that training ended before its goal; at a limit of the user's own, once for each place that calls `fit`.

    (That is what Python's warnings promise, but scikit-learn makes them forget, and a search has hundreds of fits.)
    """
    if fit.result.status == "stopped":
        caller = sys._getframe(2)
        place = caller.f_code.co_filename, caller.f_lineno
        if place not in WARNED:
            WARNED.add(place)
            warnings.warn(AT_A_LIMIT, ConvergenceWarning, stacklevel=3)
        return
    certificate = str(fit.result.certificate)
    sentence = f"Training ended early. {fit.result.reason} {certificate[:1].upper()}{certificate[1:]}."
    warnings.warn(sentence, ConvergenceWarning, stacklevel=3)


def refuse_stock_metric(caller: FrameType) -> None:
    """Say so where a scorer of scikit-learn's own, such as "accuracy", asks for predictions.

    It would stumble over lists of lists in words about multi-label data, and a search would go on with NaN. That can be
    known from nothing but the caller; where scikit-learn calls from elsewhere, all is as it was.
    """
    if caller.f_globals.get("__name__") != "sklearn.utils._response":
        return
    frame: FrameType | None = caller
    while frame is not None and frame.f_globals.get("__name__") != "sklearn.metrics._scorer":
        frame = frame.f_back
    while frame is not None and "self" not in frame.f_locals:
        frame = frame.f_back
    metric: Any = getattr(frame.f_locals["self"], "_score_func", None) if frame is not None else None
    if getattr(metric, "__module__", "").startswith("sklearn."):
        raise ValueError(
            f"{metric.__name__} of scikit-learn knows no sequences; leave scoring out, which scores tokens, or give "
            "fastcrf.scorers.flat_accuracy, or make_scorer of a function of fastcrf.metrics."
        )
