"""`Allowed`: the allowed labels of each position of a corpus, and the allowed transitions, as arrays.

This is all that decoders, kernels and training know of constraints. Best labels, probabilities and log Z are
those of the label sequences that it allows.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from typing import Any, NamedTuple, NoReturn

import numpy as np
from numpy.typing import NDArray

from fastcrf.constraints.constraints import Label
from fastcrf.constraints.rules import Rules
from fastcrf.constraints.schemes import Flags, some
from fastcrf.core.types import Corpus, Ints, Longs
from fastcrf.exceptions import ConstraintError, DataError


class Allowed(NamedTuple):
    """Sets of labels and, for each position, which of them it is. The first set is all labels."""

    set_of: Ints  # [P] row of `sets`
    sets: Flags  # [S, K]
    starts: Longs  # [S + 1] first member of each set
    members: Ints  # the labels of each set, ascending
    transitions: Flags  # [K, K] whether label k may follow label j

    def mask(self) -> Flags:
        """Return which labels each position may have, [P, K], as far as positions alone decide."""
        return self.sets[self.set_of]

    def slice_of(self, first: int, last: int) -> Allowed:
        """Return those of positions first..last-1."""
        return self._replace(set_of=self.set_of[first:last])

    def keeps(self, path: Ints, starts: Longs) -> Flags:
        """Return whether each label, [P], is allowed where it is and after the one before it."""
        right = np.atleast_1d(self.sets[self.set_of, path])
        within = np.ones(len(path), bool)
        within[starts[:-1][np.diff(starts) > 0]] = False
        later = np.flatnonzero(within)
        right[later] &= self.transitions[path[later - 1], path[later]]
        return right


def make_allowed(set_of: NDArray[Any], sets: Flags, transitions: Flags) -> Allowed:
    """Return sets with their members listed."""
    sizes = sets.sum(axis=1)
    members = np.nonzero(sets)[1].astype(np.int32)
    starts = np.concatenate(([0], np.cumsum(sizes))).astype(np.int64)
    return Allowed(set_of.astype(np.int32), sets, starts, members, transitions)


class Table(NamedTuple):
    """One kind of constraint: sets of labels, and which of them each position has."""

    source: str  # what an error calls it
    sets: Flags  # [n, K]
    which: NDArray[Any]  # [P]


def allowed_labels(
    rules: Rules | None, labels: Sequence[Label], corpus: Corpus, given: Any = None, check: bool = True
) -> Allowed | None:
    """Return what rules and given labels allow at each position; None if there are neither.

    With `check`, raise ConstraintError where they leave no label to a position.
    """
    if rules is None and given is None:
        return None
    tables: list[Table] = []
    transitions = np.ones((len(labels), len(labels)), bool)
    if given is not None:
        tables.append(Table("given has", *given_sets(given, labels, corpus.starts)))
    if rules is not None:
        transitions = rules.transitions
        everywhere = np.zeros(corpus.n_positions, np.int64)
        tables.append(Table("allow and forbid leave", rules.anywhere[None, :].copy(), everywhere))
        tables.append(Table("the end of a sequence may have", *end_sets(rules, corpus.starts)))
        if len(rules.entry_of):
            tables.append(Table("the dictionary has", *entry_sets(rules, corpus)))
    allowed = make_allowed(*intersection(tables, len(labels)), transitions)
    empty = np.flatnonzero(np.isin(allowed.set_of, np.flatnonzero(~allowed.sets.any(axis=1))))
    if check and len(empty):
        raise_empty(tables, labels, corpus.starts, int(empty[0]))
    return allowed


def raise_empty(tables: Sequence[Table], labels: Sequence[Label], starts: Longs, p: int) -> NoReturn:
    """Raise ConstraintError for a position that no label is left to."""
    i = int(np.searchsorted(starts, p, "right")) - 1
    t = p - int(starts[i])
    limits = [(source, np.flatnonzero(sets[which[p]]).tolist()) for source, sets, which in tables]
    listed = [
        f"{source} {some([labels[k] for k in own]) or 'none'}" for source, own in limits if len(own) < len(labels)
    ]
    raise ConstraintError(
        f"X[{i}], position {t}: the constraints contradict each other: {'; '.join(listed)}; change one of them.", i, t
    )


def intersection(tables: Sequence[Table], n_labels: int) -> tuple[NDArray[Any], Flags]:
    """Return the set of each position, and the distinct sets, after that of all labels."""
    sets, set_of = np.ones((1, n_labels), bool), np.zeros(len(tables[0].which), np.int64)
    for _, flags, which in tables:
        keys, inverse = np.unique(set_of * len(flags) + which, return_inverse=True)
        both = sets[keys // len(flags)] & flags[keys % len(flags)]
        sets, renumbered = distinct(np.concatenate((np.ones((1, n_labels), bool), both)))
        set_of = renumbered[1:][inverse]
    return set_of, sets


def distinct(sets: Flags) -> tuple[Flags, Longs]:
    """Return the distinct rows in order of first appearance, and the number of each row among them."""
    numbers: dict[bytes, int] = {}
    rows = np.array([numbers.setdefault(row.tobytes(), len(numbers)) for row in sets])
    return np.array([np.frombuffer(row, bool) for row in numbers]), rows


def end_sets(rules: Rules, starts: Longs) -> tuple[Flags, NDArray[Any]]:
    """Return the sets of first and last positions: all, first, last, both."""
    sets = np.array([np.ones_like(rules.first), rules.first, rules.last, rules.first & rules.last])
    held, which = np.diff(starts) > 0, np.zeros(int(starts[-1]), np.int64)
    which[starts[:-1][held]] += 1
    which[starts[1:][held] - 1] += 2
    return sets, which


def entry_sets(rules: Rules, corpus: Corpus) -> tuple[Flags, NDArray[Any]]:
    """Return the sets of the dictionary. A position with several entries has the labels that all of them have."""
    known = corpus.attributes >= 0
    entries = np.zeros(len(known), np.int64)
    entries[known] = rules.entry_of[corpus.attributes[known]]
    places = np.flatnonzero(entries)
    positions = np.searchsorted(corpus.offsets, places, "right") - 1
    which = np.zeros(corpus.n_positions, np.int64)
    which[positions] = entries[places]  # of several entries the last one
    sets, more = [rules.entries], len(rules.entries)
    several = np.unique(positions[1:][positions[1:] == positions[:-1]])
    for p in several.tolist():
        own = rules.entry_of[corpus.attributes[places[positions == p]]]
        sets.append(rules.entries[own].all(axis=0, keepdims=True))
        which[p], more = more, more + 1
    return np.concatenate(sets), which


def given_sets(given: Iterable[Any], labels: Sequence[Label], starts: Longs) -> tuple[Flags, NDArray[Any]]:
    """Return the sets of given labels: of each position a label, a set or list of labels, or None."""
    known = {label: k for k, label in enumerate(labels)}
    sets: dict[bytes, int] = {np.ones(len(labels), bool).tobytes(): 0}
    single: dict[Any, int] = {None: 0}  # the set of each label
    which: list[int] = []
    lengths, rows = np.diff(starts).tolist(), list(given)
    if len(rows) != len(lengths):
        raise DataError(f"X has {len(lengths)} sequences and given has {len(rows)}; give one list, or None, for each.")
    for i, (row, length) in enumerate(zip(rows, lengths, strict=True)):
        row = [None] * length if row is None else list(row)
        if len(row) != length:
            raise DataError(f"X[{i}] has {length} items and given[{i}] has {len(row)} entries; give one per item.")
        for t, entry in enumerate(row):
            found = single.get(entry) if not isinstance(entry, set | list) else None
            if found is None:
                found = sets.setdefault(flags_of(entry, known, f"given[{i}], position {t}"), len(sets))
                if not isinstance(entry, set | list):
                    single[entry] = found
            which.append(found)
    return np.array([np.frombuffer(flags, bool) for flags in sets]), np.array(which, np.int64)


def flags_of(entry: Any, known: dict[Label, int], place: str) -> bytes:
    """Return the flags of one label or of a collection of labels."""
    is_set = isinstance(entry, Collection) and not isinstance(entry, str | bytes) and not is_label(entry, known)
    flags = np.zeros(len(known), bool)
    for label in entry if is_set else (entry,):
        if label not in known:
            raise DataError(f"{place}: the model has no label {label!r}; its labels are {some(list(known))}.")
        flags[known[label]] = True
    return flags.tobytes()


def is_label(entry: Any, known: dict[Label, int]) -> bool:
    try:
        return entry in known
    except TypeError:  # a set or a list
        return False
