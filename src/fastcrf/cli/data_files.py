"""The DATA of a command as sequences for a model: columns or items, one class each.

A file of either kind can be read with labels (to train, to score) or in units (to tag). Column files go to a model as
the default attributes or, if it has a template, as raw rows.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import chain, islice, tee
from typing import Any, NamedTuple, Protocol

from fastcrf.cli.command_errors import refuse
from fastcrf.cli.json_fields import FIELDS, json_sentences, read_fields, remembered_fields
from fastcrf.data.encoding.attributes import Attributes
from fastcrf.data.encoding.boundaries import BoundedAttributes
from fastcrf.data.encoding.column_attributes import column_items
from fastcrf.data.encoding.encoder import NO_ITEMS
from fastcrf.data.files.conll import SPACE, TAB, Sentence, comma_hint, counted, read_columns, sentences
from fastcrf.data.files.text_lines import ShareRead, name_of, read_lines
from fastcrf.data.sources.json_lines import is_json_lines
from fastcrf.data.sources.source import Fields
from fastcrf.exceptions import DataError
from fastcrf.model.model import Model

Share = tuple[int, None, int]  # which sequences of a file: the first, and of how many one is taken
WHOLE: Share = (0, None, 1)


class Labeled(NamedTuple):
    """A file with labels. X and y are read together, sequence by sequence."""

    X: Iterator[Any]
    y: Iterator[list[str]]
    weights: list[float] | None = None  # of the sequences that have been read so far


class Unit(NamedTuple):
    """A sequence to tag."""

    line: int  # number of its first line
    sequence: Any  # what the model takes
    columns: list[list[str]]  # what is printed before the label of each token


class DataFiles(Protocol):
    """A kind of data files."""

    def labeled(self, path: str, progress: ShareRead | None = None, share: Share = WHOLE) -> Labeled: ...

    def units(self, lines: Iterable[str], name: str) -> Iterator[Unit]: ...

    def remembered(self) -> dict[str, Any]:
        """Return the description of the input that a model keeps."""
        ...


@dataclass
class ColumnFiles:
    """One token per line, columns separated by tabs or blanks, a blank line between sentences; the label is last."""

    raw: bool = False  # whether the model takes raw rows
    n_columns: int | None = None  # apart from the label; None: as many as the first file has (when tagging, any number)
    n_needed: int = 1  # as many as that at least, because the template reads them
    separator: str | None = None  # between columns; None: each file shows it
    fields: tuple[str, ...] = FIELDS  # of JSON lines: tokens, further columns, labels

    def labeled(self, path: str, progress: ShareRead | None = None, share: Share = WHOLE) -> Labeled:
        first, every = peek(self.labeled_sentences(path, progress))
        if first is None:
            raise DataError(f"{name_of(path)} holds no sentences; give one token and its label per line.")
        found = len(first.rows[0]) - 1
        if found < self.n_needed or found != (self.n_columns or found):
            least = f"training needs at least {self.n_needed + 1}"
            needed = f"the model needs {self.n_columns + 1}" if self.n_columns else least
            raise DataError(
                f"{name_of(path)}:{first.line}: found {counted(found + 1)}, but {needed}, the last of them the label."
                + comma_hint(first.rows[0])
            )
        self.n_columns = found
        forms, labels = tee(islice(every, *share))  # training reads both in step, so tee holds a single sentence
        X = (self.sequence(sentence.rows) for sentence in forms)
        return Labeled(X, ([row[-1] for row in sentence.rows] for sentence in labels))

    def labeled_sentences(self, path: str, progress: ShareRead | None) -> Iterator[Sentence]:
        """Return the sentences of a file, the label as the last column."""
        if not is_json_lines(path):
            return read_columns(path, progress=progress, separator=self.separator)
        name = name_of(path)
        found = json_sentences(read_lines(path, name, progress), name, Fields(self.fields[:-1], self.fields[-1]))
        return (sentence for sentence in found if sentence.rows)

    def units(self, lines: Iterable[str], name: str) -> Iterator[Unit]:
        if is_json_lines(name):
            parsed = json_sentences(lines, name, Fields(self.fields[:-1]))
            return (Unit(line, self.sequence(self.checked(rows, f"{name}:{line}")), rows) for line, rows in parsed)
        first, every = peek(sentences(lines, name, separator=self.separator))
        found = len(first.rows[0]) if first else self.n_needed
        if first and self.n_columns is not None and found not in (self.n_columns, self.n_columns + 1):
            raise DataError(
                f"{name}:{first.line}: found {counted(found)}, but the model needs {self.n_columns}, "
                f"or {self.n_columns + 1} where the last is a label.{comma_hint(first.rows[0])}"
            )
        if first and found < self.n_needed:
            raise DataError(
                f"{name}:{first.line}: found {counted(found)}, but the model needs {self.n_needed}."
                + comma_hint(first.rows[0])
            )
        return (Unit(sentence.line, self.sequence(sentence.rows), sentence.rows) for sentence in every)

    def checked(self, rows: list[list[str]], place: str) -> list[list[str]]:
        """Return the rows of a sentence of JSON lines, which have as many columns as the model reads."""
        needed, found = self.n_columns or self.n_needed, len(self.fields) - 1
        if found < needed or (self.n_columns and found != needed):
            raise DataError(
                f"{place}: the model was trained on {counted(needed)}, and of JSON lines it knows the "
                f"field {self.fields[0]!r} alone; train on JSON lines with --fields, or tag a column file."
            )
        return rows

    def sequence(self, rows: list[list[str]]) -> Any:
        return rows if self.raw else column_items([row[: self.n_columns] for row in rows])

    def remembered(self) -> dict[str, Any]:
        own = {} if self.fields == FIELDS else {"fields": list(self.fields)}
        return {"kind": "template" if self.raw else "columns", "n_columns": self.n_columns, **own}


class ItemFiles:
    """CRFsuite's item files. A label is expected even where it is not known."""

    def labeled(self, path: str, progress: ShareRead | None = None, share: Share = WHOLE) -> Labeled:
        from fastcrf.data.files.crfsuite_items import read_items  # here, as below: columns do without

        weights: list[float] = []
        every = read_items(path, progress)
        first = next(every, None)
        if first is None:
            raise DataError(f"{name_of(path)} holds no items; give one label and its attributes per line.")
        forms, labels = tee(islice(chain([first], every), *share))

        def items() -> Iterator[Any]:
            for sequence in forms:
                weights.append(sequence.weight)
                yield sequence.items

        return Labeled(items(), (sequence.labels for sequence in labels), weights)

    def units(self, lines: Iterable[str], name: str) -> Iterator[Unit]:
        from fastcrf.data.files.crfsuite_items import item_sequences

        for sequence in item_sequences(lines, name):
            yield Unit(sequence.line, sequence.items, [[] for _ in sequence.items])

    def remembered(self) -> dict[str, Any]:
        return {"kind": "items"}


