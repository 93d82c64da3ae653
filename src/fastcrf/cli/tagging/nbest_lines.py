"""The n best label sequences of each sequence as lines: a block of columns for each, in the form of CRF++ or Wapiti.

A block of `crf_test -n` begins with "# rank probability" and ends with a blank line; with --scores, a label is followed
by a slash and its probability. One of `wapiti label -n` has the first line only with --scores, which also adds a column
of the label with its probability. Where Wapiti prints scores, these are probabilities.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import TYPE_CHECKING, Any

from fastcrf.cli.tagging.label_choice import arguments_of, at_line
from fastcrf.cli.tagging.tagged_lines import AT_ONCE, TagFormat, noted
from fastcrf.exceptions import ConstraintError

if TYPE_CHECKING:
    from fastcrf.cli.data_files import DataFiles, Unit
    from fastcrf.model.model import Model

FORMS = "crfpp", "wapiti"
Ranked = list[tuple[list[Any], float]]
AT_MOST = 200_000  # label sequences that are held at once


def nbest_lines(model: Model, files: DataFiles, read: Iterator[str], name: str, tag_format: TagFormat) -> Iterator[str]:
    """Return the lines of a file, each with a label, once for each of the best label sequences."""
    units = noted(files.units(read, name), name)
    while batch := list(islice(units, max(1, min(AT_ONCE, AT_MOST // (tag_format.nbest or 1))))):
        for unit, ranked, marginals in zip(batch, *best_of_batch(model, batch, name, tag_format), strict=True):
            if tag_format.as_json:
                yield json_object(unit, ranked)
            else:
                yield from blocks(unit, ranked, marginals, tag_format.nbest_form)


def best_of_batch(model: Model, batch: list[Unit], name: str, tag_format: TagFormat) -> tuple[list[Ranked], list[Any]]:
    """Return the best label sequences of some sequences, and with --scores the probabilities of all labels."""
    sequences, how = [unit.sequence for unit in batch], arguments_of(tag_format.choice, model, batch, name)
    allowed = {"constraints": how["constraints"], "given": how["given"]}
    try:
        found = model.predict_nbest(sequences, tag_format.nbest or 1, **allowed)
        return found, model.predict_marginals(sequences, **allowed) if tag_format.scores else [None] * len(batch)
    except ConstraintError as error:
        raise at_line(error, batch, name) from None


def json_object(unit: Unit, ranked: Ranked) -> str:
    """Return the best label sequences of one sequence as a line of JSON."""
    import json

    tokens = [columns[0] for columns in unit.columns if columns]
    nbest = [{"labels": labels, "probability": round(probability, 6)} for labels, probability in ranked]
    return json.dumps({"line": unit.line, "tokens": tokens, "nbest": nbest}, ensure_ascii=False)


def blocks(unit: Unit, ranked: Ranked, marginals: Any, form: str) -> Iterator[str]:
    """Return the blocks of one sequence; `marginals` are the probabilities of its labels, or None."""
    for rank, (labels, probability) in enumerate(ranked):
        if form == "crfpp" or marginals is not None:
            yield f"# {rank} {probability:.6f}"
        for t, label in enumerate(labels):
            columns = [*unit.columns[t], str(label)]
            if marginals is not None:
                scored = f"{label}/{marginals[t][label]:.6f}"
                columns = [*columns[:-1], scored] if form == "crfpp" else [*columns, scored]
            yield "\t".join(columns)
        yield ""
