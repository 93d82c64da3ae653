"""Targets that read files: columns, items, templates, models, checkpoints."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from fastcrf import CRF
from fastcrf.constraints.constraints import Constraints
from fastcrf.data.encoding.column_attributes import column_items
from fastcrf.data.encoding.encoder import encode_training
from fastcrf.data.files.conll import read_columns
from fastcrf.data.files.crfsuite_items import read_items
from fastcrf.data.model_file import container
from fastcrf.data.template_engine.attributes import TemplateAttributes
from fastcrf.data.templates.dialects import parse_template, recognize
from fastcrf.exceptions import ConstraintError
from fastcrf.feature_space.feature_map import build_feature_map
from fastcrf.model.formats import bytes_of, content_of
from fastcrf.model.model import Model
from fastcrf.model.scored import scored
from fastcrf.model.shrinking import shrink
from fastcrf.objective.problem import Problem
from fastcrf.solvers import registry
from fastcrf.stopping import MaxIterations
from fastcrf.training import checkpoint_file
from fastcrf.training.checkpoint import Checkpoint
from fastcrf.training.driver import minimize
from fuzz.json_changes import changed
from fuzz.mutation import mutated

Work = Callable[[], object]

STREAMING = ("psa", "staggered-aitken", "adagrad", "asg", "sgd")

COLUMNS = [
    b"the DT B\ndog NN I\n\nsees VB O\n",
    b"\xef\xbb\xbfa\tb\tc\r\nd\te\tf\r\n\r\n",
    b"x y\n" * 40,
    "ü é\n\n".encode(),
]
ITEMS = [b"B\tword=the\tpos=DT\nI\tword=dog:0.5\n\nO\tx\\:y:2\n", b"@weight:2.5\nA\ta:1\tb\n\n", b"L\n\nM\t\\\\\n"]
TEMPLATES = [
    b"U00:%x[-1,0]\nU01:%x[0,0]/%x[1,1]\nB\n",
    b'u:suf=%m[0,0,"..?$"]\nu:%X[-1,0]\nu:%t[0,1,"^\\u\\l*"]\nb\n# note\n',
    b"fields = 'w pos y'\ntemplates = (\n    (('w', -2), ),\n    (('w', 0), ('pos', 1), ),\n    )\n",
    b"U:%x[@1,0]%x[@-1,1]\nu1\n",
]
ROWS = [[["the", "DT"], ["Dog", "NN"], ["sees", "VB"]], [["a", "DT"]]]
X = [[["a", "b"], ["b"], ["c", "a"]], [["c"], ["a", "b"]], [["d"]]]
Y = [["P", "Q", "P"], ["Q", "R"], ["R"]]
TAGGED: list[list[Any]] = [[["a"], {"b": 2.0, "zz": 1.0}, ["c", "d"]], [], [["unknown"]]]


def columns(rng: random.Random, folder: Path) -> Work:
    path = written(folder / "columns", mutated(COLUMNS, rng))
    return lambda: [column_items([row[:-1] or row for row in sentence.rows]) for sentence in read_columns(path)]


def items(rng: random.Random, folder: Path) -> Work:
    path = written(folder / "items", mutated(ITEMS, rng))
    return lambda: list(read_items(path))


def templates(rng: random.Random, folder: Path) -> Work:
    text = mutated(TEMPLATES, rng).decode("utf-8", "surrogateescape")
    return lambda: use_template(text)


def use_template(text: str) -> None:
    """Learn from two sentences, and read them again."""
    gatherer, learnt = TemplateAttributes.empty(parse_template(text, recognize(text))).learner()
    for rows in ROWS:
        gatherer.add_sequence(rows, "X")
        gatherer.end_sequence()
    gatherer.corpus()
    attributes = learnt()
    attributes.names()
    again = attributes.gatherer()
    again.add_sequence(ROWS[0], "X")
    again.end_sequence()
    assert again.corpus().n_positions == len(ROWS[0])


def models(rng: random.Random, folder: Path) -> Work:
    data = mutated(saved_models(), rng, longest=1 << 20)
    return lambda: use_model(data)


def signed_models(rng: random.Random, folder: Path) -> Work:
    arrays, header = changed(*container.from_bytes(rng.choice(saved_models())), rng)
    return lambda: use_model(container.to_bytes(arrays, header))


def use_model(data: bytes) -> None:
    """Load a model as an estimator would, tag with it, and save it again."""
    model = Model.from_bytes(data)
    sentences = ROWS if model.attributes.kind == "template" else TAGGED
    try:
        labels = model.predict(sentences)
    except ConstraintError:  # the constraints of the file contradict each other: nothing can be predicted
        return
    assert [len(each) for each in labels] == [len(each) for each in sentences]
    for found in scored(model, sentences):
        assert 0.0 <= found.probability <= 1.0 + 1e-9
        assert all(abs(sum(row.values()) - 1.0) < 1e-9 for row in found.marginals)
    model.to_bytes()


@cache
def saved_models() -> list[bytes]:
    """Models of items, of order 1 and 3 and with constraints, and one of each kind of template."""
    corpus, learnt, labels = encode_training(X, Y)
    found = [model_bytes(corpus, learnt, labels, order) for order in (1, 3)]
    limits = Constraints(forbid=[(labels[0], labels[-1])], first=labels, dictionary={learnt.names()[0]: labels[:1]})
    found.append(replace(Model.from_bytes(found[0]), constraints=limits).to_bytes())
    found.append(bytes_of(*shrink(content_of(found[0]), 0.9, bits=8)))
    for text in TEMPLATES[:3]:
        template = parse_template(text.decode(), recognize(text.decode()))
        gold = [["P" if t % 2 else "Q" for t in range(len(rows))] for rows in ROWS]
        found.append(model_bytes(*encode_training(ROWS, gold, known=TemplateAttributes.empty(template))))
    return found


def model_bytes(corpus: Any, attributes: Any, labels: list[Any], order: int = 1) -> bytes:
    features = build_feature_map(corpus, len(attributes), len(labels), order=order)
    weights = np.random.default_rng(0).normal(size=features.n_weights)
    return Model(labels, attributes, features, weights, {"parameters": {"c2": 1.0, "algorithm": "lbfgs"}}).to_bytes()


def checkpoints(rng: random.Random, folder: Path) -> Work:
    solver = rng.choice(registry.names())
    path = written(folder / "state", mutated([saved_state(solver, folder)], rng, longest=1 << 20))
    return lambda: go_on(solver, path)


def signed_checkpoints(rng: random.Random, folder: Path) -> Work:
    solver = rng.choice(registry.names())
    path = written(folder / "state", saved_state(solver, folder))
    arrays, header = changed(*checkpoint_file.read(path), rng)
    written(path, checkpoint_file.to_bytes(arrays, header))
    return lambda: go_on(solver, path)


@cache
def saved_state(solver: str, folder: Path) -> bytes:
    path = folder / "first"
    path.unlink(missing_ok=True)
    minimize(problem(solver), registry.make(solver), stop=[MaxIterations(4)], checkpoint=Checkpoint(path, 0.0))
    return path.read_bytes()


@cache
def problem(solver: str) -> Problem:
    corpus, learnt, labels = encode_training(X, Y)
    penalty = registry.default_penalty(registry.solver_class(solver))
    return Problem(corpus, build_feature_map(corpus, len(learnt), len(labels)), *penalty)


def go_on(solver: str, path: Path) -> None:
    """Two steps more; what was accepted must lead on."""
    go_on_from = Checkpoint(path, 1e9, resume=True)
    result = minimize(problem(solver), registry.make(solver), stop=[MaxIterations(6)], checkpoint=go_on_from)
    assert np.isfinite(result.weights).all()


def streams(rng: random.Random, folder: Path) -> Work:
    solver = rng.choice(STREAMING)
    path = written(folder / "stream", mutated([saved_stream(solver, folder)], rng, longest=1 << 20))
    return lambda: learn_more(path)


def signed_streams(rng: random.Random, folder: Path) -> Work:
    path = written(folder / "stream", saved_stream(rng.choice(STREAMING), folder))
    arrays, header = changed(*checkpoint_file.read(path), rng)
    written(path, checkpoint_file.to_bytes(arrays, header))
    return lambda: learn_more(path)


@cache
def saved_stream(solver: str, folder: Path) -> bytes:
    path = folder / "first"
    path.unlink(missing_ok=True)
    CRF(solver).partial_fit(X, Y).save_stream(path)
    return path.read_bytes()


def learn_more(path: Path) -> None:
    """What was accepted must lead on."""
    crf = CRF.load_stream(path).partial_fit(X, Y)
    assert np.isfinite(crf.model_.weights).all()


def written(path: Path, data: bytes) -> Path:
    path.write_bytes(data)
    return path
