"""Files about words: lists of names (gazetteers) and clusters."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence

from fastcrf.data.files.text_lines import name_of, read_lines
from fastcrf.exceptions import DataError

PathLike = str | os.PathLike[str]


def read_entries(
    entries: PathLike | Iterable[str | Sequence[str]], name: str, same_case: bool
) -> frozenset[tuple[str, ...]]:
    """Return the entries of a list of names as tuples of tokens."""
    if isinstance(entries, str | os.PathLike):
        entries = read_lines(entries, name_of(entries))
    split = (entry.split() if isinstance(entry, str) else entry for entry in entries)
    known = frozenset(tuple(token if same_case else token.lower() for token in entry) for entry in split) - {()}
    if not known:
        raise DataError(f"The gazetteer {name!r} has no entries; give one entry per line.")
    return known


def read_clusters(source: PathLike | Mapping[str, str]) -> dict[str, str]:
    """Return the cluster of each word, of a mapping, of lines `word TAB cluster`, or of Brown clustering's output."""
    if isinstance(source, Mapping):
        return {str(word): str(cluster) for word, cluster in source.items()}
    name, known = name_of(source), {}
    for number, text in enumerate(read_lines(source, name), 1):
        columns = text.split("\t")
        if not text:
            continue
        if len(columns) == 2:
            word, cluster = columns
        elif len(columns) == 3 and not columns[0].strip("01"):
            cluster, word, _ = columns
        else:
            raise DataError(
                f"{name}:{number}: found {len(columns)} columns; give a word and its cluster, or bits, word and count, "
                "separated by tabs."
            )
        known[word] = cluster
    if not known:
        raise DataError(f"{name} has no words; give a word and its cluster per line, separated by a tab.")
    return known
