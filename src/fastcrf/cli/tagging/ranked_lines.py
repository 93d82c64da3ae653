"""Sequences by how unsure a model is of their labels, as lines: measure, file, line, tokens."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice
from typing import TYPE_CHECKING, Any

import numpy as np

from fastcrf.cli.tagging.label_choice import at_line
from fastcrf.cli.tagging.tagged_lines import AT_ONCE, noted
from fastcrf.data.files.text_lines import name_of, read_lines
from fastcrf.exceptions import ConstraintError
from fastcrf.model.ranking import ranked

if TYPE_CHECKING:
    from fastcrf.cli.data_files import DataFiles
    from fastcrf.model.model import Model


def ranked_lines(
    model: Model, files: DataFiles, paths: Sequence[str], by: str, per_token: bool, constraints: Any
) -> list[str]:
    """Return the lines of all sequences of some files, the most uncertain first."""
    measured = [row for path in paths for row in measures(model, files, path, by, per_token, constraints)]
    order, scores = ranked(by, np.array([score for score, _ in measured]))
    return [f"{score:.6f}\t{measured[i][1]}" for i, score in zip(order.tolist(), scores.tolist(), strict=True)]


def measures(
    model: Model, files: DataFiles, path: str, by: str, per_token: bool, constraints: Any
) -> Iterator[tuple[float, str]]:
    """Yield the measure of each sequence of a file, and where it is with its tokens."""
    name = name_of(path)
    units = noted(files.units(read_lines(path, name), name), name)
    while batch := list(islice(units, AT_ONCE)):
        try:
            found = model.rank([unit.sequence for unit in batch], by, per_token=per_token, constraints=constraints)
        except ConstraintError as error:
            raise at_line(error, batch, name) from None
        for score, unit in zip(found.scores[np.argsort(found.indices)].tolist(), batch, strict=True):
            tokens = " ".join(columns[0] for columns in unit.columns if columns)
            yield score, f"{name}\t{unit.line}\t{tokens}".rstrip("\t")
