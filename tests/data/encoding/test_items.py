"""Items mean what python-crfsuite takes them to mean, and what it cannot take gets a sentence."""

from __future__ import annotations

import collections
import decimal
import enum
import types

import numpy as np
import pycrfsuite
import pytest
import scipy.sparse
from hypothesis import given

from fastcrf.data.encoding.items import ItemError, flatten
from reference.raw_corpora import items


def crfsuite_attributes(item):
    return pycrfsuite.ItemSequence([item]).items()[0]


@given(items)
def test_any_item_has_the_attributes_that_python_crfsuite_gives_it(item):
    assert dict(zip(*flatten(item), strict=True)) == crfsuite_attributes(item)


class Tag(str, enum.Enum):  # noqa: UP042 - prints as "Tag.NOUN", which a StrEnum does not
    NOUN = "noun"


@pytest.mark.parametrize(
    "item",
    [
        {"a": True, "b": False, "c": 0, "d": -0.0},
        {"a": np.float32(1.5), "b": np.int8(3), "c": np.bool_(True), "d": np.array(2.5)},
        {"a": decimal.Decimal("1.5")},
        {np.str_("a"): np.str_("b"), np.bytes_(b"c"): np.bytes_(b"d")},
        {"a": "1.5", "a:b": "c", "": "", "d": {"": {"": 2}}},
        {"a": {"b": ["c", "d"], "e": {"f": 1, "g": {"h"}}}, "i": [], "j": {}},
        {Tag.NOUN: Tag.NOUN},
        [Tag.NOUN, np.str_("x")],
        collections.OrderedDict(a=1, b="x"),
        collections.Counter("abb"),
        np.array(["a", "b"]),
        ("a", "b", "a"),
        {"a"},
        "ab",
        "",
        {},
        [],
    ],
)
def test_odd_but_legal_items_have_the_attributes_that_python_crfsuite_gives_them(item):
    names, values = flatten(item)
    assert all(type(name) is str for name in names)
    assert dict(zip(names, values, strict=True)) == crfsuite_attributes(item)


def test_repeated_attributes_are_kept():
    assert flatten(["a", "b", "a"]) == (["a", "b", "a"], [1.0, 1.0, 1.0])
    assert flatten({"a": ["b"], "a:b": 2}) == (["a:b", "a:b"], [1.0, 2.0])


def test_bytes_that_are_not_utf8_stay_different_names():
    names, _ = flatten([b"\xff", b"\xfe", "ÿ", b"\xc3\xbf"])
    assert names == ["\udcff", "\udcfe", "ÿ", "ÿ"]


def test_a_name_may_contain_a_nul_character():
    assert flatten({"a\0b": "c\0d"}) == (["a\0b:c\0d"], [1.0])


LOOP: dict = {}
LOOP["self"] = LOOP


@pytest.mark.parametrize(
    ("item", "message"),
    [
        ({"a": None}, ", key 'a' has the value None; leave the key out, or give a string or a number"),
        ({"a": {"b": None}}, ", key 'a:b' has the value None; leave the key out, or give a string or a number"),
        ({"a": ("b",)}, ", key 'a' has a tuple as its value; convert it to a list, set or dict"),
        ({"a": frozenset("b")}, ", key 'a' has a frozenset as its value; convert it to a list, set or dict"),
        ({"a": float("nan")}, ", key 'a' has the value nan; leave the key out, or give a finite number"),
        ({"a": {"b": float("-inf")}}, ", key 'a:b' has the value -inf; leave the key out, or give a finite number"),
        ({"a": 10**400}, ", key 'a' has the value inf; leave the key out, or give a finite number"),
        ({"a": 1j}, ", key 'a' has a complex as its value; give a string, a number, or a dict, list or set of strings"),
        ({1: "a"}, " has 1 where a string is needed; convert it by str()"),
        ({("a", "b"): 1}, " has ('a', 'b') where a string is needed; convert it by str()"),
        (["a", None], " has None where a string is needed; convert it by str()"),
        ({"a": [["b"]]}, ", key 'a' has ['b'] where a string is needed; convert it by str()"),
        (b"ab", " has 97 where a string is needed; convert it by str()"),
        (None, " is None; give a dict, or a list of strings"),
        (3, " is an int; give a dict, or a list of strings"),
        (types.MappingProxyType({"a": 2}), " is a mappingproxy; convert it by dict(item)"),
        (collections.UserDict(a=2), " is a UserDict; convert it by dict(item)"),
    ],
)
def test_what_cannot_be_an_item_gets_one_sentence(item, message):
    with pytest.raises(ItemError) as caught:
        flatten(item)
    assert caught.value.sentence("The item") == f"The item{message}."


@pytest.mark.parametrize(
    "item",
    [
        {"v": np.array([0.1, 0.2])},
        {"v": np.array([0.1])},
        {"v": [0.1, 0.2]},
        [0.1, 0.2],
        np.array([0.1, 0.2]),
        np.array([1, 2]),
        scipy.sparse.csr_matrix(np.eye(2))[0],
    ],
)
def test_a_vector_is_answered_with_how_to_name_its_elements(item):
    with pytest.raises(ItemError, match=r"name the elements of a vector, as in \{'v': \{str\(k\): x for"):
        flatten(item)


def test_an_item_that_contains_itself_raises_an_error():
    with pytest.raises(ItemError, match="contains itself or is nested too deeply"):
        flatten(LOOP)
