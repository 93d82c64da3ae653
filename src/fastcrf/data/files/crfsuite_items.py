r"""CRFsuite's item files: one item per line, ``label<TAB>attribute<TAB>attribute:value``, and blank lines between
sequences.

An attribute without a value, or with an empty one, has the value 1. In names and labels ``\:`` is a colon and ``\\`` a
backslash; any other backslash stands for itself. A line ``@weight:2.5`` before the labels of a sequence is its weight.
Only the tab separates, # begins no comment. Where CRFsuite reads on in silence (a value that is no number, a label cut
off at a colon) there is an error with file and line.
"""

from __future__ import annotations

import os
import re
from collections.abc import Hashable, Iterable, Iterator
from itertools import repeat
from math import isfinite
from typing import Any, NamedTuple, TextIO

from fastcrf.data.encoding.input_shapes import checked_weights, items_of, labels_of, pairs_of
from fastcrf.data.encoding.items import ItemError, flatten
from fastcrf.data.files.text_lines import ShareRead, check_length, name_of, read_lines
from fastcrf.exceptions import DataError

FIELD = re.compile(r"((?:[^\\:]|\\.|\\$)*)(?::(.*))?", re.DOTALL)  # a name, and what follows the first plain colon
ESCAPE = re.compile(r"\\([:\\])")
SPECIAL = re.compile(r"([:\\])")
UNWRITABLE = re.compile(r"[\t\n\r]")

Item = list[str] | dict[str, float]  # names, or names with values where one is not 1


class ItemSequence(NamedTuple):
    line: int  # line number of the first item, counted from 1
    weight: float
    labels: list[str]
    items: list[Item]


def read_items(path: str | os.PathLike[str], progress: ShareRead | None = None) -> Iterator[ItemSequence]:
    """Read the sequences of an item file, plain or gzipped; "-" is standard input."""
    name = name_of(path)
    return item_sequences(read_lines(path, name, progress), name)


def item_sequences(lines: Iterable[str], name: str) -> Iterator[ItemSequence]:
    """Read the sequences in the lines of a file called `name`."""
    sequence = ItemSequence(0, 1.0, [], [])
    for number, line in enumerate(lines, 1):
        place = f"{name}:{number}"
        if not line:
            if sequence.items:
                yield sequence
            sequence = ItemSequence(0, 1.0, [], [])
        elif line.startswith("@"):
            if sequence.items:
                raise DataError(f"{place}: a declaration must come before the items of a sequence, not among them.")
            sequence = sequence._replace(weight=read_weight(line, place))
        else:
            label, *fields = line.split("\t")
            if not sequence.items:
                sequence = sequence._replace(line=number)
            sequence.labels.append(read_label(label, place))
            sequence.items.append(read_item(fields, place))
            check_length(sequence.items, name, number)
    if sequence.items:
        yield sequence


def read_weight(line: str, place: str) -> float:
    name, _, value = line.partition(":")
    if name != "@weight":
        raise DataError(f"{place}: there is no declaration {name!r}; only @weight:NUMBER is allowed here.")
    weight = read_number(value, place)
    if weight < 0:
        raise DataError(f"{place}: the weight {value} is negative; give a number >= 0.")
    return weight


def read_label(field: str, place: str) -> str:
    label, value = split_field(field)
    if value is not None:
        raise DataError(f"{place}: the label {field!r} contains a plain colon; write '\\:' for a colon in a label.")
    if not label:
        raise DataError(
            f"{place}: the line has no label before the first tab; write any label if the true one is not known."
        )
    return label


def read_item(fields: list[str], place: str) -> Item:
    """Read the attributes of an item; values of an attribute that occurs twice add up, as they do in the score."""
    if not any(":" in field for field in fields):
        return [ESCAPE.sub(r"\1", field) if "\\" in field else field for field in fields if field]
    pairs = [split_field(field) for field in fields if field]
    if not any(value for _, value in pairs):
        return [name for name, _ in pairs]
    item: dict[str, float] = {}
    for name, value in pairs:
        item[name] = item.get(name, 0.0) + (read_number(value, place) if value else 1.0)
    return item


def split_field(field: str) -> tuple[str, str | None]:
    """Name and value of a field; the value is None if there is no colon."""
    match = FIELD.fullmatch(field)
    assert match is not None  # it matches every text
    return ESCAPE.sub(r"\1", match[1]), match[2]


def read_number(text: str, place: str) -> float:
    try:
        number = float(text)
    except ValueError:
        raise DataError(
            f"{place}: {text!r} is not a number; write '\\:' for a colon in the name of an attribute."
        ) from None
    if not isfinite(number):
        raise DataError(f"{place}: the value {text} is not finite; leave the attribute out, or give a number.")
    return number


def write_items(
    file: TextIO, X: Iterable[Iterable[Any]], y: Iterable[Iterable[Hashable]], weights: Iterable[float] | None = None
) -> None:
    """Write sequences of items (dicts, or lists of strings) with their labels, and with their weights if given."""
    each = repeat(1.0) if weights is None else iter(checked_weights(weights).tolist())
    for i, (sequence, gold) in enumerate(pairs_of(X, y)):
        weight = next(each, None)
        if weight is None:
            raise DataError(f"There are {i} weights and more sequences; give one weight per sequence.")
        if weight != 1.0:
            file.write(f"@weight:{weight!r}\n")
        file.writelines(f"{line}\n" for line in written_sequence(sequence, gold, i))
        file.write("\n")


def written_sequence(sequence: Iterable[Any], gold: Iterable[Hashable], i: int) -> list[str]:
    """Return the lines of a sequence."""
    items, labels = [*items_of(sequence, f"X[{i}]")], [*labels_of(gold, f"y[{i}]")]
    if len(items) != len(labels):
        raise DataError(f"X[{i}] has {len(items)} items and y[{i}] has {len(labels)} labels; give one label per item.")
    pairs = zip(items, labels, strict=True)
    return [written_item(item, label, f"X[{i}], item {t}") for t, (item, label) in enumerate(pairs)]


def written_item(item: Any, label: Hashable, place: str) -> str:
    """Return the line of an item."""
    try:
        names, values = flatten(item)
    except ItemError as error:
        raise DataError(error.sentence(place)) from None
    text = str(label)
    if not text or text.startswith("@"):
        raise DataError(f"{place} has the label {text!r}, which an item file cannot hold; give it another name.")
    fields = [escaped(text, place)]
    for name, value in zip(names, values, strict=True):
        fields.append(escaped(name, place) + ("" if value == 1.0 else f":{value!r}"))
    return "\t".join(fields)


def escaped(name: str, place: str) -> str:
    if not name or UNWRITABLE.search(name):
        raise DataError(
            f"{place} has the name {name!r}, which an item file cannot hold; avoid empty names, tabs and line breaks."
        )
    return SPECIAL.sub(r"\\\1", name)
