"""The head of `auto`: when there is one, that runs resume bit for bit, and what it saves."""

from __future__ import annotations

from itertools import islice

import numpy as np
import pytest
from threadpoolctl import threadpool_info

from fastcrf.data.encoding.encoder import encode_training
from fastcrf.feature_space.feature_map import build_feature_map
from fastcrf.objective.problem import Problem
from fastcrf.solvers.auto import head as heads
from fastcrf.solvers.auto.auto import Auto
from fastcrf.solvers.auto.decisions import gradient_seconds
from fastcrf.solvers.auto.head import head_limit, largest, scale_of
from fastcrf.stopping import CertifiedGap, MaxIterations
from fastcrf.training.checkpoint import Checkpoint
from fastcrf.training.driver import minimize
from reference.random_corpora import learnable_corpus, random_features

SHAPES = ("lower", "title", "digit", "point")


def names_like(n_sequences=150, seed=0):
    """Sentences whose frequent attributes are nearly collinear: shapes here, before and after, cut in two ways."""
    rng = np.random.default_rng(seed)
    X, Y = [], []
    for _ in range(n_sequences):
        labels, shapes = ["O"], []
        for _ in range(int(rng.integers(4, 15))):
            inside = rng.random() < (0.6 if labels[-1] != "O" else 0.15)
            labels.append(("I" if labels[-1] != "O" else "B") if inside else "O")
            odds = [0.1, 0.7, 0.15, 0.05] if inside else [0.6, 0.15, 0.15, 0.1]
            shapes.append(SHAPES[rng.choice(4, p=odds)])
        words = [f"{shape}{rng.integers(30)}" for shape in shapes]
        padded = ["edge", *shapes, "edge"]
        X.append(
            [
                [
                    "bias",
                    f"w={word}",
                    *(f"{place}:{cut}" for place in (-1, 0, 1) for cut in cuts(padded[t + 1 + place])),
                ]
                for t, word in enumerate(words)
            ]
        )
        Y.append(labels[1:])
    return X, Y


def cuts(shape):
    return shape, shape[:2], f"is{shape == 'title'}"


def collinear_problem(c1=0.0, c2=0.1, n_jobs=1):
    corpus, attributes, labels = encode_training(*names_like())
    features = build_feature_map(corpus, len(attributes), len(labels), all_transitions=True)
    return Problem(corpus, features, c1, c2, n_jobs)


def passes_to(problem, gap, **options):
    result = minimize(problem, Auto(adaptive_pass="always", **options), stop=[CertifiedGap(gap), MaxIterations(400)])
    assert result.status == "converged"
    return result.trace[-1]["passes"], result


@pytest.mark.parametrize("c1", [0.0, 0.1])
def test_a_head_saves_passes_where_frequent_attributes_are_collinear(c1):
    problem = collinear_problem(c1)
    without, plain = passes_to(problem, 1e-4, head=0, pairs=10)
    with_head, result = passes_to(problem, 1e-4, head=150, pairs=10)
    assert with_head < 0.4 * without
    assert result.certificate.objective == pytest.approx(plain.certificate.objective, rel=2e-4)
    assert result.certificate.lower_bound <= plain.certificate.objective
    objectives = [row["objective"] for row in result.trace]
    assert objectives == sorted(objectives, reverse=True)


@pytest.mark.parametrize("k", [0, 1, 5, 10, 11, 13])
@pytest.mark.parametrize("c1", [0.0, 0.1])
def test_a_run_with_heads_goes_on_bit_for_bit(c1, k):
    problem, solver = collinear_problem(c1, n_jobs=2), Auto(adaptive_pass="always", head=150, seed=3)
    run = solver.iterate(problem, np.zeros(problem.n_weights))
    there = next(islice(run, k, None))
    state = {name: np.array(value) for name, value in there.state.items()}
    assert ("head" in state) == (k > 1)
    rest = [step.weights.copy() for step in islice(run, 4)]
    resumed = solver.iterate(problem, np.zeros(problem.n_weights), state)
    assert next(resumed).passes == 0
    for expected, step in zip(rest, resumed, strict=False):
        np.testing.assert_array_equal(step.weights, expected)


@pytest.mark.parametrize("c1", [0.0, 0.1])
def test_a_checkpoint_keeps_the_head(tmp_path, c1):
    problem, solver = collinear_problem(c1), Auto(head=150)
    whole = minimize(problem, solver, stop=[MaxIterations(14)])
    minimize(problem, solver, stop=[MaxIterations(12)], checkpoint=Checkpoint(tmp_path / "run.state"))
    resumed = minimize(
        problem, solver, stop=[MaxIterations(14)], checkpoint=Checkpoint(tmp_path / "run.state", resume=True)
    )
    np.testing.assert_array_equal(resumed.weights, whole.weights)


