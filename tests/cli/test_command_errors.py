from __future__ import annotations

import os
import re
import subprocess
import sys
import warnings

import pytest
import typer
from typer.testing import CliRunner

from fastcrf.cli.command_errors import explain
from fastcrf.cli.main import Commands

app = typer.Typer(cls=Commands, rich_markup_mode=None)


@app.command()
def fail(kind: str) -> None:
    if kind == "warning":
        warnings.warn("Mind the gap.", stacklevel=1)
        return
    raise {
        "data": ValueError("line 3 is broken;\n  mend it."),
        "missing": FileNotFoundError(2, "No such file or directory", "x.txt"),
        "bug": ZeroDivisionError("division by zero"),
        "interrupt": KeyboardInterrupt(),
        "abort": typer.Abort(),
    }[kind]


@app.command()
def other() -> None:
    """A second command, so that the app is a group."""


@pytest.mark.filterwarnings("default")
@pytest.mark.parametrize(
    ("kind", "sentence", "code"),
    [
        ("data", "fastcrf: line 3 is broken; mend it.\n", 1),
        ("missing", "fastcrf: No such file or directory: x.txt\n", 1),
        ("abort", "fastcrf: interrupted.\n", 130),
        ("interrupt", "fastcrf: interrupted.\n", 130),
        ("warning", "fastcrf: warning: Mind the gap.\n", 0),
    ],
)
def test_errors_are_one_sentence_on_stderr_and_an_exit_code(kind, sentence, code):
    result = CliRunner().invoke(app, ["fail", kind])
    assert (result.exit_code, result.stdout, result.stderr) == (code, "", sentence)


@pytest.mark.parametrize("wrong", [["fail", "data", "--loud"], ["fail"], ["fale"]])
def test_a_wrong_command_line_is_whole_sentences(wrong):
    result = CliRunner().invoke(app, wrong)
    assert result.exit_code == 2
    assert re.search(r"[.?] See [a-z -]+ --help\.\n$", result.stderr)


def test_a_fault_of_ours_says_so_and_how_to_see_where():
    result = CliRunner().invoke(app, ["fail", "bug"])
    assert result.exit_code == 3
    assert "unexpected ZeroDivisionError" in result.stderr
    assert "FASTCRF_DEBUG=1" in result.stderr


def test_the_traceback_is_shown_to_who_asks_for_it(monkeypatch):
    monkeypatch.setenv("FASTCRF_DEBUG", "1")
    assert isinstance(CliRunner().invoke(app, ["fail", "data"]).exception, ValueError)


def test_a_wrong_command_line_names_the_page_that_helps():
    result = CliRunner().invoke(app, ["fail"], prog_name="fastcrf")
    assert result.exit_code == 2
    assert result.stderr.count("\n") == 1
    assert "See fastcrf fail --help." in result.stderr


def test_an_error_without_a_file_keeps_its_words():
    assert explain(OSError("disk full")) == ("disk full", 1)


def test_a_reader_that_goes_away_is_no_traceback():
    command = [sys.executable, "-m", "fastcrf", "solvers", "--json"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=os.environ) as process:
        assert process.stdout
        process.stdout.close()
        assert process.stderr
        assert process.stderr.read() == b""
