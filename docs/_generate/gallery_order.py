"""The order of the tutorials: as the door lists them."""

from __future__ import annotations

ORDER = (
    "first_model",
    "from_sklearn_crfsuite",
    "entities",
    "chunking",
    "parts_of_speech",
    "penalty",
    "stream",
    "compare_solvers",
    "cluster",
)


def reading_order(name: str) -> int:
    """Return the place of a script, given by file name, in its gallery."""
    return ORDER.index(name.removesuffix(".py"))
