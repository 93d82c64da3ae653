"""The integer engine makes the attributes that expanding templates as text makes, in the same order."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fastcrf.data.datasets.feature_sets import chunking
from fastcrf.data.encoding.encoder import Encoder, encode_training
from fastcrf.data.files.conll import read_columns
from fastcrf.data.template_engine import gatherer
from fastcrf.data.template_engine.attributes import TemplateAttributes
from fastcrf.data.templates.dialects import load_template, parse_template
from fastcrf.exceptions import DataError
from reference import plain_templates
from reference.data_folder import corpus_file

# Values hold neither the separators of the templates below nor digits, so that equal names mean equal attributes; the
# padding symbols are among them, because a token may well look like one.
value = st.sampled_from(["a", "B", "aB", "Ab", "_B-1", "_x+1", "Bb", "aA", "é", "_x-#"])
rows = st.lists(st.tuples(value, value), max_size=7)
corpora = st.lists(rows, min_size=1, max_size=5).filter(any)

crfpp_macro = st.builds("%x[{},{}]".format, st.integers(-8, 8), st.integers(0, 1))
regex = st.sampled_from(["^a", "b$", ".?$", "\\u", "^\\l*$", "a*B", "\\A", "^.?.?", "-", "\\p\\a?"])
wapiti_offset = st.integers(-7, 7).map(str) | st.builds("@{}".format, st.integers(-9, 9)) | st.just("+1")
wapiti_macro = st.builds("%{}[{},{}]".format, st.sampled_from("xX"), wapiti_offset, st.integers(0, 1)) | st.builds(
    '%{}[{},{},"{}"]'.format, st.sampled_from("tTmM"), wapiti_offset, st.integers(0, 1), regex
)


def template_lines(macro, first_letters):
    """Lines of templates; some have the same identifier, so that they spell the same attributes."""
    line = st.builds(
        lambda letter, number, macros: f"{letter}{number}x{len(macros)}:" + "|".join(macros),
        st.sampled_from(first_letters),
        st.sampled_from(["0", "1", "2"]),
        st.lists(macro, max_size=4),
    )
    return st.lists(line, min_size=1, max_size=6)


def encoded(text, kind, X):
    """The corpus of X, and its attributes."""
    known = TemplateAttributes.empty(parse_template(text, kind))
    corpus, attributes, _ = encode_training(X, [["O"] * len(x) for x in X], known=known)
    return corpus, attributes


def names_at(corpus, names):
    """Names of the attributes of each position, in order."""
    ids = corpus.attributes.tolist()
    return [[names[a] for a in ids[start:end]] for start, end in zip(corpus.offsets, corpus.offsets[1:], strict=False)]


def in_order(expanded):
    return list(dict.fromkeys(name for position in expanded for name in position))


@settings(max_examples=150)
@given(template_lines(crfpp_macro, "U"), corpora, st.integers(1, 40))
def test_crfpp_templates_give_the_attributes_of_the_text(lines, X, block):
    check("crfpp", plain_templates.crfpp, lines, X, block)


@settings(max_examples=250)
@given(template_lines(wapiti_macro, ["u", "U", "u"]), corpora, st.integers(1, 40))
def test_wapiti_patterns_give_the_observations_of_the_text(lines, X, block):
    check("wapiti", plain_templates.wapiti, lines, X, block)


def check(kind, expand, lines, X, block):
    """Same attributes at each position, numbered by first appearance, whatever the size of the blocks."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(gatherer, "BLOCK", block)
        corpus, attributes = encoded("\n".join([*lines, "# end"]), kind, X)
        expanded = [expand(lines, x, t) for x in X for t in range(len(x))]
        assert names_at(corpus, attributes.names()) == expanded
        assert attributes.names() == in_order(expanded)
        assert np.diff(corpus.starts).tolist() == [len(x) for x in X if x]
        again = Encoder(attributes).encode(X)
    assert again.attributes.tolist() == corpus.attributes.tolist()
    assert np.diff(again.starts).tolist() == [len(x) for x in X]


@settings(max_examples=80)
@given(template_lines(wapiti_macro, "u"), corpora, corpora)
def test_what_training_has_not_seen_falls_out_in_tagging(lines, seen, X):
    _, attributes = encoded("\n".join(lines), "wapiti", seen)
    known = set(attributes.names())
    found = names_at(Encoder(attributes).encode(X), attributes.names())
    expanded = [plain_templates.wapiti(lines, x, t) for x in X for t in range(len(x))]
    assert found == [[name for name in names if name in known] for names in expanded]
    for x in X:
        assert names_at(Encoder(attributes).encode_one(x), attributes.names()) == [
            [name for name in plain_templates.wapiti(lines, x, t) if name in known] for t in range(len(x))
        ]


