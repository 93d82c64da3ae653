"""Stochastic dual coordinate ascent with adaptive sampling.

Le Priol, Piche & Lacoste-Julien (2018), "Adaptive stochastic dual coordinate ascent for conditional random fields",
UAI; after Shalev-Shwartz & Zhang (2016), "Accelerated proximal stochastic dual coordinate ascent for regularized loss
minimization", Mathematical Programming 155.

Minimizes   F(w) = sum_i s_i (-log p(y_i | x_i, w)) + c2 |w|^2   by maximizing its dual D (run.py)

    m_i  the marginals of labels and of steps at each position: nearly those of the gold label sequence
    repeat: sample i
        m'      the marginals of p(. | x_i, w)
        gap_i = s_i KL(m_i || m')                                  F(w) - D is the sum of the gaps
        x       maximizes D between m_i (x = 0) and m' (x = 1)
        w <- w - x s_i (E_{m'} F - E_{m_i} F) / (2 c2);   m_i <- (1 - x) m_i + x m'

Samples are in proportion to the gaps at the last visits, 20 % of them uniform (`sampling`). The line search needs no
inference: the derivative of D follows from logarithms of the marginals (marginals.py). It is negative at 1, so a secant
gives a first x. "exact" continues with Newton's method within its bracket, to a relative `precision` of x; "secant"
takes the first x that does not lower D.

Differs from the paper: the search starts at the secant's root, not at 1/2, and its precision is relative; `smoothing`
is the share of the uniform distribution in the start. Rows have the dual and, as estimates, the sum of the gaps at the
last visits and the objective that follows from it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, ClassVar, NamedTuple

import numpy as np

from fastcrf.core.solver_state import StateField
from fastcrf.core.types import Floats, Step
from fastcrf.exceptions import OptionError
from fastcrf.inference.edges import add_labeling, count_shorter
from fastcrf.jit.kernel import noalloc_kernel, outlined_kernel
from fastcrf.lazy_vectors.lazy_vector import turn
from fastcrf.objective.blocks import collect_change
from fastcrf.objective.capabilities import SequenceProblem
from fastcrf.simd.lanes import add_scaled, load, store
from fastcrf.simd.rows import clear_rows, copy_rows
from fastcrf.solvers.declaration import solver
from fastcrf.solvers.dual.marginals import (
    ChainMarginals,
    Held,
    Workspace,
    entropy_between,
    expected_score,
    infer_goal,
    make_marginals,
    make_workspace,
    move_towards,
    size_of,
    sum_steps,
)
from fastcrf.solvers.dual.run import STATE_FIELDS, DualRun, DualWeights
from fastcrf.solvers.options import check_choice, check_positive, check_seed, check_whole, seed_of
from fastcrf.stochastic.block_evaluation import score_current
from fastcrf.stochastic.local_change import mask_change
from fastcrf.stochastic.sampling import build_sums, epoch_uniforms, leaves_of, sample_mixture, set_sum

FIRST_GAP = 100.0  # of a sequence that was not sampled yet: large, so that it is sampled soon
UNIFORM_SHARE = {"gap": 0.2, "uniform": 1.0}
MOST_TRIALS = 60


@solver
class SDCA:
    """Train with stochastic dual coordinate ascent.

    Parameters
    ----------
    sampling
        "gap", in proportion to duality gaps, or "uniform".
    line_search
        "exact", to `precision`, or "secant".
    precision
        Relative accuracy of the exact line search.
    smoothing
        Share of the uniform distribution in the first dual point.
    seed
        Seed of the samples; None: the `random_state` of the estimator, or 0.
    steps_per_epoch
        Steps per epoch, each a row of the history; more than 1 shows progress within the first pass.
    """

    name: ClassVar[str] = "sdca"
    needs: ClassVar[frozenset[str]] = frozenset({"sequences"})
    handles: ClassVar[frozenset[str]] = frozenset({"l2"})
    guarantee: ClassVar[str] = "optimum"
    starts: ClassVar[str] = "own"
    state_fields: ClassVar[Mapping[str, StateField]] = {
        **STATE_FIELDS,
        **dict.fromkeys(("labels", "steps"), StateField("sequences", low=-1e-9, high=1.0 + 1e-9)),
        "gaps": StateField("sequences", low=0.0),
    }

    sampling: str = "gap"
    line_search: str = "exact"
    precision: float = 1e-3
    smoothing: float = 1e-3
    seed: int | None = None
    steps_per_epoch: int = 1

    def __post_init__(self) -> None:
        check_choice(self.name, "sampling", self.sampling, UNIFORM_SHARE)
        check_choice(self.name, "line_search", self.line_search, ("exact", "secant"))
        check_positive(self.name, "precision", self.precision)
        check_positive(self.name, "smoothing", self.smoothing)
        if self.smoothing >= 1.0:
            message = f"{self.name}: smoothing must be below 1; got smoothing={self.smoothing!r}."
            raise OptionError(message, self.name, "smoothing", self.smoothing)
        check_seed(self.name, self.seed)
        check_whole(self.name, "steps_per_epoch", self.steps_per_epoch, 1)

    def iterate(
        self, problem: SequenceProblem, weights: Floats, state: Mapping[str, Any] | None = None
    ) -> Iterator[Step]:
        run = DualRun(self.name, problem, weights, state, size_of, self.steps_per_epoch)
        n, lanes = problem.n_sequences, run.lazy.lanes
        given = run.blocks.chains.weights
        sizes = given if len(given) else np.ones(n)
        blocks = run.blocks._replace(chains=run.blocks.chains._replace(weights=np.empty(0)))
        marginals, gaps = make_marginals(blocks, self.smoothing), np.full(n, FIRST_GAP)
        run.remember(state, **marginals._asdict(), gaps=gaps)
        sums = np.empty(2 * leaves_of(n))
        ascent = State(run.following._replace(blocks=blocks), sizes, marginals, gaps, sums, make_workspace(blocks))
        if not state:
            first_weights(ascent, lanes)
        share, precision = UNIFORM_SHARE[self.sampling], self.precision if self.line_search == "exact" else np.inf
        build_sums(gaps, sums)
        while True:
            gap = float(gaps.sum())
            step = run.step(gap_estimate=gap)
            yield step._replace(info={**step.info, "objective_estimate": step.info["dual"] + gap})
            uniforms = epoch_uniforms(seed_of(self), run.epoch, n)
            for some in run.slices:
                coordinate_ascent(ascent, uniforms[some], share, precision, lanes)
                run.evaluations += some.stop - some.start
            run.end_epoch()


class State(NamedTuple):
    """The arrays that samples read and write."""

    following: DualWeights  # its blocks without the s_i: inference uses sequences of weight 1
    sizes: Floats  # [N] s_i
    marginals: ChainMarginals
    gaps: Floats  # [N] at the last visit
    sums: Floats  # of the gaps (stochastic/sampling.py)
    workspace: Workspace


@noalloc_kernel
def held_by(blocks, i):
    """Return the place of the marginals of sequence i."""
    starts = blocks.chains.starts
    return Held(starts[i], (starts[i] - i) * blocks.layout.n_contexts, starts[i + 1] - starts[i])


@noalloc_kernel
def first_weights(state, lanes):
    """Compute entropies and weights of the first dual point: a step from the gold label sequence, where w = 0.

    Writes: state.following, state.workspace.
    """
    following, marginals, workspace = state.following, state.marginals, state.workspace
    blocks, space, entropies = following.blocks, following.space, following.entropies
    starts, labels, K = blocks.chains.starts, blocks.chains.labels, blocks.layout.n_labels
    for i in range(len(entropies)):
        held, s = held_by(blocks, i), state.sizes[i]
        entropies[i] = s * entropy_between(marginals, held, workspace, 0.0)[0]
        clear_rows(workspace.goal.labels, held.length, lanes)
        clear_rows(workspace.goal.steps, (held.length - 1) * len(workspace.sums), lanes)
        find_change(marginals, held, space.edges, workspace, space, K, lanes)
        for t in range(held.length):
            workspace.change[t, labels[held.first + t]] += 1.0
        add_labeling(space.edges, labels[starts[i] : starts[i + 1]], 1.0, space.edge_change, K)
        square_of_change(blocks, i, workspace, space, lanes)
        move_weights(following, i, -s, lanes)


@outlined_kernel
def find_change(marginals, held, edges, workspace, space, n_labels, lanes):
    """Compute the change of the expected labels and transitions of a sequence from its marginals to workspace.goal.

    Writes: workspace.change, space.edge_change.
    """
    for t in range(held.length):
        for b in range(0, workspace.change.shape[1], len(lanes)):
            old = load(marginals.labels, held.first + t, b, lanes)
            store(workspace.change, t, b, add_scaled(-1.0, old, load(workspace.goal.labels, t, b, lanes)))
    clear_rows(workspace.sums, len(workspace.sums), lanes)
    sum_steps(workspace.goal.steps, np.int64(0), held.length - 1, 1.0, workspace.sums, lanes)
    sum_steps(marginals.steps, held.step, held.length - 1, -1.0, workspace.sums, lanes)
    count_shorter(edges, workspace.sums, n_labels, lanes)
    copy_rows(workspace.sums, space.edge_change, len(workspace.sums), lanes)


@noalloc_kernel
def square_of_change(blocks, i, workspace, space, lanes):
    """Return |g|^2 of g, the change of expected features. Writes: space.change and space.edge_change (g, masked)."""
    collect_change(blocks.local, blocks.chains.bounds, blocks.support, i, workspace.change, space.change, lanes)
    return mask_change(blocks.support, i, space.change, space.edge_change, len(workspace.sums), lanes)


@noalloc_kernel
def coordinate_ascent(state, uniforms, share, precision, lanes):
    """Sample and ascend for each uniform: the paper's Algorithm 1. Writes: state."""
    following, marginals, workspace = state.following, state.marginals, state.workspace
    blocks, space, gaps = following.blocks, following.space, state.gaps
    K = blocks.layout.n_labels
    for u in uniforms:
        i = sample_mixture(u, share, len(gaps), state.sums)
        held, s = held_by(blocks, i), state.sizes[i]
        edges = score_current(blocks, i, following.vector, space, lanes)
        copy_rows(space.lattice.scores, workspace.scores, held.length, lanes)
        log_z = infer_goal(space.lattice, held.length, edges, space.wide_edges, workspace, K, lanes)
        here = expected_score(marginals, held, edges, workspace, K, lanes)
        there = expected_score(workspace.goal, Held(i - i, i - i, held.length), edges, workspace, K, lanes)
        if s > 0.0:
            gaps[i] = max(s * (log_z - here) - following.entropies[i], 0.0)
            find_change(marginals, held, edges, workspace, space, K, lanes)
            square = s * square_of_change(blocks, i, workspace, space, lanes) / following.ridge
            x, entropy = search_line(marginals, held, workspace, there - here, square, precision)
            move_towards(marginals, held, workspace, x, lanes)
            move_weights(following, i, s * x, lanes)
            following.entropies[i] = s * entropy
        else:
            gaps[i] = 0.0
        set_sum(i, gaps[i], state.sums)


