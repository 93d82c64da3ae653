"""A plain command line is read as typer reads it; any other is left to typer."""

from __future__ import annotations

import os
import subprocess
import sys
from inspect import signature

import pytest
import typer
from typer.testing import CliRunner

from fastcrf.cli.commands.tag import tag
from fastcrf.cli.quick import plain_call

PLAIN = [
    "new.txt -m model",
    "- --model model",
    "-m model new.txt --scores --marginals",
    "new.txt --output - --json -m model --items",
    "new.txt -o out --model x",
]
NOT_PLAIN = [
    "",
    "--help",
    "new.txt",
    "-m model",
    "new.txt -m",
    "new.txt -mmodel",
    "new.txt --model=model",
    "new.txt more.txt -m model",
    "new.txt -m one -m two",
    "new.txt -m model --unknown",
    "new.txt -m --scores",
    "new.txt -m model --",
]


def read_by_typer(words):
    """The arguments that typer calls the command with."""
    seen = {}

    def command(**arguments):
        seen.update(arguments)

    command.__signature__ = signature(tag, eval_str=True, locals={"typer": typer})
    command.__annotations__ = {name: p.annotation for name, p in command.__signature__.parameters.items()}
    app = typer.Typer()
    app.command()(command)
    result = CliRunner().invoke(app, words)
    assert result.exit_code == 0, result.output
    return seen


@pytest.mark.parametrize("line", PLAIN)
def test_a_plain_line_is_read_as_typer_reads_it(line):
    call = plain_call(tag, line.split())
    assert call.func is tag
    assert call.keywords == read_by_typer(line.split())


@pytest.mark.parametrize("line", NOT_PLAIN)
def test_any_other_line_is_left_to_typer(line):
    assert plain_call(tag, line.split()) is None


def test_tagging_loads_neither_compiler_nor_scikit_learn_nor_typer(model, tmp_path):
    (tmp_path / "one.txt").write_text("the D\ncat N\n")
    code = (
        "import os, sys; from fastcrf.cli.start import main\n"
        "heavy = {'numba', 'scipy', 'sklearn', 'pydantic', 'typer', 'rich'}\n"
        "loaded = lambda: sorted(heavy.intersection(name.split('.')[0] for name in sys.modules))\n"
        "end = os._exit; os._exit = lambda code: (print(*loaded(), file=sys.stderr), end(code))\n"
        f"sys.argv = ['fastcrf', 'tag', {str(tmp_path / 'one.txt')!r}, '-m', {str(model)!r}]; main()"
    )
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert (result.returncode, result.stderr) == (0, "\n")
    assert result.stdout == "the\tD\tB-NP\ncat\tN\tI-NP\n"


@pytest.mark.parametrize("unbuffered", ["", "1"])
def test_what_a_closed_reader_leaves_unread_is_no_fault(model, tmp_path, unbuffered):
    (tmp_path / "many.txt").write_text("the D\ncat N\n\n" * 5_000)  # more than a pipe holds, too few to compile for
    words = [sys.executable, "-m", "fastcrf", "tag", str(tmp_path / "many.txt"), "-m", str(model)]
    environment = {**os.environ, "PYTHONUNBUFFERED": unbuffered}
    with subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment) as process:
        assert process.stdout.readline() == b"the\tD\tB-NP\n"
        process.stdout.close()
        assert process.stderr.read() == b""
    assert process.returncode == 1


def test_faults_end_in_the_same_sentence_and_code(tmp_path):
    command = [sys.executable, "-m", "fastcrf", "tag", "-", "-m", str(tmp_path / "none.crf")]
    result = subprocess.run(command, capture_output=True, text=True, check=False, input="")
    assert result.returncode == 1
    assert result.stderr.startswith("fastcrf: No such file or directory")
