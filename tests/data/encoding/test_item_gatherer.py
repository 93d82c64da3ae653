"""Both readers of items, plain and compiled, give what `flatten` says, and the same arrays, names and errors."""

from __future__ import annotations

import marshal
import pickle
import subprocess
import sys
from contextlib import suppress
from decimal import Decimal
from enum import Enum, IntEnum, StrEnum
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fastcrf.data.encoding import reader_loading, stream_gatherer
from fastcrf.data.encoding.item_gatherer import ItemGatherer
from fastcrf.data.encoding.items import flatten
from fastcrf.data.encoding.name_table import NameTable
from fastcrf.data.encoding.names import Names
from fastcrf.data.encoding.plain_gatherer import PlainGatherer
from fastcrf.data.encoding.reader_loading import Loading
from fastcrf.data.encoding.stream_gatherer import StreamGatherer
from fastcrf.data.encoding.vocabulary import growing, pack_names, unpack_names
from fastcrf.exceptions import DataError


class Text(str):
    """A string of another class."""


class Word(str, Enum):  # noqa: UP042  # its hash is not that of its characters
    A = "x"


class Letter(StrEnum):
    A = "x"


class Count(IntEnum):
    ONE = 1


SHARED = {"s": "é", "t": True}  # marshal writes the second occurrence of an object as a reference
STRINGS = ["", "w", "a:b", ":", "é", "日本", "x" * 7, "x" * 8, "x" * 16, "x" * 256, "é" * 300, "\ud800", "a\0"]
ODD_STRINGS = [Text("w"), Word.A, Letter.A, np.str_("w"), b"w", b"\xff"]
INTEGERS = [0, 1, -1, 2**31, -(2**31), -(2**31) - 1, 2**45 - 1, 2**45, 2**53 + 1, 10**30]
NUMBERS = [True, False, 1.0, 0.0, -0.0, 0.5, 1e300, *INTEGERS]
ODD_NUMBERS = [np.float64(2.5), np.float32(0.1), np.int64(1), np.bool_(False), Count.ONE, Decimal(1), np.array(0.0)]
FAULTS = [None, float("nan"), float("inf"), 10**400, 1j, ("a",), frozenset("a"), np.zeros(2), object]

strings = st.sampled_from(STRINGS) | st.text(max_size=20)
keys = strings | st.sampled_from(ODD_STRINGS)
scalars = strings | st.sampled_from(NUMBERS + ODD_STRINGS + ODD_NUMBERS)
values = st.recursive(
    scalars | st.just(SHARED),
    lambda inner: (
        st.lists(strings, max_size=3) | st.sets(strings, max_size=3) | st.dictionaries(keys, inner, max_size=3)
    ),
    max_leaves=6,
)
wide = st.integers(100, 300).map(lambda n: {f"k{i}": "v" for i in range(n)})
good_items = st.dictionaries(keys, values, max_size=6) | st.lists(keys, max_size=6) | st.tuples(strings, strings) | wide
items = good_items | st.dictionaries(keys, values | st.sampled_from(FAULTS), max_size=3) | st.sampled_from(FAULTS)
corpora = st.lists(st.lists(good_items, max_size=4), max_size=4)
faulty_corpora = st.lists(st.lists(items, max_size=4), max_size=4)


def gathered(gatherer, X):
    for i, sequence in enumerate(X):
        gatherer.add_sequence(sequence, f"X[{i}]")
        gatherer.end_sequence()
    return gatherer.corpus()


def by_definition(X):
    """Names in order, and for each position its (name, value) pairs."""
    rows = [list(zip(*flatten(item), strict=True)) for sequence in X for item in sequence]
    return list(dict.fromkeys(name for row in rows for name, _ in row)), rows


def rows_of(corpus, names):
    values = corpus.values if len(corpus.values) else np.ones(len(corpus.attributes))
    pairs = [(names[a], value) for a, value in zip(corpus.attributes.tolist(), values.tolist(), strict=True)]
    return [pairs[first:last] for first, last in zip(corpus.offsets, corpus.offsets[1:], strict=False)]


def assert_equal(corpus, other):
    for name, array_ in corpus._asdict().items():
        np.testing.assert_array_equal(array_, getattr(other, name), err_msg=name)


def that_count(corpus, n_known):
    """{position: [(id, value), ...]} of what can add to a score."""
    rows = rows_of(corpus, [*range(n_known), None])
    return [[(a, value) for a, value in row if a is not None and value] for row in rows]


@settings(max_examples=300)
@given(corpora)
def test_both_readers_learn_the_same_names_and_arrays(X):
    names, rows = by_definition(X)
    plain, compiled = PlainGatherer(growing(), learning=True), StreamGatherer(NameTable(), learning=True)
    corpus = gathered(compiled, X)
    assert_equal(corpus, gathered(plain, X))
    assert unpack_names(*compiled.names.packed()) == list(plain.ids) == names
    assert rows_of(corpus, names) == rows


@settings(max_examples=200)
@given(corpora, corpora)
def test_both_readers_tag_alike(seen, X):
    names, _ = by_definition(seen)
    known = Names.in_order(names)
    plain, compiled = PlainGatherer(known.ids, learning=False), StreamGatherer(known.table, learning=False)
    assert that_count(gathered(compiled, X), len(names)) == that_count(gathered(plain, X), len(names))
    assert len(known.table) == len(names)


@settings(max_examples=200)
@given(faulty_corpora)
def test_both_readers_raise_the_same_errors(X):
    outcomes = []
    for gatherer in (PlainGatherer(growing(), learning=True), StreamGatherer(NameTable(), learning=True)):
        try:
            outcomes.append(len(gathered(gatherer, X).offsets))
        except DataError as error:
            outcomes.append(str(error))
    assert outcomes[0] == outcomes[1]