@noalloc_kernel
def move_weights(following, i, share, lanes):
    """Set d += share * change, and w with it, for the change of sequence i. Writes: following.vector."""
    blocks, space = following.blocks, following.space
    turn(
        following.vector, blocks.support, i, share, share / following.ridge, space.change, space.edge_change,
        blocks.layout.n_contexts, lanes,
    )  # fmt: skip


@outlined_kernel
def search_line(marginals, held, workspace, along, square, precision):
    """Maximize H(x) + x along - x^2 square / 2 over x in [0, 1] to a relative precision; return (x, H there).

    An infinite precision asks for the first secant that does not lower it. Its derivative at 1, where H' = -along, is
    -square. Writes: workspace.logs.
    """
    begin, slope, _ = entropy_between(marginals, held, workspace, 0.0)
    slope += along
    if not slope > 0.0 or not square > 0.0:  # already the model's marginals, or none of their features has a weight
        x = 1.0 if square == 0.0 else 0.0
        return x, entropy_between(marginals, held, workspace, x)[0]
    low, high, x, entropy, following = 0.0, 1.0, 0.0, begin, slope / (slope + square)
    for _ in range(MOST_TRIALS):
        x = following
        entropy, there, curvature = entropy_between(marginals, held, workspace, x)
        there += along - x * square
        if precision == np.inf:
            if entropy + x * along - 0.5 * x * x * square >= begin:
                break
            following = x * slope / (slope - there)
            continue
        low, high = (x, high) if there > 0.0 else (low, x)
        following = x - there / (curvature - square)  # Newton
        if not low < following < high:
            following = 0.5 * (low + high)
        if abs(following - x) <= precision * x:
            break
    return x, entropy
