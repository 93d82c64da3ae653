"""Item files: what is written is read back, CRFsuite's escapes and declarations are understood, faults have a line."""

from __future__ import annotations

import gzip
import io

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fastcrf.data.encoding.items import flatten
from fastcrf.data.files.crfsuite_items import item_sequences, read_items, write_items
from fastcrf.exceptions import DataError

names = st.text(st.characters(codec="utf-8", exclude_characters="\t\n\r"), min_size=1, max_size=6)
values = st.just(1.0) | st.floats(allow_nan=False, allow_infinity=False)
items = st.lists(names, max_size=4) | st.dictionaries(names, values, max_size=4)
labels = names.filter(lambda label: not label.startswith("@"))
sequences = st.lists(st.tuples(labels, items), min_size=1, max_size=4)


def parsed(text):
    return list(item_sequences(text.split("\n"), "f"))


def attributes(item):
    """Names with the sum of their values."""
    found = {}
    for name, value in zip(*flatten(item), strict=True):
        found[name] = found.get(name, 0.0) + value
    return found


@given(st.lists(st.tuples(sequences, st.just(1.0) | st.floats(0, 1e9)), max_size=4))
def test_what_is_written_is_read_back(corpus):
    file = io.StringIO(newline="")
    X = [[item for _, item in sequence] for sequence, _ in corpus]
    y = [[label for label, _ in sequence] for sequence, _ in corpus]
    write_items(file, X, y, [weight for _, weight in corpus])
    found = parsed(file.getvalue())
    assert [sequence.labels for sequence in found] == y
    assert [sequence.weight for sequence in found] == [weight for _, weight in corpus]
    assert [[attributes(item) for item in sequence.items] for sequence in found] == [
        [attributes(item) for item in sequence] for sequence in X
    ]


def test_lines_mean_what_they_mean_to_crfsuite():
    text = "\n@weight:2.5\nB-NP\tw[0]=the\tpos:0.5\ta\\:b:\\n:\nO\t#\tx y:-1e-2\tx y\n\n\n\nO\n"
    with pytest.raises(
        DataError, match=r"^f:3: '\\\\n:' is not a number; write '\\:' for a colon in the name of an attribute\.$"
    ):
        parsed(text)
    first, second = parsed(text.replace("\\n:", ""))
    assert first == (3, 2.5, ["B-NP", "O"], [{"w[0]=the": 1.0, "pos": 0.5, "a:b": 1.0}, {"#": 1.0, "x y": 0.99}])
    assert second == (8, 1.0, ["O"], [[]])


def test_values_of_one_are_left_out():
    assert parsed("A\ta:\tb\\\\\tc\\d")[0].items == [["a", "b\\", "c\\d"]]
    file = io.StringIO()
    write_items(file, [[{"a": "b", "c": 1, "d": 0.25}]], [["x:y"]])
    assert file.getvalue() == "x\\:y\ta\\:b\tc\td:0.25\n\n"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("A\ta\n@weight:2", "f:2: a declaration must come before the items of a sequence"),
        ("@wait:2", "f:1: there is no declaration '@wait'"),
        ("@weight", "f:1: '' is not a number"),
        ("@weight:-1", "f:1: the weight -1 is negative"),
        ("\tb", "f:1: the line has no label before the first tab"),
        ("A\n\nB:I\tb", "f:3: the label 'B:I' contains a plain colon"),
        ("A\ta:nan", "f:1: the value nan is not finite"),
        ("A\tx:1:2", "f:1: '1:2' is not a number"),
    ],
)
def test_a_fault_is_named_with_file_and_line(text, message):
    with pytest.raises(DataError) as caught:
        parsed(text)
    assert str(caught.value).startswith(message)


@pytest.mark.parametrize(
    ("X", "y", "weights", "message"),
    [
        ([[["a\tb"]]], [["A"]], None, r"^X\[0\], item 0 has the name 'a\\tb', which an item file cannot hold"),
        ([[["a"]]], [["@A"]], None, r"^X\[0\], item 0 has the label '@A', which an item file cannot hold"),
        ([[["a"]]], [[""]], None, r"^X\[0\], item 0 has the label ''"),
        ([[["a"]], [["b"], ["c"]]], [["A"], ["B"]], None, r"^X\[1\] has 2 items and y\[1\] has 1 labels"),
        ([[["a"]], [["b"]]], [["A"], ["B"]], [2.0], r"^There are 1 weights and more sequences"),
        ([[{"a": None}]], [["A"]], None, r"^X\[0\], item 0, key 'a' has the value None"),
    ],
)
def test_what_a_file_cannot_hold_raises_an_error(X, y, weights, message):
    with pytest.raises(DataError, match=message):
        write_items(io.StringIO(), X, y, weights)


def test_a_gzipped_file_is_read_and_a_missing_one_is_one_sentence(tmp_path):
    (tmp_path / "items").write_bytes(gzip.compress(b"A\ta\n\nB\tb\n"))
    assert [sequence.labels for sequence in read_items(tmp_path / "items")] == [["A"], ["B"]]
    with pytest.raises(DataError, match=r"^Cannot read .*missing: No such file"):
        list(read_items(tmp_path / "missing"))
