"""The loop that SAG and its relatives share.

With g_i the stored gradient of block i (of one sequence, unless solvers ask for more), d = sum_i g_i, m the number of
sequences seen, lambda in the papers' mean scale:

    draw i;  g = grad nll_i(w);  D = g - g_i;  g_i <- g_i + growth D;  d <- d + growth D
    L_i by the search of lipschitz_search.py;  a = step size from the L's
    w <- (1 - a lambda) w - a [ d_before / m + (1 - correction) growth D / m + correction D / (n p_i) ]

Draws, L's and step size follow a rule (rule.py), p_i is the probability of the draw. SAG has growth 1 and
correction 0: w moves along the new d. SAGA has correction 1: its step has the right mean whatever the p_i. SVRG has
growth 0, too: its memory and d stay until the next snapshot (snapshots.py). What is stored of g_i says
draws/stored_gradients.py; how the drift d / m is applied lazily, draws/lazy_vector.py. With an L1 penalty, a soft
threshold follows each step, and m is n from the start.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from fastcrf.chain.blocks import collect_change, copy_rows, infer_block, make_workspace, refresh_edges
from fastcrf.chain.expectations import score_block
from fastcrf.draws.drifting_vector import make_drifting
from fastcrf.draws.lazy_vector import drift, gather, settle, turn
from fastcrf.draws.proximal_vector import make_proximal
from fastcrf.draws.sampling import epoch_uniforms
from fastcrf.draws.storage import make_memory, restore_memory, stored_arrays
from fastcrf.draws.stored_gradients import exchange
from fastcrf.kernel import inlined_kernel, kernel
from fastcrf.proximal import proximal_step
from fastcrf.solvers.average_gradient.lipschitz_search import make_ray, mask_change, search_lipschitz
from fastcrf.solvers.average_gradient.rule import (
    Rule,
    begin_visit,
    draw,
    end_visit,
    fade,
    is_guess,
    place_of,
    probability,
    step_size,
)
from fastcrf.types import Diverged, Floats, Step
from fastcrf.vectors import norm

FLAT = 1e-8  # squared gradient norm below which a search would only measure rounding (Algorithm 1, line 12)


@kernel
def score_current(sequences, i, vector, space, lanes):
    """Label scores of block i at the current weights, and its edges. Writes: vector, space."""
    K, blocks = sequences.layout.n_labels, sequences.chains.blocks
    gather(vector, sequences.support, i, space.weights, space.edges.scores, lanes)
    bias, scores = space.lattice.bias, space.lattice.scores
    score_block(sequences.local, space.weights, bias, blocks[i], blocks[i + 1], scores, lanes)
    return refresh_edges(space.edges, K, bias, lanes)


@kernel
def search_block(sequences, i, loss, L, down, edge_scores, space, ray, lanes):
    """(L of block i by Algorithm 2, trials); space holds its residuals, ray its scores. Writes: space, ray.

    f_i is the mean over the block, but losses and gradients here are sums: their L is `size` times as large.
    """
    local, support, blocks, K = sequences.local, sequences.support, sequences.chains.blocks, sequences.layout.n_labels
    size = blocks[i + 1] - blocks[i]
    collect_change(local, blocks, support, i, space.lattice.scores, space.change, lanes)
    square = mask_change(support, i, space.change, space.edge_sums, K, lanes)
    if square <= FLAT * size * size:
        return L, 0
    score_block(local, space.change, ray.bias, blocks[i], blocks[i + 1], ray.slopes, lanes)
    copy_rows(space.edge_sums, ray.edge_slopes, K, lanes)
    found, trials = search_lipschitz(
        sequences.chains, i, loss, square, L * size, down, ray, edge_scores, space.lattice, K, lanes
    )
    return found / size, trials


@inlined_kernel
def visit(sequences, i, growth, vector, memory, rule, space, ray, lanes):
    """Evaluate block i: its change goes to the memory, its L to the rule; forward(-backward) recursions.

    Writes: all state but w and d.
    """
    starts, blocks, K = sequences.chains.starts, sequences.chains.blocks, sequences.layout.n_labels
    edges = score_current(sequences, i, vector, space, lanes)
    searching, trials = begin_visit(rule, i), 0
    if searching:
        copy_rows(space.lattice.scores, ray.scores, starts[blocks[i + 1]] - starts[blocks[i]], lanes)
    loss = infer_block(sequences.chains, i, edges, space, K, lanes)
    exchange(memory, sequences, i, growth, space, lanes)
    if searching:
        k = place_of(rule, i)
        rule.estimates[k], trials = search_block(
            sequences, i, loss, rule.estimates[k], is_guess(rule, i), edges.scores, space, ray, lanes
        )
    end_visit(rule, i, trials)
    return (blocks[i + 1] - blocks[i]) * (1 + trials)


@kernel
def average_gradient_draws(
    sequences, uniforms, lam, growth, correction, vector, memory, rule, covered, space, ray, lanes
):
    """One draw per uniform; returns the number of forward(-backward) recursions. Writes: all state."""
    starts, blocks, K = sequences.chains.starts, sequences.chains.blocks, sequences.layout.n_labels
    n, evaluations = len(starts) - 1, 0
    for u in uniforms:
        i = draw(rule, u, lam)
        importance = 1.0 / (n * probability(rule, i, lam))
        n_seen = rule.n_seen[0]
        evaluations += visit(sequences, i, growth, vector, memory, rule, space, ray, lanes)
        if rule.n_seen[0] > n_seen:
            covered[0] = min(covered[0] + blocks[i + 1] - blocks[i], n)
        a, m = step_size(rule, lam), covered[0]
        shrink = 1.0 - a * lam
        step = correction * (importance - growth / m) * a / shrink  # `drift` is going to apply growth / m of it
        turn(vector, sequences.support, i, growth, step, memory.change, memory.edge_change, K, lanes)
        drift(vector, shrink, a / m, lanes)
        fade(rule, i)
    return evaluations


class AverageGradientRun:
    """The state of one run and its epochs; SAG-type solvers hand it their rule and yield its Steps."""

    def __init__(
        self,
        problem: Any,
        weights: Floats,
        memory: Mapping[str, Any] | None,
        rule: Rule,
        seed: int,
        *,
        growth: float = 1.0,
        correction: float = 0.0,
        mode: str = "auto",
        precision: str = "double",
    ) -> None:
        self.problem, self.rule, self.seed = problem, rule, seed
        self.growth, self.correction = growth, correction
        self.weights, self.drift = weights, np.zeros_like(weights)  # of all features
        self.epoch = self.drawn = 0
        self.part = problem.part(memory["weights"] if memory else weights, len(rule.seen), seed)
        self.sequences = self.part.sequences
        self.lam = problem.regulariser.mean_scale(problem.n_sequences)[1]
        self.space, self.ray = make_workspace(self.sequences), make_ray(self.sequences)
        self.lanes = (0,) * self.sequences.layout.width
        self.memory = make_memory(self.sequences, mode, precision)
        if memory:
            self._restore(memory)
        self.covered = np.diff(self.sequences.chains.blocks)[rule.seen > 0].sum(keepdims=True)  # sequences in d
        self.settled = self.part.take(self.weights), self.part.take(self.drift)  # of the features that draws can move
        known = self.sequences.layout, self.part.features, *self.settled
        self.vector: Any
        if problem.c1 > 0.0:  # thresholds can be lazy only if the divisor of d does not change
            self.covered[0] = problem.n_sequences
            self.vector, self.places = make_proximal(*known, problem.c1, self.n_blocks + 1)
        else:
            self.vector, self.places = make_drifting(*known)

    @property
    def n_blocks(self) -> int:
        return len(self.sequences.chains.blocks) - 1

    @property
    def filled(self) -> bool:
        """Whether d is an estimate of the whole gradient."""
        return int(self.rule.n_seen[0]) == self.n_blocks

    @property
    def slice_size(self) -> int:
        """Draws that take well under a second."""
        return max(1, self.problem.slice_size * self.n_blocks // self.problem.n_sequences)

    def step(self, evaluations: int = 0) -> Step:
        """Where the run is, settled, after so many recursions."""
        square = self._settle()
        if not math.isfinite(square):
            raise Diverged(f"The weights are not finite after {self.epoch} epochs.")
        for values, whole in zip(self.settled, (self.weights, self.drift), strict=True):
            self.part.put(values, whole)
        a = float(step_size(self.rule, self.lam))
        info = {
            "seen": int(np.diff(self.sequences.chains.blocks)[self.rule.seen > 0].sum()),
            "step_size": a,
            "memory_bytes": sum(array.nbytes for array in stored_arrays(self.memory).values()),
        }
        if self.problem.c1 > 0.0:
            known = self.filled and info["seen"] > 0
            info["proximal_gradient_norm_estimate"] = self._proximal_norm(a) if known else math.inf
        else:
            info["gradient_norm_estimate"] = math.sqrt(square) if self.filled else math.inf
        info["largest_slope_estimate"] = self._largest_slope() if self.filled else math.inf
        return Step(self.weights, evaluations / self.problem.n_sequences, info=info, memory=self._state())

    def _settle(self) -> float:
        """Bring `settled` up to date; the squared norm of the gradient by it."""
        return settle(self.vector, self.places, 2.0 * self.problem.c2, *self.settled, self.lanes)

    def _proximal_norm(self, a: float) -> float:
        """|w - soft(w - s (d + 2 c2 w), s c1)| / s, with s = a / n: what the gradient's norm is without thresholds."""
        (w, d), s = self.settled, a / self.problem.n_sequences
        return norm(w - proximal_step(w, d + 2.0 * self.problem.c2 * w, s, self.problem.c1)) / s

    def _largest_slope(self) -> float:
        """n times the paper's |d/n + lambda w|_inf; with thresholds, of the shortest sub-gradient."""
        (w, d), c1 = self.settled, self.problem.c1
        slopes = d + 2.0 * self.problem.c2 * w
        sizes = np.abs(slopes + c1 * np.sign(w)) if c1 > 0.0 else np.abs(slopes)
        if c1 > 0.0:
            sizes[w == 0.0] = np.maximum(sizes[w == 0.0] - c1, 0.0)
        return float(sizes.max(initial=0.0))

    def run_epoch(self) -> Step:
        """As many draws as there are blocks (what is left of them after Ctrl-C), in slices short enough for Ctrl-C."""
        evaluations = self.draw(self.n_blocks)
        if self.drawn == self.n_blocks:
            self.epoch, self.drawn = self.epoch + 1, 0
        return self.step(evaluations)

    def draw(self, n: int) -> int:
        """What is left of n draws, or less if told to stop; the number of recursions."""
        uniforms = self.uniforms(n)
        evaluations = 0
        while self.drawn < n and not (evaluations and self.problem.asked_to_stop()):
            some = uniforms[self.drawn : self.drawn + self.slice_size]
            evaluations += self.draws(some)
            self.drawn += len(some)
        return evaluations

    def uniforms(self, n: int) -> Floats:
        """What n draws of the current epoch are made of, [n] or more."""
        return epoch_uniforms(self.seed, self.epoch, n)

    def draws(self, uniforms: Floats) -> int:
        """A draw for each of the uniforms; the number of recursions."""
        return average_gradient_draws(
            self.sequences, uniforms, self.lam, self.growth, self.correction, self.vector, self.memory, self.rule,
            self.covered, self.space, self.ray, self.lanes,
        )  # fmt: skip

    def _state(self) -> dict[str, Any]:
        arrays = {"weights": self.weights, "drift": self.drift}
        arrays |= stored_arrays(self.memory)
        return {**arrays, **self.rule.state(), "epoch": self.epoch, "drawn": self.drawn}

    def _restore(self, memory: Mapping[str, Any]) -> None:
        self.weights, self.drift = np.array(memory["weights"]), np.array(memory["drift"])
        restore_memory(self.memory, memory)
        self.rule.restore(memory)
        self.epoch, self.drawn = int(memory["epoch"]), int(memory["drawn"])
