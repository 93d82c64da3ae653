"""Online exponentiated gradient: multiplicative updates of the dual, one sequence at a time.

Collins, Globerson, Koo, Carreras & Bartlett (2008), "Exponentiated gradient algorithms for conditional random fields
and max-margin Markov networks", JMLR 9, with the heuristics of Schmidt et al. (2015), footnote 9.

Minimizes   F(w) = sum_i s_i (-log p(y_i | x_i, w)) + c2 |w|^2   by maximizing its dual D (run.py)

    alpha_i  proportional to  exp(initial * gold labels and bigrams);   rate_i = 1/2
    repeat: sample i
        alpha'  proportional to  alpha_i ** (1 - rate_i) * p(. | x_i, w) ** rate_i
        while D decreases, at most 2 times in the first pass and 5 later:   rate_i <- rate_i / 2, alpha' again
        if D still decreases:   rate_i <- rate_i / 2 for the next visit
        else:   w <- w + s_i (E_{alpha_i} F - E_{alpha'} F) / (2 c2);   alpha_i <- alpha'
        rate_i <- min(1.05 rate_i, 1)

The first pass visits a random permutation (`permutation`; without it, the paper's OEG-noRP, samples are uniform from
the start), and later samples are uniform. `initial` is 3, or 10 in the paper's OEG-10. A chain is stored as potentials
with factorized edges (potentials.py), with the residuals of the last update.

Differs from the papers: the rate is at most 1, where alpha' is the model's own distribution; "parts with the correct
label" are labels and bigrams; potentials whose range is too large for doubles, while the start still has an effect,
count as a decrease of D.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, ClassVar, NamedTuple

import numpy as np

from fastcrf.core.solver_state import StateField
from fastcrf.core.types import Floats, Longs, Step
from fastcrf.inference.expectations import score_block
from fastcrf.jit.kernel import noalloc_kernel
from fastcrf.lazy_vectors.lazy_vector import turn
from fastcrf.lazy_vectors.reading import gather
from fastcrf.objective.blocks import Blocks
from fastcrf.objective.capabilities import SequenceProblem
from fastcrf.solvers.declaration import solver
from fastcrf.solvers.dual import potentials
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
)
from fastcrf.solvers.dual.run import STATE_FIELDS, DualRun, DualWeights
from fastcrf.solvers.options import check_seed, check_truth, check_whole, seed_of
from fastcrf.stochastic.gradient_storage import bytes_by_form, make_gradients, stored_arrays
from fastcrf.stochastic.local_change import mask_change
from fastcrf.stochastic.sampling import epoch_permutation, epoch_uniforms
from fastcrf.stochastic.stored_gradients import exchange

BACKTRACKS = (2, 5)  # in the first pass, and later
ROUNDING = 1e-14  # of the change of D, which is a difference of sums


@solver
class OEG:
    """Train with online exponentiated gradient on the dual.

    Parameters
    ----------
    initial
        Score of a gold label or bigram in the first dual point.
    permutation
        Whether the first pass visits the sequences in a random permutation.
    seed
        Seed of the samples; None: the `random_state` of the estimator, or 0.
    steps_per_epoch
        Steps per epoch, each a row of the history; more than 1 shows progress within the first pass.
    """

    name: ClassVar[str] = "oeg"
    needs: ClassVar[frozenset[str]] = frozenset({"sequences"})
    handles: ClassVar[frozenset[str]] = frozenset({"l2"})
    guarantee: ClassVar[str] = "optimum"
    starts: ClassVar[str] = "own"
    state_fields: ClassVar[Mapping[str, StateField]] = {
        **STATE_FIELDS,
        **dict.fromkeys(("labels", "transitions", "nodes", "edges"), StateField("sequences")),
        "favor": StateField("sequences", low=0.0),
        "rates": StateField("sequences", low=0.0, high=1.0),
    }

    initial: float = 3.0
    permutation: bool = True
    seed: int | None = None
    steps_per_epoch: int = 1

    def __post_init__(self) -> None:
        check_initial(self.name, self.initial)
        check_truth(self.name, "permutation", self.permutation)
        check_seed(self.name, self.seed)
        check_whole(self.name, "steps_per_epoch", self.steps_per_epoch, 1)

    def iterate(
        self, problem: SequenceProblem, weights: Floats, state: Mapping[str, Any] | None = None
    ) -> Iterator[Step]:
        run = DualRun(self.name, problem, weights, state, size_of, self.steps_per_epoch)
        blocks, lanes = run.blocks, run.lazy.lanes
        alpha, trial = make_potentials(blocks, self.initial), make_trial(blocks)
        gradients, rates = make_gradients(blocks, "mixed", "double"), np.full(problem.n_sequences, FIRST_RATE)
        run.remember(state, **alpha._asdict(), **stored_arrays(gradients), rates=rates)
        ascent = State(run.following, alpha, rates, gradients, trial)

        def begin(first: int, last: int) -> None:
            first_residuals(ascent, first, last, lanes)

        if not state:
            run.fill(begin)
        yield run.step(rate=float(rates.mean()))
        while True:
            if not run.filled.finished:
                run.fill(begin)
            else:
                order, backtracks = self._order(run.epoch, problem.n_sequences), BACKTRACKS[min(run.epoch, 1)]
                for some in run.slices:
                    run.evaluations += ascend(ascent, order[some], backtracks, lanes)
                run.end_epoch()
            yield run.step(rate=float(rates.mean()))

    def _order(self, epoch: int, n: int) -> Longs:
        """Return the sequences that an epoch samples, in order."""
        if epoch == 0 and self.permutation:
            return epoch_permutation(seed_of(self), epoch, n)
        return np.minimum((epoch_uniforms(seed_of(self), epoch, n) * n).astype(np.int64), n - 1)


def size_of(blocks: Blocks) -> int:
    """Return the bytes of potentials, residuals and entropies."""
    return potentials.size_of(blocks) + bytes_by_form(blocks)["mixed"]


class State(NamedTuple):
    """The arrays that updates read and write."""

    following: DualWeights
    alpha: Potentials
    rates: Floats  # [N]
    gradients: Any  # residuals of the last updates (stochastic/stored_gradients.py)
    trial: Trial


@noalloc_kernel
def first_residuals(state, first, last, lanes):
    """Compute entropies and residuals of the sequences first..last-1 from their potentials; update w.

    Writes: state, all but alpha and rates.
    """
    following, gradients, trial = state.following, state.gradients, state.trial
    blocks, space = following.blocks, following.space
    for i in range(first, last):
        c = blend(state.alpha, blocks, i, 0.0, space.edges.scores, trial, space.lattice.scores, lanes)
        following.entropies[i] = infer_chain(blocks, i, c, trial, space, lanes)
        keep_residuals(following, i, gradients, lanes)


@noalloc_kernel
def ascend(state, order, backtracks, lanes):
    """Update each sequence of `order`; return the number of forward-backward recursions. Writes: state."""
    following, alpha, rates = state.following, state.alpha, state.rates
    gradients, trial = state.gradients, state.trial
    blocks, space, entropies = following.blocks, following.space, following.entropies
    evaluations = 0
    for i in order:
        gather(following.vector, blocks.support, i, space.weights, space.edges.scores, lanes)
        score_block(blocks.local, space.weights, space.lattice.bias, i, i + 1, trial.goal, lanes)
        for _ in range(1 + backtracks):
            # alpha' of Collins et al. (2008), in logarithms: (1 - rate) log alpha_i + rate log p(. | x_i, w)
            c = blend(alpha, blocks, i, rates[i], space.edges.scores, trial, space.lattice.scores, lanes)
            entropy = infer_chain(blocks, i, c, trial, space, lanes)
            evaluations += 1
            exchange(gradients, blocks, i, 0.0, space, lanes)
            rise = entropy - entropies[i] + rise_of_penalty(following, i, gradients, trial.goal, lanes)
            if rise >= -ROUNDING * (1.0 + entropies[i]):
                keep_residuals(following, i, gradients, lanes)
                keep_trial(alpha, blocks, i, c, trial.labels, trial, lanes)
                entropies[i] = entropy
                break
            rates[i] *= 0.5  # Schmidt et al. (2015), footnote 9
        rates[i] = min(GROWTH * rates[i], 1.0)  # footnote 9: 1.05 times larger at the next visit
    return evaluations


@noalloc_kernel
def keep_residuals(following, i, gradients, lanes):
    """Store the residuals of sequence i, just inferred, in place of the old ones; update w.

    Writes: gradients, following.vector.
    """
    blocks = following.blocks
    exchange(gradients, blocks, i, 1.0, following.space, lanes)
    turn(
        following.vector, blocks.support, i, 1.0, 1.0 / following.ridge, gradients.change, gradients.edge_change,
        blocks.layout.n_contexts, lanes,
    )  # fmt: skip


@noalloc_kernel
def rise_of_penalty(following, i, gradients, goal, lanes):
    """Return c2 |w|^2 - c2 |w - change / (2 c2)|^2 = w . change - |change|^2 / (4 c2), for the change of sequence i.

    By position, w . change is the sum of changes times scores. Writes: gradients (masked).
    """
    blocks, edge_scores = following.blocks, following.space.edges.scores
    starts, K, H, along = blocks.chains.starts, blocks.layout.n_labels, blocks.layout.n_contexts, 0.0
    for t in range(starts[i + 1] - starts[i]):
        for k in range(K):
            along += gradients.node_change[t, k] * goal[t, k]
    for h in range(H):
        for k in range(K):
            along += gradients.edge_change[h, k] * edge_scores[h, k]
    square = mask_change(blocks.support, i, gradients.change, gradients.edge_change, H, lanes)
    return along - square / (2.0 * following.ridge)
