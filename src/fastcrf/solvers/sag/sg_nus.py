"""Stochastic gradient descent with the non-uniform sampling of SAG-NUS* (SG-NUS).

Schmidt, Babanezhad, Ahmed, Defazio, Clifton & Sarkar (2015), "Non-uniform stochastic average gradient method for
training conditional random fields", AISTATS, footnote 10; Needell, Srebro & Ward (2014), NIPS, for the weights.

Minimizes   (1/n) sum_i -log p(y_i | x_i, w) + (lambda/2) |w|^2,   lambda = 2 c2 / n

The samples and the searches for the Lipschitz constants L_i are those of `sag-nus-star`; the steps are those of `sg`:

    sample i: with probability 1/2 uniformly, else among the sequences seen, in proportion to L_i; p_i: that of i
    search for L_i by Algorithm 2, as `sag-nus-star` does
    w <- (1 - eta lambda) w - eta / (n p_i) grad nll_i(w)

The factor 1 / (n p_i) makes the steps unbiased (Needell et al., section 3); the footnote does not mention it. It is the
loop of SAGA (loop.py) with all stored gradients at zero, so no gradient is stored.

The paper found it similar to `sg`. Its searches cost passes. docs/papers has its curve.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any, ClassVar

from fastcrf.core.solver_state import StateField
from fastcrf.core.types import Floats, Step
from fastcrf.lazy_vectors.drifting_vector import make_drifting
from fastcrf.lazy_vectors.lazy_weights import LazyWeights
from fastcrf.objective.capabilities import SequenceProblem
from fastcrf.solvers.declaration import solver
from fastcrf.solvers.options import check_positive, check_seed, check_truth, check_whole, seed_of
from fastcrf.solvers.sag import run
from fastcrf.solvers.sag.options import epochs
from fastcrf.solvers.sag.run import Method, Run
from fastcrf.solvers.sag.schemes import lipschitz
from fastcrf.solvers.sag.schemes.given_step import GivenStep
from fastcrf.solvers.sag.schemes.lipschitz import own_constants
from fastcrf.stochastic.gradient_storage import UNSTORED


@solver
class SGNUS:
    """Train with stochastic gradient descent, sequences sampled by searched Lipschitz constants.

    Parameters
    ----------
    eta
        Step size.
    batch_size
        Largest number of sequences per sample.
    first_lipschitz
        First estimate of each Lipschitz constant; a line search corrects it.
    skipping
        Whether to skip line searches after several successes in a row (section 5.2 of the paper).
    seed
        Seed of the samples and of the batches; None: the `random_state` of the estimator, or 0.
    steps_per_epoch
        Steps per epoch, each a row of the history; more than 1 shows progress within the first pass.
    """

    name: ClassVar[str] = "sg-nus"
    needs: ClassVar[frozenset[str]] = frozenset({"sequences"})
    handles: ClassVar[frozenset[str]] = frozenset({"none", "l2"})
    guarantee: ClassVar[str] = "near the optimum"
    state_fields: ClassVar[Mapping[str, StateField]] = run.STATE_FIELDS | lipschitz.STATE_FIELDS

    eta: float = 0.1
    batch_size: int = 1
    first_lipschitz: float = 1.0
    skipping: bool = True
    seed: int | None = None
    steps_per_epoch: int = 1

    def __post_init__(self) -> None:
        for option in ("eta", "first_lipschitz"):
            check_positive(self.name, option, getattr(self, option))
        for option in ("batch_size", "steps_per_epoch"):
            check_whole(self.name, option, getattr(self, option), 1)
        check_truth(self.name, "skipping", self.skipping)
        check_seed(self.name, self.seed)

    def iterate(
        self, problem: SequenceProblem, weights: Floats, state: Mapping[str, Any] | None = None
    ) -> Iterator[Step]:
        n = -(-problem.n_sequences // self.batch_size)
        method = Method(
            self.name,
            GivenStep(own_constants(n, self.first_lipschitz, self.skipping), self.eta),
            partial(LazyWeights, make=make_drifting),
            seed=seed_of(self),
            filling=False,
            storage=UNSTORED,
            precision="double",
            growth=0.0,
            correction=1.0,
            steps=self.steps_per_epoch,
        )
        yield from epochs(Run(method, problem, weights, state), resumed=bool(state))
