"""The first fit says that it is compiling: once in a process, and only when it is true."""

from __future__ import annotations

import logging
import os
import subprocess
import sys
from functools import partial

import numba

import fastcrf.jit.kernel  # noqa: F401 (it listens to the compiler)
from fastcrf.jit.compile_notice import COMPILING, NOT_KEPT, Notice, announce_compilation, notice

FIT_TWICE = """
from fastcrf import CRF
X, y = [[["a"], ["b"]], [["b"]]], [["x", "y"], ["y"]]
CRF(n_jobs=1).fit(X, y)
CRF(n_jobs=1).fit(X, y)
"""


def fresh_kernel():
    def plus_one(x):
        return x + 1

    plus_one.__module__ = "fastcrf.tests"
    return numba.njit(plus_one)  # without a cache: it must be compiled each time


def test_the_first_compilation_is_announced_and_the_next_is_not(monkeypatch, caplog):
    monkeypatch.setattr(Notice, "given", False)
    with caplog.at_level(logging.WARNING, logger="fastcrf"), announce_compilation():
        assert fresh_kernel()(1) == 2
        assert fresh_kernel()(2) == 3
    assert [record.message for record in caplog.records] == [notice()]


def test_kernels_that_cannot_be_saved_are_not_promised_to_later_runs(monkeypatch, caplog):
    monkeypatch.setattr(Notice, "given", False)
    monkeypatch.setattr(Notice, "saves", False)
    with caplog.at_level(logging.WARNING, logger="fastcrf"), announce_compilation():
        fresh_kernel()(1)
    assert [record.message for record in caplog.records] == [COMPILING + NOT_KEPT]


def test_a_process_without_a_cache_folder_says_so_and_nothing_else(tmp_path):
    (tmp_path / "file").write_text("")
    own = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path / "file")}
    result = subprocess.run([sys.executable, "-c", FIT_TWICE], env=own, capture_output=True, text=True, check=True)
    assert "found no writable cache folder" in result.stderr
    assert result.stderr.count(COMPILING + NOT_KEPT) == 1
    assert "later runs" not in result.stderr


def test_outside_of_training_nothing_is_said(monkeypatch, caplog):
    monkeypatch.setattr(Notice, "given", False)
    assert fresh_kernel()(1) == 2
    assert not caplog.records


def test_a_process_that_finds_its_kernels_compiled_says_nothing(tmp_path):
    """In a cache of its own, the first of two processes compiles, and the second has nothing left to compile."""
    command, own = [sys.executable, "-c", FIT_TWICE], {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path)}
    run = partial(subprocess.run, command, env=own, capture_output=True, text=True, check=True)
    assert run().stderr == f"{COMPILING}later runs load them from {tmp_path}.\n"
    assert run().stderr == ""