@given(corpora, corpora, st.booleans())
def test_the_compiled_reader_continues_where_plain_python_was(first, second, learning):
    known = Names.in_order(["w", "a:b", "k1:v"])
    whole = ItemGatherer(known, learning)
    expected = gathered(whole, first + second)
    switching = ItemGatherer(known, learning)
    gathered(switching, first)
    with loaded():
        corpus = gathered(switching, second)
    assert isinstance(switching.gatherer, StreamGatherer) or not second
    assert that_count(corpus, len(switching.learnt())) == that_count(expected, len(whole.learnt()))
    assert switching.learnt().listed() == whole.learnt().listed()


class loaded:
    """Within, the compiled reader is loaded."""

    def __init__(self, module=stream_gatherer):
        self.module = module

    def __enter__(self):
        self.before, Loading.module = Loading.module, self.module

    def __exit__(self, *_):
        Loading.module = self.before


@pytest.fixture(autouse=True)
def plain_at_first():
    """Other tests may have loaded the reader."""
    with loaded(None):
        yield


@given(corpora)
def test_a_sequence_is_taken_back_with_its_values(X):
    for make in (lambda: PlainGatherer(growing(), True), lambda: StreamGatherer(NameTable(), True)):
        untouched, gatherer = make(), make()
        expected = gathered(untouched, X)
        gathered(gatherer, X)
        mark = gatherer.mark()
        gatherer.add_sequence([{"new": 0.5, "k": "v"}] * 3, "X")
        gatherer.take_back(mark)
        assert_equal(gatherer.corpus(), expected)


def test_a_corpus_is_not_changed_by_what_is_gathered_later():
    gatherer = StreamGatherer(NameTable(), learning=True)
    corpus = gathered(gatherer, [[{"a": 0.5, "b": "c"}]])
    before = [array_.copy() for array_ in corpus]
    gathered(gatherer, [[{f"k{i}": float(i)} for i in range(5000)]])
    for array_, as_it_was in zip(corpus, before, strict=True):
        np.testing.assert_array_equal(array_, as_it_was)


def test_long_sequences_and_many_names_need_memory_of_every_kind():
    X = [[{f"key {i}": "v" * (i % 3000), "shared": SHARED, "x": i / 7} for i in range(3000)], [["y" * 9000]]]
    names, rows = by_definition(X)
    gatherer = StreamGatherer(NameTable(), learning=True)
    assert rows_of(gathered(gatherer, X), names) == rows
    assert unpack_names(*gatherer.names.packed()) == names


@given(st.lists(strings, unique=True))
def test_a_table_holds_packed_names(names):
    packed = pack_names(names)
    table = NameTable.of(*packed)
    assert all(np.array_equal(ours, given_) for ours, given_ in zip(table.packed(), packed, strict=True))
    again = table.copy()
    assert gathered(StreamGatherer(again, True), [[[*names, "one more"]]]).attributes.tolist()[: len(names)] == [
        *range(len(names))
    ]
    assert len(table) == len(names)


written = st.dictionaries(strings, strings | st.sampled_from(NUMBERS) | st.just(SHARED), max_size=5)
changes = st.lists(st.tuples(st.integers(0, 10**6), st.integers(0, 255)), min_size=1, max_size=4)


@settings(max_examples=300)
@given(st.lists(written | st.lists(strings), min_size=1, max_size=4), changes)
def test_a_damaged_stream_is_read_or_is_an_error(X, damage):
    stream = bytearray(marshal.dumps(X, stream_gatherer.VERSION))
    for place, byte in damage:
        stream[place % len(stream)] = byte
    gatherer = StreamGatherer(NameTable(), learning=True)
    with suppress(RuntimeError):
        gatherer._read(bytes(stream))
    corpus, n_names = gatherer.corpus(), len(gatherer.names)
    assert ((corpus.attributes >= 0) & (corpus.attributes < n_names)).all()
    assert (np.diff(corpus.offsets) >= 0).all()


def test_the_reader_is_loaded_when_plain_python_has_read_much(monkeypatch):
    for name, value in (("n_plain", 0), ("thread", None), ("module", None)):
        monkeypatch.setattr(Loading, name, value)
    monkeypatch.setattr(reader_loading, "WORTH_LOADING", 10)
    gatherer = ItemGatherer(Names(), learning=True)
    gatherer.add_sequence([["a", "b", "c"]] * 3, "X")
    assert Loading.thread is None
    gatherer.add_sequence([["a", "b"]], "X")
    Loading.thread.join()
    assert Loading.module is stream_gatherer
    gatherer.add_sequence([["a", "d"]], "X")
    assert isinstance(gatherer.gatherer, StreamGatherer)
    assert gatherer.learnt().listed() == ["a", "b", "c", "d"]


def test_a_marshal_that_writes_something_else_leaves_plain_python(monkeypatch):
    for name, value in (("n_plain", 10**9), ("thread", None), ("module", None)):
        monkeypatch.setattr(Loading, name, value)
    assert stream_gatherer.reads_like(flatten)
    monkeypatch.setattr(stream_gatherer, "marshal", SimpleNamespace(dumps=lambda items, _: pickle.dumps(items)))
    assert not stream_gatherer.reads_like(flatten)
    reader_loading.count_plain(1)
    Loading.thread.join()
    assert Loading.module is None


def test_tagging_a_few_sentences_loads_no_compiler():
    script = (
        "import sys\n"
        "from fastcrf.data.encoding.attributes import ItemAttributes\n"
        "ItemAttributes.of(['a']).gatherer().add_sequence([{'a': 1.0}], 'X')\n"
        "assert 'numba' not in sys.modules\n"
    )
    subprocess.run([sys.executable, "-c", script], check=True)
