"""Datasets by name: the corpora that come with fastcrf, and the sets of the literature."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from fastcrf.data.datasets.addresses import make_addresses
from fastcrf.data.datasets.digits import make_digits
from fastcrf.data.datasets.known_sets import KNOWN_SETS
from fastcrf.data.datasets.loaders import load
from fastcrf.data.encoding.column_attributes import column_items
from fastcrf.lab.dataset import Dataset, make_dataset

HELD_OUT = 5  # one sequence in so many is held out where no held-out data are given
TEST_SUBSETS = ("test", "testa", "labeled-test")


def addresses(n: int = 4000, seed: int = 0) -> Dataset:
    """Generated postal addresses with the attributes of column files."""
    tokens, labels = make_addresses(n, seed)
    X_train, X_test = divided(column_items([[token] for token in address]) for address in tokens)
    y_train, y_test = divided(labels)
    return make_dataset("addresses", X_train, y_train, (X_test, y_test))


def digits(seed: int = 0) -> Dataset:
    """Handwritten digits of a meter's log, with grey pixels."""
    X_train, X_test, y_train, y_test = make_digits(random_state=seed)
    return make_dataset("digits", X_train, y_train, (X_test, y_test))


def from_literature(name: str, held_out: str | None = None, **features: Any) -> Dataset:
    """A set with its own attributes; `held_out` is the part to score, by default the first test part."""
    parts = list(KNOWN_SETS[name].parts)
    part = held_out or next(part for part in parts if part in TEST_SUBSETS)
    X, y = load(name, subset=parts[0], items=True, return_X_y=True)
    return make_dataset(name, X, y, load(name, subset=part, items=True, return_X_y=True), **features)


def divided(sequences: Iterable[Any]) -> tuple[list[Any], list[Any]]:
    """The sequences without every fifth one, and every fifth one."""
    every = list(sequences)
    return [sequence for k, sequence in enumerate(every, 1) if k % HELD_OUT], every[HELD_OUT - 1 :: HELD_OUT]


NAMED_DATASETS: dict[str, Callable[[], Dataset]] = {
    "addresses": addresses,
    "digits": digits,
    **{name: lambda name=name: from_literature(name) for name in KNOWN_SETS},  # type: ignore[misc]
}
