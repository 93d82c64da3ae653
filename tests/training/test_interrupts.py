"""Ctrl-C, with real signals."""

from __future__ import annotations

import signal
import threading

import numpy as np
import pytest

from fastcrf.solvers.quasi_newton.lbfgs import LBFGS
from fastcrf.stopping import GradientNorm, MaxIterations
from fastcrf.training.driver import minimize
from reference.toy_problem import ToyProblem


class Interrupted(ToyProblem):
    """A problem during whose evaluations Ctrl-C is pressed."""

    def __init__(self, at, **options):
        super().__init__(**options)
        self.at = at

    def gradient(self, w):
        found = super().gradient(w)
        for _ in range(self.at.count(self.evaluations)):
            signal.raise_signal(signal.SIGINT)
        return found


@pytest.fixture(autouse=True)
def _handler_is_put_back():
    before = signal.getsignal(signal.SIGINT)
    yield
    assert signal.getsignal(signal.SIGINT) is before


def test_the_first_ctrl_c_finishes_the_step_and_returns_a_usable_result():
    toy = Interrupted(at=[5], c2=0.1)
    result = minimize(toy, LBFGS(), stop=[MaxIterations(100)])
    undisturbed = minimize(ToyProblem(c2=0.1), LBFGS(), stop=[MaxIterations(result.n_steps)])
    assert result.status == "interrupted"
    assert result.reason == f"Interrupted by Ctrl-C after iteration {result.n_steps}."
    assert 0 < result.n_steps < 6
    np.testing.assert_array_equal(result.weights, undisturbed.weights)
    assert np.isfinite(result.certificate.gap)


def test_an_interrupted_run_goes_on_from_its_memory():
    result = minimize(Interrupted(at=[5]), LBFGS(), stop=[MaxIterations(100)])
    rest = minimize(ToyProblem(), LBFGS(), state=result.state, stop=[MaxIterations(10 - result.n_steps)])
    np.testing.assert_array_equal(rest.weights, minimize(ToyProblem(), LBFGS(), stop=[MaxIterations(10)]).weights)


def test_the_second_ctrl_c_interrupts_at_once():
    toy = Interrupted(at=[5, 5])
    with pytest.raises(KeyboardInterrupt):
        minimize(toy, LBFGS(), stop=[MaxIterations(100)])
    assert toy.evaluations == 5


def test_ctrl_c_in_a_callback_ends_the_run_as_well():
    def press(row):
        if row["step"] == 2:
            signal.raise_signal(signal.SIGINT)

    result = minimize(ToyProblem(), LBFGS(), callbacks=[press], stop=[MaxIterations(100)])
    assert (result.status, result.n_steps) == ("interrupted", 2)


def test_a_run_that_converges_at_the_interrupted_step_has_converged():
    result = minimize(Interrupted(at=[1]), LBFGS(), stop=[GradientNorm(1e9)])
    assert result.status == "converged"


def test_the_handler_is_put_back_after_an_error():
    def broken(row):
        raise RuntimeError("broken")

    with pytest.raises(RuntimeError, match="broken"):
        minimize(ToyProblem(), LBFGS(), callbacks=[broken])


def test_in_another_thread_signals_are_left_alone():
    during, results = [], []

    def run():
        watch = {"score": lambda w: during.append(signal.getsignal(signal.SIGINT)) or 0.0}
        results.append(minimize(ToyProblem(), LBFGS(), stop=[MaxIterations(3)], watch=watch))

    thread = threading.Thread(target=run)
    thread.start()
    thread.join()
    assert set(during) == {signal.getsignal(signal.SIGINT)}
    assert results[0].n_steps == 3


def test_a_solver_in_the_middle_of_a_long_step_can_ask_whether_to_stop():
    heard = []

    class Listening(Interrupted):
        def gradient(self, w):
            found = super().gradient(w)
            heard.append(self.asked_to_stop())
            return found

    toy = Listening(at=[3])
    minimize(toy, LBFGS(), stop=[MaxIterations(100)])
    assert heard == [False, False, True]
    assert not toy.asked_to_stop()
