"""Packages that training needs and tagging does not: whether they are there, and what to install if not."""

from __future__ import annotations

from functools import cache
from importlib import import_module
from importlib.util import find_spec
from types import ModuleType

TRAINING = ("numba", "scikit-learn", "joblib", "rich", "typer")
OF_TRAINING = frozenset({"numba", "llvmlite", "sklearn", "scipy", "joblib", "rich", "typer", "click"})


@cache
def is_installed(package: str) -> bool:
    """Return whether a package can be imported, without importing it."""
    try:
        return find_spec(package) is not None
    except ImportError:
        return False


def advice_for(error: ImportError) -> str | None:
    """Return what to install when a package of training is missing; None if it is another package."""
    package = (error.name or "").partition(".")[0]
    if not isinstance(error, ModuleNotFoundError) or package not in OF_TRAINING:
        return None
    return (
        f"This needs {package}, which is not installed: this is fastcrf's tagger alone. Install what training and the "
        f"commands need: pip install {' '.join(TRAINING)}"
    )


def optional_package(name: str, extra: str) -> ModuleType:
    """Import a package of an extra; if it is missing, raise ImportError with the pip command."""
    try:
        return import_module(name)
    except ModuleNotFoundError as error:
        if error.name != name.partition(".")[0]:
            raise
        raise ImportError(f"This needs {error.name}: pip install 'fastcrf[{extra}]'.", name=name) from None
