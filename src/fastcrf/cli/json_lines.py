"""The lines that `fastcrf tag --json` prints: a JSON object for each sequence.

    {"line": 1, "tokens": ["12", "Oak", "St"], "labels": ["B-STREET", "I-STREET", "I-STREET"], "probability": 0.91,
     "probabilities": [0.99, 0.95, 0.94], "spans": [{"type": "STREET", "start": 0, "end": 3, "text": "12 Oak St",
     "probability": 0.93}]}

`probability` is that of all labels together, `probabilities` are those of each label, and that of a span is of all its
labels together, whatever is beside it. Item files have no tokens, and their spans no text.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from itertools import islice
from typing import Any

from fastcrf.cli.data_files import DataFiles, Unit
from fastcrf.cli.tag import AT_ONCE
from fastcrf.data.files.text_lines import name_of, read_lines
from fastcrf.metrics import marks_are_bare, segments
from fastcrf.model import Model, Scored


def json_lines(model: Model, files: DataFiles, path: str, marginals: bool = False) -> Iterator[str]:
    """A line for each sequence of a file; with `marginals` it has the probability of every label of each token."""
    name = name_of(path)
    units, bare = files.units(read_lines(path, name), name), marks_are_bare(model.labels)
    while batch := list(islice(units, AT_ONCE)):
        sequences = [unit.sequence for unit in batch]
        found = model.scored(sequences)
        marked = [segments(each.labels, bare) for each in found]
        bounds = [[(first, last) for _, first, last in each] for each in marked]
        chances = model.span_probabilities(sequences, [each.labels for each in found], bounds)
        for unit, each, spans, chance in zip(batch, found, marked, chances, strict=True):
            result = whole(unit, each)
            result["spans"] = [span(result["tokens"], segment, p) for segment, p in zip(spans, chance, strict=True)]
            if marginals:
                result["marginals"] = [{str(label): rounded(p) for label, p in row.items()} for row in each.marginals]
            yield json.dumps(result, ensure_ascii=False)


def whole(unit: Unit, found: Scored) -> dict[str, Any]:
    """What there is to say of a sequence as a whole."""
    rows = zip(found.labels, found.marginals, strict=True)
    return {
        "line": unit.line,
        "tokens": [columns[0] for columns in unit.columns if columns],
        "labels": found.labels,
        "probability": rounded(found.probability),
        "probabilities": [rounded(row[label]) for label, row in rows],
    }


def span(tokens: list[str], segment: tuple[Any, int, int], probability: float) -> dict[str, Any]:
    kind, first, last = segment
    text = {"text": " ".join(tokens[first:last])} if tokens else {}
    return {"type": kind, "start": first, "end": last, **text, "probability": rounded(probability)}


def rounded(probability: float) -> float:
    """To six decimals, as in columns."""
    return round(probability, 6)
