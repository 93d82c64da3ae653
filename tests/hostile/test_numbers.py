"""Numbers of any size: kernels against more digits, and right answers or a sentence where scores are absurd.

`python -m fuzz.numbers` does the same on thousands of models of 1 to 60 labels and 1 to 2,000 tokens.
"""

from __future__ import annotations

import numpy as np
import pytest

from fastcrf.core.types import FeatureMap
from fastcrf.data.encoding.attributes import ItemAttributes
from fastcrf.decoding.compiled_decoder import infer_corpus, viterbi
from fastcrf.decoding.decoder_choice import log_chances
from fastcrf.decoding.input_checks import ScoreOverflow
from fastcrf.model.model import Model
from fastcrf.model.scored import scored
from fuzz.extended import by_longdouble, by_mpmath
from fuzz.numbers import SIZES, errors, one_chain, random_chain


@pytest.mark.parametrize("size", SIZES)
def test_kernels_agree_with_extended_precision(size):
    rng = np.random.default_rng(int(size * 1000))
    worst = np.max([errors(*random_chain(rng, size, most_labels=4, longest=60)) for _ in range(12)], axis=0)
    assert (worst < 1e-12).all(), dict(zip(("log Z", "marginals", "bigrams", "Viterbi"), worst, strict=True))


@pytest.mark.parametrize("size", SIZES)
def test_extended_precision_agrees_with_sixty_digits(size):
    pytest.importorskip("mpmath")
    chain = random_chain(np.random.default_rng(7), size, most_labels=4, longest=6)
    rough, fine = by_longdouble(*chain), by_mpmath(*chain)
    assert abs(float(rough.log_z - fine.log_z)) < 1e-13 * max(1.0, size)
    assert float(np.abs(rough.nodes - fine.nodes).max()) < 1e-13
    assert float(np.abs(rough.edges - fine.edges).max()) < 1e-12


@pytest.mark.parametrize("large", [1e6, 1e13, 1e100, 1e200])
@pytest.mark.parametrize("wide_transitions", [False, True])
def test_what_follows_absurd_scores_is_as_if_they_were_small(large, wide_transitions):
    """One position decides by 1e13 and more; the others, by less than 1, are as they would be after a sure label."""
    rng = np.random.default_rng(0)
    tame, transitions = rng.uniform(-1, 1, (5, 3)), rng.uniform(-1, 1, (3, 3))
    scores = tame.copy()
    scores[2] = [0.0, large, -large]
    if wide_transitions:
        transitions[0, 2] = -large  # a forbidden bigram
    right = by_longdouble(*(np.clip(each, -300.0, 300.0) for each in (scores, transitions)))  # as sure
    corpus, features, weights = one_chain(scores, transitions)
    nodes, log_z = infer_corpus(corpus, features, weights)
    np.testing.assert_allclose(nodes, right.nodes.astype(float), atol=1e-12)
    best = viterbi(corpus, features, weights)
    tame_best = viterbi(*one_chain(np.clip(scores, -300, 300), np.clip(transitions, -300, 300)))
    np.testing.assert_array_equal(best, tame_best)
    chance = np.exp(log_chances(corpus, features, weights, best, log_z))[0]
    clipped = one_chain(np.clip(scores, -300, 300), np.clip(transitions, -300, 300))
    tame_chance = np.exp(log_chances(*clipped, tame_best, infer_corpus(*clipped)[1]))[0]
    assert chance == pytest.approx(tame_chance, rel=1e-9)


def small_model(scale=1.0):
    labels = np.array([0, 1, 0, 1], np.int32)
    features = FeatureMap(np.array([0, 2, 4]), labels, np.array([0], np.int32), np.array([1], np.int32), 2)
    weights = np.array([1.0, -1.0, 0.5, 0.25, 0.125]) * scale
    return Model(["P", "Q"], ItemAttributes.of(["a", "b"]), features, weights)


@pytest.mark.parametrize("ask", ["predict", "predict_marginals", "predict_proba"])
@pytest.mark.parametrize("value", [1e308, -1e308, 1e291])
def test_values_whose_scores_no_number_can_hold_are_reported_with_their_sequence(ask, value):
    with pytest.raises(ScoreOverflow, match=r"^X\[2\]: the value .*; scale the values down\.$"):
        getattr(small_model(), ask)([[{"a": 1.0}], [], [{"b": 2.0}, {"a": value}]])
    assert getattr(small_model(), ask)([[{"unknown": value, "a": 0.5}]])


def test_one_sequence_is_checked_like_many():
    for ask in ("predict_single", "predict_marginals_single"):
        with pytest.raises(ScoreOverflow):
            getattr(small_model(), ask)([{"a": 1e308}])


@pytest.mark.parametrize("scale", [1e100, 1e200])
def test_weights_of_any_size_give_probabilities(scale):
    for found in scored(small_model(scale), [[["a"], ["b"], ["a", "b"]], [["b"], ["b"]]]):
        assert 0.0 <= found.probability <= 1.0
        for row in found.marginals:
            assert sum(row.values()) == pytest.approx(1.0, abs=1e-12)
    with pytest.raises(ScoreOverflow, match=r"The model has a weight of 1e\+300, which overflows float64 in sums"):
        small_model(1e300).predict([[["a"]]])
