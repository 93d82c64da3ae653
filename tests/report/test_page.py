"""The page of a report is complete, works offline and shows any name safely."""

from __future__ import annotations

from html.parser import HTMLParser

import pytest

from fastcrf import CRF, CRFCV
from fastcrf.report.charts import round_number, training_curve
from fastcrf.report.page import report_page

EMPTY = {"meta", "link", "br"}
X = [[{"word": "31", "digit": True}, {"word": "Elm"}], [{"word": "<b>Paris</b>"}]]
Y = [["B-NUM", "O"], ["<city>"]]


class Checker(HTMLParser):
    """Reads a page, and fails where a tag is not closed or something is loaded."""

    def __init__(self):
        super().__init__()
        self.open, self.texts = [], []

    def handle_starttag(self, tag, attributes):
        assert not {name for name, _ in attributes} & {"src"}
        assert all(value.startswith("#") for name, value in attributes if name == "href")
        if tag not in EMPTY:
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.texts.append(data)


def checked(page):
    checker = Checker()
    checker.feed(page)
    assert checker.open == []
    return " ".join(checker.texts)


@pytest.fixture(scope="module")
def crf():
    return CRF(c2=0.1, n_jobs=1).fit(X, Y)


def test_a_report_has_all_its_parts(crf):
    text = checked(report_page(crf.model_, X, [["B-NUM", "O"], ["O"]], title="a < b", facts=[("data", "test.txt")]))
    for part in ("a < b", "66.67%", "test.txt", "within", "1 of 2 sequences have", "word:31", "<city>"):
        assert part in text
    assert "http" not in text


def test_without_a_mistake_it_says_so(crf):
    text = checked(report_page(crf.model_, X, Y))
    assert "Every label is right." in text
    assert "100.00%" in text


def test_a_model_without_a_record_of_its_training_has_a_report(crf):
    crf.model_.to_bytes("crfsuite")
    other = type(crf.model_).from_bytes(crf.model_.to_bytes("crfsuite"))
    assert "does not record its training" in checked(report_page(other, X, Y))


def test_the_curve_of_a_run_is_drawn(crf):
    assert len(crf.model_.options["training"]["curve"]) > 1
    assert "<polyline" in report_page(crf.model_, X, Y)
    drawn = training_curve([(1.0, 0.5), (190.0, 0.001)])
    assert ">200<" in drawn
    assert "1e-3" in drawn


@pytest.mark.parametrize(("value", "expected"), [(1.0, 1), (3, 5), (47.5, 50), (0.3, 0.5), (11, 20)])
def test_ticks_are_round_numbers(value, expected):
    assert round_number(value) == pytest.approx(expected)


def test_a_notebook_shows_the_model_of_a_fitted_estimator(crf):
    text = checked('<div class="fastcrf">' + crf._repr_html_().split('<div class="fastcrf">')[1])
    assert "B-NUM, O, <city>" in text
    assert "within" in text
    assert "Transition weights" not in CRF()._repr_html_()
    search = CRFCV(CRF(c2=0.1), c2_values=[1.0], cv=2, n_jobs=1).fit(X * 4, Y * 4)
    assert "Transition weights" in search._repr_html_()
    assert "Transition weights" in search._repr_mimebundle_()["text/html"]
