"""Tagged sequences as lines: columns with labels, or with --json a JSON object for each sequence.

    {"line": 1, "tokens": ["12", "Oak", "St"], "labels": ["B-STREET", "I-STREET", "I-STREET"], "probability": 0.91,
     "probabilities": [0.99, 0.95, 0.94], "spans": [{"type": "STREET", "start": 0, "end": 3, "text": "12 Oak St",
     "probability": 0.93}]}

`probability` is that of all labels together, `probabilities` are those of each label, and that of a span is of all its
labels together, whatever the labels around it. Item files have no tokens, and their spans no text.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import chain, islice
from typing import TYPE_CHECKING, Any, NamedTuple

from fastcrf.cli.command_errors import tell
from fastcrf.data.files.text_lines import name_of, read_lines

if TYPE_CHECKING:
    from fastcrf.cli.data_files import DataFiles, Unit
    from fastcrf.data.files.text_lines import ShareRead
    from fastcrf.model.model import Model
    from fastcrf.model.scored import Scored


AT_ONCE = 1000  # sequences that are tagged together


class TagFormat(NamedTuple):
    """The options of tagged output."""

    scores: bool = False
    marginals: bool = False
    as_json: bool = False
    items: bool = False
    separator: str | None = None


def result_lines(
    model: Model, files: DataFiles, path: str, tag_format: TagFormat, progress: ShareRead | None = None
) -> Iterator[str]:
    """Return the lines that are written of a file. A file without sequences gets a note on standard error."""
    name = name_of(path)
    lines = read_lines(path, name, progress)
    if tag_format.as_json:
        return json_lines(model, files, lines, name, tag_format.marginals)
    return tagged_lines(model, files, lines, name, tag_format.scores, tag_format.marginals)


def noted(units: Iterator[Unit], name: str) -> Iterator[Unit]:
    """Return the units; if there are none, note it on standard error."""
    first = next(units, None)
    if first is None:
        tell(f"fastcrf: {name} contains no sequences; the result has no labels.")
        return iter(())
    return chain([first], units)


def tagged_lines(
    model: Model, files: DataFiles, read: Iterator[str], name: str, scores: bool = False, marginals: bool = False
) -> Iterator[str]:
    """Return lines of a file, each with its label and the requested columns; blank lines and comments stay.

    With `scores` a line with the probability of the labels comes before each sequence, and each line has the
    probability of its label; `marginals` are the probabilities of all labels.
    """
    lines = Counted(read)
    units, done = noted(files.units(lines, name), name), 0
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
    """Return the labels of each sequence, with probabilities if they are needed."""
    from fastcrf.model.scored import Scored, scored

    sequences = [unit.sequence for unit in batch]
    if with_probabilities:
        return scored(model, sequences)
    return [Scored(labels, 1.0, []) for labels in model.predict(sequences)]


def answer(found: Scored, t: int, scores: bool, marginals: bool) -> list[str]:
    """Return the columns that are added to token t."""
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
        """Return the lines from `done` to before `end`, which belong to no sentence: blank lines and comments."""
        return (self.marked.get(number, "") for number in range(done, end))


def json_lines(
    model: Model, files: DataFiles, lines: Iterator[str], name: str, marginals: bool = False
) -> Iterator[str]:
    """Return a line for each sequence of a file; with `marginals` it has the probabilities of all labels."""
    import json

    from fastcrf.metrics import marks_are_bare, segments
    from fastcrf.model.scored import scored

    units = noted(files.units(lines, name), name)
    bare = marks_are_bare(model.classes_)
    while batch := list(islice(units, AT_ONCE)):
        sequences = [unit.sequence for unit in batch]
        found = scored(model, sequences)
        marked = [segments(each.labels, bare) for each in found]
        bounds = [[(first, last) for _, first, last in each] for each in marked]
        chances = model.span_proba(sequences, [each.labels for each in found], bounds)
        for unit, each, spans, chance in zip(batch, found, marked, chances, strict=True):
            result = whole(unit, each)
            result["spans"] = [span(result["tokens"], segment, p) for segment, p in zip(spans, chance, strict=True)]
            if marginals:
                result["marginals"] = [{str(label): rounded(p) for label, p in row.items()} for row in each.marginals]
            yield json.dumps(result, ensure_ascii=False)


def whole(unit: Unit, found: Scored) -> dict[str, Any]:
    """Return the properties of a sequence as a whole."""
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
    """Round to six decimals, as in columns."""
    return round(probability, 6)
