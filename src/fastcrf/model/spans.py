"""Segments of predicted labels, with their probabilities and, from offsets of tokens, their place in a text."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import Any, NamedTuple

from fastcrf.constraints.allowed import Allowed
from fastcrf.core.types import Corpus, Ints
from fastcrf.decoding.decoder_choice import segment_probabilities
from fastcrf.exceptions import DataError
from fastcrf.metrics import marks_are_bare, segments
from fastcrf.model.decoder import Decoder


class Span(NamedTuple):
    """A segment of the predicted labels.

    Parameters
    ----------
    start, end : int
        First token and last token + 1 or, with offsets, the first character and the last character + 1.
    label : label
        Type of the segment: LOC for the labels B-LOC and I-LOC; a label without such a mark is its own type.
    probability : float
        The probability that the sequence has exactly this segment, whatever else it has.
    """

    start: int
    end: int
    label: Any
    probability: float


def predicted_spans(
    decoder: Decoder, corpus: Corpus, allowed: Allowed | None, labels: Ints, offsets: Iterable[Any] | None = None
) -> list[list[Span]]:
    """Return the segments of predicted labels, sequence by sequence."""
    from fastcrf.decoding.segments import segment_rules

    rules, bare = segment_rules(decoder.labels), marks_are_bare(decoder.labels)
    paths = [labels[first:last].tolist() for first, last in pairwise(corpus.starts.tolist())]
    marked = [segments([decoder.labels[k] for k in path], bare) for path in paths]
    kinds = rules.kind.tolist()
    places = [
        [(kinds[path[first]], first, last) for _, first, last in found]
        for path, found in zip(paths, marked, strict=True)
    ]
    chances = segment_probabilities(corpus, decoder.features, decoder.weights, rules, places, allowed)
    spans = [
        [Span(first, last, kind, chance) for (kind, first, last), chance in zip(*each, strict=True)]
        for each in zip(marked, chances, strict=True)
    ]
    return spans if offsets is None else in_characters(spans, offsets, [len(path) for path in paths])


def in_characters(spans: Sequence[Sequence[Span]], offsets: Iterable[Any], lengths: Sequence[int]) -> list[list[Span]]:
    """Return spans with the characters that their tokens begin and end at."""
    rows = [list(row) for row in offsets]
    if len(rows) != len(spans):
        raise DataError(f"X has {len(spans)} sequences and offsets has {len(rows)}; give one list of pairs for each.")
    for i, (row, length) in enumerate(zip(rows, lengths, strict=True)):
        if len(row) != length:
            raise DataError(f"X[{i}] has {length} items and offsets[{i}] has {len(row)} pairs; give one per item.")
    return [
        [span._replace(start=row[span.start][0], end=row[span.end - 1][1]) for span in own]
        for own, row in zip(spans, rows, strict=True)
    ]
