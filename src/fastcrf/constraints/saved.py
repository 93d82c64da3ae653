"""Constraints in the header of a model file, as JSON."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from fastcrf.constraints.constraints import Constraints, Label
from fastcrf.constraints.rules import rules_of
from fastcrf.exceptions import ModelFileError

PARTS = ("allow", "forbid", "first", "last")


def saved_constraints(constraints: Constraints, label: Callable[[Label], Any]) -> dict[str, Any]:
    """Return constraints as JSON keeps them; pairs are lists of two. `label` converts a label."""

    def saved(entry: Any) -> Any:
        if isinstance(entry, tuple) and len(entry) == 2:
            return [None if each is None else label(each) for each in entry]
        return label(entry)

    parts = {name: getattr(constraints, name) for name in PARTS}
    header = {name: [saved(each) for each in given] for name, given in parts.items() if given is not None}
    dictionary = constraints.dictionary
    if isinstance(dictionary, Mapping):
        dictionary = {str(name): [label(each) for each in labels] for name, labels in dictionary.items()}
    return {"scheme": constraints.scheme, **header, "dictionary": dictionary}


def restored_constraints(header: Any, labels: Sequence[Label]) -> Constraints | None:
    """Return the constraints that a header holds, if they fit the labels of the model."""
    if header is None:
        return None
    try:
        constraints = constraints_from(header)
        rules_of(constraints, labels, ())
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        raise ModelFileError(f"the model is damaged: its constraints cannot be used ({error})") from None
    return constraints


def constraints_from(header: Mapping[str, Any]) -> Constraints:
    """Return the constraints that JSON describes: the parameters of `Constraints`, with pairs as lists of two."""
    unknown = header.keys() - {"scheme", "dictionary", "dictionary_min_count", *PARTS}
    if unknown:
        raise ValueError(f"{min(unknown)!r} is no parameter of Constraints")
    parts: dict[str, Any] = dict(header)
    for name in PARTS:
        if parts.get(name) is not None:
            parts[name] = [entry_of(each) for each in parts[name]]
    return Constraints(**parts)


def entry_of(entry: Any) -> Any:
    return tuple(entry) if isinstance(entry, list) else entry
