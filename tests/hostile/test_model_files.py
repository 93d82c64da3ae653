"""Model files from strangers: what they may set, what they may ask for, and how long they may take."""

from __future__ import annotations

import numpy as np
import pytest

from fastcrf import CRF
from fastcrf.core.types import FeatureMap
from fastcrf.data.encoding.attributes import ItemAttributes
from fastcrf.data.model_file import container
from fastcrf.data.template_engine.blocks import Pairs
from fastcrf.data.template_engine.kernels import place_keys
from fastcrf.data.template_engine.tables import PairTable
from fastcrf.exceptions import ModelFileError
from fastcrf.model.model import Model
from fastcrf.system import memory_budget as memory_budget
from fastcrf.system.memory_budget import TooLarge

X, Y = [[["a"], ["b"]], [["b"]]], [["P", "Q"], ["Q"]]


@pytest.fixture(scope="module")
def content():
    """Arrays and header of a model file."""
    return container.from_bytes(CRF(n_jobs=1, c2=0.25).fit(X, Y).to_bytes())


def forged(content, change):
    arrays, header = content[0], {**content[1]}
    change(header)
    return container.to_bytes(arrays, header)


def test_a_model_file_cannot_choose_where_the_next_fit_writes(content, tmp_path):
    victim = tmp_path / "victim"
    victim.write_text("precious")
    hostile = {"template": str(victim), "engine": "x", "callbacks": "y", "stopping": "z", "c2": 0.5}
    crf = CRF.from_bytes(forged(content, lambda header: header.update(options={"parameters": hostile})))
    assert (crf.template, crf.engine, crf.callbacks, crf.stopping, crf.c2) == (None, None, (), (), 0.5)
    crf.fit(X, Y)
    assert victim.read_text() == "precious"


@pytest.mark.parametrize("parameters", [[], "c2", 5, None, {"c2": [1]}, {"c2": {"a": 1}}, {"": 1}, {"self": 1}])
def test_parameters_of_odd_types_are_left_out(content, parameters):
    crf = CRF.from_bytes(forged(content, lambda header: header.update(options={"parameters": parameters})))
    assert crf.c2 == 1.0
    assert crf.predict(X) == Y


@pytest.mark.parametrize(
    "kind_of_input",
    [
        {},
        {"kind": ["columns"]},
        {"kind": "columns", "n_columns": -5},
        {"kind": "columns", "n_columns": True},
        {"kind": "columns", "n_columns": 10**30},
        {"kind": "columns", "n_columns": "2"},
    ],
)
def test_an_input_that_no_command_can_read_raises_an_error(content, kind_of_input):
    with pytest.raises(ModelFileError, match=r"the model is damaged: it has (no|an input of no)"):
        Model.from_bytes(forged(content, lambda header: header.update(input=kind_of_input)))


@pytest.mark.parametrize("kind", [None, [], {}, "other", 3])
def test_attributes_of_no_kind_raise_an_error(content, kind):
    with pytest.raises(ModelFileError, match="attributes of no known kind"):
        Model.from_bytes(forged(content, lambda header: header.update(attributes={"kind": kind})))


def test_labels_that_all_have_the_same_hash_raise_an_error(content):
    labels = [k * (2**61 - 1) for k in range(1000)]
    with pytest.raises(ModelFileError, match="labels that all have the same hash"):
        Model.from_bytes(forged(content, lambda header: header.update(labels=labels)))


def colliding_keys(n, n_slots):
    """Keys that all had the same place under the hash that this table had before it was keyed."""
    inverse = pow(0x9E3779B97F4A7C15, -1, 2**64)
    found, high = [], 0
    while len(found) < n:
        high += 1
        folded = (high << 34) >> 29 & (n_slots - 1) << 16  # what the fold brings down must cancel
        key = ((high << 34) | folded) * inverse % 2**64
        if key < 2**63:
            found.append(key)
    return np.array(found, np.int64)


def longest_run(slots):
    """The longest run of taken slots: how far one may have to look."""
    free = np.flatnonzero(slots < 0)
    return int(np.diff(np.concatenate((free, [free[0] + len(slots)]))).max() - 1)


def test_keys_made_to_collide_are_no_nearer_to_each_other_than_others():
    keys = colliding_keys(20_000, 1 << 16)
    table = PairTable(keys)
    table.reserve(0)  # when compiled code needs it
    others = PairTable(np.arange(20_000) << 32 | np.arange(20_000))
    others.reserve(0)
    assert longest_run(table.pairs.slots) < 100
    assert longest_run(others.pairs.slots) < 100
    assert table.pairs.secret != others.pairs.secret
    known_secret = Pairs(keys[:50], np.full(128, -1, np.int32), 0)
    place_keys(known_secret, 50)
    assert sorted(known_secret.slots[known_secret.slots >= 0].tolist()) == list(range(50))


def many_labels(n_labels):
    """A model with so many labels, of which it uses one."""
    features = FeatureMap(
        np.array([0, 1]), np.zeros(1, np.int32), np.zeros(1, np.int32), np.zeros(1, np.int32), n_labels
    )
    return Model([f"l{k}" for k in range(n_labels)], ItemAttributes.of(["a"]), features, np.ones(2))


@pytest.mark.parametrize("ask", ["predict", "predict_marginals", "predict_proba"])
def test_memory_raises_an_error_before_it_is_asked_for(ask, monkeypatch):
    model = many_labels(20_000)
    monkeypatch.setattr(memory_budget, "free_memory", lambda: 4 * 10**9)
    with pytest.raises(TooLarge) as refusal:
        getattr(model, ask)([[["a"]]])
    assert "Tagging 1 tokens with 20,000 labels would take" in str(refusal.value)
    assert "of memory, and 4.0 GB are free; tag fewer at a time, or use a model with fewer labels." in str(
        refusal.value
    )


def test_memory_that_is_there_is_given_and_small_requests_are_not_looked_at(monkeypatch):
    monkeypatch.setattr(memory_budget, "free_memory", lambda: 0)
    assert many_labels(50).predict([[["a"]]]) == [["l0"]]
    monkeypatch.setattr(memory_budget, "free_memory", lambda: None)
    memory_budget.require_memory(10**18, "Nobody", "can tell")


def test_free_memory_is_that_of_the_container_where_it_is_less(monkeypatch, tmp_path):
    monkeypatch.setattr(memory_budget, "MEMINFO", tmp_path / "meminfo")
    monkeypatch.setattr(memory_budget, "CGROUP_LIMIT", tmp_path / "max")
    monkeypatch.setattr(memory_budget, "CGROUP_USED", tmp_path / "current")
    (tmp_path / "meminfo").write_text("MemTotal: 9 kB\nMemAvailable:    2000 kB\n")
    assert memory_budget.free_memory() == 2_048_000
    (tmp_path / "current").write_text("500000\n")
    (tmp_path / "max").write_text("max\n")
    assert memory_budget.free_memory() == 2_048_000
    (tmp_path / "max").write_text("600000\n")
    assert memory_budget.free_memory() == 100_000


def test_a_device_is_no_model():
    with pytest.raises(ModelFileError, match="Cannot load /dev/zero: this is a device"):
        Model.load("/dev/zero")
