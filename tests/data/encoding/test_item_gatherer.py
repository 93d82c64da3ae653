"""The fast lanes of items give what `flatten` says, whatever was looked up before, and keep little."""

from __future__ import annotations

from decimal import Decimal
from enum import Enum, IntEnum, StrEnum

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fastcrf.data.encoding import item_gatherer
from fastcrf.data.encoding.attributes import ItemAttributes
from fastcrf.data.encoding.items import flatten


class Text(str):
    """A string of another class."""


class Word(str, Enum):  # noqa: UP042  # its hash is not that of its characters
    A = "x"


class Letter(StrEnum):
    A = "x"


class Count(IntEnum):
    ONE = 1


# Values that are equal, or look it, and yet may mean different attributes.
ALIKE = [True, 1, 1.0, "1", b"1", "True", np.float64(1), np.int64(1), np.bool_(True), Count.ONE, Decimal(1)]
NOTHING = [False, 0, 0.0, -0.0, "0", "", np.float64(0), np.array(0.0)]
OTHERS = [
    "x",
    Text("x"),
    Word.A,
    Letter.A,
    np.str_("x"),
    b"x",
    0.5,
    -1,
    ["q"],
    {"q"},
    {"q": "x"},
    {"q": 0.5},
    "y" * 200,
]
KEYS = ["a", b"a", Text("a"), np.str_("a"), Letter.A, "a:x", "a:1", ""]

dicts = st.lists(st.tuples(st.sampled_from(KEYS), st.sampled_from(ALIKE + NOTHING + OTHERS)), max_size=4).map(dict)
plain = st.dictionaries(st.sampled_from(["a", "a:x", ""]), st.sampled_from([True, 1.0, "x", "1", False]), max_size=3)
nested = st.dictionaries(st.sampled_from(KEYS), plain | dicts | st.sampled_from([True, "x", 0.5]), max_size=3)
sequences = st.lists(dicts | nested, min_size=1, max_size=6)


def rows_by_definition(items, ids):
    """{attribute id: value} of each item, without those that add nothing."""
    rows = []
    for item in items:
        row = {}
        for name, value in zip(*flatten(item), strict=True):
            row[ids.get(name, -1)] = row.get(ids.get(name, -1), 0.0) + value
        rows.append({a: value for a, value in row.items() if a >= 0 and value})
    return rows


def rows_of(gatherer, items):
    gatherer.add_sequence(items, "X")
    gatherer.end_sequence()
    corpus, rows = gatherer.corpus(), []
    for p in range(len(items)):
        row = {}
        for o in range(corpus.offsets[p], corpus.offsets[p + 1]):
            a, value = int(corpus.attributes[o]), float(corpus.values[o]) if len(corpus.values) else 1.0
            row[a] = row.get(a, 0.0) + value
        rows.append({a: value for a, value in row.items() if a >= 0 and value})
    return rows


@settings(max_examples=200)
@given(sequences, sequences)
def test_values_that_are_equal_but_mean_different_things_are_told_apart(training, tagging):
    gatherer, learnt = ItemAttributes({}).learner()
    rows, attributes = rows_of(gatherer, training), learnt()
    in_order = dict.fromkeys(name for item in training for name in flatten(item)[0])
    assert attributes.ids == {name: a for a, name in enumerate(in_order)}
    assert rows == rows_by_definition(training, attributes.ids)
    for items in (tagging, training, tagging):  # the second time from the cache
        assert rows_of(attributes.gatherer(), items) == rows_by_definition(items, attributes.ids)


@pytest.mark.parametrize("value", ["rare {}", "long " * 1000 + "{}"])
def test_the_cache_stays_small(value, monkeypatch):
    monkeypatch.setattr(item_gatherer, "MOST_PAIRS", 50)
    attributes = ItemAttributes({"a:rare 7": 0})
    items = [{"a": value.format(i)} for i in range(500)]
    assert rows_of(attributes.gatherer(), items) == rows_by_definition(items, attributes.ids)
    assert sum(len(text) for _, text in attributes.pairs) <= 52 * len("rare 500")
