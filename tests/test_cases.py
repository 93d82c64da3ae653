"""`for_each` runs every case, and a failure names its case."""

from __future__ import annotations

import pytest

from reference.cases import for_each


def test_every_case_is_run_with_its_fixtures(tmp_path):
    seen = []

    @for_each("a, b", [(1, 2), (3, 4)])
    @for_each("c", [5, 6])
    def check(folder, a, b, c):
        seen.append((folder, a, b, c))

    check(tmp_path)
    assert seen == [(tmp_path, 1, 2, 5), (tmp_path, 1, 2, 6), (tmp_path, 3, 4, 5), (tmp_path, 3, 4, 6)]


def test_a_failure_names_its_case():
    @for_each("n", [1, 2, 3])
    def check(n):
        assert n != 2

    with pytest.raises(AssertionError) as caught:
        check()
    assert caught.value.__notes__ == ["in the case {'n': 2}"]


def test_no_cases_are_an_error():
    with pytest.raises(AssertionError, match="no cases"):
        for_each("n", [])
