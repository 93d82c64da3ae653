"""The public feature functions: the names of the command line, lists of names, clusters and hashing."""

from __future__ import annotations

import doctest

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.pipeline import make_pipeline

from fastcrf import CRF, features
from fastcrf.data.datasets import token_features
from fastcrf.data.datasets.feature_sets import FEATURE_SETS
from fastcrf.data.encoding.column_attributes import column_items
from fastcrf.exceptions import DataError

TOKENS = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=6)
SENTENCE = ["In", "New", "York", "City", "Bk-12"]


@settings(deadline=None)
@given(st.integers(1, 3).flatmap(lambda n: st.lists(st.lists(TOKENS, min_size=n, max_size=n), max_size=6)))
def test_columns_are_those_of_the_command_line_in_the_same_order(rows):
    n_columns = len(rows[0]) if rows else 1
    assert features.columns(n_columns)(rows) == column_items(rows)


@pytest.mark.parametrize("name", ["chunking", "ner", "ner-pos", "pos", "characters"])
def test_a_set_of_the_literature_is_that_of_the_known_data_sets(name):
    rows = [["The", "DT"], ["cat", "NN"], ["sat", "VB"]]
    assert features.feature_set(name)(rows) == FEATURE_SETS[name](rows)


def test_a_token_is_a_row_of_one_column():
    assert features.words()(["a", "b"]) == features.words()([["a"], ("b",)])


def test_the_longest_entry_of_a_gazetteer_wins_and_entries_do_not_overlap():
    city = features.gazetteer("city", ["new york", "York City", ["New", "York", "City"], "bk-12"])
    assert city(SENTENCE) == [[], ["city[0]=B"], ["city[0]=I"], ["city[0]=I"], ["city[0]=B"]]
    assert features.gazetteer("city", ["york city"], same_case=True)(SENTENCE) == [[]] * 5


def test_gazetteers_and_clusters_are_read_from_files(tmp_path):
    (tmp_path / "cities.txt").write_text("New York\n\nParis\n")
    (tmp_path / "brown.txt").write_text("0110\tIn\t17\n01\tYork\t3\n")
    (tmp_path / "words.txt").write_text("In\t7\nYork\t12\n")
    assert features.gazetteer("city", tmp_path / "cities.txt")(["Paris"]) == [["city[0]=B"]]
    brown = features.clusters(tmp_path / "brown.txt", prefixes=(2, 4), window=1, name="brown")
    assert brown(["In", "York"]) == [
        ["brown[0]=0110", "brown2[0]=01", "brown[1]=01"],
        ["brown[-1]=0110", "brown2[-1]=01", "brown[0]=01"],
    ]
    assert features.clusters(tmp_path / "words.txt", (), 0)(["York"]) == [["cluster[0]=12"]]
    assert features.clusters({"York": "12"}, (), 0)(["York", "x"]) == [["cluster[0]=12"], []]


def test_a_broken_line_of_clusters_is_named(tmp_path):
    (tmp_path / "brown.txt").write_text("0110\tIn\t17\nIn York\n")
    with pytest.raises(DataError, match=r"brown\.txt:2: found 1 columns"):
        features.clusters(tmp_path / "brown.txt")
    (tmp_path / "empty.txt").write_text("\n")
    with pytest.raises(DataError, match=r"empty\.txt has no words"):
        features.clusters(tmp_path / "empty.txt")
    with pytest.raises(DataError, match="'city' has no entries"):
        features.gazetteer("city", tmp_path / "empty.txt")


def test_hashed_names_are_few_and_keep_the_number_of_attributes():
    plain, hashed = features.columns(), features.columns().hashed(4)
    items = hashed.transform([SENTENCE] * 2)
    assert [len(item) for item in items[0]] == [len(item) for item in plain(SENTENCE)]
    assert len({name for item in items[0] for name in item}) <= 16
    assert items == features.columns().hashed(4).transform([SENTENCE] * 2)


def test_describe_has_a_line_for_each_part():
    both = features.words(1) + features.gazetteer("city", ["Paris"])
    assert [text.split()[0] for text in both.describe().splitlines()] == ["0[-1..1]=", "city[0]="]
    assert "262,144 numbers" in both.hashed(18).describe()


def test_features_are_a_step_of_a_pipeline():
    X, y = [["New", "York"], ["Paris"]], [["B", "I"], ["B"]]
    tagger = make_pipeline(features.words(1) + features.shapes(), CRF(n_jobs=1)).fit(X, y)
    assert tagger.predict(X) == y


def test_a_function_of_ones_own_is_a_part():
    lengths = features.from_function(lambda rows: [[f"len={len(row[0])}"] for row in rows])
    assert (lengths + features.constant())(["a", "bcd"]) == [["len=1", "bias"], ["len=3", "bias"]]
    with pytest.raises(DataError, match="returned 0 items for 1 tokens"):
        features.from_function(lambda rows: [])(["a"])


@pytest.mark.parametrize(
    ("bad", "message"),
    [
        (["New York"], r"X\[0\] is a str; give a list of tokens"),
        ([["a"], [["b", "c"], ["d"]]], r"X\[1\], position 1: it has 1 columns"),
        ([["a", 7]], r"X\[0\], position 1: 7 is neither"),
        ("abc", "X is a string"),
    ],
)
def test_what_is_no_sentence_is_named_with_its_place(bad, message):
    with pytest.raises(DataError, match=message):
        features.words().transform(bad)


def test_wrong_arguments_are_errors():
    with pytest.raises(DataError, match="read column 1, but the rows have 1"):
        features.words(column=1)(["a"])
    with pytest.raises(ValueError, match="hash_bits must be at most 30"):
        features.words().hashed(31)
    with pytest.raises(ValueError, match="hash their sum"):
        features.words().hashed() + features.words()
    with pytest.raises(ValueError, match="name must be one of chunking"):
        features.feature_set("parsing")


def test_the_example_of_the_docstring_runs():
    assert doctest.testmod(token_features).failed == 0
