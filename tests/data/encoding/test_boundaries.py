"""The start and the end of a sequence as attributes that nobody has to bring."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

from fastcrf import CRF
from fastcrf.core.types import Corpus, FeatureMap
from fastcrf.data.encoding.attributes import ItemAttributes
from fastcrf.data.encoding.boundaries import NAMES, BoundedAttributes, with_boundaries
from fastcrf.data.encoding.encoder import Encoder, encode_training
from fastcrf.exceptions import ModelFileError
from fastcrf.model.model import Model
from fastcrf.model.pruning import prune
from reference.random_corpora import random_corpus

X = [[["a"], ["b"], ["a", "c"]], [["b"]], [["c"], ["a"]], [["a"], ["b"], ["b"], ["c"]]]
Y = [["A", "B", "A"], ["B"], ["A", "A"], ["B", "B", "A", "B"]]


def spelled_out(X):
    """What boundaries stand for: items that bring them."""
    bounded = [[list(item) for item in sequence] for sequence in X]
    for sequence in bounded:
        sequence[0].insert(0, NAMES[0])
        sequence[-1].append(NAMES[1])
    return bounded


@pytest.mark.parametrize("values", [False, True])
def test_boundaries_are_put_where_sequences_begin_and_end(values):
    corpus = random_corpus(3, lengths=(3, 0, 1, 4, 0), values=values)
    corpus.attributes[::5] = -1  # unknown
    found = with_boundaries(corpus)
    attributes, amounts, offsets = [], [], [0]
    for first, last in pairwise(corpus.starts.tolist()):
        for p in range(first, last):
            own = slice(corpus.offsets[p], corpus.offsets[p + 1])
            row = [a if a < 0 else a + 2 for a in corpus.attributes[own].tolist()]
            amount = corpus.values[own].tolist() if values else []
            attributes += [0] * (p == first) + row + [1] * (p == last - 1)
            amounts += [1.0] * (values and p == first) + amount + [1.0] * (values and p == last - 1)
            offsets.append(len(attributes))
    assert found.attributes.tolist() == attributes
    assert found.attributes.dtype == np.int32
    assert found.offsets.tolist() == offsets
    assert found.values.tolist() == amounts
    assert isinstance(found, Corpus)
    assert (found.starts == corpus.starts).all()


def test_a_crf_with_boundaries_is_the_crf_whose_items_bring_them():
    plain = CRF(c2=0.1, tol=1e-9).fit(spelled_out(X), Y)
    crf = CRF(c2=0.1, tol=1e-9, boundaries=True).fit(X, Y)
    assert crf.certificate_.objective == pytest.approx(plain.certificate_.objective, rel=1e-8)
    assert crf.state_features_.keys() == plain.state_features_.keys()
    for mine, theirs in zip(crf.predict_marginals(X), plain.predict_marginals(spelled_out(X)), strict=True):
        for ours, other in zip(mine, theirs, strict=True):
            assert ours == pytest.approx(other, abs=1e-4)
    without = CRF(c2=0.1, tol=1e-9).fit(X, Y)
    assert crf.certificate_.objective < without.certificate_.objective - 1e-3


def test_a_saved_model_knows_that_it_has_boundaries(tmp_path):
    crf = CRF(c2=0.1, boundaries=True).fit(X, Y)
    crf.save(tmp_path / "model.crf")
    loaded = CRF.load(tmp_path / "model.crf")
    assert loaded.boundaries is True
    assert isinstance(loaded.model_.attributes, BoundedAttributes)
    assert loaded.predict_marginals(X) == crf.predict_marginals(X)
    with pytest.raises(ModelFileError, match="start and the end of a sequence"):
        crf.save(tmp_path / "model.crfsuite")


def test_boundaries_stay_where_their_weights_go():
    attributes = BoundedAttributes(ItemAttributes.of(["a", "b"]))
    features = FeatureMap(
        np.array([0, 1, 1, 2, 3]), np.zeros(3, np.int32), np.zeros(0, np.int32), np.zeros(0, np.int32), 1
    )
    kept, pruned, weights = prune(attributes, features, np.array([0.0, 0.0, 2.0]))
    assert kept.names() == [*NAMES, "b"]
    assert pruned.offsets.tolist() == [0, 0, 0, 1]
    assert weights.tolist() == [2.0]
    model = Model(["A"], kept, pruned, weights)
    assert Encoder(model.attributes).encode([[["b"], ["a"]]]).attributes.tolist() == [0, 2, -1, 1]


def test_no_attribute_has_the_name_of_a_boundary():
    attributes = BoundedAttributes(ItemAttributes.of([NAMES[0]]))
    assert attributes.names() == [f"<{NAMES[0]}>", NAMES[1], NAMES[0]]
    assert Encoder(attributes).encode_one([[NAMES[0]]]).attributes.tolist() == [0, 2, 1]


def test_what_is_learnt_comes_behind_what_is_known():
    known = BoundedAttributes(ItemAttributes.of(["z"]))
    corpus, learnt, _ = encode_training(X[:1], Y[:1], known=known)
    assert learnt.names() == [*NAMES, "z", "a", "b", "c"]
    assert corpus.attributes.tolist() == [0, 3, 4, 3, 5, 1]
    joined, numbers = known.joined([learnt])
    assert joined.names() == learnt.names()
    assert numbers[0].tolist() == [0, 1, 2, 3, 4, 5]
    assert learnt.reads_like(known)
    assert not learnt.reads_like(known.inner)
    assert not known.inner.reads_like(learnt)


def test_a_stream_learns_with_boundaries():
    crf = CRF(boundaries=True, random_state=1).partial_fit(X[:2], Y[:2]).partial_fit(X[2:], Y[2:])
    same = CRF(random_state=1).partial_fit(spelled_out(X[:2]), Y[:2]).partial_fit(spelled_out(X[2:]), Y[2:])
    assert crf.state_features_ == pytest.approx(same.state_features_)