def test_a_head_is_made_at_two_steps_and_each_costs_its_passes():
    problem = collinear_problem()
    steps = list(islice(Auto(adaptive_pass="never", head=150).iterate(problem, np.zeros(problem.n_weights)), 14))
    heads_at = [k for k in range(1, 14) if "head" in steps[k].state and changed(steps[k - 1], steps[k])]
    assert [k - 1 for k in heads_at] == list(heads.STEPS)
    assert all(steps[k].passes >= 1 + steps[k].info["trials"] for k in heads_at)


def changed(before, after):
    return "root" not in before.state or not np.array_equal(before.state["root"], after.state["root"])


def test_there_is_no_head_where_it_holds_too_little_of_the_variance():
    variances = np.array([5.0, 1.0, 80.0, 4.0, 10.0])
    np.testing.assert_array_equal(largest(variances, 2), [2, 4])
    assert largest(variances, 1) is None
    problem = collinear_problem()
    steps = list(islice(Auto(head=2).iterate(problem, np.zeros(problem.n_weights)), 5))
    assert all("head" not in step.state for step in steps)
    assert steps[-1].state["taken"] == -1
    assert steps[1].passes == 1 + steps[1].info["trials"]  # of the draws


def test_zero_turns_the_head_off():
    problem = collinear_problem()
    for step in islice(Auto(head=0).iterate(problem, np.zeros(problem.n_weights)), 4):
        assert "taken" not in step.state


def test_the_tail_takes_steps_as_long_as_newton_steps_in_the_mean():
    curvature, members = np.array([4.0, 9.0, 1.0, 100.0]), np.array([1])
    scale = scale_of(curvature, members)
    assert scale[1] == 1.0
    diagonal = scale[[0, 2, 3]] ** 2
    assert np.log(diagonal * curvature[[0, 2, 3]]).mean() == pytest.approx(0.0, abs=1e-12)
    np.testing.assert_allclose(diagonal / diagonal[1], 1.0 / np.sqrt(curvature[[0, 2, 3]]))
    np.testing.assert_array_equal(scale_of(curvature, np.arange(4)), 1.0)


def test_the_size_of_the_head_follows_from_the_time_of_a_gradient():
    problem = collinear_problem()
    assert head_limit(problem, heads.LONG / 2) == 0
    assert head_limit(problem, gradient_seconds(problem)) == 0
    small, large = head_limit(problem, 1e-7 + heads.LONG), head_limit(problem, 100.0)
    assert 0 < small <= large == problem.n_weights


def test_chains_of_higher_order_go_on_without_a_head():
    corpus, features = learnable_corpus(0, lengths=[4, 3, 5]), random_features(0, order=2)
    problem = Problem(corpus, features, 0.0, 0.5)
    steps = list(islice(Auto(head=20).iterate(problem, np.zeros(problem.n_weights)), 6))
    assert "head" not in steps[-1].state
    assert steps[-1].objective < steps[0].objective


@pytest.mark.parametrize("c1", [0.0, 0.1])
def test_single_precision_steps_use_the_head_too(c1):
    problem = collinear_problem(c1)
    solver = Auto(single_precision="always", target=1e-3, head=150)
    result = minimize(problem, solver, stop=[CertifiedGap(1e-5), MaxIterations(300)])
    assert result.status == "converged"
    assert "head" in result.state


def test_a_path_carries_the_head_to_another_penalty():
    before, now = collinear_problem(c2=0.5), collinear_problem(c2=0.2)
    solver = Auto(head=150)
    reached = minimize(before, solver, stop=[MaxIterations(15)])
    carried = solver.carried(reached.state, before, now)
    result = minimize(now, solver, state=carried, stop=[CertifiedGap(1e-6), MaxIterations(200)])
    assert result.status == "converged"
    np.testing.assert_array_equal(result.state["head"], reached.state["head"])


def test_steps_with_a_head_use_one_thread_of_blas_and_leave_the_others_as_they_were(monkeypatch):
    def threads():
        return [each["num_threads"] for each in threadpool_info() if each["user_api"] == "blas"]

    problem, seen, before = collinear_problem(), [], threads()
    gradient = problem.gradient
    monkeypatch.setattr(problem, "gradient", lambda w: seen.append(threads()) or gradient(w))
    steps = Auto(head=150).iterate(problem, np.zeros(problem.n_weights))
    next(steps)
    seen.clear()
    next(steps)
    assert seen
    assert all(set(each) == {1} for each in seen)
    assert threads() == before
