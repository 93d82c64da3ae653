"""Tagging schemes as rules about labels: which one may follow which, which may be first, and which last.

    BIO     B-x begins a segment of type x, I-x continues it (IOB2)
    IOB1    I-x begins and continues; B-x begins a segment right after another one of the same type
    BIOES   B-x I-x ... E-x is a segment of several tokens, S-x one of a single token
    BILOU   the same with L for E and U for S

A label without a mark, such as "O", is outside of segments and has no rule.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from fastcrf.core.types import Ints, Longs
from fastcrf.metrics import MARK, Label, mark_and_type, marks_are_bare

Flags = NDArray[np.bool_]


class Scheme(NamedTuple):
    """The marks of a scheme. A pair of marks is allowed between labels of one type."""

    marks: str
    joined: tuple[str, ...]  # pairs of marks within a segment
    needs_before: str  # marks that stand only after a mark that they are joined to
    needs_after: str  # marks that stand only before a mark that they are joined to


SCHEMES = {
    "BIO": Scheme("BI", ("BI", "II"), "I", ""),
    "IOB1": Scheme("BI", ("IB", "BB"), "B", ""),
    "BIOES": Scheme("BIES", ("BI", "BE", "II", "IE"), "IE", "BI"),
    "BILOU": Scheme("BILU", ("BI", "BL", "II", "IL"), "IL", "BI"),
}
AUTO = "auto"


class Order(NamedTuple):
    """Which labels may follow each other, be first, and be last."""

    transitions: Flags  # [K, K]
    first: Flags  # [K]
    last: Flags  # [K]


def order_of(scheme: str, labels: Sequence[Label]) -> Order:
    """Return the rules of a scheme for these labels; raise ValueError if a label has a mark that it lacks."""
    rules, marked = SCHEMES[scheme], marks_of(labels)
    for label, (mark, _) in zip(labels, marked, strict=True):
        if mark and mark not in rules.marks:
            raise ValueError(
                f"The label {label!r} has the mark {mark}, which scheme={scheme!r} does not use; "
                f"choose another scheme ({', '.join(SCHEMES)})."
            )
    marks, types = [mark for mark, _ in marked], {kind: n for n, (_, kind) in enumerate(marked)}
    kinds, which = np.array([types[kind] for _, kind in marked]), np.array([rules.marks.find(mark) for mark in marks])
    pairs = np.array([[j + k in rules.joined for k in rules.marks] for j in rules.marks])
    is_marked = np.array(marks) != ""
    joined = pairs[which[:, None], which] & is_marked[:, None] & is_marked & (kinds[:, None] == kinds)
    needs_before = np.array([bool(mark) and mark in rules.needs_before for mark in marks])
    needs_after = np.array([bool(mark) and mark in rules.needs_after for mark in marks])
    return Order(~(needs_before[None, :] | needs_after[:, None]) | joined, ~needs_before, ~needs_after)


def marks_of(labels: Sequence[Label]) -> list[tuple[str, Label]]:
    """Return the mark and the type of each label; the mark is empty where a label has none."""
    bare = marks_are_bare(labels)
    return [
        mark_and_type(label, bare) if label != "O" and (bare or has_mark(label)) else ("", label) for label in labels
    ]


def has_mark(label: Label) -> bool:
    return isinstance(label, str) and MARK.fullmatch(label) is not None


def scheme_of_names(labels: Sequence[Label]) -> str:
    """Return the scheme that the names of labels show; raise ValueError if they show none."""
    marked = {each for each in marks_of(labels) if each[0]}
    marks = {mark for mark, _ in marked}
    if marks & set("ES"):
        return "BIOES"
    if marks & set("LU"):
        return "BILOU"
    if not marks:
        raise ValueError(f"No scheme is known from the labels {some(labels)}; name one: {', '.join(SCHEMES)}.")
    return "BIO" if all(("B", kind) in marked for _, kind in marked) else "IOB1"


def scheme_of_data(labels: Sequence[Label], ids: Ints, starts: Longs) -> str:
    """Return the first scheme that no label sequence breaks, or raise ValueError; `ids` index `labels`."""
    for scheme in SCHEMES if any(mark for mark, _ in marks_of(labels)) else ():
        try:
            order = order_of(scheme, labels)
        except ValueError:
            continue
        if keeps(order, ids, starts):
            return scheme
    raise ValueError(
        f"The label sequences follow no scheme ({', '.join(SCHEMES)}); the labels are {some(labels)}. "
        "Name the scheme, or leave it out."
    )


def keeps(order: Order, ids: Ints, starts: Longs) -> bool:
    """Return whether all label sequences keep to the rules."""
    begins = starts[:-1][np.diff(starts) > 0]
    ends = starts[1:][np.diff(starts) > 0] - 1
    within = np.ones(max(len(ids) - 1, 0), bool)
    within[begins[begins > 0] - 1] = False  # from the last label of a sequence to the first of the next one
    pairs = order.transitions[ids[:-1], ids[1:]] | ~within
    return bool(pairs.all() and order.first[ids[begins]].all() and order.last[ids[ends]].all())


def some(labels: Sequence[Label]) -> str:
    """Return the first few labels as text."""
    return ", ".join(repr(label) for label in labels[:6]) + (", ..." if len(labels) > 6 else "")