@settings(max_examples=80)
@given(template_lines(wapiti_macro, "u"), corpora, st.integers(0, 99))
def test_kept_attributes_are_the_same_with_less_around_them(lines, X, seed):
    corpus, attributes = encoded("\n".join(lines), "wapiti", X)
    used = np.random.default_rng(seed).random(len(attributes)) < 0.4
    kept = attributes.kept(used)
    names = [name for name, is_used in zip(attributes.names(), used, strict=True) if is_used]
    assert kept.names() == names
    expected = [[name for name in position if name in names] for position in names_at(corpus, attributes.names())]
    assert names_at(Encoder(kept).encode(X), kept.names()) == expected
    nothing = attributes.kept(np.zeros(len(attributes), np.bool_))
    assert nothing.tables.sizes() == [0] * (nothing.program.n_alphabets - 1) + [1] + [0] * len(nothing.pairs)


@settings(max_examples=50)
@given(template_lines(crfpp_macro, "U"), corpora, corpora)
def test_learning_goes_on_in_a_copy(lines, X, more):
    _, attributes = encoded("\n".join(lines), "crfpp", X)
    before = attributes.names()
    corpus, extended, _ = encode_training(more, [["O"] * len(x) for x in more], known=attributes)
    assert attributes.names() == before == extended.names()[: len(before)]
    expanded = [plain_templates.crfpp(lines, x, t) for x in more for t in range(len(x))]
    assert names_at(corpus, extended.names()) == expanded


@settings(max_examples=50)
@given(corpora)
def test_the_built_in_chunking_templates_are_those_of_crfsuite(X):
    template = load_template("crfsuite-chunking")
    corpus, attributes, _ = encode_training(X, [["O"] * len(x) for x in X], known=TemplateAttributes.empty(template))
    assert template.transitions
    assert names_at(corpus, attributes.names()) == [position for x in X for position in chunking(x)]


def test_values_with_separators_are_distinguished():
    X = [[["a/b", "c"], ["a", "b/c"]]]
    corpus, attributes = encoded("U0:%x[0,0]/%x[0,1]", "crfpp", X)
    assert corpus.attributes.tolist() == [0, 1]
    assert attributes.names() == ["U0:a/b/c", "U0:a/b/c"]


def test_a_wide_window_over_many_short_sentences_takes_bounded_memory():
    X = [[["a", "b"]]] * 3000
    corpus, attributes = encoded("u:%x[1000,0]%x[-1000,1]", "wapiti", X)
    assert attributes.names() == ["u:_x+#_x-#"]
    assert len(corpus.attributes) == 3000


@pytest.mark.parametrize(
    ("X", "message"),
    [
        ([["the", "cat"]], r"^X\[0\], item 0 is a str; give one row of columns for each token"),
        ([[["the"], None]], r"^X\[0\], item 1 is None; give one row of columns"),
        ([[["a", "b"]], [["a", "b"], ["c"]]], r"^X\[1\] has rows of different lengths"),
        ([[["a"]]], r"^X\[0\] has 1 columns, but the template reads column 1"),
        ([[["a", "b"], ["c", 3]]], r"^X\[0\], item 1 has an int in column 1; convert it by str\(\)"),
    ],
)
def test_rows_that_do_not_fit_get_one_sentence(X, message):
    with pytest.raises(DataError, match=message):
        encoded("U%x[0,0]\nU%x[0,1]", "crfpp", X)


@pytest.fixture(scope="module")
def conll2000():
    return [sentence.rows for sentence in read_columns(corpus_file("conll2000/train.txt.gz"))]


CRFPP_CHUNKING = "\n".join(
    [f"U0{i}:%x[{i - 2},0]" for i in range(5)]
    + ["U05:%x[-1,0]/%x[0,0]", "U06:%x[0,0]/%x[1,0]"]
    + [f"U1{i}:%x[{i - 2},1]" for i in range(5)]
    + [f"U1{i + 5}:%x[{i - 2},1]/%x[{i - 1},1]" for i in range(4)]
    + [f"U2{i}:%x[{i - 2},1]/%x[{i - 1},1]/%x[{i},1]" for i in range(3)]
    + ["B"]
)


def test_conll2000_has_as_many_attributes_as_in_crfpp_and_crfsuite(conll2000):
    _, attributes = encoded(CRFPP_CHUNKING, "crfpp", conll2000)
    assert len(attributes) == len(set(attributes.names())) == 338_551
    template = TemplateAttributes.empty(load_template("crfsuite-chunking"))
    _, attributes, _ = encode_training(conll2000, [["O"] * len(x) for x in conll2000], known=template)
    assert len(attributes) == 335_674
