"""What it takes to turn Python's items into arrays: nanoseconds of CPU time an attribute, beside CRFsuite.

    FASTCRF_DATA=folder python benchmarks/encoding.py [--sentences 1500] [--repeats 5]

The data are Spanish names (CoNLL-2002) with the attributes of sklearn-crfsuite's tutorial, in several shapes. `plain`
and `compiled` are the readers of `fastcrf.data.encoding`. CRFsuite's `append` also stores what it reads; `ItemSequence`
is what it does while tagging. Variants take turns; each figure is the minimum of the repeats.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from functools import partial
from typing import Any

import pycrfsuite
from tutorial import tutorial_data

from fastcrf.data.encoding.name_table import NameTable
from fastcrf.data.encoding.plain_gatherer import PlainGatherer
from fastcrf.data.encoding.stream_gatherer import StreamGatherer
from fastcrf.data.encoding.vocabulary import growing

Item = dict[str, Any]
SHAPES: dict[str, Callable[[Item], Any]] = {
    "dicts of the tutorial (strings, booleans, a number)": lambda item: item,
    "dicts of strings": lambda item: {key: str(value) for key, value in item.items()},
    "dicts of booleans": lambda item: {f"{key}={value}": True for key, value in item.items()},
    "dicts of floats": lambda item: {key: len(str(value)) / 7 for key, value in item.items()},
    "dicts of integers": lambda item: {key: 300 * len(str(value)) for key, value in item.items()},
    "dicts in dicts": lambda item: {
        "word": item,
        "more": {key: value for key, value in item.items() if key[0] in "+-"},
    },
    "lists of strings": lambda item: [f"{key}={value}" for key, value in item.items()],
}


HEAD = """\
| items | plain | compiled, training | compiled, tagging | `append` | `ItemSequence` |
|---|--:|--:|--:|--:|--:|"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sentences", type=int, default=1500)
    parser.add_argument("--repeats", type=int, default=5)
    given = parser.parse_args()
    X = tutorial_data("train")[0][: given.sentences]
    print(HEAD)
    for shape, change in SHAPES.items():
        spent = measured([[change(item) for item in sequence] for sequence in X], given.repeats)
        print(f"| {shape} | {' | '.join(f'{nanoseconds:.0f}' for nanoseconds in spent)} |", flush=True)


def measured(X: list[Any], repeats: int) -> list[float]:
    """Nanoseconds an attribute of each variant, the minimum of the repeats."""
    rows = []
    for _ in range(repeats):
        names = NameTable()
        plain, n_attributes = gathered(PlainGatherer(growing(), learning=True), X)
        training, _ = gathered(StreamGatherer(names, learning=True), X)
        tagging, _ = gathered(StreamGatherer(names, learning=False), X)
        trainer = pycrfsuite.Trainer(verbose=False)
        appended = seconds(partial(append_all, trainer, X))
        made = seconds(lambda: [pycrfsuite.ItemSequence(items) for items in X])
        rows.append((plain, training, tagging, appended, made))
    return [1e9 * min(column) / n_attributes for column in zip(*rows, strict=True)]


def append_all(trainer: pycrfsuite.Trainer, X: list[Any]) -> None:
    for items in X:
        trainer.append(items, ["a"] * len(items))


def gathered(gatherer: Any, X: list[Any]) -> tuple[float, int]:
    """Seconds, and the number of attributes."""

    def gather() -> None:
        for sequence in X:
            gatherer.add_sequence(sequence, "X")
            gatherer.end_sequence()

    return seconds(gather), len(gatherer.corpus().attributes)


def seconds(work: Callable[[], Any]) -> float:
    began = time.process_time()
    work()
    return time.process_time() - began


if __name__ == "__main__":
    main()
