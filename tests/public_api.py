"""The public API as text: names, signatures, annotations, fields and defaults of all public modules.

    python tests/public_api.py

renews tests/public_api.txt, which tests/test_public_api.py compares with what is there.
"""

from __future__ import annotations

import dataclasses
import inspect
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple

SNAPSHOT = Path(__file__).with_suffix(".txt")
MODULES = (
    "fastcrf",
    "fastcrf.exceptions",
    "fastcrf.features",
    "fastcrf.readers",
    "fastcrf.stopping",
    "fastcrf.solvers",
    "fastcrf.metrics",
    "fastcrf.scorers",
    "fastcrf.displays",
    "fastcrf.compat",
    "fastcrf.compat.pycrfsuite",
    "fastcrf.compat.sklearn_crfsuite",
    "fastcrf.compat.sklearn_crfsuite.compat",
    "fastcrf.compat.sklearn_crfsuite.estimator",
    "fastcrf.compat.sklearn_crfsuite.metrics",
    "fastcrf.compat.sklearn_crfsuite.scorers",
    "fastcrf.compat.sklearn_crfsuite.trainer",
    "fastcrf.compat.sklearn_crfsuite.utils",
)
RETURNED = (  # types without a public name of their own, which public functions return
    "fastcrf.model.label_sequences.LabelSequences",
    "fastcrf.estimators.regularization.RegularizationPath",
    "fastcrf.estimators.history.History",
    "fastcrf.certificates.certificate.Certificate",
)
OBJECTS = ("fastcrf.solvers", "fastcrf.stopping")  # what users do with these classes is to construct them


class Entry(NamedTuple):
    """A public name, or a member of a public class."""

    name: str
    text: str
    doc: str | None  # None where it needs none


def entries() -> Iterator[Entry]:
    for module_name in MODULES:
        module = import_module(module_name)
        yield Entry(module_name, "module", inspect.getdoc(module) or "")
        for name in module.__all__:
            thing = getattr(module, name)
            if not inspect.ismodule(thing) and name != "__version__":
                yield from described(f"{module_name}.{name}", thing, members=module_name not in OBJECTS)
    for path in RETURNED:
        module_name, _, name = path.rpartition(".")
        yield from described(path, getattr(import_module(module_name), name), members=True)


def described(path: str, thing: Any, members: bool) -> Iterator[Entry]:
    if inspect.isclass(thing):
        yield Entry(path, f"class{signature_of(thing)}", own_doc(thing))
        if not thing.__module__.startswith("fastcrf"):
            return
        yield from (Entry(f"{path}.{name}", text, None) for name, text in fields_of(thing))
        for name in members_of(thing) if members else ():
            yield member(f"{path}.{name}", inspect.getattr_static(thing, name), getattr(thing, name))
    elif callable(thing) and hasattr(thing, "__name__"):
        yield Entry(path, f"def{signature_of(thing)}", inspect.getdoc(thing) or "")
    else:
        yield Entry(path, "object", None)


def member(path: str, raw: Any, thing: Any) -> Entry:
    if isinstance(raw, property):
        returned = raw.fget.__annotations__.get("return", "?")
        return Entry(path, f"property -> {returned}", inspect.getdoc(raw) or "")
    if callable(thing):
        kind = type(raw).__name__ if isinstance(raw, classmethod | staticmethod) else "def"
        return Entry(path, f"{kind}{signature_of(thing)}", inspect.getdoc(thing) or "")
    return Entry(path, "attribute", None)


def signature_of(thing: Any) -> str:
    if not getattr(thing, "__module__", "").startswith("fastcrf"):
        return " of another package"
    if getattr(thing, "_is_protocol", False) or (inspect.isclass(thing) and not has_constructor(thing)):
        return ""  # what Python says of these depends on its version
    return str(inspect.signature(thing))


def has_constructor(cls: type) -> bool:
    """Whether a class of this package says how it is constructed."""
    if hasattr(cls, "_fields"):
        return False  # a NamedTuple, whose fields say it all
    own = [base for base in cls.__mro__ if base.__module__.startswith("fastcrf")]
    return any({"__init__", "__new__"} & vars(base).keys() for base in own)


def own_doc(cls: type) -> str:
    """Its docstring, unless Python made it of the fields."""
    doc = vars(cls).get("__doc__") or ""
    return "" if doc.startswith(f"{cls.__name__}(") else doc


def fields_of(cls: type) -> Iterator[tuple[str, str]]:
    if dataclasses.is_dataclass(cls):
        for field in dataclasses.fields(cls):
            default = "" if field.default is dataclasses.MISSING else f" = {field.default!r}"
            made = "" if field.default_factory is dataclasses.MISSING else f" = {field.default_factory()!r}"
            yield field.name, f"field: {field.type}{default}{made}"
    elif hasattr(cls, "_fields"):
        yield from ((name, f"field: {named(cls.__annotations__[name])}") for name in cls._fields)


def named(annotation: Any) -> Any:
    return getattr(annotation, "__forward_arg__", annotation)


def members_of(cls: type) -> list[str]:
    """Public members that this package defines and that are no fields."""
    fields = dict(fields_of(cls))
    return [
        name
        for name in sorted(dir(cls))
        if not name.startswith("_") and name not in fields and not name.endswith("_request")  # scikit-learn makes these
        if next(base for base in cls.__mro__ if name in vars(base)).__module__.startswith("fastcrf")
    ]


def snapshot() -> str:
    return "".join(f"{entry.name}: {entry.text}\n" for entry in entries())


if __name__ == "__main__":
    SNAPSHOT.write_text(snapshot(), encoding="utf-8")
