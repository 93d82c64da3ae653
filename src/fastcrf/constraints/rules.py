"""Constraints in the numbers of a model: labels and attributes by id."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np

from fastcrf.constraints.constraints import Constraints, Label, pairs_and_labels
from fastcrf.constraints.schemes import AUTO, Flags, order_of, scheme_of_names, some
from fastcrf.core.types import Longs


class Rules(NamedTuple):
    """The constraints of every sequence."""

    transitions: Flags  # [K, K] whether label k may follow label j
    anywhere: Flags  # [K]
    first: Flags  # [K]
    last: Flags  # [K]
    entries: Flags  # [D + 1, K] labels of the entries of the dictionary; the first row is all labels
    entry_of: Longs  # [A] entry of each attribute, 0 for none; or [0] without a dictionary


class Ids:
    """The ids of labels, with errors for those that the model does not have."""

    def __init__(self, labels: Sequence[Label]) -> None:
        self.labels, self.known = labels, {label: k for k, label in enumerate(labels)}

    def flags(self, name: str, given: Collection[Label]) -> Flags:
        """Return which labels are among the given ones."""
        chosen = np.zeros(len(self.labels), bool)
        chosen[[self.id_of(name, label) for label in given]] = True
        return chosen

    def id_of(self, name: str, label: Label) -> int:
        if label not in self.known:
            raise ValueError(f"{name} has the label {label!r}, but the labels of the model are {some(self.labels)}.")
        return self.known[label]


def rules_of(constraints: Constraints, labels: Sequence[Label], names: Iterable[str]) -> Rules:
    """Return the rules of constraints for the labels and the names of attributes of a model."""
    ids, K = Ids(labels), len(labels)
    anywhere, first, last = (np.ones(K, bool) for _ in range(3))
    rules = Rules(np.ones((K, K), bool), anywhere, first, last, *dictionary_of(constraints, ids, names))
    if constraints.scheme is not None:
        scheme = scheme_of_names(labels) if constraints.scheme == AUTO else constraints.scheme
        rules = rules._replace(**order_of(scheme, labels)._asdict())
    if constraints.allow is not None:
        allow(rules, constraints.allow, ids)
    forbid(rules, constraints.forbid, ids)
    for name, flags in (("first", rules.first), ("last", rules.last)):
        given = getattr(constraints, name)
        flags &= True if given is None else ids.flags(name, given)
    return rules


def allow(rules: Rules, given: Collection[Any], ids: Ids) -> None:
    """Leave only the given labels and the given pairs. Writes: rules."""
    pairs, labels = pairs_and_labels(given)
    if labels:
        rules.anywhere[:] &= ids.flags("allow", labels)
    if pairs:
        only = np.zeros_like(rules.transitions)
        for before, after in pairs:
            only[ids.id_of("allow", before), ids.id_of("allow", after)] = True
        rules.transitions[:] &= only


def forbid(rules: Rules, given: Collection[Any], ids: Ids) -> None:
    """Take the given labels and pairs away. Writes: rules."""
    pairs, labels = pairs_and_labels(given)
    rules.anywhere[:] &= ~ids.flags("forbid", labels)
    for before, after in pairs:
        if before is None:
            rules.first[ids.id_of("forbid", after)] = False
        elif after is None:
            rules.last[ids.id_of("forbid", before)] = False
        else:
            rules.transitions[ids.id_of("forbid", before), ids.id_of("forbid", after)] = False


def dictionary_of(constraints: Constraints, ids: Ids, names: Iterable[str]) -> tuple[Flags, Longs]:
    """Return the entries of the dictionary, and the entry of each attribute."""
    given, K = constraints.dictionary, len(ids.labels)
    if isinstance(given, str):
        raise ValueError(f"dictionary={given!r} is learned by fit; give a mapping from names of attributes to labels.")
    if not given:
        return np.ones((1, K), bool), np.empty(0, np.int64)
    entries: dict[bytes, int] = {np.ones(K, bool).tobytes(): 0}
    listed = {name: ids.flags(f"dictionary[{name!r}]", labels).tobytes() for name, labels in given.items()}
    entry_of = np.array([entries.setdefault(listed[name], len(entries)) if name in listed else 0 for name in names])
    return np.array([np.frombuffer(flags, bool) for flags in entries]), entry_of.astype(np.int64)
