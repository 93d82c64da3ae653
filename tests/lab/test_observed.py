"""What the lab sees of a run: marks within an epoch, processor seconds, and nothing of the compiler."""

from __future__ import annotations

import copy
import subprocess
import sys
from itertools import islice

import numpy as np
import pytest

from fastcrf.lab.dataset import make_dataset
from fastcrf.lab.experiment import Experiment, Objective, Penalty, PlannedRun
from fastcrf.lab.limits import Limits
from fastcrf.lab.observed import CPU, Observed, reaches, with_cumulative_cpu, with_steps
from fastcrf.lab.runner import measure, run_all
from fastcrf.lab.store import Store
from fastcrf.solvers.registry import make
from reference.toy_sequences import toy_sequences

MARKS = (0.1, 0.5, 1.0, 3.0)


@pytest.fixture(scope="module")
def objective():
    dataset = make_dataset("toy", *toy_sequences(40, seed=1), toy_sequences(10, seed=2))
    return Objective(dataset, Penalty(0.0, 0.5))


def steps_of(solver, problem, n, state=None):
    return [(step.passes, step.weights.copy(), copy.deepcopy(dict(step.state)))
            for step in islice(solver.iterate(problem, np.zeros(problem.n_weights), state), n)]  # fmt: skip


def test_only_the_steps_at_marks_are_shown_and_no_pass_is_lost(objective):
    problem = objective.problem(1)
    shown = steps_of(Observed(make("sgd", eta=0.1, seed=0), MARKS), problem, 5)
    assert np.cumsum([passes for passes, _, _ in shown]) == pytest.approx([0.0, *MARKS])
    every = steps_of(make("sgd", eta=0.1, seed=0, steps_per_epoch=10), problem, 31)
    for mark, (_, weights, _) in zip(MARKS, shown[1:], strict=True):
        np.testing.assert_allclose(weights, every[round(10 * mark)][1], rtol=1e-12)


@pytest.mark.parametrize("name", ["asg", "adagrad", "psa", "staggered-aitken", "sag-nus-star", "oeg"])
def test_fewer_steps_an_epoch_where_marks_are_rare_change_nothing_but_rounding(name, objective):
    problem, marks = objective.problem(1), (0.2, 1.0, 2.0, 5.0)
    shown = steps_of(Observed(make(name, seed=0), marks), problem, 5)
    every = steps_of(make(name, seed=0, steps_per_epoch=5), problem, 60)
    spent = np.cumsum([passes for passes, _, _ in every])
    for passes, (_, weights, _) in zip(np.cumsum([each[0] for each in shown]), shown, strict=True):
        near = int(np.argmin(abs(spent - passes)))
        assert spent[near] == pytest.approx(passes)
        same = every[near][1]
        np.testing.assert_allclose(weights, same, rtol=1e-8, atol=1e-10)


def test_an_epoch_is_one_step_once_all_marks_ahead_are_whole():
    assert [with_steps(make("sag"), MARKS, passes).steps_per_epoch for passes in (0.0, 0.1, 0.5, 1.0, 9.0)] == [
        10, 10, 1, 1, 1
    ]  # fmt: skip


def test_a_run_continues_between_the_same_marks(objective):
    problem, solver = objective.problem(1), Observed(make("sag", seed=1), MARKS)
    whole = steps_of(solver, problem, 5)
    rest = steps_of(solver, problem, 3, whole[2][2])
    for (passes, weights, _), (again, same, _) in zip(whole[3:], rest[1:], strict=True):
        assert again == pytest.approx(passes)
        assert np.array_equal(weights, same)


def test_a_mark_is_reached_once_and_beyond_the_last_every_step_counts():
    assert reaches((1.0, 2.0), 0.5, 1.0)
    assert not reaches((1.0, 2.0), 1.0, 1.5)
    assert reaches((1.0, 2.0), 2.0, 2.1)
    assert reaches((), 0.0, 0.0)


def test_solvers_without_the_option_take_their_own_steps():
    assert with_steps(make("lbfgs"), MARKS) == make("lbfgs")
    assert with_steps(make("sag"), MARKS).steps_per_epoch == 10


def test_processor_seconds_of_rows_add_up(objective, tmp_path):
    planned = PlannedRun(objective, "sgd", make("sgd", eta=0.1, seed=0), scores=("f1", "train_error"))
    rows, _ = measure(planned, Limits(tol=None, passes=3.0), tmp_path / "state")
    assert [row[CPU] for row in rows] == sorted(row[CPU] for row in rows)
    assert {"f1", "train_error", "seconds", "cpu_share"} <= set(rows[-1])
    assert with_cumulative_cpu([{CPU: 1.0}, {}, {CPU: 2.0}]) == [{CPU: 1.0}, {CPU: 1.0}, {CPU: 3.0}]


def test_lists_of_runs_need_not_be_products(objective, tmp_path):
    other = Objective(objective.dataset, Penalty(0.0, 2.0))
    runs = [
        PlannedRun(objective, "SG", make("sgd", eta=0.1, seed=0)),
        PlannedRun(objective, "L-BFGS", make("lbfgs")),
        PlannedRun(other, "SG", make("sgd", eta=0.01, seed=0)),
    ]
    rows = run_all(runs, Limits(passes=4.0), Store(tmp_path))
    assert list(dict.fromkeys((row["solver"], row["c2"]) for row in rows)) == [
        ("SG", 0.5),
        ("L-BFGS", 0.5),
        ("SG", 2.0),
    ]


def test_scores_and_marks_are_part_of_what_a_run_is(objective):
    solver = make("sgd", seed=0)
    runs = [
        PlannedRun(objective, "a", solver),
        PlannedRun(objective, "a", solver, marks=(0.5,)),
        PlannedRun(objective, "a", solver, scores=("f1",)),
    ]
    assert len({run.key for run in runs}) == 3
    experiment = Experiment([objective.dataset], [Penalty(0.0, 0.5)], {"a": solver}, marks=(0.5,))
    assert next(experiment.planned_runs(objective)).key == runs[1].key


COLD = """
from fastcrf.inference.log_domain import log_backward, log_forward
from fastcrf.lab.experiment import Objective, Penalty, PlannedRun
from fastcrf.lab.named_datasets import addresses
from fastcrf.lab.runner import NOBODY, warm_up
from fastcrf.solvers.registry import make

assert not log_forward.kernel.overloads
objective = Objective(addresses(50), Penalty(0.0, 1.0))
warm_up([PlannedRun(objective, "sgd", make("sgd", seed=0))], NOBODY)
assert log_forward.kernel.overloads and log_backward.kernel.overloads
"""


def test_the_kernels_for_wide_scores_are_ready_before_the_clock_runs():
    """Vain trials of a calibration need them: in a new process nobody else has loaded them before."""
    found = subprocess.run([sys.executable, "-c", COLD], capture_output=True, text=True)
    assert found.returncode == 0, found.stderr
