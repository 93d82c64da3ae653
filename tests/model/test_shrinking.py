"""Shrunk models: what is dropped, how coarse the weights become, and what damaged files do."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fastcrf import CRF, Constraints, Model
from fastcrf.data.datasets.addresses import address_items, make_addresses
from fastcrf.data.model_file import container
from fastcrf.exceptions import ModelFileError
from fastcrf.model.formats import bytes_of, content_of
from fastcrf.model.shrinking import largest, shrink


@pytest.fixture(scope="module")
def data():
    tokens, y = make_addresses(80, random_state=0)
    return [address_items(address) for address in tokens], y


@pytest.fixture(scope="module")
def content(data):
    return content_of(CRF(c2=0.1, n_jobs=1).fit(*data).to_bytes())


@settings(deadline=None)
@given(st.lists(st.floats(-5, 5), min_size=1, max_size=30), st.floats(0.01, 1.0))
def test_what_is_kept_has_the_share_and_what_is_dropped_is_smaller(values, share):
    weights = np.array(values)
    kept = largest(weights, share)
    assert np.abs(kept).sum() >= share * np.abs(weights).sum() * (1 - 1e-12)
    dropped = (kept == 0.0) & (weights != 0.0)
    if dropped.any() and (kept != 0.0).any():
        assert np.abs(weights[dropped]).max() <= np.abs(kept[kept != 0.0]).min()


@pytest.mark.parametrize("bits", [2, 4, 8, 12, 16])
def test_weights_in_few_bits_are_at_most_half_a_step_off(content, bits):
    small = shrink(content, keep=1.0, bits=bits)
    before, after = Model(*content), Model(*small.content)
    for name, step in (("state_features_", small.steps[0]), ("transition_features_", small.steps[1])):
        old, new = getattr(before, name), getattr(after, name)
        assert new.keys() <= old.keys()
        assert max(abs(old[key] - new.get(key, 0.0)) for key in old) <= step / 2 * (1 + 1e-9)
        assert max(map(abs, new.values())) == pytest.approx(max(map(abs, old.values())))


@pytest.mark.parametrize("bits", [None, 4, 8, 16])
def test_a_shrunk_file_is_read_as_the_shrunk_model(content, data, bits):
    small = shrink(content, 0.99, bits)
    data_of_file = bytes_of(*small)
    assert len(data_of_file) < len(bytes_of(content)) / (1 if bits is None else 2)
    read, expected = Model.from_bytes(data_of_file), Model(*small.content)
    assert read.state_features_ == expected.state_features_
    assert read.transition_features_ == expected.transition_features_
    assert read.predict(data[0]) == expected.predict(data[0])
    assert Model.from_bytes(read.to_bytes()).state_features_ == expected.state_features_


def test_eight_bits_change_few_labels(content, data):
    before, after = (Model(*each).predict(data[0]) for each in (content, shrink(content, 0.999, 8).content))
    pairs = [pair for labels in zip(before, after, strict=True) for pair in zip(*labels, strict=True)]
    assert sum(a != b for a, b in pairs) <= 0.01 * len(pairs)


def test_attributes_that_constraints_name_stay(content):
    sizes = np.add.reduceat(np.abs(content.weights), content.features.offsets[:-1])
    name = content.attributes.names()[int(sizes.argmin())]
    named = content._replace(constraints=Constraints(dictionary={name: content.labels[:1]}))
    assert name not in shrink(content, keep=0.5).content.attributes.names()
    assert name in shrink(named, keep=0.5).content.attributes.names()


def test_higher_orders_templates_and_boundaries_shrink():
    X, y = [[["the", "DT"], ["cat", "NN"]], [["cats", "NNS"]]] * 3, [["O", "B"], ["B"]] * 3
    crf = CRF(template="U00:%x[0,0]\nU01:%x[-1,1]/%x[0,1]\nB", order=2, boundaries=True, n_jobs=1).fit(X, y)
    small = Model.from_bytes(bytes_of(*shrink(content_of(crf.to_bytes()), 0.999, 8)))
    assert small.predict(X) == y


@pytest.mark.parametrize(
    ("how", "message"),
    [
        ({"keep": 0.0}, "keep must be above 0"),
        ({"keep": 1.5}, "keep must be above 0"),
        ({"bits": 1}, "bits must be a whole number of at least 2"),
        ({"bits": 17}, "bits must be at most 16"),
    ],
)
def test_wrong_arguments_are_errors(content, how, message):
    with pytest.raises(ValueError, match=message):
        shrink(content, **how)


BROKEN = {
    "steps": lambda arrays, header: header.update(steps=[0.1]),
    "infinite": lambda arrays, header: header.update(steps=[float("inf"), 1.0]),
    "text": lambda arrays, header: header.update(steps="ab"),
    "no weights": lambda arrays, header: arrays.pop("weights"),
    "real weights": lambda arrays, header: arrays.update(weights=np.zeros(3)),
    "few weights": lambda arrays, header: arrays.update(weights=np.zeros(3, np.int8)),
    "negative": lambda arrays, header: arrays.update(feature_counts=-np.ones_like(arrays["feature_counts"], np.int8)),
    "label": lambda arrays, header: arrays.update(feature_labels=np.full_like(arrays["feature_labels"], 99)),
    "lengths": lambda arrays, header: arrays.pop("attribute_name_lengths"),
}


@pytest.mark.parametrize("fault", BROKEN)
def test_a_damaged_file_is_one_error(content, fault):
    arrays, header = container.from_bytes(bytes_of(*shrink(content, 0.999, 8)))
    BROKEN[fault](arrays, header)
    with pytest.raises(ModelFileError, match="damaged"):
        Model.from_bytes(container.to_bytes(arrays, header))
