"""The lab on a toy corpus: rows that are complete, kept, cut, continued, and equal to an independent evaluation."""

from __future__ import annotations

import itertools
import json
import math
import re
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pytest

from fastcrf import __version__
from fastcrf.core.solver_state import StateField
from fastcrf.core.types import Diverged, Step
from fastcrf.lab import resumable_run, runner
from fastcrf.lab.dataset import make_dataset
from fastcrf.lab.experiment import Experiment, Objective, Penalty, PlannedRun
from fastcrf.lab.limits import Limits
from fastcrf.lab.runner import Watcher, carry_out, cut, run_experiment
from fastcrf.lab.store import Store
from fastcrf.solvers.registry import make, names, solver_class
from reference.toy_sequences import toy_sequences

L2 = Penalty(0.0, 0.5)
OF_EACH_FAMILY = ("auto", "lbfgs", "newton-cg", "sgd", "sag-nus-star", "oeg", "psa", "gis", "ap", "owlqn")
SOLVERS = {name: make(name) for name in names()}


@pytest.fixture(scope="module")
def dataset():
    return make_dataset("toy", *toy_sequences(40, seed=1), toy_sequences(10, seed=2))


def experiment_on(dataset, *solvers, penalty=L2, **options):
    chosen = {name: SOLVERS[name] for name in solvers or OF_EACH_FAMILY}
    return Experiment([dataset], [penalty], chosen, limits=Limits(**{"passes": 15.0, "tol": 1e-9, **options}))


def planned_run(dataset, solver, penalty=L2):
    return PlannedRun(Objective(dataset, penalty), solver, SOLVERS[solver])


def last_rows(rows):
    return {row["solver"]: row for row in rows}


def forget_how_long(rows):
    volatile = ("seconds", "cpu_seconds", "wall", "machine", "peak_mb", "cpu_share")
    return [{name: value for name, value in row.items() if name not in volatile} for row in rows]


def enumerated_objective(dataset, weights, penalty):
    """F by enumerating every labeling of every sequence, in plain Python."""
    corpus, features = dataset.corpus, dataset.features
    state = {}
    for a in range(features.n_attributes):
        for f in range(features.offsets[a], features.offsets[a + 1]):
            state[a, int(features.labels[f])] = weights[f]
    bigrams = zip(features.sources.tolist(), features.targets.tolist(), weights[features.n_state :], strict=True)
    moves = {(j, k): w for j, k, w in bigrams}
    total = 0.0
    for first, last in itertools.pairwise(corpus.starts.tolist()):
        scores = []
        for p in range(first, last):
            here = range(corpus.offsets[p], corpus.offsets[p + 1])
            values = corpus.values if len(corpus.values) else np.ones(len(corpus.attributes))
            scores.append(
                [
                    sum(values[o] * state.get((corpus.attributes[o], k), 0.0) for o in here)
                    for k in range(features.n_labels)
                ]
            )

        def score(labels, scores=scores):
            moved = sum(moves.get(pair, 0.0) for pair in itertools.pairwise(labels))
            return moved + sum(row[k] for row, k in zip(scores, labels, strict=True))

        every = [score(labels) for labels in itertools.product(range(features.n_labels), repeat=last - first)]
        top = max(every)
        log_z = top + math.log(math.fsum(math.exp(s - top) for s in every))
        total += log_z - score(tuple(corpus.labels[first:last].tolist()))
    return total + penalty.c1 * np.abs(weights).sum() + penalty.c2 * weights @ weights


def test_a_solver_of_each_family_runs_or_says_why_not(dataset, tmp_path):
    rows = run_experiment(experiment_on(dataset, *OF_EACH_FAMILY), Store(tmp_path))
    ends = last_rows(rows)
    assert set(ends) == set(OF_EACH_FAMILY)
    able = {name for name in OF_EACH_FAMILY if "l2" in solver_class(name).handles}
    assert "owlqn" not in able
    for name in set(OF_EACH_FAMILY) - able:
        assert ends[name]["status"] == "skipped"
        assert re.match(f"{name} (has no|requires an|cannot)", ends[name]["reason"])
    for name in able:
        row = ends[name]
        assert row["status"] in ("out of passes", "converged", "finished"), row
        if SOLVERS[name].guarantee not in ("no objective", "optimum, slowly"):
            assert 0.0 <= row["suboptimality"] < 1.0
        assert 0.0 <= row["error"] < 0.5
        assert 0 < row["active"] <= row["weights"]
        assert row["seconds"] > 0
        assert row["state_mb"] > 0
        assert row["cpu_share"] > 0


