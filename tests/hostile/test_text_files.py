"""Text files from strangers: long lines, long sentences, foreign line ends; and regular expressions made to be slow."""

from __future__ import annotations

import gzip
import re
import tracemalloc

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fastcrf.data.files import text_lines
from fastcrf.data.files.conll import read_columns
from fastcrf.data.files.crfsuite_items import read_items
from fastcrf.data.files.text_lines import LONGEST_LINE
from fastcrf.data.templates import matching
from fastcrf.data.templates.dialects import parse_template
from fastcrf.data.templates.regex import compiled, first_match
from fastcrf.data.templates.template import Operation
from fastcrf.exceptions import DataError


@pytest.mark.parametrize("read", [read_columns, read_items])
def test_a_line_without_end_is_an_error_with_its_number_and_is_not_kept(read, tmp_path):
    path = tmp_path / "zeros.gz"
    path.write_bytes(gzip.compress(b"a b\nc d\n" + bytes(4 * LONGEST_LINE)))
    tracemalloc.start()
    try:
        with pytest.raises(DataError, match=f"zeros.gz:3: the line is longer than {LONGEST_LINE:,} bytes"):
            list(read(path))
        assert tracemalloc.get_traced_memory()[1] < 3 * LONGEST_LINE
    finally:
        tracemalloc.stop()


def test_a_line_of_the_greatest_length_is_read(tmp_path):
    path = tmp_path / "long.txt"
    path.write_bytes(b"a b\n" + b"x" * (LONGEST_LINE - 2) + b" y\n")
    assert len(next(read_columns(path)).rows[1][0]) == LONGEST_LINE - 2


@pytest.mark.parametrize("read", [read_columns, read_items])
def test_a_sentence_without_end_is_an_error_with_its_line(read, tmp_path, monkeypatch):
    monkeypatch.setattr(text_lines, "MOST_TOKENS", 1000)
    path = tmp_path / "endless.txt"
    path.write_text("a\tb\n" * 1000 + "\n" + "a\tb\n" * 1001)
    with pytest.raises(DataError, match=r"endless.txt:2002: the sequence has more than 1,000 lines; a blank line"):
        list(read(path))


@pytest.mark.parametrize("read", [read_columns, read_items])
def test_carriage_returns_alone_are_no_line_ends_and_told_so(read, tmp_path):
    path = tmp_path / "mac.txt"
    path.write_bytes(b"a\tB\rc\tD\r\re\tF\r")
    with pytest.raises(DataError, match=r"mac.txt:1: a carriage return stands within the line"):
        list(read(path))
    path.write_bytes(b"a\tB\r\nc\tD\r\n\r\ne\tF\rg\tH\r\n")
    with pytest.raises(DataError, match=r"mac.txt:4: a carriage return"):
        list(read(path))


@pytest.mark.parametrize("regex", [".*a.*a.*a!", ".*.*.*.*.*.*!", "a?" * 30 + "a" * 30 + "!", "^.*\\a.*\\d$"])
def test_no_expression_makes_matching_slow(regex):
    """An engine that goes back would not come to an end here."""
    for size in (200, 2000, 50_000):
        assert first_match(regex, b"a" * size) is None


pieces = st.sampled_from(["a", "b", ".", "\\d", "\\A", "\\w", "é", "\\*", "a*", ".*", "b?", ".?", "\\l*", "\\U?"])
texts = st.text("ab1é.*A", max_size=12).map(str.encode)


@settings(max_examples=400)
@given(st.lists(pieces, max_size=6).map("".join), st.booleans(), st.booleans(), texts)
def test_the_linear_matcher_finds_what_backtracking_finds(regex, at_start, at_end, text):
    ready = compiled("^" * at_start + regex + "$" * at_end)
    found = re.search(ready.pattern, text)
    assert matching.search(ready.expression, text) == (found and found[0])


def test_work_beyond_bounds_ends_in_an_error(monkeypatch):
    monkeypatch.setattr(matching, "MOST_CELLS", 1000)
    with pytest.raises(DataError, match=r"A regular expression of 4 characters is too long for a text of 300 bytes"):
        first_match(".*a.*!", b"a" * 300)


def test_lone_surrogates_in_texts_and_expressions_are_understood():
    template = parse_template('u:%m[0,0,"\ud800.*x"]\n', "wapiti")
    (cell,) = template.templates[0].cells
    assert cell.operation.apply("a\ud800bx\udcff") == cell.operation.apply("\ud800bx")
    assert Operation("x", lower=True).apply("A\ud800") == Operation("x", lower=True).apply("a\ud800")
