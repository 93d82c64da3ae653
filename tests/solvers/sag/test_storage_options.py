"""Options `storage` and `precision`: in whatever form gradients are kept, the run goes the same way."""

from itertools import islice

import numpy as np
import pytest

from fastcrf.feature_space import layout as layout_module
from fastcrf.inference.forward_backward import WIDEST_SPREAD
from fastcrf.objective.problem import Problem
from fastcrf.solvers.sag.sag_nus_star import SAGNUSStar
from fastcrf.stochastic.gradient_storage import FORMS, bytes_by_form
from reference import brute_force
from reference.random_corpora import learnable_corpus, random_corpus, random_features

EPOCHS = 6
each_form = pytest.mark.parametrize("form", FORMS)


@pytest.fixture
def problem(monkeypatch):
    """Rows and cells, values and weights of sequences."""
    monkeypatch.setattr(layout_module, "dense_threshold", lambda padded: 2)
    corpus = random_corpus(1, lengths=(3, 1, 4, 2, 3, 2, 5), n_attributes=9, values=True, weights=True)
    found = Problem(corpus, random_features(1, n_attributes=9), c2=0.3)
    assert found.likelihood.layout.n_rows > 0 < found.likelihood.layout.n_cells
    return found


@pytest.fixture
def start(problem):
    """Weights at which the scores of some sequences are too wide for the probability domain, and others are not."""
    weights = np.random.default_rng(1).normal(size=problem.n_weights)
    weights[: problem.features.offsets[3]] *= WIDEST_SPREAD
    scores = [brute_force.label_scores(problem.corpus, problem.features, weights, i) for i in range(7)]
    spreads = [np.ptp(scores[i], axis=1).max() for i in range(7)]
    assert max(spreads) > 2 * WIDEST_SPREAD > WIDEST_SPREAD / 2 > min(spreads)
    return weights


def run(problem, start, **options):
    """Weights and passes of each epoch of SAG-NUS*."""
    steps = islice(SAGNUSStar(seed=5, **options).iterate(problem, start.copy()), EPOCHS + 1)
    return [(step.weights.copy(), step.passes) for step in steps]


@each_form
@pytest.mark.parametrize("batch", [1, 3])
def test_the_iterates_are_the_same_in_every_form(problem, start, form, batch):
    usual = run(problem, start, batch_size=batch, storage="mixed")
    other = run(problem, start, batch_size=batch, storage=form)
    assert not np.allclose(usual[0][0], usual[-1][0], rtol=0.1)
    for (expected, expected_passes), (weights, passes) in zip(usual, other, strict=True):
        np.testing.assert_allclose(weights, expected, rtol=1e-10, atol=1e-10)
        assert passes == expected_passes


@each_form
def test_the_bytes_are_reported_and_a_run_goes_on_from_what_it_kept(problem, start, form):
    solver = SAGNUSStar(storage=form)
    steps = solver.iterate(problem, start.copy())
    there = list(islice(steps, 3))[-1]
    assert there.info["memory_bytes"] == bytes_by_form(problem.part(start).blocks)[form]
    kept = {name: np.copy(value) for name, value in there.state.items()}
    resumed = solver.iterate(problem, start.copy(), kept)
    next(resumed)
    np.testing.assert_array_equal(next(resumed).weights, next(steps).weights)


@pytest.mark.parametrize("other", [{"storage": "sparse"}, {"storage": "marginals"}, {"precision": "single"}])
def test_a_run_does_not_go_on_from_gradients_of_another_form(problem, start, other):
    there = next(SAGNUSStar().iterate(problem, start.copy()))
    with pytest.raises(ValueError, match="`storage` and `precision`"):
        next(SAGNUSStar(**other).iterate(problem, start, there.state))


def test_single_precision_takes_half_the_memory_and_comes_as_close():
    problem = Problem(learnable_corpus(0, lengths=[3, 1, 5, 2, 4, 4, 2, 6] * 3), random_features(0), c2=0.5)
    gaps, sizes = {}, {}
    for precision in ("double", "single"):
        steps = SAGNUSStar(precision=precision).iterate(problem, np.zeros(problem.n_weights))
        step = next(islice(steps, 100, None))
        gaps[precision], sizes[precision] = problem.certificate(step.weights).relative_gap, step.info["memory_bytes"]
    assert sizes["double"] == 2 * sizes["single"]
    assert gaps["double"] < 1.1e-12
    assert gaps["single"] < 1.1e-12


@pytest.mark.parametrize("option", [{"storage": "dense"}, {"precision": "half"}])
def test_an_unknown_form_is_a_sentence(option):
    with pytest.raises(ValueError, match=f"sag-nus-star: {next(iter(option))} must be one of"):
        SAGNUSStar(**option)
