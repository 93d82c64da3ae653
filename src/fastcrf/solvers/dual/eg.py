"""Batch exponentiated gradient: multiplicative updates of all distributions of the dual at once.

Collins, Globerson, Koo, Carreras & Bartlett (2008), "Exponentiated gradient algorithms for conditional random fields
and max-margin Markov networks", JMLR 9, the batch algorithm. Tsuboi et al. (2011) compare with the online one, `oeg`.

Minimizes   F(w) = sum_i s_i (-log p(y_i | x_i, w)) + c2 |w|^2   by maximizing its dual D (run.py)

    alpha_i  proportional to  exp(initial * gold labels and bigrams);   rate = 1/2
    repeat
        alpha'_i  proportional to  alpha_i ** (1 - rate) * p(. | x_i, w) ** rate,   for all i
        while D decreases:   rate <- rate / 2, all alpha'_i again
        alpha <- alpha';   w <- w(alpha);   rate <- min(1.05 rate, 1)

The potentials of the chains are stored with factorized edges (potentials.py).

Differs from the paper: the rate follows the rules of the online algorithm (Schmidt et al. 2015, footnote 9) without a
limit of trials.
"""

from __future__ import annotations

from collections.abc import Generator, Mapping
from typing import Any, ClassVar

import numpy as np

from fastcrf.core.solver_state import StateField
from fastcrf.core.types import Floats, Step
from fastcrf.inference.expectations import score_block
from fastcrf.jit.kernel import noalloc_kernel
from fastcrf.lazy_vectors.drifting_vector import make_drifting
from fastcrf.lazy_vectors.lazy_vector import turn
from fastcrf.lazy_vectors.lazy_weights import LazyWeights
from fastcrf.lazy_vectors.reading import gather
from fastcrf.objective.blocks import collect_change
from fastcrf.objective.capabilities import SequenceProblem
from fastcrf.simd.vectors import dot
from fastcrf.solvers.declaration import solver
from fastcrf.solvers.dual.potentials import (
    FIRST_RATE,
    GROWTH,
    Potentials,
    Trial,
    blend,
    check_initial,
    infer_chain,
    keep_trial,
    make_potentials,
    make_trial,
    size_of,
)
from fastcrf.solvers.dual.run import STATE_FIELDS, DualRun

ROUNDING = 1e-13  # of D, a sum over the corpus
SMALLEST_RATE = 1e-15


@solver
class EG:
    """Train with batch exponentiated gradient on the dual.

    Parameters
    ----------
    initial
        Score of a gold label or bigram in the first dual point.
    """

    name: ClassVar[str] = "eg"
    needs: ClassVar[frozenset[str]] = frozenset({"sequences"})
    handles: ClassVar[frozenset[str]] = frozenset({"l2"})
    guarantee: ClassVar[str] = "optimum"
    starts: ClassVar[str] = "own"
    state_fields: ClassVar[Mapping[str, StateField]] = {
        **STATE_FIELDS,
        **dict.fromkeys(("labels", "transitions"), StateField("sequences")),
        "favor": StateField("sequences", low=0.0),
        "rates": StateField(low=0.0, high=1.0, n_axes=1),
    }

    initial: float = 3.0

    def __post_init__(self) -> None:
        check_initial(self.name, self.initial)

    def iterate(
        self, problem: SequenceProblem, weights: Floats, state: Mapping[str, Any] | None = None
    ) -> Generator[Step, None, str]:
        run = DualRun(self.name, problem, weights, state, size_of)
        alpha, trial, rates = make_potentials(run.blocks, self.initial), make_trial(run.blocks), np.full(1, FIRST_RATE)
        run.remember(state, **alpha._asdict(), rates=rates)
        if not state:
            run.entropies[:], drift = _try(run, alpha, trial, rate=0.0)
            _move(run, drift)
        yield run.step(rate=float(rates[0]))
        while True:
            before = _dual(run, run.entropies, run.lazy.drift)
            entropies, drift = _try(run, alpha, trial, rates[0])
            while not _dual(run, entropies, drift) >= before - ROUNDING * abs(before):
                rates *= 0.5
                if rates[0] < SMALLEST_RATE:
                    return f"eg cannot improve further: no rate down to {SMALLEST_RATE:g} raises the dual {before:.6g}."
                entropies, drift = _try(run, alpha, trial, rates[0])
            keep_all(run.following, rates[0], alpha, trial, run.lazy.lanes)
            run.entropies[:] = entropies
            _move(run, drift)
            rates[0] = min(GROWTH * rates[0], 1.0)
            run.epoch += 1
            yield run.step(rate=float(rates[0]))


def _try(run: DualRun, alpha: Potentials, trial: Trial, rate: float) -> tuple[Floats, Floats]:
    """Return (entropies, sum of the residuals) after an update of all distributions with `rate`. One pass."""
    entropies, nothing = np.empty_like(run.entropies), np.zeros_like(run.lazy.weights)
    tried = LazyWeights(run.part, nothing, np.zeros_like(nothing), make_drifting)
    try_all(run.following, rate, tried.vector, alpha, entropies, trial, run.lazy.lanes)
    run.evaluations += len(entropies)
    tried.settle(0.0)
    return entropies, tried.drift


def _move(run: DualRun, drift: Floats) -> None:
    """Set the weights that follow from the dual point."""
    run.lazy = LazyWeights(run.part, drift / -run.ridge, drift, make_drifting)


def _dual(run: DualRun, entropies: Floats, drift: Floats) -> float:
    along_prior = run.part.along_prior(run.part.take(drift))
    return float(entropies.sum()) + along_prior - dot(drift, drift) / (2.0 * run.ridge)


@noalloc_kernel
def update_one(following, i, rate, alpha, trial, lanes):
    """Compute the potentials of sequence i after an update with `rate`; return its c. Writes: trial,
    following.space.
    """
    blocks, space = following.blocks, following.space
    gather(following.vector, blocks.support, i, space.weights, space.edges.scores, lanes)
    score_block(blocks.local, space.weights, space.lattice.bias, i, i + 1, trial.goal, lanes)
    return blend(alpha, blocks, i, rate, space.edges.scores, trial, space.lattice.scores, lanes)


@noalloc_kernel
def try_all(following, rate, tried, alpha, entropies, trial, lanes):
    """Compute the entropies after an update of all sequences; sum their residuals in the drift of `tried`.

    Writes: entropies, tried, trial, following.space.
    """
    blocks, space = following.blocks, following.space
    support, bounds, H = blocks.support, blocks.chains.bounds, blocks.layout.n_contexts
    for i in range(len(entropies)):
        c = update_one(following, i, rate, alpha, trial, lanes)
        entropies[i] = infer_chain(blocks, i, c, trial, space, lanes)
        collect_change(blocks.local, bounds, support, i, space.lattice.scores, space.change, lanes)
        turn(tried, support, i, 1.0, 0.0, space.change, space.edge_sums, H, lanes)


@noalloc_kernel
def keep_all(following, rate, alpha, trial, lanes):
    """Store all potentials after the update with `rate`, which was tried. Writes: alpha, trial, following.space."""
    for i in range(len(alpha.favor)):
        c = update_one(following, i, rate, alpha, trial, lanes)
        keep_trial(alpha, following.blocks, i, c, following.space.lattice.scores, trial, lanes)
