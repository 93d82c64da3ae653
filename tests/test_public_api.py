"""The public API changes on purpose only: tests/public_api.txt holds it, and everything in it has a docstring."""

from __future__ import annotations

import difflib
import inspect
import re
from functools import reduce

import pytest

import fastcrf
import public_api
from fastcrf import CRF

RENEW = "The public API has changed. If that is on purpose: python tests/public_api.py\n\n"


def test_the_public_api_is_that_of_the_snapshot():
    expected, found = public_api.SNAPSHOT.read_text(encoding="utf-8"), public_api.snapshot()
    changes = difflib.unified_diff(expected.splitlines(), found.splitlines(), "snapshot", "now", n=0, lineterm="")
    if expected != found:
        pytest.fail(RENEW + "\n".join(changes))


def test_everything_public_has_a_docstring():
    assert [entry.name for entry in public_api.entries() if entry.doc == ""] == []


def test_a_changed_default_a_new_method_and_a_missing_docstring_are_noticed(monkeypatch):
    """The negative control of the two tests above."""
    before = public_api.snapshot()
    monkeypatch.setattr(CRF.__init__, "__kwdefaults__", {**CRF.__init__.__kwdefaults__, "c2": 2.0})
    changed = public_api.snapshot()
    assert changed == before.replace("c2: 'float' = 1.0, order", "c2: 'float' = 2.0, order") != before
    monkeypatch.setattr(CRF, "anew", lambda self: None, raising=False)
    CRF.anew.__module__ = "fastcrf"
    assert "fastcrf.CRF.anew: def(self)\n" in public_api.snapshot()
    assert [entry.name for entry in public_api.entries() if entry.doc == ""] == ["fastcrf.CRF.anew"]


METHODS = [
    entry.name
    for entry in public_api.entries()
    if re.match(r"fastcrf\.((CRF|CRFCV|Model)\.)?\w+$", entry.name) and entry.text.startswith(("def", "classmethod"))
]


@pytest.mark.parametrize("path", METHODS)
def test_methods_and_functions_explain_their_parameters_and_what_they_return(path):
    """As numpydoc does: a line `X, y : type` per parameter, and a section Returns where there is a result."""
    thing = reduce(getattr, path.split(".")[1:], fastcrf)
    doc, signature = inspect.getdoc(thing), inspect.signature(thing)
    explained = {
        name for names in re.findall(r"^([\w*, ]+) : ", doc, re.MULTILINE) for name in re.split(r"[*, ]+", names)
    }
    assert signature.parameters.keys() - {"self"} <= explained
    assert ("Returns\n-------\n" in doc) == (signature.return_annotation != "None")
