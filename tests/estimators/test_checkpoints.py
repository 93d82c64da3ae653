"""`fit(checkpoint=...)`: a run that was interrupted or killed continues bit for bit."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import warnings
from pathlib import Path

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

from fastcrf import CRF
from fastcrf.data.files.destinations import DestinationError
from fastcrf.exceptions import CheckpointError
from reference.toy_sequences import toy_sequences

X, Y = toy_sequences(40)
X_DEV, Y_DEV = toy_sequences(15, seed=1)
TESTS = Path(__file__).parents[1]
COLUMNS = ("objective", "passes", "gap", "dev_accuracy")


@pytest.fixture(autouse=True)
def limits_on_purpose():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        yield


def rows(crf):
    return [[row.get(name) for name in COLUMNS] for row in crf.history_]


def same(one, other):
    np.testing.assert_array_equal(one.model_.weights, other.model_.weights)
    assert rows(one) == rows(other)
    assert one.stop_reason_ == other.stop_reason_


@pytest.mark.parametrize("algorithm", ["auto", "lbfgs", "sag", "psa"])
def test_a_run_that_reached_a_limit_continues_bit_for_bit(algorithm, tmp_path):
    path, dev = tmp_path / "run.state", {"X_dev": X_DEV, "y_dev": Y_DEV}
    unbroken = CRF(algorithm, max_iterations=9, tol=0, n_jobs=1).fit(X, Y, **dev)
    CRF(algorithm, max_iterations=4, tol=0, n_jobs=1).fit(X, Y, checkpoint=path, **dev)
    resumed = CRF(algorithm, max_iterations=9, tol=0, n_jobs=1).fit(X, Y, checkpoint=path, resume=True, **dev)
    same(resumed, unbroken)


def test_ctrl_c_saves_the_state_and_the_run_continues_bit_for_bit(tmp_path):
    def press_ctrl_c(row):
        if row["step"] == 3:
            os.kill(os.getpid(), signal.SIGINT)

    path = tmp_path / "run.state"
    unbroken = CRF(tol=1e-6, n_jobs=1).fit(X, Y)
    broken = CRF(tol=1e-6, n_jobs=1, callbacks=[press_ctrl_c]).fit(X, Y, checkpoint=path)
    assert broken.n_iter_ < unbroken.n_iter_
    assert "Interrupted" in broken.stop_reason_
    same(CRF(tol=1e-6, n_jobs=1).fit(X, Y, checkpoint=path, resume=True), unbroken)


KILLED = """
import os, signal, sys
sys.path.insert(0, {tests!r})
from fastcrf import CRF
from reference.toy_sequences import toy_sequences

def kill(row):
    if row["step"] == 4:
        os.kill(os.getpid(), signal.SIGKILL)

CRF(tol=1e-6, n_jobs=1, callbacks=[kill]).fit(*toy_sequences(40), checkpoint={path!r}, checkpoint_every=0)
"""


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="needs SIGKILL")
def test_a_process_that_was_killed_continues_bit_for_bit(tmp_path):
    path = tmp_path / "run.state"
    code = KILLED.format(tests=str(TESTS), path=str(path))
    killed = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert killed.returncode == -signal.SIGKILL, killed.stderr
    seen = []
    resumed = CRF(tol=1e-6, n_jobs=1, callbacks=[seen.append]).fit(X, Y, checkpoint=path, resume=True)
    same(resumed, CRF(tol=1e-6, n_jobs=1).fit(X, Y))
    assert seen[0]["step"] in (3, 4)  # nothing before the checkpoint was done again


def test_without_a_file_resume_begins_at_the_start(tmp_path):
    crf = CRF(n_jobs=1).fit(X, Y, checkpoint=tmp_path / "run.state", resume=True)
    same(crf, CRF(n_jobs=1).fit(X, Y))


def test_other_data_or_parameters_are_an_error_that_names_the_difference(tmp_path):
    path = tmp_path / "run.state"
    CRF(n_jobs=1).fit(X, Y, checkpoint=path)
    with pytest.raises(CheckpointError, match="made with a different penalty; use the same c1 and c2"):
        CRF(c2=2.0, n_jobs=1).fit(X, Y, checkpoint=path, resume=True)
    with pytest.raises(CheckpointError, match="made with a different corpus"):
        CRF(n_jobs=1).fit(X[:20], Y[:20], checkpoint=path, resume=True)


def test_a_file_that_is_no_checkpoint_is_not_replaced(tmp_path):
    (tmp_path / "thesis.txt").write_text("all my work")
    with pytest.raises(DestinationError, match=r"thesis.txt exists and is not a file of fastcrf; choose another path"):
        CRF().fit(X, Y, checkpoint=tmp_path / "thesis.txt")
    assert (tmp_path / "thesis.txt").read_text() == "all my work"


def test_what_cannot_be_resumed_is_an_error_before_training(tmp_path):
    with pytest.raises(ValueError, match="resume=True requires a checkpoint; pass checkpoint=PATH"):
        CRF().fit(X, Y, resume=True)
    with pytest.raises(ValueError, match="random_state=None draws another seed"):
        CRF(random_state=None).fit(X, Y, checkpoint=tmp_path / "run.state")
    with pytest.raises(ValueError, match="checkpoint_every must be a finite number of at least 0"):
        CRF().fit(X, Y, checkpoint=tmp_path / "run.state", checkpoint_every=-1)
