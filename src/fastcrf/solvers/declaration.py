"""Declare solver classes: frozen dataclasses whose help explains every option.

A class documents its own fields under "Parameters" in numpydoc format, by name alone. `@solver` adds the entries of
inherited fields, and the type and the default of each field.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterable
from dataclasses import dataclass, fields
from typing import Any, TypeVar, dataclass_transform

T = TypeVar("T")

PARAMETERS = re.compile(r"^Parameters\n-+\n(.*?)\n*(?=^\S[^\n]*\n-+$|\Z)", re.MULTILINE | re.DOTALL)
ENTRY = re.compile(r"^(\w+)[^\n]*\n((?:[ \t]+[^\n]*\n?)+)", re.MULTILINE)


@dataclass_transform(kw_only_default=True, frozen_default=True)
def solver(cls: type[T]) -> type[T]:
    """Make a class of options a solver: frozen, keyword-only, equal by class and options, with a short repr."""
    documentation = vars(cls).get("__doc__")
    cls.__repr__ = short_repr  # type: ignore[method-assign, assignment]
    made: type[T] = dataclass(frozen=True, kw_only=True, repr=False)(cls)
    if documentation:  # None under python -OO
        made.__doc__ = with_parameters(inspect.cleandoc(documentation), made)
    return made


def short_repr(self: Any) -> str:
    """Show the options that differ from the defaults."""
    given = ((field.name, getattr(self, field.name), field.default) for field in fields(self))
    shown = ", ".join(f"{name}={value!r}" for name, value, default in given if value != default)
    return f"{type(self).__name__}({shown})"


def with_parameters(documentation: str, cls: type) -> str:
    """Return a docstring with an entry for each field of a dataclass, including those of its bases."""
    bases = [base.__doc__ or "" for base in reversed(cls.__mro__[1:])]
    entries = {name: text for each in (*bases, documentation) for name, text in entries_of(each)}
    described = "".join(
        f"{field.name} : {field.type}, default {field.default!r}\n{entries.get(field.name, '')}"
        for field in fields(cls)
    ).rstrip()
    section = f"Parameters\n----------\n{described}\n"
    if not PARAMETERS.search(documentation):
        return f"{documentation.rstrip()}\n\n{section}" if described else documentation
    return PARAMETERS.sub(lambda _: f"{section}\n", documentation).rstrip() + "\n"


def entries_of(documentation: str) -> Iterable[tuple[str, str]]:
    """Yield name and indented text of each entry under "Parameters"."""
    section = PARAMETERS.search(documentation)
    for entry in ENTRY.finditer(f"{section[1]}\n" if section else ""):
        yield entry[1], entry[2].rstrip() + "\n"
