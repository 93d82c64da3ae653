"""A problem that is spread over workers is the same problem, in as many digits as sums of another order have."""

from __future__ import annotations

from itertools import islice

import numpy as np
import pytest

from fastcrf import open_corpus
from fastcrf.cluster import connection
from fastcrf.cluster.connection import ClusterError, check_engine, connected
from fastcrf.cluster.local_learning import averaged_start
from fastcrf.cluster.placement import even_bounds, from_client, from_encoded
from fastcrf.cluster.problem import ClusterProblem
from fastcrf.cluster.shard import Shard, gradient_of
from fastcrf.cluster.sums import Part, add, by_tree, make_part
from fastcrf.data.corpus_file.writing import write_corpus
from fastcrf.data.encoding.attributes import ItemAttributes
from fastcrf.data.encoding.encoder import encode_training
from fastcrf.feature_space.feature_map import build_feature_map
from fastcrf.objective.problem import Problem
from fastcrf.solvers.registry import check, make
from fastcrf.stopping import MaxIterations
from fastcrf.training.driver import minimize
from reference.random_corpora import learnable_corpus

pytestmark = pytest.mark.filterwarnings("ignore")

LENGTHS = (3, 1, 4, 2, 5, 3, 2, 6, 1)
NAMES = ItemAttributes.of(f"a{i}" for i in range(6))
LABELS = ["x", "y", "z"]


def corpus_of(weights=False):
    return learnable_corpus(7, lengths=LENGTHS, weights=weights)


def spread(client, n_shards, c1=0.0, c2=0.5, weights=False, **features):
    return ClusterProblem(client, from_client(corpus_of(weights), NAMES, LABELS), n_shards, features, c1, c2)


@pytest.mark.parametrize(("c1", "c2", "weights"), [(0.0, 0.5, False), (0.7, 0.0, True)])
def test_everything_is_what_one_process_finds(client, c1, c2, weights):
    here = Problem(corpus_of(weights), build_feature_map(corpus_of(weights), 6, 3), c1, c2)
    there = spread(client, 3, c1, c2, weights)
    assert (there.n_weights, there.n_sequences, there.n_jobs) == (here.n_weights, here.n_sequences, 3)
    for one, other in zip(there.features, here.features, strict=True):
        np.testing.assert_array_equal(one, other)
    w, d = np.random.default_rng(0).normal(size=(2, here.n_weights))
    (f, g), (expected_f, expected_g) = there.gradient(w), here.gradient(w)
    assert f == pytest.approx(expected_f, rel=1e-12)
    np.testing.assert_allclose(g, expected_g, rtol=1e-10, atol=1e-11)
    assert there.value(w) == pytest.approx(here.value(w), rel=1e-12)
    certificate, expected = there.certificate(w), here.certificate(w)
    assert certificate.lower_bound == pytest.approx(expected.lower_bound, rel=1e-10)
    product = there.curvature()
    product.gradient(w)
    np.testing.assert_allclose(product.product(d), here.hessian_product(w, d), rtol=1e-9, atol=1e-10)


def test_the_number_of_workers_changes_nothing(client):
    one_worker = list(client.scheduler_info(n_workers=-1)["workers"])[:1]
    runs = []
    for workers in (None, one_worker):
        problem = spread(client, 4)
        if workers:
            problem.shards = [
                client.submit(lambda shard: shard, s, workers=workers, pure=False) for s in problem.shards
            ]
        steps = make("lbfgs").iterate(problem, np.zeros(problem.n_weights))
        runs.append([step.weights.copy() for step in islice(steps, 5)])
    np.testing.assert_array_equal(*runs)


def test_stochastic_solvers_raise_an_error(client):
    with pytest.raises(ValueError, match="problem that provides sequences; this one provides gradient, hessian"):
        check(spread(client, 2), make("sgd"))


def test_an_encoded_corpus_is_mapped_by_the_workers(client, tmp_path):
    X = [[["a", "b"], ["b"]], [["c"]], [["a"], ["b"], ["c"]], [["b"]]]
    y = [["P", "Q"], ["Q"], ["P", "P", "R"], ["Q"]]
    write_corpus(tmp_path / "c", [(X, y)])
    encoded = open_corpus(tmp_path / "c")
    there = ClusterProblem(client, from_encoded(encoded), 2, {}, 0.0, 1.0)
    here = Problem(encoded.corpus, build_feature_map(encoded.corpus, 3, 3), 0.0, 1.0)
    w = np.linspace(-1, 1, here.n_weights)
    assert there.gradient(w)[0] == pytest.approx(here.gradient(w)[0], rel=1e-12)


