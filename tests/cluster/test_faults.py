"""When processes die, the run goes on to the same weights, or ends with a checkpoint that goes on elsewhere."""

from __future__ import annotations

import os
import signal
import threading

import numpy as np
import pytest

from fastcrf.cli.data_files import training_files
from fastcrf.cluster.connection import ClusterError, connected, import_distributed
from fastcrf.cluster.placement import from_files
from fastcrf.cluster.problem import ClusterProblem
from fastcrf.cluster.training import fit_on_cluster
from fastcrf.data.encoding.encoder import NO_ITEMS
from fastcrf.exceptions import DataError
from fastcrf.fitting.plan import make_plan
from fastcrf.solvers.registry import make
from fastcrf.stopping import MaxIterations
from fastcrf.training.checkpoint import Checkpoint
from fastcrf.training.driver import minimize

pytestmark = pytest.mark.filterwarnings("ignore")

TEXT = "the D B\ndog N I\nsees V O\na D B\n\ncat N I\n\na D B\ncat N I\n\nsees V O\nthe D B\n\nbird N I\nbites V O\n"
STEPS = 6


@pytest.fixture
def path(tmp_path):
    (tmp_path / "train.txt").write_text(TEXT)
    return str(tmp_path / "train.txt")


def problem_of(client, path, n_shards=3):
    read = training_files(None, None, False).files.labeled
    return ClusterProblem(client, from_files([path], read, NO_ITEMS), n_shards, {}, 0.0, 0.3)


def kill(pid):
    os.kill(pid, signal.SIGKILL)


def pause(pid):
    """Slow it down: for a second it does nothing."""
    os.kill(pid, signal.SIGSTOP)
    threading.Timer(1.0, os.kill, (pid, signal.SIGCONT)).start()


@pytest.mark.parametrize("harm", [kill, pause])
def test_a_worker_that_is_killed_or_slow_in_mid_training_changes_nothing(path, client, harm):
    undisturbed = minimize(problem_of(client, path), make("lbfgs"), stop=[MaxIterations(STEPS)])
    harmed = []

    def disturb(row):
        if row["step"] == 2:
            address, pid = next(iter(processes.run(os.getpid).items()))
            harm(pid)
            harmed.append(address)

    with connected("local:2") as processes:
        result = minimize(problem_of(processes, path), make("lbfgs"), stop=[MaxIterations(STEPS)], callbacks=[disturb])
    assert harmed
    assert result.n_steps == undisturbed.n_steps == STEPS
    np.testing.assert_array_equal(result.weights, undisturbed.weights)


def test_what_fails_on_a_local_worker_is_an_error_here_and_nothing_more(tmp_path, capfd):
    with connected("local:1") as processes, pytest.raises(DataError, match=r"Cannot read .*missing.txt"):
        problem_of(processes, str(tmp_path / "missing.txt"))
    assert capfd.readouterr().err == ""


def test_what_was_sent_is_sent_again_when_it_is_lost(path, client):
    problem = problem_of(client, path)
    w = np.linspace(-1, 1, problem.n_weights)
    expected, shards = problem.gradient(w), problem.shards
    client.cancel(shards)
    value, gradient = problem.gradient(w)
    assert problem.shards is not shards
    assert value == expected[0]
    np.testing.assert_array_equal(gradient, expected[1])


def test_a_lost_scheduler_ends_the_run_with_a_checkpoint_that_goes_on_elsewhere(path, client, tmp_path):
    distributed = import_distributed()
    state = tmp_path / "state"
    cluster = distributed.LocalCluster(n_workers=1, threads_per_worker=1, processes=False, dashboard_address=None)
    other = distributed.Client(cluster, set_as_default=False)
    try:
        problem = problem_of(other, path)

        def close(row):
            if row["step"] == 3:
                cluster.close()

        with pytest.raises(ClusterError, match=r"The cluster was lost: .* continue from the last checkpoint elsewhere"):
            minimize(
                problem,
                make("lbfgs"),
                stop=[MaxIterations(STEPS)],
                callbacks=[close],
                checkpoint=Checkpoint(state, 0.0),
            )
    finally:
        other.close()
        cluster.close()
    resumed = minimize(
        problem_of(client, path), make("lbfgs"), stop=[MaxIterations(STEPS)], checkpoint=Checkpoint(state, resume=True)
    )
    undisturbed = minimize(problem_of(client, path), make("lbfgs"), stop=[MaxIterations(STEPS)])
    np.testing.assert_array_equal(resumed.weights, undisturbed.weights)


def test_without_workers_there_is_one_sentence(path, monkeypatch):
    distributed = import_distributed()
    from fastcrf.cluster import connection

    monkeypatch.setattr(connection, "TIMEOUT", 0.3)
    read = training_files(None, None, False).files.labeled
    with (
        distributed.LocalCluster(n_workers=0, processes=False, dashboard_address=None) as cluster,
        distributed.Client(cluster),
        pytest.raises(ClusterError, match="The cluster has no workers"),
    ):
        fit_on_cluster("dask", from_files([path], read, NO_ITEMS), make_plan(engine="dask"))
