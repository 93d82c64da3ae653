"""Sequences that come in chunks, with attributes and labels that turn up late; and a stream in a file."""

from __future__ import annotations

import pickle
from itertools import islice

import numpy as np
import pytest

from fastcrf import CRF
from fastcrf.data.encoding.encoder import NO_ITEMS, encode_training
from fastcrf.exceptions import CheckpointError
from fastcrf.feature_space.feature_map import build_feature_map
from fastcrf.feature_space.feature_union import NO_FEATURES, merge
from fastcrf.fitting.growth import extended, extended_memory
from fastcrf.fitting.stream import Stream, check_streams
from fastcrf.objective.problem import Problem
from fastcrf.solvers import registry
from fastcrf.solvers.online.psa import PSA

QUICK = {"eta": 0.4, "alpha": 0.95, "beta": 0.6, "period": 2}


def sentences(n, seed, words):
    """The label of word k is A, B or C by k modulo 3, apart from some noise."""
    rng = np.random.default_rng(seed)
    X, y = [], []
    for _ in range(n):
        picked = rng.choice(words, rng.integers(2, 4))
        X.append([[f"w{k}", "bias"] for k in picked])
        y.append(["ABC"[k % 3] if rng.random() < 0.9 else "A" for k in picked])
    return X, y


EARLY, LATER = [0, 1, 3, 4], [0, 1, 3, 4, 6, 7]  # without the label C
CHUNKS = [sentences(8, 0, EARLY), sentences(6, 1, LATER), sentences(9, 2, range(9)), sentences(5, 3, range(12))]


def by_name(labels, attributes, features, values):
    names = attributes.names()
    owners = np.repeat(np.arange(features.n_attributes), np.diff(features.offsets))
    named = {(names[a], labels[k]): v for a, k, v in zip(owners, features.labels, values, strict=False)}
    edges = zip(features.sources, features.targets, values[features.n_state :], strict=True)
    return named | {(labels[j], labels[k], "edge"): v for j, k, v in edges}


def test_old_features_keep_their_numbers_by_name_and_new_ones_get_the_fill():
    (X, y), (X_more, y_more) = CHUNKS[0], CHUNKS[2]
    corpus, known, labels = encode_training(X, y)
    old, _ = merge(NO_FEATURES, build_feature_map(corpus, len(known), len(labels)))
    values = np.arange(1.0, old.n_weights + 1.0)
    before = by_name(labels, known, old, values)
    corpus, attributes, labels = encode_training(X_more, y_more, known=known, labels=labels)
    new = build_feature_map(corpus, len(attributes), len(labels))
    features, places = merge(old, new)
    after = by_name(labels, attributes, features, extended(values, places, features.n_weights, fill=-1.0))
    assert {name: after[name] for name in before} == before
    assert {value for name, value in after.items() if name not in before} == {-1.0}
    fresh = by_name(labels, attributes, new, np.zeros(new.n_weights))
    assert after.keys() == before.keys() | fresh.keys()
    assert len(before) < len(after) > len(fresh)


@pytest.mark.parametrize("penalty", [{"c2": 0.5}, {}])
def test_attributes_that_turn_up_late_are_as_if_they_had_been_there_from_the_start(penalty):
    """Weights that no sequence has looked at changed nothing, and are where they would be."""
    X, y = [[*first, *second] for first, second in zip(*CHUNKS[:2], strict=True)]
    _, attributes, labels = encode_training(X, y)
    corpora = [encode_training(*chunk, known=attributes, labels=labels)[0] for chunk in CHUNKS[:2]]
    sizes, every = (len(attributes), len(labels)), {"all_states": True, "all_transitions": True}
    some, whole = (build_feature_map(c, *sizes, **every) for c in (corpora[0], encode_training(X, y)[0]))
    whole, places = merge(some, whole)
    assert some.n_weights < whole.n_weights
    solver = PSA(**QUICK)

    def epoch(corpus, features, state):
        steps = solver.iterate(Problem(corpus, features, **penalty), np.zeros(features.n_weights), state)
        return next(islice(steps, 1, None))

    known = epoch(corpora[1], whole, epoch(corpora[0], whole, None).state)
    first = epoch(corpora[0], some, None)
    state = extended_memory(solver.state_fields, first.state, places, whole.n_weights)
    late = epoch(corpora[1], whole, state)
    np.testing.assert_allclose(late.weights, known.weights, rtol=1e-10, atol=1e-12)
    np.testing.assert_allclose(late.state["rate"], known.state["rate"], rtol=1e-10)


@pytest.mark.parametrize("algorithm", [PSA(**QUICK), "staggered-aitken", "adagrad", "asg", "sgd"])
@pytest.mark.parametrize("penalty", [{"c2": 0.5}, {"c1": 0.1, "c2": 0.0}])
def test_saving_and_loading_in_mid_stream_continues_exactly(algorithm, penalty, tmp_path):
    if algorithm in ("sgd", "asg") and "c1" in penalty:
        pytest.skip("it has no L1 penalty")
    whole = CRF(algorithm, **penalty)
    for chunk in CHUNKS:
        whole.partial_fit(*chunk)
    broken = CRF(algorithm, **penalty)
    for chunk in CHUNKS[:2]:
        broken.partial_fit(*chunk)
    broken.save_stream(tmp_path / "stream")
    for resumed in (CRF.load_stream(tmp_path / "stream"), pickle.loads(pickle.dumps(broken))):
        for chunk in CHUNKS[2:]:
            resumed.partial_fit(*chunk)
        assert resumed.state_features_ == whole.state_features_
        np.testing.assert_array_equal(resumed.model_.weights, whole.model_.weights)
        assert resumed.classes_ == whole.classes_ == ["A", "B", "C"]


