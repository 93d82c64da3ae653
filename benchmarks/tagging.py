"""Tagging from Python's lists and dicts beside CRFsuite: whole corpora, batches of 32 sentences, one sentence.

    FASTCRF_DATA=folder python benchmarks/tagging.py [--sets conll2000,spanish] [--repeats 7]

Both sides have the same weights: fastcrf trains a little and writes CRFsuite's file, which pycrfsuite.Tagger opens.
CRFsuite tags sentence by sentence (`tag`), as sklearn-crfsuite does. Both take turns; each figure is the minimum of the
repeats, after a first call that loads compiled code. fastcrf uses `--jobs` threads, CRFsuite one.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pycrfsuite
from tutorial import tutorial_data

from fastcrf import CRF, Model, load
from fastcrf.data.datasets.loaders import load as load_set

BATCH = 32
HEAD = "| corpus | call | CRFsuite | fastcrf | ratio |\n|---|---|--:|--:|--:|"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sets", default="conll2000,spanish")
    parser.add_argument("--repeats", type=int, default=7)
    given = parser.parse_args()
    print(HEAD)
    for name in given.sets.split(","):
        for title, train, test in shapes(name):
            with tempfile.TemporaryDirectory() as folder:
                ours, theirs = taggers(*train, Path(folder) / "model.crfsuite")
                for call, theirs_at, ours_at in calls(ours, theirs, test):
                    a, b = in_turns([theirs_at, ours_at], given.repeats)
                    print(f"| {title} | {call} | {shown(a)} | {shown(b)} | {a / b:.2f} |", flush=True)


def shapes(name: str) -> Iterator[tuple[str, tuple[Any, Any], list[Any]]]:
    """The data of a set: a title, what to train on, what to tag."""
    if name == "spanish":
        train, (test, _) = tutorial_data("train"), tutorial_data("testb")
        yield "Spanish names, the tutorial's dicts", train, test
        return
    X, y = load_set(name, subset="train", items=True, return_X_y=True)
    test, _ = load_set(name, subset="test", items=True, return_X_y=True)
    yield f"{name}, lists", (X, y), test
    yield f"{name}, dicts", (as_dicts(X), y), as_dicts(test)


def as_dicts(X: list[Any]) -> list[Any]:
    """The same attributes as dicts from their first part to the rest."""
    return [[dict(attribute.partition("=")[::2] for attribute in token) for token in sequence] for sequence in X]


def taggers(X: list[Any], y: list[Any], path: Path) -> tuple[Model, pycrfsuite.Tagger]:
    """The same model in both."""
    CRF(max_iterations=20, tol=None).fit(X, y).save(path)
    theirs = pycrfsuite.Tagger()
    theirs.open(str(path))
    return load(path), theirs


def calls(
    ours: Model, theirs: pycrfsuite.Tagger, X: list[Any]
) -> Iterator[tuple[str, Callable[[], Any], Callable[[], Any]]]:
    """Name, CRFsuite's call and fastcrf's, each over all sentences."""
    yield f"all {len(X):,} sentences", partial(tag_each, theirs.tag, X), partial(ours.predict, X)
    batches = [X[first : first + BATCH] for first in range(0, min(len(X), 20 * BATCH), BATCH)]
    flat = [sequence for batch in batches for sequence in batch]
    yield f"{BATCH} at a time", partial(tag_each, theirs.tag, flat), partial(tag_each, ours.predict, batches)
    some = X[:: max(1, len(X) // 200)]
    yield "one sentence", partial(tag_each, theirs.tag, some), partial(tag_each, ours.predict_single, some)


def tag_each(tag: Callable[[Any], Any], X: list[Any]) -> list[Any]:
    return [tag(each) for each in X]


def in_turns(variants: list[Callable[[], Any]], repeats: int) -> list[float]:
    """The fewest seconds of each variant."""
    fewest = [float("inf")] * len(variants)
    for k in range(repeats + 1):
        for i, variant in enumerate(variants):
            begin = time.perf_counter()
            variant()
            fewest[i] = min(fewest[i], time.perf_counter() - begin) if k else fewest[i]
    return fewest


def shown(seconds: float) -> str:
    return f"{1e3 * seconds:.1f} ms"


if __name__ == "__main__":
    main()
