"""fastcrf: fast, certified training of conditional random fields for sequence labeling.

    from fastcrf import CRF
    crf = CRF().fit(X_train, y_train)       # X: sequences of dicts or lists of strings; y: sequences of labels
    crf.predict(X_test)
    crf.save("model.crf")

`CRF` is a scikit-learn estimator; `load` gives the saved `Model`, which tags without scikit-learn. Names are imported
when first used, so `import fastcrf` is quick.
"""

from __future__ import annotations

import sys
from importlib import import_module
from typing import TYPE_CHECKING, Any

from fastcrf.system.moved_modules import MovedModules

if TYPE_CHECKING:
    import os

    from fastcrf import displays, exceptions, features, metrics, readers, scorers, solvers, stopping
    from fastcrf.constraints.constraints import Constraints
    from fastcrf.data.corpus_file.reading import EncodedCorpus
    from fastcrf.estimators.crf import CRF
    from fastcrf.estimators.cross_validation import CRFCV
    from fastcrf.estimators.regularization import regularization_path
    from fastcrf.model.model import Model

__all__ = [
    "CRF",
    "CRFCV",
    "Constraints",
    "Model",
    "__version__",
    "displays",
    "exceptions",
    "features",
    "load",
    "metrics",
    "open_corpus",
    "readers",
    "regularization_path",
    "scorers",
    "solvers",
    "stopping",
]
__version__ = "1.0.0rc1"

sys.meta_path.append(MovedModules)  # type: ignore[arg-type]  # asked last: it names the remedy for old pickles

_HOMES = {
    "CRF": "fastcrf.estimators.crf",
    "CRFCV": "fastcrf.estimators.cross_validation",
    "Constraints": "fastcrf.constraints.constraints",
    "Model": "fastcrf.model.model",
    "regularization_path": "fastcrf.estimators.regularization",
}


def load(path: str | os.PathLike[str]) -> Model:
    """Load a model that `CRF.save`, CRFsuite, CRF++ (as text) or Wapiti wrote. Nothing in the file is executed.

    Parameters
    ----------
    path : str or path
        File to read.

    Returns
    -------
    Model
        The model, which predicts without scikit-learn. `CRF.load` returns an estimator.

    Raises
    ------
    ModelFileError
        If the file is no model, or damaged.
    """
    from fastcrf.model.model import Model

    return Model.load(path)


def open_corpus(path: str | os.PathLike[str]) -> EncodedCorpus:
    """Open an encoded corpus that `fastcrf encode` wrote. The operating system reads it into memory as it is used.

    Parameters
    ----------
    path : str or path
        File to open.

    Returns
    -------
    EncodedCorpus
        The corpus, which `CRF.fit` takes in place of X and y.

    Raises
    ------
    DataError
        If the file is no encoded corpus, or damaged.
    """
    from fastcrf.data.corpus_file.reading import open_corpus

    return open_corpus(path)


def __getattr__(name: str) -> Any:
    try:
        if name in _HOMES:
            return getattr(import_module(_HOMES[name]), name)
        if name in __all__:
            return import_module(f"fastcrf.{name}")
    except ModuleNotFoundError as error:
        from fastcrf.system.optional_packages import advice_for

        if advice := advice_for(error):
            raise ModuleNotFoundError(advice, name=error.name) from None
        raise
    raise AttributeError(f"module 'fastcrf' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
