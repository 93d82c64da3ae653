"""Annotation tools that mark characters of a text: doccano and brat."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from fastcrf.data.files.text_lines import name_of, read_lines
from fastcrf.data.sources.json_lines import json_records
from fastcrf.data.sources.offsets import Place, Span, Tokenizer, bio_of, places_of
from fastcrf.data.sources.source import Sentence, Sentences
from fastcrf.exceptions import DataError

ENTITY = re.compile(r"T\d+\t(\S+) (\d+) (\d+)\t")


def doccano(path: str | os.PathLike[str], tokenizer: Tokenizer | None = None) -> Sentences:
    """Read the JSON lines that doccano exports: a text and its spans per line. Labels are BIO.

    Parameters
    ----------
    path : str or path
        The file; "-" is standard input.
    tokenizer : callable, default=None
        Returns (start, end) of each token of a text; None finds words, and takes every other character alone.

    Returns
    -------
    Sentences
        A sentence per text.

    Raises
    ------
    DataError
        If a line is damaged, or spans overlap; the message has the line.
    """
    name, divide = name_of(path), tokenizer or places_of

    def sentences() -> Iterator[Sentence]:
        for place, found in json_records(read_lines(path, name), name):
            text = found.get("text", found.get("data"))
            if not isinstance(text, str):
                raise DataError(f"{place}: there is no text; doccano exports it as 'text'.")
            yield of_text(text, spans_in(found, place, len(text)), list(divide(text)), place)

    return Sentences(sentences)


def spans_in(found: Any, place: str, length: int) -> list[Span]:
    """Return the spans of a record of doccano: lists, or objects of its format with relations."""
    spans = []
    for each in found.get("label", found.get("labels", found.get("entities", []))) or []:
        parts = [each.get(key) for key in ("start_offset", "end_offset", "label")] if isinstance(each, dict) else each
        if not (isinstance(parts, list) and len(parts) == 3 and type(parts[0]) is type(parts[1]) is int):
            raise DataError(f"{place}: {each!r} is no span; doccano exports [start, end, label].")
        if not 0 <= parts[0] < parts[1] <= length:
            raise DataError(f"{place}: the span {each!r} is not within the text of {length} characters.")
        spans.append(Span(parts[0], parts[1], str(parts[2])))
    return spans


def brat(path: str | os.PathLike[str], tokenizer: Tokenizer | None = None) -> Sentences:
    """Read annotations of brat: NAME.txt with NAME.ann beside it, or all of a folder. Each line becomes a sequence.

    Parameters
    ----------
    path : str or path
        A text file, or a folder.
    tokenizer : callable, default=None
        Returns (start, end) of each token of a line; None finds words, and takes every other character alone.

    Returns
    -------
    Sentences
        The sentences, with BIO labels. Relations, events and notes are left out.

    Raises
    ------
    DataError
        If an annotation is damaged, discontinuous or beyond its line; the message has file and line.
    """
    top = Path(path)
    texts = sorted(top.glob("*.txt")) if top.is_dir() else [top]
    if not texts:
        raise DataError(f"{name_of(path)} has no .txt files; brat keeps a text and its annotations side by side.")

    def sentences() -> Iterator[Sentence]:
        for text in texts:
            yield from brat_sentences(text, tokenizer or places_of)

    return Sentences(sentences)


def brat_sentences(path: Path, tokenizer: Tokenizer) -> Iterator[Sentence]:
    """Return the lines of a text with the entities in them."""
    entities = brat_entities(path.with_suffix(".ann"))
    start = 0
    for number, line in enumerate(read_lines(path, str(path)), 1):
        end = start + len(line)
        own = [each for each in entities if start <= each[0].start < end]
        for span, place in own:
            if span.end > end:
                raise DataError(f"{place}: the entity ends behind line {number} of {path}; entities stay in a line.")
        spans = [Span(span.start - start, span.end - start, span.type) for span, _ in own]
        entities = [each for each in entities if each not in own]
        if line.strip():
            yield of_text(line, spans, list(tokenizer(line)), f"{path}:{number}")
        start = end + 1
    for span, place in entities:
        raise DataError(f"{place}: the entity at {span.start}-{span.end} is in no line of {path}.")


def brat_entities(path: Path) -> list[tuple[Span, str]]:
    """Return the entities of an .ann file, each with its place."""
    entities = []
    for number, line in enumerate(read_lines(path, str(path)), 1):
        if line.startswith("T"):
            found = ENTITY.match(line)
            if found is None or int(found[2]) >= int(found[3]):
                raise DataError(
                    f"{path}:{number}: this is no continuous entity, such as 'T1<TAB>City 0 5<TAB>Paris'; BIO labels "
                    "cannot mark others."
                )
            entities.append((Span(int(found[2]), int(found[3]), found[1]), f"{path}:{number}"))
    return entities


def of_text(text: str, spans: list[Span], places: list[Place], place: str) -> Sentence:
    """Return the sentence of a text."""
    return Sentence(place, [[text[first:last]] for first, last in places], [*bio_of(spans, places, place)])
