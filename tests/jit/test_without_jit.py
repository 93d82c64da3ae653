"""The kernels without the compiler: same results, and every recursion counted."""

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from reference import without_jit

TESTS = Path(__file__).parents[1]


@pytest.fixture(scope="module")
def plain():
    """What the toy run prints in a process with NUMBA_DISABLE_JIT=1."""
    environment = {
        **os.environ,
        "NUMBA_DISABLE_JIT": "1",
        "PYTHONPATH": os.pathsep.join([str(TESTS), os.environ.get("PYTHONPATH", "")]),
    }
    command = [sys.executable, "-W", "ignore", "-m", "reference.without_jit"]
    done = subprocess.run(command, env=environment, cwd=TESTS, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_compiled_kernels_compute_what_plain_python_computes(plain):
    compiled = without_jit.figures()
    assert compiled.keys() == plain["figures"].keys()
    for name, expected in plain["figures"].items():
        rounding = 1e-6 if name.startswith("auto") else 1e-9  # its pairs are multiplied in single precision
        np.testing.assert_allclose(compiled[name], expected, rtol=rounding, atol=0.1 * rounding, err_msg=name)


def test_stochastic_solvers_report_every_recursion_as_passes(plain):
    assert plain["passes"]
    for name, rows in plain["passes"].items():
        for reported, counted in rows:
            assert reported == pytest.approx(counted), name