def test_shards_are_even_and_none_is_empty():
    corpus = corpus_of()
    for n in (1, 2, 3, 9, 40):
        bounds = even_bounds(corpus, n)
        assert [first for first, _ in bounds] == [0, *(last for _, last in bounds[:-1])]
        assert bounds[-1][1] == corpus.n_sequences
        assert all(first < last for first, last in bounds)
        assert len(bounds) <= n


@pytest.mark.parametrize("n", [8, 100, 1000])  # dense; sparse, joined by marking; joined by sorting
def test_sums_of_sparse_and_dense_parts_are_sums(n):
    rng = np.random.default_rng(n)
    parts, expected = [], np.zeros(n)
    for size in (3, n, 2, 5, 4):
        places = np.sort(rng.choice(n, size, replace=False)) if size < n else None
        values = rng.normal(size=size)
        parts.append(make_part(1.0, values, places, n))
        expected += Part(1.0, values, places, n).dense()
    assert parts[1].places is None
    assert (parts[0].places is None) == (n == 8)
    total = Part(*by_tree(parts, add))
    assert total.loss == 5.0
    np.testing.assert_allclose(total.dense(), expected, rtol=1e-13)
    ones = np.ones(n)
    np.testing.assert_allclose(parts[0].add_to(ones), 1.0 + parts[0].dense(), rtol=1e-13)
    sparse = Part(*add(parts[0], parts[2]))
    assert sparse.nbytes <= 8 * n
    assert type(add(parts[0], parts[2])) is tuple  # of a NamedTuple, Dask's scheduler copies the arrays


def test_shards_with_few_features_are_evaluated_and_sent_by_these_alone():
    X = [[["a0"], ["a1"]], *([[f"a{i}"]] for i in range(40))]
    y = [["P", "Q"], *(["P" if i % 2 else "Q"] for i in range(40))]
    corpus, attributes, labels = encode_training(X, y)
    features = build_feature_map(corpus, len(attributes), len(labels), all_states=True)
    few, many = Shard(corpus.slice_of(0, 1), features), Shard(corpus.slice_of(1, 41), features)
    weights = np.random.default_rng(0).normal(size=features.n_weights)
    one, other = (Part(*gradient_of(each, weights)) for each in (few, many))
    assert few.problem.n_weights == len(one.values) < features.n_weights / 3
    assert many.problem.n_weights == len(other.values) == features.n_weights
    loss, gradient = Problem(corpus, features).gradient(weights)
    total = Part(*add(one, other))
    assert total.loss == pytest.approx(loss, rel=1e-12)
    np.testing.assert_allclose(total.dense(), gradient, rtol=1e-10, atol=1e-12)


def test_engines_that_are_none_raise_an_error(monkeypatch):
    monkeypatch.setattr(connection, "TIMEOUT", 1.0)
    for engine in ("spark", "local:", "local:0", 4, "tcp://"):
        with pytest.raises(ValueError, match="is not an engine; use None"):
            check_engine(engine)
    with (
        pytest.raises(ClusterError, match=r"There is no scheduler at tcp://127\.0\.0\.1:1 "),
        connected("tcp://127.0.0.1:1"),
    ):
        pass


def test_the_mean_of_what_shards_learn_alone_is_weighted_by_what_they_saw(client):
    problem = spread(client, 3)
    start = averaged_start(problem, epochs=2)
    shards = client.gather(problem.shards)
    total, seen = np.zeros(problem.n_weights), np.zeros(problem.n_weights)
    for shard in shards:
        alone = Problem(shard.corpus, problem.features, 0.0, problem.c2 / 3)
        weights = minimize(alone, make("sag-nus-star"), stop=[MaxIterations(2)]).weights
        counts = np.bincount(shard.corpus.attributes, minlength=6)
        n = np.concatenate(
            (
                np.repeat(counts, np.diff(problem.features.offsets)),
                np.full(len(problem.features.sources), shard.corpus.n_positions),
            )
        )
        total += n * weights
        seen += n
    np.testing.assert_allclose(start, total / np.maximum(seen, 1), rtol=1e-9, atol=1e-12)
    assert problem.value(start) < problem.value(np.zeros(problem.n_weights))
    with pytest.raises(ValueError, match="under an L2 penalty only"):
        averaged_start(spread(client, 2, c1=1.0), epochs=1)


def test_arrays_from_other_processes_are_made_writable_for_kernels():
    corpus = corpus_of(weights=True)
    for array in corpus:
        array.setflags(write=False)
    shard = Shard(corpus, build_feature_map(corpus_of(), 6, 3))
    weights = np.zeros(shard.features.n_weights)
    weights.setflags(write=False)
    assert all(array.flags.writeable for array in (*shard.corpus, shard.take(weights)))
    assert shard.problem.gradient(shard.take(weights))[0] > 0
