"""Column files in the shapes in which they come, and a place and a sentence for what is wrong in them."""

from __future__ import annotations

import gzip
import io
import sys
from types import SimpleNamespace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fastcrf.data.files.conll import read_columns
from fastcrf.exceptions import DataError

TEXT = "the DT O\ncat NN B\n\nsat VB O\n"
AS_MANY = "every line needs as many columns as the first, and a blank line separates sentences"
ROWS = [[["the", "DT", "O"], ["cat", "NN", "B"]], [["sat", "VB", "O"]]]


@pytest.fixture
def write(tmp_path):
    def write(content: bytes | str, name="data.txt"):
        path = tmp_path / name
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return path

    return write


def rows(path, **options):
    return [sentence.rows for sentence in read_columns(path, **options)]


@pytest.mark.parametrize(
    "text",
    [
        TEXT,
        TEXT.rstrip("\n"),
        TEXT.replace("\n", "\r\n"),
        TEXT.replace(" ", "\t"),
        TEXT.replace(" ", " \t  "),
        "\n\n" + TEXT.replace("\n\n", "\n \t\n\n") + "\n\n",
        "\ufeff" + TEXT,
        TEXT.replace("\n", " \n"),
    ],
)
def test_spaces_tabs_line_ends_and_blank_lines_do_not_matter(write, text):
    assert rows(write(text)) == ROWS


def test_gzip_is_recognized_by_content_not_by_name(write):
    assert rows(write(gzip.compress(TEXT.encode()), "data.txt")) == ROWS
    assert rows(write(TEXT, "data.gz")) == ROWS


@pytest.mark.parametrize("content", [TEXT.encode(), gzip.compress(TEXT.encode())], ids=["plain", "gzip"])
@pytest.mark.parametrize("buffer", [io.BytesIO, lambda content: io.BufferedReader(io.BytesIO(content))])
def test_a_dash_is_standard_input(monkeypatch, content, buffer):
    monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=buffer(content)))
    assert rows("-") == ROWS


def test_sentences_know_the_line_they_begin_at(write):
    path = write("\n" + TEXT + "\n\nlast NN O")
    assert [sentence.line for sentence in read_columns(path)] == [2, 5, 8]


def test_only_spaces_and_tabs_separate_columns(write):
    odd = "a\u00a0b\u2028c\u0085d\x0ce\x1cf"
    assert rows(write(f"{odd} X\n")) == [[[odd, "X"]]]


def test_in_a_tab_separated_file_tokens_and_labels_may_contain_spaces(write):
    assert rows(write("New York\tCITY NAME\nis\tO\n")) == [[["New York", "CITY NAME"], ["is", "O"]]]
    assert rows(write("# id = 1\n\n \nNew York \t X\n \na b\tY\n")) == [[["New York", "X"]], [["a b", "Y"]]]


def test_a_separator_can_be_named(write):
    assert rows(write("a b,X\nc,Y\n"), separator=",") == [[["a b", "X"], ["c", "Y"]]]
    assert rows(write("New York\nParis\n"), separator="\t") == [[["New York"], ["Paris"]]]
    assert rows(write("a\tb X\nc d Y\n"), separator=" ") == [[["a", "b", "X"], ["c", "d", "Y"]]]


def test_a_line_without_tabs_in_a_tab_separated_file_gets_a_hint(write):
    path = write("a\tX\nb Y\n")
    with pytest.raises(DataError) as caught:
        rows(path)
    assert str(caught.value) == (
        f"{path}:2: found 1 column instead of 2; tabs separate the columns of this file; if spaces do too, add "
        "--separator space."
    )


def test_sentences_are_read_one_by_one(write):
    sentences = read_columns(write(TEXT + "\nbroken\n"))
    assert next(sentences).rows == ROWS[0]
    assert next(sentences).rows == ROWS[1]
    with pytest.raises(DataError):
        next(sentences)


CONLLU = "# newdoc\n# sent_id = 1\n# text = a b\n1\ta\tDT\n2\t#\tNN\n\n# just so\n# text = c\n1\tc\tVB\n"


def test_comments_of_conll_u_are_no_tokens(write):
    assert (
        rows(write(CONLLU))
        == rows(write(CONLLU), n_columns=3)
        == [
            [["1", "a", "DT"], ["2", "#", "NN"]],
            [["1", "c", "VB"]],
        ]
    )
    assert [sentence.line for sentence in read_columns(write(CONLLU))] == [4, 9]


def test_a_token_may_begin_with_a_hash(write):
    text = "# # B-NP\n1.5 CD I-NP\n# # O\n\n#tag NN O\n"
    assert rows(write(text))[0][0] == ["#", "#", "B-NP"]
    assert rows(write(text.replace(" ", "\t")))[1] == [["#tag", "NN", "O"]]


def test_an_empty_file_has_no_sentences(write):
    assert rows(write("")) == rows(write("\n\n")) == []


token = st.text(st.characters(codec="utf-8", exclude_characters=" \t\n\r"), min_size=1, max_size=4)


@given(st.lists(st.lists(st.tuples(token, token).map(list), min_size=1, max_size=3), max_size=3))
def test_whatever_is_written_is_read_back(tmp_path_factory, sentences):
    path = tmp_path_factory.mktemp("columns") / "data.txt"
    text = "\n\n".join("\n".join(" ".join(row) for row in sentence) for sentence in sentences)
    path.write_text(text, encoding="utf-8", newline="")
    if sentences and sentences[0][0][0].startswith("\ufeff"):
        return  # a mark at the very beginning belongs to the file
    assert rows(path) == sentences


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("a b c\nd e\n", f"{{path}}:2: found 2 columns instead of 3; {AS_MANY}."),
        ("a b\n\n\nc\n", f"{{path}}:4: found 1 column instead of 2; {AS_MANY}."),
        (b"a b\nc\xff d\n", "{path}:2: byte 0xff is not UTF-8; convert the file to UTF-8."),
        ("a b\n".encode("utf-16"), "{path}:1: byte 0xff is not UTF-8; convert the file to UTF-8."),
    ],
)
def test_a_broken_line_is_named_by_file_and_line(write, content, message):
    path = write(content)
    with pytest.raises(DataError) as caught:
        rows(path)
    assert str(caught.value) == message.format(path=path)


def test_a_file_can_be_asked_to_have_a_number_of_columns(write):
    path = write(TEXT)
    assert rows(path, n_columns=3) == ROWS
    with pytest.raises(DataError, match=r":1: found 3 columns instead of 2; "):
        rows(path, n_columns=2)


GZIPPED = gzip.compress(TEXT.encode() * 500, mtime=0)  # tests are named after it, in every process the same


@pytest.mark.parametrize(
    "content", [GZIPPED[:-4], GZIPPED[:30], GZIPPED[:5], GZIPPED[:40] + b"\0\0\0\0" + GZIPPED[44:], GZIPPED + b"junk"]
)
def test_damaged_gzip_data_are_noticed(write, content):
    path = write(content)
    with pytest.raises(DataError) as caught:
        rows(path)
    assert str(caught.value).startswith(f"{path}: the gzip data are damaged or incomplete (")


def test_a_file_that_cannot_be_opened_is_named(tmp_path):
    with pytest.raises(DataError) as caught:
        rows(tmp_path / "nowhere.txt")
    assert str(caught.value) == f"Cannot read {tmp_path / 'nowhere.txt'}: No such file or directory."
    with pytest.raises(DataError, match=r"^Cannot read .*: Is a directory\.$"):
        rows(tmp_path)