@pytest.mark.parametrize("penalty", [L2, Penalty(0.5, 0.0), Penalty(0.3, 0.2)], ids=str)
def test_the_objective_of_the_last_row_is_that_of_the_saved_weights_by_enumeration(dataset, tmp_path, penalty):
    store = Store(tmp_path)
    small = make_dataset("small", *toy_sequences(8, seed=3))
    rows = run_experiment(experiment_on(small, penalty=penalty), store)
    ran = [row for row in last_rows(rows).values() if row["objective"] is not None]
    assert ran
    for row in ran:
        expected = enumerated_objective(small, store.weights(row["run"]), penalty)
        assert row["objective"] == pytest.approx(expected, rel=1e-9), row["solver"]


def test_running_again_trains_nothing_and_gives_the_same_rows(dataset, tmp_path, monkeypatch):
    experiment = experiment_on(dataset)
    before = run_experiment(experiment, Store(tmp_path))

    def refuse(*_, **__):
        raise AssertionError("something was trained")

    for module, name in [(runner, "run_briefly"), (resumable_run, "minimize"), (runner, "carry_out")]:
        monkeypatch.setattr(module, name, refuse)
    assert run_experiment(experiment, Store(tmp_path)) == before


def test_another_penalty_seed_option_or_corpus_is_another_run(dataset):
    planned = planned_run(dataset, "sgd")
    other = make_dataset("toy", *toy_sequences(41, seed=1))
    others = [
        planned_run(dataset, "sgd", Penalty(0.0, 0.6)),
        PlannedRun(planned.objective, "sgd", make("sgd", seed=1)),
        PlannedRun(planned.objective, "sgd", make("sgd", batch_size=2)),
        PlannedRun(planned.objective, "sgd", planned.solver, n_jobs=2),
        planned_run(other, "sgd"),
        planned_run(make_dataset("toy", *toy_sequences(40, seed=1)), "sgd"),
    ]
    assert len({planned.key, *(other.key for other in others)}) == 7
    assert planned.key == PlannedRun(planned.objective, "called otherwise", make("sgd")).key


def test_edited_code_is_another_version(dataset, monkeypatch):
    before = planned_run(dataset, "sgd").key
    monkeypatch.setattr("fastcrf.lab.experiment.code_version", lambda solver: "0.1.0+other")
    assert planned_run(dataset, "sgd").key != before


class Killed(BaseException):
    """What a kill looks like from inside."""


@pytest.mark.parametrize("solver", ["lbfgs", "sgd", "sag-nus-star"])
def test_a_killed_run_goes_on_where_it_was_and_ends_the_same(dataset, tmp_path, monkeypatch, solver):
    experiment = experiment_on(dataset, solver, passes=40.0)
    whole = run_experiment(experiment, Store(tmp_path / "whole"))
    monkeypatch.setattr(resumable_run, "CHECKPOINT_EVERY", 0.0)
    measured = []

    def die_at_the_seventh_step(weights):
        measured.append(weights.copy())
        if len(measured) == 7:
            raise Killed
        return 0.0

    store, planned = Store(tmp_path / "killed"), next(experiment.planned_runs(next(experiment.objectives())))
    monkeypatch.setattr(runner, "make_scores", lambda dataset, names: {"active": die_at_the_seventh_step})
    with pytest.raises(Killed):
        carry_out(planned, experiment.limits, store, None)
    monkeypatch.undo()
    assert store.state(planned.key).exists()
    assert not store.rows(planned.key)
    steps = []
    monkeypatch.setattr(
        runner, "make_scores", lambda dataset, names: {"active": lambda weights: steps.append(1) or 1.0}
    )
    carry_out(planned, experiment.limits, store, None)
    assert len(steps) < len(whole)
    assert [row["objective"] for row in store.rows(planned.key)] == [row["objective"] for row in whole]
    assert not store.state(planned.key).exists()


def test_a_damaged_checkpoint_is_thrown_away(dataset, tmp_path):
    store, experiment = Store(tmp_path), experiment_on(dataset, "lbfgs")
    planned = next(experiment.planned_runs(next(experiment.objectives())))
    store.state(planned.key).write_bytes(b"no checkpoint")
    assert len(carry_out(planned, experiment.limits, store, None)) > 5


def test_rows_are_cut_at_a_smaller_limit_and_measured_again_for_a_larger_one(dataset, tmp_path):
    store = Store(tmp_path)
    said = []
    run_experiment(experiment_on(dataset, "sag"), store)
    rows = run_experiment(experiment_on(dataset, "sag", passes=12.0), store, Watcher(said.append))
    assert not [line for line in said if "runs" in line]
    assert rows[-1]["passes"] >= 12.0 > rows[-2]["passes"]
    assert "the limit is 12" in rows[-1]["reason"]
    longer = run_experiment(experiment_on(dataset, "sag", passes=20.0), store, Watcher(said.append))
    assert [line for line in said if "runs" in line]
    assert longer[-1]["passes"] >= 20.0
    assert forget_how_long(cut(longer, Limits(1e-9, 12.0))) == [
        row
        | {"optimum": longer[0]["optimum"], "accuracy": longer[0]["accuracy"], "suboptimality": new["suboptimality"]}
        for row, new in zip(forget_how_long(rows), longer, strict=False)
    ]


