"""Tables: data frames of pandas and polars, tables of Arrow, Parquet files, data sets of Hugging Face.

A row is a token and a column names its sequence; or a row is a sequence, and its cells are lists.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from typing import Any

from fastcrf.data.files.text_lines import name_of
from fastcrf.data.sources.source import Fields, Record, Sentences, sentences_of
from fastcrf.exceptions import DataError
from fastcrf.system.optional_packages import optional_package


def frame(
    table: Any, tokens: str | Sequence[str] = "token", labels: str | None = "label", sequence: str | None = "sentence"
) -> Sentences:
    """Read a data frame of pandas or polars, or a table of Arrow.

    Parameters
    ----------
    table : DataFrame or Table
        The table.
    tokens : str or sequence of str, default="token"
        The column with the tokens, or this and further columns.
    labels : str, default="label"
        The column with the labels; None reads none.
    sequence : str, default="sentence"
        The column that names the sequence of a token; rows of a sequence must be next to each other. None means that a
        row is a whole sequence, whose cells are lists.

    Returns
    -------
    Sentences
        The sentences.

    Raises
    ------
    DataError
        If a column is missing; the message has its name.
    """
    fields = Fields.of(tokens, labels)
    named = [*fields.columns, *([labels] if labels else []), *([sequence] if sequence else [])]
    columns = {name: column_of(table, name) for name in named}
    records = records_of_rows if sequence is None else records_of_tokens
    return Sentences(lambda: sentences_of(records(columns, sequence), fields))


def column_of(table: Any, name: str) -> list[Any]:
    """Return a column as a list of Python objects."""
    known = list(getattr(table, "column_names", getattr(table, "columns", ())))
    if name not in known:
        raise DataError(f"The table has no column {name!r}; its columns are {', '.join(map(repr, known)) or 'none'}.")
    column = table[name]
    convert = next(
        (getattr(column, each) for each in ("to_pylist", "to_list") if hasattr(column, each)), column.__iter__
    )
    return list(convert())


def records_of_rows(columns: Mapping[str, list[Any]], _: str | None) -> Iterator[Record]:
    """Return each row."""
    for i, row in enumerate(zip(*columns.values(), strict=True)):
        yield Record(f"row {i}", dict(zip(columns, row, strict=True)))


def records_of_tokens(columns: Mapping[str, list[Any]], sequence: str | None) -> Iterator[Record]:
    """Return the rows of each sequence, whose rows stand together."""
    names, seen = columns[str(sequence)], set()
    for key, rows in groupby(range(len(names)), names.__getitem__):
        numbers = list(rows)
        if key is None or key != key:
            raise DataError(f"row {numbers[0]}: {sequence!r} is {key}; name the sequence of each token.")
        if key in seen:
            raise DataError(
                f"row {numbers[0]}: the sequence {key!r} has earlier rows, and others follow; sort by {sequence!r}."
            )
        seen.add(key)
        yield Record(f"row {numbers[0]}", {name: [values[i] for i in numbers] for name, values in columns.items()})


def parquet(
    path: str | os.PathLike[str], tokens: str | Sequence[str] = "tokens", labels: str | None = "labels"
) -> Sentences:
    """Read a Parquet file whose rows are sequences and whose cells are lists. It is read in pieces.

    Parameters
    ----------
    path : str or path
        The file.
    tokens : str or sequence of str, default="tokens"
        The column with the tokens, or this and further columns.
    labels : str, default="labels"
        The column with the labels; None reads none.

    Returns
    -------
    Sentences
        The sentences.

    Raises
    ------
    ImportError
        If pyarrow is not installed.
    DataError
        If the file is damaged or has no such column.
    """
    optional_package("pyarrow", "parquet")
    fields = Fields.of(tokens, labels)
    return Sentences(lambda: sentences_of(parquet_records(path, fields), fields))


def parquet_records(path: str | os.PathLike[str], fields: Fields) -> Iterator[Record]:
    """Return the rows of a Parquet file."""
    pyarrow, files = optional_package("pyarrow", "parquet"), optional_package("pyarrow.parquet", "parquet")
    name, number = name_of(path), 0
    wanted = [*fields.columns, *([fields.labels] if fields.labels else [])]
    try:
        with files.ParquetFile(path) as file:
            known = file.schema_arrow.names
            for missing in [each for each in wanted if each not in known]:
                raise DataError(f"{name} has no column {missing!r}; its columns are {', '.join(map(repr, known))}.")
            for batch in file.iter_batches(columns=wanted):
                for row in batch.to_pylist():
                    yield Record(f"{name}, row {number}", row)
                    number += 1
    except (pyarrow.ArrowException, OSError) as error:
        reason = str(error).splitlines()[0]
        raise DataError(f"{name}, row {number}: this is no Parquet file, or it is damaged ({reason}).") from None


def dataset(data: Any, tokens: str | Sequence[str] = "tokens", labels: str | None = "ner_tags") -> Sentences:
    """Read a data set of Hugging Face. Classes (ClassLabel) get their names.

    Parameters
    ----------
    data : datasets.Dataset
        The data set, one split of it.
    tokens : str or sequence of str, default="tokens"
        The column with the tokens, or this and further columns.
    labels : str, default="ner_tags"
        The column with the labels; None reads none.

    Returns
    -------
    Sentences
        The sentences.

    Raises
    ------
    DataError
        If a column is missing or a number is no class; the message has the row.
    """
    features = getattr(data, "features", None)
    if features is None or not hasattr(data, "select_columns"):
        raise DataError(f"data is a {type(data).__name__}; give one split of a data set, such as data['train'].")
    names = {name: classes for name in features if (classes := class_names(features[name])) is not None}
    fields = Fields.of(tokens, labels, names)
    for name in [*fields.columns, *([labels] if labels else [])]:
        if name not in features:
            raise DataError(f"The data set has no column {name!r}; its columns are {', '.join(map(repr, features))}.")
    return Sentences(lambda: sentences_of((Record(f"row {i}", row) for i, row in enumerate(data)), fields))


def class_names(feature: Any) -> list[str] | None:
    """Return the names of the classes in a list of ClassLabel, or None if it is something else."""
    inner = getattr(feature, "feature", feature[0] if isinstance(feature, list) and feature else None)
    return getattr(inner, "names", None)
