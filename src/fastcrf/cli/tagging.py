"""The lines that `fastcrf tag` prints."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import islice
from typing import Any

from fastcrf.cli.inputs import Files, Unit
from fastcrf.data.readers import name_of, read_lines
from fastcrf.model import Model, Scored

AT_ONCE = 1000  # sequences that are tagged together


def tagged_lines(model: Model, files: Files, path: str, scores: bool = False, marginals: bool = False) -> Iterator[str]:
    """The lines of a file, each with its label and what else is asked for; blank lines and comments stay.

    With `scores` a line with the probability of the labels comes before each sequence, and that of each label beside
    it; `marginals` are the probabilities of all labels.
    """
    name = name_of(path)
    lines = Counted(read_lines(path, name))
    units, done = files.units(lines, name), 0
    while batch := list(islice(units, AT_ONCE)):
        for unit, found in zip(batch, answers(model, batch, scores or marginals), strict=True):
            yield from lines.between(done, unit.line - 1)
            if scores:
                yield f"# {found.probability:.6f}"
            for t, columns in enumerate(unit.columns):
                yield "\t".join([*columns, *answer(found, t, scores, marginals)])
            done = unit.line - 1 + len(unit.columns)
    yield from lines.between(done, lines.count)


def answers(model: Model, batch: list[Unit], with_probabilities: bool) -> list[Scored]:
    """Labels of each sequence, with probabilities if they are needed."""
    sequences = [unit.sequence for unit in batch]
    if with_probabilities:
        return model.scored(sequences)
    return [Scored(labels, 1.0, []) for labels in model.tag(sequences)]


def answer(found: Scored, t: int, scores: bool, marginals: bool) -> list[str]:
    """The columns that are added to token t."""
    label: Any = found.labels[t]
    columns = [str(label)]
    if scores:
        columns.append(f"{found.marginals[t][label]:.6f}")
    if marginals:
        columns += [f"{each}/{probability:.6f}" for each, probability in found.marginals[t].items()]
    return columns


class Counted:
    """Lines, how many of them have been read, and those that may be comments."""

    def __init__(self, lines: Iterable[str]) -> None:
        self.lines, self.count = lines, 0
        self.marked: dict[int, str] = {}  # by number, counted from 0

    def __iter__(self) -> Iterator[str]:
        for line in self.lines:
            if line[:1] == "#":
                self.marked[self.count] = line
            self.count += 1
            yield line

    def between(self, done: int, end: int) -> Iterator[str]:
        """The lines from `done` to before `end`, which no sentence claims: blank lines and comments."""
        return (self.marked.get(number, "") for number in range(done, end))