def test_after_a_chunk_it_predicts_and_tells_how_it_did_before_learning():
    crf = CRF(PSA(eta=0.5), c2=0.1)
    for _ in range(5):
        for X, y in CHUNKS:
            crf.partial_fit(X, y)
    assert crf.score(*CHUNKS[1]) > 0.8
    assert [row["sequences"] for row in crf.history_[:4]] == [8, 14, 23, 28]
    assert crf.history_[0]["progressive_error"] > crf.history_[-1]["progressive_error"]
    assert crf.n_iter_ == 20


def test_labels_may_be_named_before_they_turn_up():
    crf = CRF().partial_fit(*CHUNKS[0], classes=["C", "B", "A"])
    assert crf.classes_ == ["C", "B", "A"]
    assert set(crf.predict_marginals(CHUNKS[0][0])[0][0]) == {"A", "B", "C"}


def test_all_states_cover_labels_that_turn_up_late():
    crf = CRF(all_possible_states=True, all_possible_transitions=True)
    for chunk in CHUNKS[:3]:
        crf.partial_fit(*chunk)
    stream = crf._stream
    assert stream.features.n_weights == 3 * len(stream.attributes) + 9


def test_it_goes_on_from_a_fitted_model():
    X, y = CHUNKS[0]
    crf = CRF(c2=0.1).fit(X, y)
    before = crf.transition_features_
    crf.set_params(algorithm=PSA(eta=1e-9)).partial_fit(*CHUNKS[2])
    after = crf.transition_features_
    assert {name: after[name] for name in before} == pytest.approx(before, abs=1e-5)
    assert any("C" in names for names in after.keys() - before.keys())


def test_the_penalty_is_for_the_sequences_seen_or_those_expected():
    X, y = CHUNKS[0]
    many, few = (CRF(PSA(eta=0.5), c2=8.0).partial_fit(X, y, total_sequences=n) for n in (1000, None))
    assert np.abs(few.model_.weights).sum() < 0.8 * np.abs(many.model_.weights).sum()


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("sag", "keeps a table of the sequences that it has seen"),
        ("lbfgs", "needs the whole corpus for every step"),
        ("l2sgd", "measures what it does against one corpus that it can return to"),
    ],
)
def test_solvers_that_cannot_say_why(name, why):
    with pytest.raises(ValueError, match=f"{name} does not support online learning: it {why}.*; use psa"):
        CRF(name).partial_fit(*CHUNKS[0])


def test_every_solver_streams_or_says_why_not():
    for name in registry.names():
        solver = registry.make(name)
        if getattr(solver, "streams", False):
            assert {kept.axis for kept in solver.state_fields.values()} <= {"weights", "none"}
            assert "sampled" in solver.state_fields
        else:
            with pytest.raises(ValueError, match=r"does not support online learning: it .*\.$"):
                check_streams(solver)


def test_rare_features_cannot_be_left_out():
    with pytest.raises(ValueError, match=r"Online learning cannot drop rare features.*min_freq"):
        CRF(min_freq=2).partial_fit(*CHUNKS[0])
    with pytest.raises(ValueError, match=r"Online learning cannot drop rare features.*min_count=1"):
        CRF(min_count=2).partial_fit(*CHUNKS[0])


def test_the_length_of_the_stream_is_settled_with_the_first_chunk():
    crf = CRF().partial_fit(*CHUNKS[0], total_sequences=100)
    crf.partial_fit(*CHUNKS[1]).partial_fit(*CHUNKS[2], total_sequences=100)
    with pytest.raises(ValueError, match=r"total_sequences=50 differs from 100, the value of the first chunk\."):
        crf.partial_fit(*CHUNKS[3], total_sequences=50)
    with pytest.raises(ValueError, match="total_sequences must be a whole number of at least 1"):
        CRF().partial_fit(*CHUNKS[0], total_sequences=0)


def test_a_chunk_that_fails_leaves_everything_as_it_was():
    crf = CRF().partial_fit(*CHUNKS[0])
    before = crf.state_features_
    with pytest.raises(ValueError, match="one label per item"):
        crf.partial_fit([[["a"], ["b"]]], [["A"]])
    with pytest.raises(ValueError, match=r"Online learning diverged, and the chunk is dropped"):
        Stream(PSA(eta=1e307), 0.0, 0.0, NO_ITEMS, {}).learn([[{"a": 1e3}, {"a": -1e3}]] * 9, [["A", "B"]] * 9)
    assert crf.state_features_ == before
    with pytest.raises(ValueError, match="nothing to train on"):
        CRF().partial_fit([], [])


def damaged(data):
    middle = len(data) // 2
    return data[:middle] + bytes([data[middle] ^ 1]) + data[middle + 1 :]


@pytest.mark.parametrize("spoil", [damaged, lambda data: data[:-9], lambda data: b"", lambda data: b"x" * 100])
def test_a_damaged_file_raises_an_error(spoil, tmp_path):
    path = tmp_path / "stream"
    CRF().partial_fit(*CHUNKS[0]).save_stream(path)
    path.write_bytes(spoil(path.read_bytes()))
    with pytest.raises(CheckpointError, match=r"start over without it\.$"):
        CRF.load_stream(path)


def test_a_memory_that_does_not_fit_raises_an_error(tmp_path):
    crf = CRF().partial_fit(*CHUNKS[0])
    crf._stream.state = {**crf._stream.state, "rate": crf._stream.state["rate"] - 2.0}
    crf.save_stream(tmp_path / "stream")
    with pytest.raises(CheckpointError, match="'rate' holds numbers outside 0 to 1"):
        CRF.load_stream(tmp_path / "stream")
