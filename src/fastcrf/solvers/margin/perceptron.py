"""The averaged perceptron.

Collins (2002), "Discriminative training methods for hidden Markov models: theory and experiments with perceptron
algorithms", EMNLP, pp. 1-8, as implemented in CRFsuite's train_averaged_perceptron.c (Okazaki, 2007); averages by Daume
(2006).

Minimizes no explicit function: it ends when every training sequence is labeled correctly, if that happens.

    c <- 1;   w <- 0;   u <- 0
    repeat
        for each sequence i in random order
            y <- the best label sequence at w
            if y != y_i
                w <- w + s_i (F(x_i, y_i) - F(x_i, y))
                u <- u + c s_i (F(x_i, y_i) - F(x_i, y))
            c <- c + 1

A Step is one epoch; its weights are w - u / c, the mean of the weights after each visit. `info["training_loss"]` is the
sum over the sequences of s_i times the share of wrong labels, each before its update.

Differs from CRFsuite: CRFsuite shuffles with the C library's rand(); a nonzero start is kept.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, ClassVar, NamedTuple

from fastcrf.core.solver_state import StateField
from fastcrf.core.types import Floats, Step
from fastcrf.objective.capabilities import SequenceProblem
from fastcrf.solvers.declaration import solver
from fastcrf.solvers.margin import run
from fastcrf.solvers.margin.mistakes import learn, move, weight_of
from fastcrf.solvers.margin.run import Average, MistakeRun, check_visits


@solver
class Perceptron:
    """Train with the averaged perceptron.

    Parameters
    ----------
    seed
        Seed of the order in which sequences are visited; None: the `random_state` of the estimator, or 0.
    steps_per_epoch
        Steps per epoch, each a row of the history; more than 1 shows progress within the first pass.
    """

    name: ClassVar[str] = "perceptron"
    needs: ClassVar[frozenset[str]] = frozenset({"sequences"})
    handles: ClassVar[frozenset[str]] = frozenset({"none"})
    guarantee: ClassVar[str] = "no objective"
    state_fields: ClassVar[Mapping[str, StateField]] = run.STATE_FIELDS | run.SUMS

    seed: int | None = None
    steps_per_epoch: int = 1

    def __post_init__(self) -> None:
        check_visits(self)

    def iterate(
        self, problem: SequenceProblem, weights: Floats, state: Mapping[str, Any] | None = None
    ) -> Iterator[Step]:
        run = MistakeRun(self, problem, weights, state, PerceptronRule(1.0))
        average = Average(problem.n_weights)
        yield average.of(run.step())
        while True:
            yield average.of(run.run_epoch())


class PerceptronRule(NamedTuple):
    """The perceptron's rule: every mistake moves the weights by the same step, independent of the scores."""

    step: float


@learn.register(PerceptronRule)
def learn_by_one(rule, state, mistake, lanes):
    i, chains = mistake.i, state.blocks.chains
    step = rule.step * weight_of(chains, i)
    move(state.vector, state, i, step, lanes)
    move(state.beside, state, i, mistake.visits * step, lanes)
    return step * mistake.wrong / (chains.starts[i + 1] - chains.starts[i])
