"""CoNLL-U, the format of Universal Dependencies."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence

from fastcrf.core.checks import one_of
from fastcrf.data.files.text_lines import name_of, read_lines
from fastcrf.data.sources.source import Sentence, Sentences
from fastcrf.exceptions import DataError

COLUMNS = ("id", "form", "lemma", "upos", "xpos", "feats", "head", "deprel", "deps", "misc")


def conllu(
    path: str | os.PathLike[str], tokens: str | Sequence[str] = "form", labels: str | None = "upos"
) -> Sentences:
    """Read CoNLL-U, plain or gzipped. Ranges of words (1-2) and empty nodes (8.1) are left out.

    Parameters
    ----------
    path : str or path
        The file; "-" is standard input.
    tokens : str or sequence of str, default="form"
        The column with the tokens, or this and further columns: form, lemma, upos, xpos, feats, head,
        deprel, deps, misc.
    labels : str, default="upos"
        The column with the labels; None reads none.

    Returns
    -------
    Sentences
        The sentences, which are read one by one.

    Raises
    ------
    DataError
        If a line does not have 10 columns; the message has the line.
    """
    named = [tokens] if isinstance(tokens, str) else list(tokens)
    wanted = [COLUMNS.index(one_of("tokens", name, COLUMNS)) for name in named]
    label = None if labels is None else COLUMNS.index(one_of("labels", labels, COLUMNS))
    return Sentences(lambda: conllu_sentences(path, wanted, label))


def conllu_sentences(path: str | os.PathLike[str], wanted: list[int], label: int | None) -> Iterator[Sentence]:
    name = name_of(path)
    rows: list[list[str]] = []
    first = 0
    for number, line in enumerate(read_lines(path, name), 1):
        if line.startswith("#"):
            continue
        if line.strip():
            columns = line.split("\t")
            if len(columns) != len(COLUMNS):
                raise DataError(f"{name}:{number}: found {len(columns)} columns instead of 10, separated by tabs.")
            if columns[0].isdigit():
                first = first if rows else number
                rows.append(columns)
        elif rows:
            yield sentence(f"{name}:{first}", rows, wanted, label)
            rows = []
    if rows:
        yield sentence(f"{name}:{first}", rows, wanted, label)


def sentence(place: str, rows: list[list[str]], wanted: list[int], label: int | None) -> Sentence:
    labels = [] if label is None else [row[label] for row in rows]
    return Sentence(place, [[row[c] for c in wanted] for row in rows], labels)
