"""SVRG against a dense twin written from the paper, period by period."""

from itertools import islice

import numpy as np
import pytest

from fastcrf.objective.problem import Problem
from fastcrf.solvers.sag.svrg.emgd import EMGD
from fastcrf.solvers.sag.svrg.prox_svrg import ProxSVRG
from fastcrf.solvers.sag.svrg.svrg import SVRG
from fastcrf.stochastic.sampling import epoch_uniforms
from reference import dense_svrg
from reference.random_corpora import learnable_corpus, random_corpus, random_features

TWINS = {"uniform": dense_svrg.svrg, "nus": dense_svrg.svrg_nus}


@pytest.mark.parametrize("sampling", TWINS)
@pytest.mark.parametrize("c2", [0.0, 0.3, 5.0])
@pytest.mark.parametrize(("inner_passes", "given"), [(2.0, False), (0.5, True)])
def test_svrg_equals_its_dense_reference_for_the_same_samples(sampling, c2, inner_passes, given):
    corpus = random_corpus(3, lengths=(3, 1, 4, 2, 3, 2), values=given, weights=given)
    problem = Problem(corpus, random_features(3), c2=c2)
    n, passes = problem.n_sequences, 0.0
    uniforms = [epoch_uniforms(7, period, round(inner_passes * n)) for period in range(1, 7)]
    steps = SVRG(sampling=sampling, inner_passes=inner_passes, seed=7, storage="mixed").iterate(
        problem, np.zeros(problem.n_weights)
    )
    for w, d, evaluations in TWINS[sampling](corpus, problem.features, 2 * c2 / n, uniforms):
        step = next(steps)
        passes += step.passes
        np.testing.assert_allclose(step.weights, w, rtol=1e-10, atol=1e-12)
        np.testing.assert_allclose(step.gradient, d + 2 * c2 * w, rtol=1e-9, atol=1e-11)
        assert passes * n == pytest.approx(evaluations)


class Impatient(Problem):
    """A problem that works in slices of two sequences and asks to stop after each."""

    slice_size = 2

    def __init__(self, *args, **options):
        super().__init__(*args, **options)
        self.asked_to_stop = lambda: True


def test_a_run_that_is_stopped_and_resumed_within_periods_equals_one_that_is_not():
    corpus, features = learnable_corpus(0, lengths=[3, 1, 5, 2, 4]), random_features(0)
    whole, stopped = Problem(corpus, features, c2=0.5), Impatient(corpus, features, c2=0.5)
    start = np.zeros(whole.n_weights)
    step, stops = next(SVRG().iterate(stopped, start.copy())), 0
    for expected in islice(SVRG().iterate(whole, start.copy()), 4):
        while step.state["epoch"] < expected.state["epoch"]:
            assert step.objective is None or step.state["sampled"] == 0
            step, stops = next(islice(SVRG().iterate(stopped, start.copy(), step.state), 1, None)), stops + 1
        np.testing.assert_allclose(step.weights, expected.weights, rtol=1e-10)
        np.testing.assert_allclose(step.gradient, expected.gradient, rtol=1e-9, atol=1e-12)
        assert step.objective == pytest.approx(expected.objective, rel=1e-12)
    assert stops == 2 + 3 * 8  # snapshots of 5 sequences and periods of 10 draws, two at a time


@pytest.mark.parametrize("sampling", TWINS)
@pytest.mark.parametrize("first_lipschitz", [1.0, 1e-3, 1e3])
def test_svrg_converges_linearly_to_the_optimum_from_any_first_lipschitz_constant(sampling, first_lipschitz):
    problem = Problem(learnable_corpus(0, lengths=[3, 1, 5, 2, 4, 4, 2, 6] * 6), random_features(0), c2=0.5)
    solver = SVRG(sampling=sampling, first_lipschitz=first_lipschitz)
    for step in islice(solver.iterate(problem, np.zeros(problem.n_weights)), 40):
        gap = problem.certificate(step.weights, step.objective, step.gradient)
    assert gap.relative_gap < 1e-10


def test_a_sampling_that_does_not_exist_is_one_sentence():
    with pytest.raises(ValueError, match=r"svrg: sampling must be one of uniform, nus; got sampling='fair'\."):
        SVRG(sampling="fair")


@pytest.mark.parametrize("solver", [SVRG, ProxSVRG, EMGD])
@pytest.mark.parametrize("batch", [1, 4])
def test_gradients_recomputed_at_the_snapshot_lead_where_stored_ones_lead(solver, batch):
    """The papers evaluate each drawn sequence twice; storing its gradient saves one of the two and nothing else."""
    corpus, features = learnable_corpus(0, lengths=[3, 1, 5, 2, 4, 2, 3]), random_features(0)
    problem = Problem(corpus, features, c2=0.5, c1=0.2 if solver is ProxSVRG else 0.0)
    start = np.random.default_rng(1).normal(size=problem.n_weights) * 0.1
    ways = [solver(storage=storage, batch_size=batch).iterate(problem, start.copy()) for storage in ("none", "mixed")]
    for recomputed, stored in islice(zip(*ways, strict=True), 6):
        np.testing.assert_allclose(recomputed.weights, stored.weights, rtol=1e-9, atol=1e-11)
        np.testing.assert_allclose(recomputed.gradient, stored.gradient, rtol=1e-8, atol=1e-9)
        assert recomputed.state["snapshot"].nbytes == recomputed.info["memory_bytes"]
    n, drawn = problem.n_sequences, recomputed.passes - stored.passes
    inner = solver().inner_passes
    assert drawn * n == pytest.approx(inner * n, abs=inner * batch + 1)  # one more evaluation for each sequence drawn


@pytest.mark.parametrize("solver", [SVRG(), SVRG(sampling="nus"), EMGD(), SVRG(storage="mixed")])
def test_without_a_penalty_flat_sequences_do_no_harm(solver):
    """L would fade without end once every gradient is flat, and the steps grow with it."""
    corpus = learnable_corpus(0, lengths=[2, 1, 3])
    problem = Problem(corpus, random_features(0), c2=0.0)
    for step in islice(solver.iterate(problem, np.full(problem.n_weights, 1e-3)), 400):
        assert np.isfinite(step.weights).all()
    assert step.objective < 0.1
