"""Annotations by characters: a text, its tokens, and spans (start, end, type); BIO labels of tokens and back."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

from fastcrf.exceptions import DataError

TOKEN = re.compile(r"\w+|[^\w\s]")


class Span(NamedTuple):
    """A part of a text, or of a list of tokens, with its type."""

    start: int
    end: int  # the first character, or token, behind it
    type: str


Place = tuple[int, int]
Tokenizer = Callable[[str], Iterable[Place]]


def places_of(text: str) -> list[Place]:
    """Return (start, end) of each word and of each other character that is not a blank."""
    return [found.span() for found in TOKEN.finditer(text)]


def bio_of(spans: Iterable[Span], places: Sequence[Place], place: str) -> list[str]:
    """Return BIO labels of tokens: a token belongs to the span that it shares characters with."""
    labels = ["O"] * len(places)
    for start, end, kind in sorted(spans):
        inside = [t for t, (first, last) in enumerate(places) if first < end and start < last]
        if not inside:
            raise DataError(f"{place}: the span {kind} at {start}-{end} contains no token; correct its offsets.")
        for k, t in enumerate(inside):
            if labels[t] != "O":
                raise DataError(
                    f"{place}: the span {kind} at {start}-{end} shares a token with another; a CRF needs spans apart."
                )
            labels[t] = f"{'I' if k else 'B'}-{kind}"
    return labels


def spans_of(labels: Sequence[str]) -> list[Span]:
    """Return the spans of tokens that BIO labels mark. An I that continues nothing begins a span."""
    spans: list[Span] = []
    for t, label in enumerate(labels):
        mark, _, kind = label.partition("-")
        if mark == "I" and spans and spans[-1].end == t and spans[-1].type == kind:
            spans[-1] = spans[-1]._replace(end=t + 1)
        elif mark in ("B", "I"):
            spans.append(Span(t, t + 1, kind))
    return spans
