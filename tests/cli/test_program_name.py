"""Messages name the program as it was called."""

from __future__ import annotations

import os
import sys

import pytest

from fastcrf.cli.program_name import program_name


@pytest.fixture
def called(tmp_path, monkeypatch):
    """Pretend that the program was called by this path, which is a file in the folder bin."""
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "fastcrf").write_text("")
    (tmp_path / "bin" / "fastcrf").chmod(0o755)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PATH", "")

    def call(name):
        monkeypatch.setattr(sys, "argv", [name])

    return call


def test_a_path_is_repeated_as_it_was_given(called):
    called("bin/fastcrf")
    assert program_name() == "bin/fastcrf"


def test_a_program_that_the_shell_finds_has_its_usual_name(called, tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    called(str(tmp_path / "bin" / "fastcrf"))
    assert program_name() == "fastcrf"


def test_a_module_is_called_with_the_interpreter(called, monkeypatch):
    called("/somewhere/fastcrf/__main__.py")
    assert program_name() == f"{sys.executable} -m fastcrf"
    monkeypatch.setenv("PATH", os.path.dirname(sys.executable))
    assert program_name() == "python -m fastcrf"


def test_the_demo_ends_with_a_command_that_works(called):
    from fastcrf.cli.demo_tasks import addresses

    called("bin/fastcrf")
    assert addresses(0, n=40).command("a b.crf").endswith("| bin/fastcrf tag - -m 'a b.crf'")
