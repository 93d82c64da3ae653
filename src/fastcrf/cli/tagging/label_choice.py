"""How `fastcrf tag` chooses labels: constraints, given labels, the kind of decoding, limits on segments.

Given labels are in the column after those of the model: a label, several as A|B, or ? where nothing is known.
"""

from __future__ import annotations

import json
import os
import re
from typing import TYPE_CHECKING, Any, NamedTuple

from fastcrf.cli.command_errors import refuse
from fastcrf.constraints.constraints import Constraints
from fastcrf.constraints.saved import constraints_from
from fastcrf.constraints.schemes import AUTO, SCHEMES
from fastcrf.data.files.conll import OR
from fastcrf.exceptions import ConstraintError, DataError

if TYPE_CHECKING:
    from fastcrf.cli.data_files import Unit
    from fastcrf.model.model import Model

UNKNOWN = "?"
NONE, OWN = "none", "model"
PLACE = re.compile(r"^X\[\d+\](, position \d+)?: ")


class LabelChoice(NamedTuple):
    """The options. They are plain values, which travel to other processes."""

    constraints: str = OWN
    given: bool = False
    decode: str = "viterbi"
    max_segments: int | None = None


def read_constraints(text: str) -> Constraints | str | None:
    """Return the constraints that an option means: a scheme, a JSON file, "none" or "model"."""
    if text in (NONE, OWN):
        return None if text == NONE else OWN
    if text in (*SCHEMES, AUTO):
        return Constraints(text)
    if not os.path.exists(text):
        names = ", ".join((*SCHEMES, AUTO))
        refuse("--constraints", f"must be {names}, or an existing JSON file; got {text!r}.")
    with open(text, encoding="utf-8") as file:
        try:
            return constraints_from(json.load(file))
        except (ValueError, TypeError, AttributeError, RecursionError) as error:
            raise DataError(f"{text} holds no constraints: {error}") from None


def arguments_of(choice: LabelChoice, model: Model, batch: list[Unit], name: str) -> dict[str, Any]:
    """Return the arguments that `Model.predict` takes for some units of a file."""
    given = [given_labels(unit, model, name) for unit in batch] if choice.given else None
    return {
        "constraints": read_constraints(choice.constraints),
        "given": given,
        "decode": choice.decode,
        "max_segments": choice.max_segments,
    }


def given_labels(unit: Unit, model: Model, name: str) -> list[Any]:
    """Return what the last column says about the labels of a sequence."""
    n_columns, known = model.input.get("n_columns"), {str(label): label for label in model.labels}
    given: list[Any] = []
    for line, row in enumerate(unit.columns, unit.line):
        if not row or (n_columns is not None and len(row) == n_columns):
            raise DataError(f"{name}:{line}: there is no column of given labels; add one, with {UNKNOWN} for unknown.")
        words = [row[-1]] if row[-1] in known else row[-1].split(OR)
        unknown = [word for word in words if word not in known and word != UNKNOWN]
        if unknown:
            raise DataError(f"{name}:{line}: the model has no label {unknown[0]!r}; write {UNKNOWN} for unknown.")
        given.append(None if UNKNOWN in words else {known[word] for word in words})
    return given


def at_line(error: ConstraintError, batch: list[Unit], name: str) -> DataError:
    """Return the error with the line of the file instead of the position in X."""
    line = batch[error.sequence].line + error.position
    return DataError(f"{name}:{line}: {PLACE.sub('', str(error)).replace('at position', 'at token')}")
