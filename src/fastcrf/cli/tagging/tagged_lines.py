"""Tagged sequences as lines: columns with labels, or with --json a JSON object for each sequence.

    {"line": 1, "tokens": ["12", "Oak", "St"], "labels": ["B-STREET", "I-STREET", "I-STREET"], "probability": 0.91,
     "probabilities": [0.99, 0.95, 0.94], "spans": [{"type": "STREET", "start": 0, "end": 3, "text": "12 Oak St",
     "probability": 0.93}]}

`probability` is that of all labels together, `probabilities` are those of each label, and that of a span is of exactly
this segment, whatever else the sequence has. Item files have no tokens, and their spans no text. With --spans each
segment is a line: the line of its first token, first token, last token + 1, type, probability, text.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import chain, islice
from typing import TYPE_CHECKING, Any, NamedTuple

from fastcrf.cli.command_errors import tell
from fastcrf.cli.tagging.label_choice import LabelChoice, arguments_of, at_line
from fastcrf.exceptions import ConstraintError

if TYPE_CHECKING:
    from fastcrf.cli.data_files import DataFiles, Unit
    from fastcrf.model.model import Model
    from fastcrf.model.scored import Scored
    from fastcrf.model.spans import Span


AT_ONCE = 1000  # sequences that are tagged together


class TagFormat(NamedTuple):
    """The options of tagged output."""

    scores: bool = False
    marginals: bool = False
    as_json: bool = False
    items: bool = False
    separator: str | None = None
    spans: bool = False
    choice: LabelChoice = LabelChoice()
    nbest: int | None = None
    nbest_form: str = "crfpp"


PLAIN = TagFormat()


def noted(units: Iterator[Unit], name: str) -> Iterator[Unit]:
    """Return the units; if there are none, note it on standard error."""
    first = next(units, None)
    if first is None:
        tell(f"fastcrf: {name} contains no sequences; the result has no labels.")
        return iter(())
    return chain([first], units)


def tagged_lines(
    model: Model, files: DataFiles, read: Iterator[str], name: str, tag_format: TagFormat = PLAIN
) -> Iterator[str]:
    """Return the lines of a file, each with its label and the requested columns; blank lines and comments stay.

    With `scores` a line with the probability of the labels comes before each sequence, and each line has the
    probability of its label; `marginals` are the probabilities of all labels.
    """
    scores, marginals = tag_format.scores, tag_format.marginals
    lines = Counted(read)
    units, done = noted(files.units(lines, name), name), 0
    while batch := list(islice(units, AT_ONCE)):
        found_of_all = answers(model, batch, name, tag_format.choice, scores or marginals)
        for unit, found in zip(batch, found_of_all, strict=True):
            yield from lines.between(done, unit.line - 1)
            if scores:
                yield f"# {found.probability:.6f}"
            for t, columns in enumerate(unit.columns):
                yield "\t".join([*columns, *answer(found, t, scores, marginals)])
            done = unit.line - 1 + len(unit.columns)
    yield from lines.between(done, lines.count)


def answers(
    model: Model, batch: list[Unit], name: str, choice: LabelChoice, with_probabilities: bool = True
) -> list[Scored]:
    """Return the labels of each sequence of a file, with probabilities if they are needed."""
    from fastcrf.model.scored import Scored, scored

    sequences, how = [unit.sequence for unit in batch], arguments_of(choice, model, batch, name)
    try:
        if with_probabilities:
            return scored(model, sequences, **how)
        return [Scored(labels) for labels in model.predict(sequences, **how)]
    except ConstraintError as error:
        raise at_line(error, batch, name) from None


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


def scored_units(
    model: Model, files: DataFiles, read: Iterator[str], name: str, choice: LabelChoice
) -> Iterator[tuple[Unit, Scored]]:
    """Return the sequences of a file with their labels, probabilities and spans."""
    units = noted(files.units(read, name), name)
    while batch := list(islice(units, AT_ONCE)):
        yield from zip(batch, answers(model, batch, name, choice), strict=True)


def span_lines(model: Model, files: DataFiles, read: Iterator[str], name: str, tag_format: TagFormat) -> Iterator[str]:
    """Return a line for each segment of a file."""
    for unit, found in scored_units(model, files, read, name, tag_format.choice):
        for start, end, kind, probability in found.spans:
            text = " ".join(columns[0] for columns in unit.columns[start:end] if columns)
            yield "\t".join(map(str, (unit.line + start, start, end, kind, f"{probability:.6f}", text)))


def json_lines(model: Model, files: DataFiles, read: Iterator[str], name: str, tag_format: TagFormat) -> Iterator[str]:
    """Return a line for each sequence of a file; with `marginals` it has the probabilities of all labels."""
    import json

    for unit, each in scored_units(model, files, read, name, tag_format.choice):
        result = whole(unit, each)
        result["spans"] = [span_object(result["tokens"], span) for span in each.spans]
        if tag_format.marginals:
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


def span_object(tokens: list[str], span: Span) -> dict[str, Any]:
    """Return the properties of a segment."""
    start, end, kind, probability = span
    text = {"text": " ".join(tokens[start:end])} if tokens else {}
    return {"type": kind, "start": start, "end": end, **text, "probability": rounded(probability)}


def rounded(probability: float) -> float:
    """Round to six decimals, as in columns."""
    return round(probability, 6)