@pytest.mark.parametrize(
    ("limits", "word"),
    [(Limits(1e-9, 3.0), "out of passes"), (Limits(1e-9, None, 1e-9), "out of time"), (Limits(0.5, 50.0), "converged")],
)
def test_how_a_run_ended_is_a_plain_word(dataset, tmp_path, limits, word):
    experiment = Experiment([dataset], [L2], {"lbfgs": make("lbfgs")}, limits=limits)
    last = run_experiment(experiment, Store(tmp_path))[-1]
    assert last["status"] == word
    assert Store(tmp_path).rows(last["run"])[-1]["status"] == word


@dataclass(frozen=True)
class Wild:
    """A solver that goes astray after a step."""

    name: ClassVar[str] = "wild"
    needs: ClassVar[frozenset[str]] = frozenset()
    handles: ClassVar[frozenset[str]] = frozenset({"l2"})
    guarantee: ClassVar[str] = "no objective"
    state_fields: ClassVar[dict[str, StateField]] = {}
    way: str = "diverged"

    def iterate(self, problem, weights, state=None):
        yield Step(weights, passes=0.0)
        yield Step(weights + 0.1, passes=1.0)
        if self.way == "failed":
            raise ArithmeticError("a bug")
        raise Diverged("The steps were too long.")


@pytest.mark.parametrize(("way", "reason"), [("diverged", "The steps were too long."), ("failed", "a bug")])
def test_divergence_and_failure_are_reported_and_do_not_stop_the_others(dataset, tmp_path, way, reason):
    solvers = {"wild": Wild(way), "lbfgs": make("lbfgs")}
    ends = last_rows(run_experiment(Experiment([dataset], [L2], solvers, limits=Limits(passes=5.0)), Store(tmp_path)))
    assert ends["wild"]["status"] == way
    assert reason in ends["wild"]["reason"]
    assert ends["lbfgs"]["status"] == "out of passes"


def test_a_failure_is_not_kept(dataset, tmp_path):
    store, experiment = Store(tmp_path), Experiment([dataset], [L2], {"wild": Wild("failed")})
    run_experiment(experiment, store)
    assert not list(tmp_path.glob("*.jsonl"))


def test_kernels_are_warm_before_the_clock_runs(dataset, tmp_path, monkeypatch):
    calls = []
    true_warm_up, true_run = runner.run_briefly, runner.carry_out
    monkeypatch.setattr(runner, "run_briefly", lambda *a, **k: calls.append("sample") or true_warm_up(*a, **k))
    monkeypatch.setattr(runner, "carry_out", lambda *a, **k: calls.append("run") or true_run(*a, **k))
    run_experiment(experiment_on(dataset, "lbfgs", "sgd"), Store(tmp_path))
    assert calls == ["sample", "sample", "run", "run"]


def test_the_sample_has_the_labels_of_the_whole(dataset):
    sample = dataset.sample()
    assert sample.corpus.n_sequences == 8
    assert sample.features.n_labels == dataset.features.n_labels
    assert sample.problem(0.0, 1.0, 1).value(np.zeros(sample.features.n_weights)) > 0


def test_stochastic_solvers_run_once_per_seed_and_others_once(dataset, tmp_path):
    solvers = {name: SOLVERS[name] for name in ("lbfgs", "sgd")}
    experiment = Experiment([dataset], [L2], solvers, seeds=range(3), limits=Limits(passes=4.0))
    rows = run_experiment(experiment, Store(tmp_path))
    assert [(row["solver"], row["seed"]) for row in rows if row["step"] == 0] == [
        ("lbfgs", None), ("sgd", 0), ("sgd", 1), ("sgd", 2),
    ]  # fmt: skip


def test_rows_on_disk_are_strict_json_and_name_what_they_were_measured_with(dataset, tmp_path):
    run_experiment(experiment_on(dataset, "sag"), Store(tmp_path))
    (path,) = tmp_path.glob("*.jsonl")

    def refuse(name):
        raise AssertionError(f"{name} is not JSON")

    rows = [json.loads(line, parse_constant=refuse) for line in path.read_text().splitlines()]
    for row in rows:
        assert row["machine"]["numba"]
        assert row["version"].startswith(f"{__version__}+")
        assert (row["dataset"], row["c2"], row["options"]["first_lipschitz"]) == ("toy", 0.5, 1.0)
        assert row["objective"] is not None
