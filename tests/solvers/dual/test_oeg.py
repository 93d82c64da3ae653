"""Online exponentiated gradient against a twin that keeps a probability for every labeling."""

from itertools import islice

import numpy as np
import pytest

from fastcrf.objective.problem import Problem
from fastcrf.solvers.dual.eg import EG
from fastcrf.solvers.dual.oeg import OEG
from fastcrf.solvers.dual.sdca import SDCA
from fastcrf.stochastic.sampling import epoch_permutation, epoch_uniforms
from fastcrf.system import memory_budget as memory_budget
from reference import dense_dual
from reference.random_corpora import learnable_corpus, random_corpus, random_features

LENGTHS = (3, 1, 4, 2, 3, 2)


def orders(solver, n, epochs):
    drawn = [(epoch_uniforms(solver.seed or 0, epoch, n) * n).astype(int) for epoch in range(epochs)]
    return [epoch_permutation(solver.seed or 0, 0, n), *drawn[1:]] if solver.permutation else drawn


@pytest.mark.parametrize("c2", [0.02, 0.5, 5.0])
@pytest.mark.parametrize("solver", [OEG(seed=7), OEG(initial=10.0, permutation=False)])
@pytest.mark.parametrize("given", [False, True])
def test_it_equals_its_reference_pass_by_pass(c2, solver, given):
    corpus = random_corpus(3, lengths=LENGTHS, values=given, weights=given)
    problem = Problem(corpus, random_features(3), c2=c2)
    steps, passes = solver.iterate(problem, np.zeros(problem.n_weights)), 0.0
    twin = dense_dual.oeg(corpus, problem.features, c2, orders(solver, len(LENGTHS), 12), solver.initial)
    for w, dual, evaluations in twin:
        step = next(steps)
        passes += step.passes
        np.testing.assert_allclose(step.weights, w, rtol=1e-9, atol=1e-10)
        assert step.info["dual"] == pytest.approx(dual, rel=1e-9, abs=1e-9)
        assert step.lower_bound <= step.info["dual"]
        assert passes * len(LENGTHS) == pytest.approx(evaluations)
        assert step.objective is None  # the driver measures it, on its own time


@pytest.mark.parametrize(("solver", "twin"), [(OEG(seed=7), dense_dual.oeg), (EG(), dense_dual.eg)])
@pytest.mark.parametrize("order", [2, 3])
def test_in_a_chain_of_higher_order_it_equals_its_reference_as_well(solver, twin, order):
    corpus = random_corpus(3, lengths=LENGTHS, n_labels=2, values=True, weights=True)
    problem = Problem(corpus, random_features(3, n_labels=2, density=1.0, order=order), c2=0.5)
    steps = solver.iterate(problem, np.zeros(problem.n_weights))
    passes = 6 if isinstance(solver, EG) else orders(solver, len(LENGTHS), 6)
    for w, dual, _ in twin(corpus, problem.features, 0.5, passes, solver.initial):
        step = next(steps)
        np.testing.assert_allclose(step.weights, w, rtol=1e-9, atol=1e-10)
        assert step.info["dual"] == pytest.approx(dual, rel=1e-9, abs=1e-9)
        assert step.lower_bound <= step.info["dual"]


def test_the_dual_never_falls_even_where_the_first_weights_are_enormous():
    """With hardly any penalty, scores are too wide for probabilities: such trials are vain, and rates fall instead."""
    corpus = learnable_corpus(0, lengths=[3, 1, 5, 2, 4, 4])
    problem = Problem(corpus, random_features(0), c2=1e-5)
    duals = [step.info["dual"] for step in islice(OEG().iterate(problem, np.zeros(problem.n_weights)), 40)]
    assert np.diff(duals).min() >= -1e-9 * abs(duals[0])
    assert duals[-1] > 1e-3 * duals[0]  # far up from a deep start


class Impatient(Problem):
    """A problem that works in slices of two sequences and asks to stop after each."""

    slice_size = 2

    def __init__(self, *args, **options):
        super().__init__(*args, **options)
        self.asked_to_stop = lambda: True


@pytest.mark.parametrize("solver", [OEG(), SDCA()])
def test_a_run_that_is_stopped_and_resumed_within_epochs_equals_one_that_is_not(solver):
    corpus, features = learnable_corpus(0, lengths=[3, 1, 5, 2, 4]), random_features(0)
    whole, stopped = Problem(corpus, features, c2=0.5), Impatient(corpus, features, c2=0.5)
    start, stops = np.zeros(whole.n_weights), 0
    step = next(solver.iterate(stopped, start.copy()))
    for expected in islice(solver.iterate(whole, start.copy()), 4):
        while (step.state["filled"], step.state["epoch"]) < (expected.state["filled"], expected.state["epoch"]):
            assert step.objective is None
            step, stops = next(islice(solver.iterate(stopped, start.copy(), step.state), 1, None)), stops + 1
        np.testing.assert_allclose(step.weights, expected.weights, rtol=1e-10)
        assert step.lower_bound == pytest.approx(expected.lower_bound, rel=1e-10)
    assert stops >= 3 * 3


@pytest.mark.parametrize("solver", [OEG(), EG(), SDCA()])
def test_a_dual_point_that_does_not_fit_raises_an_error(solver, monkeypatch):
    problem = Problem(random_corpus(0), random_features(0), c2=1.0)
    monkeypatch.setattr(memory_budget, "SMALL", 0)
    monkeypatch.setattr(memory_budget, "free_memory", lambda: 1000)
    with pytest.raises(
        memory_budget.TooLarge, match=f"The dual point of {solver.name} .* GB of memory.* such as lbfgs"
    ):
        next(solver.iterate(problem, np.zeros(problem.n_weights)))


@pytest.mark.parametrize("initial", [0.0, -1.0, 1000.0, "three", float("nan")])
def test_a_start_that_cannot_be_raises_an_error(initial):
    with pytest.raises(ValueError, match=r"oeg: initial must be"):
        OEG(initial=initial)
