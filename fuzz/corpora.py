"""Targets that map encoded corpora: damaged ones, and forged ones whose checksum is right."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from fastcrf import open_corpus
from fastcrf.data.corpus_file import container
from fastcrf.data.corpus_file.writing import write_corpus
from fastcrf.feature_space.feature_map import build_feature_map
from fastcrf.objective.problem import Problem
from fuzz.files import TAGGED, X, Y, written
from fuzz.json_changes import changed
from fuzz.mutation import mutated

Work = Callable[[], object]


def encoded_corpora(rng: random.Random, folder: Path) -> Work:
    path = written(folder / "corpus", mutated([saved_corpus(folder)], rng, longest=1 << 20))
    return lambda: use_corpus(path)


def signed_corpora(rng: random.Random, folder: Path) -> Work:
    path = written(folder / "corpus", saved_corpus(folder))
    arrays, header = container.read(path)
    forge(path, *changed({name: array.copy() for name, array in arrays.items()}, header, rng))
    return lambda: use_corpus(path)


@cache
def saved_corpus(folder: Path) -> bytes:
    write_corpus(folder / "first", [(X, Y), (TAGGED[:1], [["P", "Q", "P"]])])
    return (folder / "first").read_bytes()


def forge(path: Path, arrays: Mapping[str, Any], header: Mapping[str, Any]) -> Path:
    """A corpus file of any content, with a checksum that is right; arrays that no such file can hold are bytes."""
    arrays = {name: array if is_plain(array) else bytes_of(array) for name, array in arrays.items()}
    spools = {name: container.Spool(path.parent, array.dtype) for name, array in arrays.items()}
    for name, array in arrays.items():
        spools[name].append(array)
    container.write(path, spools, header)
    for spool in spools.values():
        spool.close()
    return path


def is_plain(array: Any) -> bool:
    return array.ndim == 1 and array.dtype in container.NAMES


def bytes_of(array: Any) -> Any:
    return np.frombuffer(array.tobytes(), np.uint8)


def use_corpus(path: Path) -> None:
    """Evaluate what was accepted; it has a value, if its numbers are not beyond all measure."""
    encoded = open_corpus(path)
    features = build_feature_map(encoded.corpus, len(encoded.attributes), len(encoded.labels))
    problem = Problem(encoded.corpus, features, 0.0, 1.0)
    with np.errstate(all="ignore"):
        loss, gradient = problem.gradient(np.zeros(problem.n_weights))
    assert loss >= -1e-6 or not np.isfinite(gradient).all()
