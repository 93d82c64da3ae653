"""The plain mode of compiling: taken where it must be, the same numbers, and none of Numba's internals."""

from __future__ import annotations

import ast
import json
import logging
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from fastcrf.jit import mode
from fastcrf.jit.source_closure import PACKAGE
from reference.without_jit import figures

TESTS = Path(__file__).parents[1]
SOLVERS = ["lbfgs", "sag-nus-star", "auto"]
INTERNAL = {"cache", "cache_files", "choice", "dispatcher", "lazy_kernel", "tuned"}  # of fastcrf.jit
DOCUMENTED = {"numba", "numba.extending", "numba.core.cgutils", "numba.core.event"}

FIGURES = """
import json
from reference.without_jit import figures
print(json.dumps(figures({solvers})))
"""
IMPORT_ALL = """
import importlib, pkgutil, sys
import fastcrf
for module in pkgutil.walk_packages(fastcrf.__path__, "fastcrf."):
    if not module.name.endswith("__main__"):
        importlib.import_module(module.name) if module.name not in {internal} else None
print(*({internal} & set(sys.modules)))
"""
LACKING = """
import numba.core.registry
del numba.core.registry.CPUDispatcher
from fastcrf.jit.kernel import MODE
from fastcrf.simd.vectors import dot
import numpy as np
print(MODE.__name__, dot(np.ones(3), np.ones(3)))
"""


def run(code, **environment):
    """(output, errors) of a process."""
    paths = os.pathsep.join([str(TESTS), os.environ.get("PYTHONPATH", "")])
    keep = {name: value for name, value in os.environ.items() if name != mode.SWITCH}
    done = subprocess.run(
        [sys.executable, "-c", code],
        env={**keep, "PYTHONPATH": paths, **environment},
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout.strip(), done.stderr


def test_both_modes_compute_the_same_numbers():
    printed, errors = run(FIGURES.format(solvers=SOLVERS), FASTCRF_PLAIN_JIT="1")
    assert errors == ""
    plain, tuned = json.loads(printed), figures(SOLVERS)
    assert plain.keys() == tuned.keys()
    for name, expected in tuned.items():
        rounding = 1e-6 if name.startswith("auto") else 1e-9  # its pairs are multiplied in single precision
        np.testing.assert_allclose(plain[name], expected, rtol=rounding, atol=0.1 * rounding, err_msg=name)


def test_the_plain_mode_imports_none_of_the_tuned_one():
    internal = {f"fastcrf.jit.{name}" for name in INTERNAL}
    assert run(IMPORT_ALL.format(internal=internal), FASTCRF_PLAIN_JIT="1") == ("", "")


def imported_from_numba(path):
    """The modules of Numba that a file imports from."""
    nodes = list(ast.walk(ast.parse(path.read_text())))
    found = {alias.name for node in nodes if isinstance(node, ast.Import) for alias in node.names}
    for node in nodes:
        if isinstance(node, ast.ImportFrom) and node.module == "numba.core":
            found |= {f"numba.core.{alias.name}" for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            found.add(node.module)
    return {name for name in found if name and name.split(".")[0] == "numba"}


def test_numbas_internals_are_imported_by_the_tuned_mode_alone():
    importers = {path for path in Path(PACKAGE).rglob("*.py") if imported_from_numba(path) - DOCUMENTED}
    assert importers <= {Path(PACKAGE) / "jit" / f"{name}.py" for name in INTERNAL}
    assert len(importers) > 3  # that they are found


@pytest.mark.parametrize(
    ("version", "asked", "chosen", "warned"),
    [
        ("0.68.1", None, "tuned", False),
        ("0.61.2", None, "tuned", False),
        ("0.69.0rc1", None, "plain", True),
        ("1.0", None, "plain", True),
        ("0+unknown", None, "plain", True),
        ("0.69.0", "0", "tuned", False),
        ("0.69.0", "1", "plain", False),
        ("0.68.1", "1", "plain", False),
    ],
)
def test_the_plain_mode_is_for_those_who_ask_and_for_newer_numbas(monkeypatch, caplog, version, asked, chosen, warned):
    monkeypatch.delenv(mode.SWITCH, raising=False)
    if asked is not None:
        monkeypatch.setenv(mode.SWITCH, asked)
    with caplog.at_level(logging.WARNING, logger="fastcrf"):
        found = mode.choose_mode(version)
    assert found.__name__ == f"fastcrf.jit.{chosen}"
    assert [version in record.getMessage() for record in caplog.records] == [True] * warned


def test_a_numba_that_lacks_an_internal_name_gets_the_plain_mode_and_one_line_says_so():
    printed, errors = run(LACKING)
    assert printed == "fastcrf.jit.plain 3.0"
    (line,) = errors.splitlines()
    assert "CPUDispatcher" in line
    assert line.startswith("Kernels take longer to compile: Numba ")


def test_both_modes_offer_the_same():
    from fastcrf.jit import plain, tuned

    assert all(callable(getattr(plain, name)) for name in tuned.__all__)
