"""The trained model, the formats in which it is saved, and pruning."""

from typing import Any


def __getattr__(name: str) -> Any:
    """Pickles of development versions look for `Model` here. (pickle would replace the text of an AttributeError.)"""
    if name == "Model":
        from fastcrf.system.moved_modules import advice

        raise ImportError(advice("fastcrf.model.Model"))
    raise AttributeError(f"module 'fastcrf.model' has no attribute {name!r}")
