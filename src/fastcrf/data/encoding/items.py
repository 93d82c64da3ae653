"""The attributes of an item: names and values, exactly as in python-crfsuite.

An item describes one position of a sequence. It is

* a dict, whose keys are `str` or `bytes` and whose values are

  - a `str` or `bytes`: the attribute ``key:value`` with value 1,
  - a dict, list or set: its own attributes, each prefixed with ``key:``,
  - anything else: the attribute ``key`` with value ``float(value)`` (so True is 1 and False is 0);

* or any other iterable of `str` or `bytes`: each element is an attribute with value 1.

An attribute that occurs twice is kept twice; values add up in the score. Where python-crfsuite fails obscurely, drops a
value silently or passes NaN on to the optimizer, `flatten` raises an `ItemError` that says what to do. One difference
remains on purpose: a NUL character is part of a name here, while C strings end there.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from math import isfinite
from reprlib import repr as short
from typing import Any

import numpy as np

VECTOR_REMEDY = "name the elements of a vector, as in {'v': {str(k): x for k, x in enumerate(vector)}}"


class ItemError(ValueError):
    """Raise for an item with a fault, with its key; the encoder adds the place of the item."""

    def __init__(self, fault: str, remedy: str, key: str = "") -> None:
        super().__init__(fault, remedy, key)
        self.fault, self.remedy, self.key = fault, remedy, key

    def sentence(self, place: str) -> str:
        return f"{place}{f', key {self.key!r}' if self.key else ''} {self.fault}; {self.remedy}."

    def under(self, key: str) -> ItemError:
        """Return the same fault inside the value of `key`."""
        return ItemError(self.fault, self.remedy, f"{key}:{self.key}" if self.key else key)


def flatten(item: Any) -> tuple[list[str], list[float]]:
    """Return names and values of the attributes of an item, in order."""
    if not isinstance(item, dict):
        names = [key if type(key) is str else text(key) for key in elements(item)]
        return names, [1.0] * len(names)
    names = []
    values: list[float] = []
    for key, value in item.items():
        if type(key) is not str:
            key = text(key)
        kind = type(value)
        if kind is str:
            names.append(f"{key}:{value}")
            values.append(1.0)
        elif kind is bool:
            names.append(key)
            values.append(1.0 if value else 0.0)
        elif isinstance(value, (dict, list, set)):
            inner_names, inner_values = flatten_inner(value, key)
            names += [f"{key}:{name}" for name in inner_names]
            values += inner_values
        elif isinstance(value, (str, bytes)):
            names.append(f"{key}:{text(value)}")
            values.append(1.0)
        else:
            names.append(key)
            values.append(number(value, key))
    return names, values


def flatten_inner(value: Any, key: str) -> tuple[list[str], list[float]]:
    """Return the attributes of a dict, list or set that is the value of `key`, without the prefix."""
    try:
        return flatten(value)
    except ItemError as error:
        raise error.under(key) from None
    except RecursionError:
        raise ItemError("contains itself or is nested too deeply", "flatten it", key) from None


def elements(item: Any) -> Iterable[Any]:
    """Return the elements of an item that is not a dict."""
    if isinstance(item, Mapping):  # python-crfsuite reads the keys of these and silently loses the values
        raise ItemError(f"is {describe(item)}", "convert it by dict(item)")
    if hasattr(item, "tocsr"):
        raise ItemError(f"is {describe(item)}", VECTOR_REMEDY)
    if not isinstance(item, Iterable) or is_scalar(item):
        raise ItemError(f"is {describe(item)}", "give a dict, or a list of strings")
    return item


def text(name: Any) -> str:
    """Return a key or string value as `str`.

    Bytes that are not UTF-8 become lone surrogates, so that all stay distinct.
    """
    if isinstance(name, str):
        return "".join((name,))  # its characters, whatever a subclass (such as an Enum) prints
    if isinstance(name, bytes):
        return name.decode("utf-8", "surrogateescape")
    remedy = VECTOR_REMEDY if isinstance(name, (float, np.number, np.ndarray)) else "convert it by str()"
    raise ItemError(f"has {short(name)} where a string is needed", remedy)


def number(value: Any, key: str) -> float:
    """Return the value of an attribute as a finite float."""
    if value is None:
        raise ItemError("has the value None", "leave the key out, or give a string or a number", key)
    if isinstance(value, (tuple, frozenset)):
        raise ItemError(f"has {describe(value)} as its value", "convert it to a list, set or dict", key)
    if getattr(value, "ndim", 0):
        raise ItemError(f"has {describe(value)} as its value", VECTOR_REMEDY, key)
    try:
        result = float(value)
    except OverflowError:
        result = float("inf")
    except (TypeError, ValueError):
        remedy = "give a string, a number, or a dict, list or set of strings"
        raise ItemError(f"has {describe(value)} as its value", remedy, key) from None
    if not isfinite(result):
        raise ItemError(f"has the value {result}", "leave the key out, or give a finite number", key)
    return result


def is_scalar(thing: Any) -> bool:
    """Return whether this is a NumPy array without axes, which cannot be iterated."""
    return isinstance(thing, np.ndarray) and thing.ndim == 0


def describe(thing: Any) -> str:
    """Describe the kind of a thing: "a tuple", "an array of shape (3,)"."""
    if thing is None:
        return "None"
    kind = type(thing).__name__.removeprefix("nd")
    shape = getattr(thing, "shape", ())
    return f"{'an' if kind[0] in 'aeiou' else 'a'} {kind}" + (f" of shape {shape}" if shape else "")
