"""Targets that take Python values: data, parameters of the estimator, regular expressions."""

from __future__ import annotations

import math
import random
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from fastcrf.data.encoding.encoder import Encoder, encode_training
from fastcrf.data.templates.regex import RegexError, compiled, first_match
from fastcrf.estimators.crf import CRF
from fastcrf.model.model import Model
from fastcrf.model.scored import scored
from fastcrf.solvers.registry import make, names, options_of
from fastcrf.system.threads import usable_jobs
from fuzz.files import TAGGED, saved_models

Work = Callable[[], object]

LEAVES: list[Any] = [
    None,
    True,
    False,
    0,
    1,
    -1,
    2**70,
    0.5,
    1e308,
    1e13,
    -1e308,
    math.nan,
    math.inf,
    "",
    "a",
    "b:c",
    "\ud800",
]
LEAVES += [b"a", b"\xff", "x" * 5000, (), ("a", 1), frozenset("ab"), {"a"}, np.float32(2.5), np.int64(3), np.zeros(3)]
LEAVES += [np.array(["a", "b"]), np.zeros((2, 2)), np.array(None), object(), len, range(3), iter("ab"), 1j, 10**400]
NUMBERS: list[Any] = [
    None,
    0,
    1,
    -1,
    2,
    10**9,
    10**30,
    0.5,
    1e-300,
    1e308,
    math.nan,
    math.inf,
    -math.inf,
    True,
    "1",
    "",
    [],
    {},
]
NUMBERS += ["lbfgs", "SAG", "nothing", object(), np.float64(0.5), np.int32(2), np.nan, b"x", 1j]
REGEX_PIECES = [
    "a",
    ".",
    "\\d",
    "\\A",
    "\\w",
    "\\s",
    "\\\\",
    "é",
    "!",
    "*",
    "?",
    "^",
    "$",
    "\\.",
    ".*",
    "a?",
    "\\U",
    "\ud800",
]


def data_values(rng: random.Random, folder: Path) -> Work:
    X, y, weights = value(rng, 4), value(rng, 3), value(rng, 1) if rng.random() < 0.2 else None
    if rng.random() < 0.7:  # what looks like data, with something odd in it
        lengths = [rng.randint(0, 4) for _ in range(rng.randint(1, 3))]
        X = [[value(rng, 2) if rng.random() < 0.3 else ["a", "b"] for _ in range(length)] for length in lengths]
        y = [[rng.choice(LEAVES) if rng.random() < 0.1 else "L" for _ in range(length)] for length in lengths]
    return lambda: encode_training(X, y, weights)


def tagged_values(rng: random.Random, folder: Path) -> Work:
    model = Model.from_bytes(saved_models()[0])
    sequences = [[value(rng, 2) for _ in range(rng.randint(0, 3))] for _ in range(rng.randint(0, 3))]
    X = sequences if rng.random() < 0.8 else value(rng, 4)
    return lambda: (model.predict(X), scored(model, TAGGED), Encoder(model.attributes).encode(X), scored(model, X))


def value(rng: random.Random, depth: int) -> Any:
    """Any Python value, nested at most so deep."""
    kind = rng.random()
    if depth == 0 or kind < 0.25:
        return rng.choice(LEAVES)
    inside = [value(rng, depth - 1) for _ in range(rng.randint(0, 3))]
    if kind < 0.7:
        return inside
    if kind < 0.9:
        keys = [rng.choice(("a", "b", "c", "", b"k", 1, None, ("t",))) for _ in inside]
        return dict(zip(keys, inside, strict=True))
    return tuple(inside) if kind < 0.95 else iter(inside)


def parameters(rng: random.Random, folder: Path) -> Work:
    known = [name for name in CRF().get_params(deep=False) if name not in ("callbacks", "verbose")]
    given = {name: rng.choice(NUMBERS) for name in rng.sample(known, rng.randint(1, 4))}
    if rng.random() < 0.5:
        given["algorithm"] = rng.choice(names())
    return lambda: (CRF(**given)._plan(), usable_jobs(given.get("n_jobs")))


def solver_options(rng: random.Random, folder: Path) -> Work:
    name = rng.choice(names())
    known = [*options_of(name), "nothing"]
    given = {option: rng.choice(NUMBERS) for option in rng.sample(known, rng.randint(1, min(3, len(known))))}
    return lambda: make(name, **given)


def regular_expressions(rng: random.Random, folder: Path) -> Work:
    regex = "".join(rng.choices(REGEX_PIECES, k=rng.randint(1, 8)))
    text = bytes(rng.choices(b"aab1! .\\A\xc3\xa9", k=rng.choice((0, 1, 4, 12, 200))))
    return lambda: match_both(regex, text)


def match_both(regex: str, text: bytes) -> None:
    """The linear matcher finds what backtracking finds, where that is quick."""
    from fastcrf.data.templates.matching import search

    try:
        ready = compiled(regex)
    except RegexError:
        return  # its sentence is told by the template's
    found = first_match(regex, text)
    if ready.n_repeated <= 3 and ready.n_optional <= 8 and len(text) <= 12:
        slow = re.search(ready.pattern, text)
        assert (slow and slow[0]) == found == search(ready.expression, text), (regex, text)
