"""`rank` and what it is computed from, by the names of labels; the inference itself is in tests/alternatives."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from fastcrf import CRF
from fastcrf.exceptions import ConstraintError
from reference.toy_sequences import toy_sequences

X, Y = toy_sequences(30)
SHORT = [xseq[:3] for xseq in X[:8]] + [[], X[0][:1]]


@pytest.fixture(scope="module", params=[1, 2])
def crf(request):
    return CRF(order=request.param, c2=0.5, n_jobs=1).fit(X, Y)


def chances_of(crf, xseq, given=None):
    """The probabilities of all label sequences, the largest first."""
    every = list(itertools.product(crf.classes_, repeat=len(xseq)))
    given = None if given is None else [given] * len(every)
    return np.sort(np.exp(crf.log_proba([xseq] * len(every), every, given=given)))[::-1]


def measure(by, chances, n_tokens):
    if by == "entropy":
        return -(chances * np.log(chances)).sum() / n_tokens
    best, second = np.append(chances, 0.0)[:2] ** (1 / n_tokens)
    return best - second if by == "margin" else 1.0 - best


@pytest.mark.parametrize("per_token", [False, True])
@pytest.mark.parametrize("by", ["entropy", "margin", "least_confident"])
def test_the_most_uncertain_sequence_is_first(crf, by, per_token):
    expected = [measure(by, chances_of(crf, x), max(1, len(x)) if per_token else 1) for x in SHORT]
    found = crf.rank(SHORT, by, per_token=per_token)
    assert sorted(found.indices.tolist()) == list(range(len(SHORT)))
    np.testing.assert_allclose(found.scores, np.array(expected)[found.indices], atol=1e-12)
    steps = np.diff(found.scores)
    assert (steps >= 0).all() if by == "margin" else (steps <= 0).all()


def test_what_is_given_is_certain(crf):
    xseq, labels = SHORT[0], crf.predict_single(SHORT[0])
    one = crf.rank([xseq], given=[[labels[0], None, None]])
    chances = chances_of(crf, xseq, [labels[0], None, None])
    assert one.scores == pytest.approx([measure("entropy", chances[chances > 0], 1)])
    assert crf.rank([xseq], given=[labels]).scores == pytest.approx([0.0], abs=1e-12)
    assert crf.rank([xseq], "margin", given=[labels]).scores == [1.0]
    assert crf.predict_nbest([xseq], 5, given=[labels]) == [[(labels, 1.0)]]
    assert crf.sample([xseq], 2, given=[labels]) == [[labels, labels]]
    assert crf.pair_proba([xseq], given=[labels])[0].max(axis=(1, 2)) == pytest.approx([1.0, 1.0])


def test_of_equally_uncertain_sequences_those_that_come_first_are_first(crf):
    assert crf.rank([X[0], X[1], X[0], X[1], X[0]]).indices.tolist() in ([0, 2, 4, 1, 3], [1, 3, 0, 2, 4])


def test_samples_are_repeated_by_a_seed_and_by_a_generator(crf):
    assert crf.sample(X, 3, 7) == crf.sample(X, 3, random_state=7)
    assert crf.sample(X, 3, np.random.default_rng(1)) == crf.sample(X, 3, np.random.default_rng(1))
    assert crf.sample(X, 3, np.random.RandomState(1)) != crf.sample(X, 3, np.random.RandomState(2))
    assert [len(samples) for samples in crf.sample(X)] == [1] * len(X)


def test_wrong_arguments_and_contradictions_are_reported(crf):
    with pytest.raises(ValueError, match="by must be one of entropy, margin, least_confident; got by='size'"):
        crf.rank(X, "size")
    for ask in (crf.predict_nbest, crf.sample):
        with pytest.raises(ValueError, match="n must be a whole number of at least 1; got n=0"):
            ask(X, 0)
    impossible = [None, [set(), *[None] * (len(X[1]) - 1)]]
    for ask in (lambda **how: crf.predict_nbest(X[:2], 2, **how), lambda **how: crf.entropy(X[:2], **how)):
        with pytest.raises(ConstraintError, match=r"X\[1\], position 0"):
            ask(given=impossible)
