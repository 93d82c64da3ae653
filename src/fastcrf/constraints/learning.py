"""Constraints from training data: the scheme that the labels follow, and the labels that each attribute has."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from fastcrf.constraints.constraints import Constraints, Label
from fastcrf.constraints.schemes import AUTO, scheme_of_data
from fastcrf.core.types import Corpus


def learned(
    constraints: Constraints, corpus: Corpus, labels: Sequence[Label], names: Callable[[], Sequence[str]]
) -> Constraints:
    """Return the constraints with the scheme and the dictionary that a labeled corpus has."""
    if constraints.scheme == AUTO:
        constraints = replace(constraints, scheme=scheme_of_data(labels, corpus.labels, corpus.starts))
    if isinstance(constraints.dictionary, str):
        least = constraints.dictionary_min_count
        found = tag_dictionary(corpus, labels, names(), constraints.dictionary, least)
        constraints = replace(constraints, dictionary=found)
    return constraints


def tag_dictionary(
    corpus: Corpus, labels: Sequence[Label], names: Sequence[str], prefix: str, least: int
) -> dict[str, list[Label]]:
    """Return the labels of each attribute whose name begins with `prefix` and that occurs at least `least` times."""
    chosen = np.array([name.startswith(prefix) for name in names], bool)
    if not chosen.any():
        raise ValueError(f"dictionary={prefix!r}: the name of no attribute of the data begins with it.")
    K, held = len(labels), chosen[corpus.attributes]
    labels_there = np.repeat(corpus.labels, np.diff(corpus.offsets))[held].astype(np.int64)
    pairs, counts = np.unique(corpus.attributes[held] * K + labels_there, return_counts=True)
    attributes = pairs // K
    frequent = np.bincount(attributes, counts, len(names))[attributes] >= least
    found: dict[str, list[Label]] = {}
    for pair in pairs[frequent].tolist():
        found.setdefault(names[pair // K], []).append(labels[pair % K])
    return found
