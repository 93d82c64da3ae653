"""Probabilities of segments, limits on segments, and other ways to decode, by enumeration; orders 1 and 2."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fastcrf import CRF, Constraints, Model
from fastcrf.data.encoding.attributes import ItemAttributes
from fastcrf.decoding import compiled_segments
from fastcrf.decoding import segments as plain_segments
from fastcrf.decoding.held_out_counts import read_marks
from fastcrf.decoding.segment_limit import segments_of
from fastcrf.decoding.segments import segment_rules
from fastcrf.exceptions import ConstraintError, DataError
from fastcrf.metrics import marks_are_bare, segments
from reference.random_corpora import random_features

LABELS = [["O", "B-x", "I-x", "B-y"], ["a", "b", "c"], ["B", "I", "O"], ["S-x", "B-x", "E-x", "I-x"]]


@st.composite
def models(draw):
    """(model, one sequence of items, constraints)."""
    seed, labels = draw(st.integers(0, 2**32)), draw(st.sampled_from(LABELS))
    rng = np.random.default_rng(seed)
    features = random_features(seed, n_labels=len(labels), order=draw(st.sampled_from([1, 2])), density=0.8)
    weights = draw(st.sampled_from([0.5, 2.0, 40.0])) * rng.normal(size=features.n_weights)
    model = Model(labels, ItemAttributes.of([str(a) for a in range(6)]), features, weights)
    X = [[str(a) for a in rng.integers(0, 6, 2)] for _ in range(draw(st.integers(1, 5)))]
    forbidden = [(j, k) for j in labels for k in labels if rng.random() < 0.15]
    return model, X, draw(st.sampled_from([None, Constraints(forbid=forbidden)]))


def chances_of(model, X, constraints):
    """{label sequence: probability}, of those that are possible."""
    paths = list(product(model.labels, repeat=len(X)))
    logs = model.log_proba([X] * len(paths), paths, constraints=constraints)
    return {path: chance for path, chance in zip(paths, np.exp(logs).tolist(), strict=True) if chance > 0.0}


def possible(model, X, constraints):
    return model.constraint_proba([X], constraints=constraints)[0] > 0.0


@settings(max_examples=60)
@given(models())
def test_a_segment_has_the_probability_of_all_label_sequences_with_it(drawn):
    model, X, constraints = drawn
    if not possible(*drawn):
        return
    chances, bare = chances_of(*drawn), marks_are_bare(model.labels)
    (spans,) = model.predict_spans([X], constraints=constraints)
    best = model.predict([X], constraints=constraints)[0]
    assert [(span.label, span.start, span.end) for span in spans] == segments(best, bare)
    with_it = [
        sum(p for path, p in chances.items() if (label, start, end) in segments(path, bare))
        for start, end, label, _ in spans
    ]
    assert [span.probability for span in spans] == pytest.approx(with_it, rel=1e-9)
    decoder, rules = model._decoder, segment_rules(model.labels)
    corpus = decoder.encode([X])
    places = [[(rules.types.index(label), start, end) for start, end, label, _ in spans]]
    arguments = corpus, model.features, model.weights, rules, places, decoder.allowed(corpus, constraints)
    for module in (plain_segments, *([compiled_segments] if model.features.order == 1 else [])):
        assert module.segment_probabilities(*arguments)[0] == pytest.approx(with_it, rel=1e-9)


@settings(max_examples=60)
@given(models(), st.data())
def test_limits_give_the_best_of_all_label_sequences_within_them(drawn, data):
    model, X, constraints = drawn
    bare = marks_are_bare(model.labels)
    types = sorted({kind for kind, _, _ in segments(model.labels, bare)})
    limits = data.draw(st.one_of(st.integers(0, 2), st.dictionaries(st.sampled_from(types), st.integers(0, 2))))
    most = limits if isinstance(limits, dict) else dict.fromkeys(types, limits)

    def is_within(path):
        found = [kind for kind, _, _ in segments(path, bare)]
        return all(found.count(kind) <= n for kind, n in most.items())

    if not possible(*drawn):
        return
    within = {path: p for path, p in chances_of(*drawn).items() if is_within(path)}
    if not within:
        with pytest.raises(ConstraintError, match="no label sequence has at most max_segments="):
            model.predict([X], constraints=constraints, max_segments=limits)
        return
    (found,) = model.predict([X], constraints=constraints, max_segments=limits)
    assert within[tuple(found)] == pytest.approx(max(within.values()), rel=1e-9)
    assert model.predict_single(X, constraints=constraints, max_segments=limits) == found


@settings(max_examples=30)
@given(models())
def test_other_ways_to_decode_equal_enumeration(drawn):
    model, X, constraints = drawn
    if not possible(*drawn):
        return
    chances = chances_of(*drawn)
    paths, p = np.array(list(chances), str), np.array(list(chances.values()))
    right = dict(zip(chances, ((paths[:, None] == paths).sum(axis=2) @ p).tolist(), strict=True))
    (safest,) = model.predict([X], constraints=constraints, decode="mbr")
    assert right[tuple(safest)] == pytest.approx(max(right.values()), rel=1e-9)
    (alone,) = model.predict([X], constraints=constraints, decode="marginal")
    for t, label in enumerate(alone):
        by_label = {k: sum(p for path, p in chances.items() if path[t] == k) for k in model.labels}
        assert by_label[label] == pytest.approx(max(by_label.values()), rel=1e-9)


@given(st.lists(st.sampled_from(["O", "B-x", "I-x", "E-x", "S-y", "I-y", "name", 3]), min_size=1, max_size=8))
def test_rules_of_transitions_find_the_segments_of_metrics(labels):
    known = sorted(set(labels), key=str)
    rules, path = segment_rules(known), [known.index(label) for label in labels]
    expected = [kind for kind, _, _ in segments(labels)]
    found = segments_of(path, rules, len(rules.types))
    assert {kind: n for kind, n in zip(rules.types, found.tolist(), strict=True) if n} == {
        kind: expected.count(kind) for kind in expected
    }
    assert len(read_marks(known).inside) == len(known) + 1


X = [[{"w": word} for word in line.split()] for line in ("Ada Lovelace wrote", "She met Babbage", "Ada")] * 4
Y = [line.split() for line in ("B-PER I-PER O", "O O B-PER", "B-PER")] * 4


@pytest.fixture(scope="module")
def crf():
    return CRF(c2=0.1).fit(X, Y)


def test_spans_have_places_in_tokens_or_characters(crf):
    assert [span[:3] for span in crf.predict_spans(X[:1])[0]] == [(0, 2, "PER")]
    assert crf.predict_spans([[]]) == [[]]
    ((span,),) = crf.predict_spans(X[:1], offsets=[[(0, 3), (4, 12), (13, 18)]])
    assert span[:3] == (0, 12, "PER")
    assert 0.5 < span.probability < 1.0
    with pytest.raises(DataError, match=r"X\[0\] has 3 items and offsets\[0\] has 1 pairs; give one per item"):
        crf.predict_spans(X[:1], offsets=[[(0, 3)]])
    with pytest.raises(DataError, match="X has 1 sequences and offsets has 2; give one list of pairs for each"):
        crf.predict_spans(X[:1], offsets=[[], []])


def test_a_segment_is_less_probable_than_its_labels_because_it_must_end(crf):
    ((span,),) = crf.predict_spans(X[:1])
    ((labels,),) = crf.span_proba(X[:1], Y[:1], [[(0, 2)]])
    assert span.probability < labels


def test_limits_are_checked(crf):
    with pytest.raises(ValueError, match=r"max_segments has 'LOC', but the types of segments are 'PER'\."):
        crf.predict(X, max_segments={"LOC": 1})
    with pytest.raises(ValueError, match="max_segments must be a whole number of at least 0; got max_segments=-1"):
        crf.predict(X, max_segments=-1)
    with pytest.raises(ValueError, match="max_segments requires decode='viterbi'; got decode='mbr'"):
        crf.predict(X, max_segments=1, decode="mbr")
    with pytest.raises(ValueError, match="decode must be one of viterbi, marginal, mbr; got decode='beam'"):
        crf.predict(X, decode="beam")


def test_limits_hold_where_scores_are_large(crf):
    model = crf.model_
    large = Model(model.labels, model.attributes, model.features, 1e7 * model.weights)
    for labels in large.predict([[{"w": "Ada"}, {"w": "wrote"}] * 4], max_segments=1):
        assert len(segments(labels)) == 1


def test_too_many_repeated_types_are_an_error_and_not_a_wait():
    labels = [f"B-{n}" for n in range(24)]
    X = [[[str(n)] for n in range(24)] * 2]
    features = random_features(1, n_labels=24, n_attributes=24, density=1.0)
    weights = np.zeros(features.n_weights)
    weights[: features.n_state].reshape(24, 24)[np.arange(24), np.arange(24)] = 5.0
    model = Model(labels, ItemAttributes.of([str(n) for n in range(24)]), features, weights)
    with pytest.raises(ConstraintError, match=r"X\[0\]: 24 types of segments repeat, .* limit fewer types, or split"):
        model.predict(X, max_segments=1)
    limited = model.predict(X, max_segments={"3": 1, "7": 0})[0]
    assert (limited.count("B-3"), limited.count("B-7"), limited.count("B-1")) == (1, 0, 2)
