"""Every solver takes the same steps on a mapped corpus as on one in memory, and what it makes of it is mapped."""

from __future__ import annotations

from itertools import islice

import numpy as np
import pytest

from fastcrf import CRF, open_corpus
from fastcrf.core.types import Corpus
from fastcrf.data.corpus.rare_attributes import without_rare
from fastcrf.data.corpus.reordering import partition
from fastcrf.data.corpus_file.writing import write_corpus
from fastcrf.data.encoding.encoder import encode_training
from fastcrf.feature_space.feature_map import build_feature_map, count_gold
from fastcrf.objective.problem import Problem
from fastcrf.solvers import registry
from fastcrf.system import mapped_arrays as mapped
from reference.random_corpora import random_corpus

ROUGH = registry.make("auto", single_precision="always", target=1e-3)
RNG = np.random.default_rng(3)
X = [
    [{f"a{RNG.integers(6)}": 1.0, f"v{RNG.integers(3)}": abs(RNG.normal())} for _ in range(n)] for n in (3, 1, 4, 2, 5)
]
Y = [[str(RNG.integers(3)) for _ in sequence] for sequence in X]


@pytest.fixture(scope="module")
def encoded(tmp_path_factory):
    path = tmp_path_factory.mktemp("mapped") / "c.fcc"
    write_corpus(path, [(X, Y)])
    return open_corpus(path)


@pytest.fixture
def everything_mapped(monkeypatch):
    monkeypatch.setattr(mapped, "SMALL", 0)


@pytest.mark.parametrize(
    "solver", [*map(registry.make, registry.names()), ROUGH], ids=[*registry.names(), "auto, rough"]
)
def test_every_solver_takes_the_same_steps(solver, encoded, everything_mapped):
    penalty = registry.default_penalty(solver)
    runs = []
    for corpus in (encoded.corpus, encode_training(X, Y)[0]):
        features = build_feature_map(corpus, len(encoded.attributes), len(encoded.labels))
        problem = Problem(corpus, features, *penalty)
        runs.append([step.weights.copy() for step in islice(solver.iterate(problem, np.zeros(problem.n_weights)), 3)])
    np.testing.assert_array_equal(*runs)


def test_what_problems_make_of_a_mapped_corpus_is_mapped(encoded, everything_mapped):
    features = build_feature_map(encoded.corpus, len(encoded.attributes), len(encoded.labels))
    problem = Problem(encoded.corpus, features, 0.0, 1.0)
    blocks = problem.part(np.zeros(problem.n_weights), n_blocks=2, seed=1).blocks
    large = [
        *problem.likelihood.positions,
        blocks.local.rows,
        blocks.local.slots,
        blocks.support.rows,
        blocks.chains.labels,
    ]
    assert all(mapped.folder_of(array) for array in large if len(array))


def test_a_corpus_in_another_order_and_one_without_rare_attributes_are_mapped_and_the_same(encoded, everything_mapped):
    in_memory = encode_training(X, Y)[0]
    pairs = [partition(corpus, 2, seed=4)[0] for corpus in (encoded.corpus, in_memory)]
    fewer = [without_rare(corpus, len(encoded.attributes), 2)[0] for corpus in (encoded.corpus, in_memory)]
    for on_disk, plain in (pairs, fewer):
        assert mapped.folder_of(on_disk.attributes)
        for one, other in zip(on_disk, plain, strict=True):
            np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize("values", [False, True])
def test_features_and_counts_do_not_depend_on_where_slices_end(values, monkeypatch):
    corpus = random_corpus(5, lengths=(3, 1, 4, 2, 6, 1, 1), values=values, weights=values)
    options = [{}, {"all_states": True}, {"min_freq": 1.0}, {"drop_negative": True}]
    whole = [build_feature_map(corpus, 6, 3, **each) for each in options]
    counts = [count_gold(corpus, features) for features in whole]
    slices = Corpus.slices
    monkeypatch.setattr(Corpus, "slices", lambda self: slices(self, 2))
    assert len(list(corpus.slices())) > 3
    for each, features, counted in zip(options, whole, counts, strict=True):
        for one, other in zip(build_feature_map(corpus, 6, 3, **each), features, strict=True):
            np.testing.assert_array_equal(one, other)
        np.testing.assert_array_equal(count_gold(corpus, features), counted)


def test_the_estimator_takes_an_encoded_corpus(encoded):
    from_file = CRF(n_jobs=1, max_iterations=5, tol=0.1).fit(encoded)
    in_memory = CRF(n_jobs=1, max_iterations=5, tol=0.1).fit(X, Y)
    assert from_file.state_features_ == in_memory.state_features_
    assert from_file.predict(X) == in_memory.predict(X)
    for given in ({"y": Y}, {"sample_weight": [1.0] * 5}):
        with pytest.raises(ValueError, match=f"An encoded corpus has its own {next(iter(given))}"):
            CRF().fit(encoded, **given)
    with pytest.raises(ValueError, match="y is None"):
        CRF().fit(X)
