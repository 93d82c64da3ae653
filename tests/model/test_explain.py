"""Explanations add up to differences of scores, which are those of enumeration."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest

from fastcrf import CRF
from fastcrf.exceptions import ConstraintError, DataError
from reference.toy_sequences import toy_sequences


def simple(item):
    """An item whose attributes have the names of its keys."""
    named = {f"{key}={value}" if isinstance(value, str) else key: value for key, value in item.items()}
    return {name: 1.0 if isinstance(value, str) else float(value) for name, value in named.items() if is_plain(value)}


def is_plain(value):
    return isinstance(value, str | bool | int | float)


TOYS, Y = toy_sequences(30)
X = [[simple(item) for item in xseq] for xseq in TOYS]
XSEQ = X[0][:4]


@pytest.fixture(scope="module", params=[1, 2])
def crf(request):
    return CRF(order=request.param, c2=0.5, n_jobs=1, all_possible_transitions=True).fit(X, Y)


def logs_of(crf, xseq):
    """The log probability of every label sequence."""
    every = list(itertools.product(crf.classes_, repeat=len(xseq)))
    return dict(zip(every, crf.log_proba([xseq] * len(every), every).tolist(), strict=True))


def by_weights(crf, xseq, labels, against, t):
    """The difference of scores that belongs to token t, from the weights by name."""
    state, ngrams = crf.state_features_, {**crf.transition_features_, **crf.ngram_features_}
    total = 0.0
    for path, sign in ((labels, 1.0), (against, -1.0)):
        total += sign * sum(value * state.get((name, path[t]), 0.0) for name, value in xseq[t].items())
        total += sign * sum(ngrams.get(tuple(path[first : t + 1]), 0.0) for first in range(t))
    return total


@pytest.mark.parametrize("place", [0, 2, (1, 3), (0, 4)])
def test_contributions_add_up_to_the_difference_of_the_two_best_label_sequences(crf, place):
    first, last = place if isinstance(place, tuple) else (place, place + 1)
    logs = logs_of(crf, XSEQ)
    found = crf.explain(XSEQ, place)
    best = tuple(crf.predict_single(XSEQ))
    others = {path: log for path, log in logs.items() if path[first:last] != best[first:last]}
    assert found.labels == best
    assert logs[found.against] == pytest.approx(max(others.values()))
    assert found.against[first:last] != best[first:last]
    assert found.difference == pytest.approx(logs[best] - max(others.values()))
    assert math.fsum(each.score for each in found.contributions) == found.difference
    assert np.argsort([-abs(each.score) for each in found.contributions], kind="stable").tolist() == list(
        range(len(found.contributions))
    )
    for t, total in enumerate(found.by_token()):
        assert total == pytest.approx(by_weights(crf, XSEQ, found.labels, found.against, t), abs=1e-12)


def test_a_label_is_compared_with_the_one_that_is_named(crf):
    logs, wanted, other = logs_of(crf, XSEQ), crf.classes_[1], crf.classes_[2]
    found = crf.explain(XSEQ, 1, other, labels=wanted)
    best = max((path for path in logs if path[1] == wanted), key=logs.get)
    second = max((path for path in logs if path[1] == other), key=logs.get)
    assert (found.labels, found.against) == (best, second)
    assert found.difference == pytest.approx(logs[best] - logs[second])
    span = crf.explain(XSEQ, (1, 3), [other, wanted])
    assert span.against[1:3] == (other, wanted)
    assert crf.explain(XSEQ, (1, 3), other, labels=wanted).against[1:3] == (other, other)


def test_what_is_given_elsewhere_holds_for_both(crf):
    given = [crf.classes_[0], None, None, {crf.classes_[1], crf.classes_[2]}]
    found = crf.explain(XSEQ, 1, given=given)
    logs = {path: log for path, log in logs_of(crf, XSEQ).items() if path[0] == given[0] and path[3] in given[3]}
    best = max(logs, key=logs.get)
    second = max((path for path in logs if path[1] != best[1]), key=logs.get)
    assert (found.labels, found.against) == (best, second)


def test_the_table_and_the_page_name_tokens_labels_and_the_total(crf):
    found = crf.explain(XSEQ, 1)
    head, *rows = str(found).splitlines()
    assert head == f"{found.tokens[1]}: {found.labels[1]} against {found.against[1]}"
    assert rows[-1] == f"{found.difference:+9.3f}  in total"
    page = found._repr_html_()
    assert page.count('aria-current="true"') == 1
    assert page.count("<code>") == len(found.contributions)
    assert f"{found.labels[1]} <s>{found.against[1]}</s>" in page


def test_names_are_escaped_in_the_page():
    strange = CRF(c2=0.1, n_jobs=1).fit([[["<b>"], ["&"]]] * 3, [["<i>", "O"]] * 3)
    page = strange.explain([["<b>"], ["&"]], 0)._repr_html_()
    assert "<b>" not in page
    assert "&lt;b&gt;" in page
    assert "<i>" not in page


def test_wrong_places_and_labels_are_reported(crf):
    for place in (4, -1, (2, 2), (0, 5)):
        with pytest.raises(DataError, match=r"is not within the sequence, which has 4 tokens"):
            crf.explain(XSEQ, place)
    with pytest.raises(DataError, match="against: the model has no label 'X'"):
        crf.explain(XSEQ, 0, "X")
    with pytest.raises(DataError, match="against has 1 labels and the place has 2 tokens"):
        crf.explain(XSEQ, (0, 2), [crf.classes_[0]])
    with pytest.raises(DataError, match="already; name other labels"):
        crf.explain(XSEQ, 0, crf.predict_single(XSEQ)[0])
    with pytest.raises(ConstraintError):
        crf.explain(XSEQ, 0, given=[crf.classes_[0], None, None, None])
