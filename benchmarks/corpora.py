"""The corpora of the benchmarks: files of columns in the folder --data or $FASTCRF_DATA, as items and labels."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from fastcrf.data.datasets.feature_sets import FEATURE_SETS
from fastcrf.data.files.conll import read_columns

REPOSITORY = Path(__file__).parents[1]


class Task(NamedTuple):
    """A corpus and its attributes; `positions` caps the training set where the whole would take CRFsuite too long."""

    folder: str
    feature_set: str
    train: str = "train"
    test: str = "test"
    positions: int | None = None


TASKS = {
    "conll2000": Task("conll2000", "chunking"),
    "ud-ewt-xpos": Task("ud-ewt-xpos", "pos"),
    "brown-base": Task("brown-base", "pos", positions=250_000),
    "gutenberg-seg": Task("gutenberg-seg", "characters", positions=500_000),
}


def data_folder(given: str | None) -> Path:
    """The folder of the corpora, or the end of the benchmark with a sentence."""
    folders = [given] if given else [os.environ.get("FASTCRF_DATA"), REPOSITORY.parent / "shared" / "data"]
    for folder in folders:
        if folder and Path(folder).is_dir():
            return Path(folder)
    raise SystemExit("Skipped: the corpora are not here. Name their folder with --data DIR or FASTCRF_DATA.")


def sentences(folder: Path, task: Task, part: str) -> Iterator[tuple[list[list[str]], list[str]]]:
    """(items, labels) of each sentence."""
    path = folder / task.folder / f"{part}.txt.gz"
    if not path.is_file():
        raise SystemExit(f"Skipped: {path.name} of {task.folder} is not in the data folder.")
    make_items = FEATURE_SETS[task.feature_set]
    left = task.positions if part == task.train and task.positions else 10**12
    for sentence in read_columns(str(path)):
        if left <= 0:
            return
        left -= len(sentence.rows)
        yield make_items([row[:-1] for row in sentence.rows]), [row[-1] for row in sentence.rows]


def load(folder: Path, name: str, part: str | None = None) -> tuple[list[list[list[str]]], list[list[str]]]:
    """Items and labels of a whole part, as two lists."""
    task = TASKS[name]
    X, y = zip(*sentences(folder, task, part or task.train), strict=True)
    return list(X), list(y)