class TrainingFiles(NamedTuple):
    """The input of training: a kind of files, and the attributes that are made of them."""

    files: DataFiles
    attributes: Attributes = NO_ITEMS  # none yet, of the right kind
    transitions: bool = True  # whether pairs of labels have weights


def training_files(
    template: str | None,
    template_kind: str | None,
    items: bool,
    boundaries: bool = False,
    separator: str | None = None,
    fields: str | None = None,
) -> TrainingFiles:
    """Return the files and attributes that the options of the command ask for."""
    inputs = described_files(template, template_kind, items, separator, read_fields(fields, items))
    return inputs._replace(attributes=BoundedAttributes(inputs.attributes)) if boundaries else inputs


def described_files(
    template: str | None, template_kind: str | None, items: bool, separator: str | None, fields: tuple[str, ...]
) -> TrainingFiles:
    """Return the same without boundaries."""
    if template_kind and not template:
        refuse("--template-kind", "requires a template; add --template FILE.")
    if items and template:
        refuse("--template", "reads columns, but --items means item files; remove one of them.")
    if items:
        return TrainingFiles(item_files(separator))
    if not template:
        return TrainingFiles(ColumnFiles(separator=read_separator(separator), fields=fields))
    from fastcrf.data.template_engine.attributes import TemplateAttributes  # here: tagging columns needs none
    from fastcrf.data.templates.dialects import load_template

    loaded = load_template(template, template_kind)
    attributes = TemplateAttributes.empty(loaded)
    columns = attributes.program.n_columns
    files = ColumnFiles(raw=True, n_needed=columns, separator=read_separator(separator), fields=fields)
    return TrainingFiles(files, attributes, loaded.transitions)


def item_files(separator: str | None) -> ItemFiles:
    """Return item files, which have no separator of the user's choice."""
    if separator:
        refuse("--separator", "is for columns, but --items means item files; remove one of them.")
    return ItemFiles()


def read_separator(text: str | None) -> str | None:
    """Return the separator that an option names: tab, space or a character."""
    if text is None:
        return None
    separator = {"tab": TAB, "\\t": TAB, "space": SPACE}.get(text, text)
    if len(separator) != 1 or separator in "\r\n":
        refuse("--separator", f"must be tab, space or one character; got {text!r}.")
    return separator


def files_of(model: Model, items: bool, separator: str | None = None) -> DataFiles:
    """Return the kind of files that a model takes, if it is the kind that was asked for."""
    return files_like(model.input, items, separator)


def files_like(remembered: Mapping[str, Any], items: bool, separator: str | None = None) -> DataFiles:
    """Return the kind of files that a model or a corpus remembers, if it is the kind that was asked for."""
    kind, n_columns = remembered.get("kind"), remembered.get("n_columns")
    if kind in ("columns", "template") and isinstance(n_columns, int):
        if items:
            raise DataError("This model reads columns, not items; leave out --items.")
        files = ColumnFiles(separator=read_separator(separator), fields=remembered_fields(remembered))
        if remembered.get("more_columns"):
            return replace(files, raw=True, n_needed=n_columns)
        return replace(files, raw=kind == "template", n_columns=n_columns)
    if not items:
        raise DataError(
            "This model takes items, not columns; give it an item file and --items, or use it in Python: "
            "fastcrf.load(path).predict(X)."
        )
    return item_files(separator)


def peek(stream: Iterator[Sentence]) -> tuple[Sentence | None, Iterator[Sentence]]:
    """Return the first sentence, if there is one, and an iterator over all of them."""
    first = next(stream, None)
    return first, chain([first], stream) if first else stream
