"""Files of CRFsuite: read and written back they are the same, and what we write CRFsuite reads as we do."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import numpy as np
import pycrfsuite
import pytest

from fastcrf.core.types import FeatureMap
from fastcrf.data.encoding.attributes import ItemAttributes
from fastcrf.exceptions import ModelFileError
from fastcrf.interchange.crfsuite_reader import read_crfsuite
from fastcrf.interchange.crfsuite_writer import crfsuite_bytes
from fastcrf.interchange.lookup3 import hashes
from fastcrf.model.model import Model

ALGORITHMS = ["lbfgs", "l2sgd", "ap", "pa", "arow"]
SHIPPED = [
    ("usaddress", "usaddr.crfsuite"),
    ("probablepeople", "company_learned_settings.crfsuite"),
    ("probablepeople", "generic_learned_settings.crfsuite"),
    ("probablepeople", "person_learned_settings.crfsuite"),
    ("pyvi", "models/vidiac.crfsuite"),
]


def sequences(seed=0, n=30):
    random = np.random.default_rng(seed)
    X = [
        [{f"w:é{random.integers(9)}": 1.0, "b": float(random.normal()), "n": {"list": ["u", "v"]}} for _ in range(t)]
        for t in random.integers(1, 6, n)
    ]
    return X, [[str(random.choice(["A", "B", "Ç"])) for _ in sequence] for sequence in X]


def crfsuite_file(folder: Path, algorithm="lbfgs", X=None, y=None, **params) -> Path:
    if X is None:
        X, y = sequences()
    trainer = pycrfsuite.Trainer(algorithm, verbose=False, params={"max_iterations": 20, **params})
    for sequence, labels in zip(X, y, strict=True):
        trainer.append(sequence, labels)
    path = folder / "model.crfsuite"
    trainer.train(str(path))
    return path


def opened(data: bytes, folder: Path) -> pycrfsuite.Tagger:
    path = folder / "again.crfsuite"
    path.write_bytes(data)
    tagger = pycrfsuite.Tagger()
    tagger.open(str(path))
    return tagger


def assert_same_tagging(model: Model, tagger: pycrfsuite.Tagger, X) -> None:
    assert model.labels == tagger.labels()
    for sequence in X:
        assert model.predict_single(sequence) == tagger.tag(sequence)
        for t, row in enumerate(model.predict_marginals_single(sequence)):
            for label, probability in row.items():
                assert tagger.marginal(label, t) == pytest.approx(probability, abs=1e-12)


def test_the_hash_is_lookup3():
    known = {
        "": 0x8BA9414B,
        "O": 0xC87780E6,
        "B-PER": 0xBCB36567,
        "w[0]=confidence": 0x066856F9,
        "word.lower():organización": 0x59AA1762,
    }
    assert hashes([name.encode() + b"\0" for name in known]).tolist() == list(known.values())


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_a_model_of_each_algorithm_is_read_and_written_back_byte_by_byte(algorithm, tmp_path):
    path = crfsuite_file(tmp_path, algorithm)
    model = Model.load(path)
    assert model.to_bytes("crfsuite") == path.read_bytes()
    assert_same_tagging(model, opened(path.read_bytes(), tmp_path), sequences(seed=1)[0])


@pytest.mark.parametrize(
    ("X", "y", "params"),
    [
        (None, None, {"c1": 1.0}),
        (None, None, {"c1": 1e3}),
        (None, None, {"feature.minfreq": 1e6}),
        (None, None, {"feature.possible_states": True, "feature.possible_transitions": True}),
        ([[["a"]]], [["X"]], {}),
        ([[[], []]], [["X", "X"]], {}),
        ([[[""], ["b"]]], [["", "X"]], {}),
        ([[[b"\xff\xfe"], ["b"]]], [["Y", "X"]], {}),
    ],
    ids=["L1", "no weights", "no features", "all features", "one token", "no attributes", "empty names", "no UTF-8"],
)
def test_odd_models_are_read_and_written_back_byte_by_byte(X, y, params, tmp_path):
    data = crfsuite_file(tmp_path, X=X, y=y, **params).read_bytes()
    assert crfsuite_bytes(*read_crfsuite(data)) == data


@pytest.mark.parametrize(("package", "name"), SHIPPED, ids=[name for _, name in SHIPPED])
def test_models_that_packages_ship_are_read_and_written_back_byte_by_byte(package, name):
    found = importlib.util.find_spec(package)
    if found is None:
        pytest.skip(f"{package}, whose model this test reads, is not installed")
    data = (Path(found.submodule_search_locations[0]) / name).read_bytes()
    assert Model.from_bytes(data).to_bytes("crfsuite") == data


def test_what_we_write_crfsuite_tags_as_we_do(tmp_path):
    random = np.random.default_rng(3)
    n_attributes, n_labels = 300, 4
    present = random.random((n_attributes, n_labels)) < 0.4
    sources, targets = np.nonzero(random.random((n_labels, n_labels)) < 0.7)
    labels = np.nonzero(present)[1].astype(np.int32)
    offsets = np.concatenate(([0], np.cumsum(present.sum(axis=1)))).astype(np.int64)
    features = FeatureMap(offsets, labels, sources.astype(np.int32), targets.astype(np.int32), n_labels)
    weights = random.normal(size=features.n_weights)
    weights[random.random(len(weights)) < 0.1] = 0.0
    names = [f"{'long ' * (a % 7)}name {a}" for a in range(n_attributes)]
    attributes = ItemAttributes.of(names)
    model = Model(["O", "B-PER", "I-PER", "ü"], attributes, features, weights)
    X = [[{str(name): float(random.normal()) for name in random.choice(names, 5)} for _ in range(6)] for _ in range(10)]
    model.save(tmp_path / "ours.crfsuite")
    data = (tmp_path / "ours.crfsuite").read_bytes()
    assert_same_tagging(model, opened(data, tmp_path), X)
    again = Model.load(tmp_path / "ours.crfsuite")
    assert_same_tagging(again, opened(data, tmp_path), X)
    assert again.state_features_ == model.state_features_
    assert again.transition_features_ == model.transition_features_


@pytest.mark.parametrize(
    ("labels", "attribute", "sentence"),
    [
        ([1, 2], "a", "label 1 is of type int, and a .crfsuite file holds strings"),
        (["A", "B"], "a\0b", r"attribute 'a\\x00b' has a NUL, where names end in a .crfsuite file"),
        (["A", "\ud800"], "a", r"label '\\ud800' cannot be written as UTF-8"),
    ],
)
def test_what_the_format_cannot_hold_raises_an_error(labels, attribute, sentence, tmp_path):
    features = FeatureMap(np.array([0, 1]), np.zeros(1, np.int32), np.zeros(0, np.int32), np.zeros(0, np.int32), 2)
    model = Model(labels, ItemAttributes.of([attribute]), features, np.ones(1))
    with pytest.raises(ModelFileError, match=sentence):
        model.save(tmp_path / "x.crfsuite")
    assert not list(tmp_path.iterdir())
