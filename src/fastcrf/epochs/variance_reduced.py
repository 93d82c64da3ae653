"""The loop that SAG and its relatives share.

With g_i the stored gradient of sequence i, d = sum_i g_i, m the number of sequences seen, lambda in the papers' mean
scale:

    draw i;  g = grad nll_i(w);  D = g - g_i;  g_i <- g;  d <- d + D
    L_i by the search of parts/ray_search.py;  a = step size from the L's
    w <- (1 - a lambda) w - a [ d / m + correction (1 / (n p_i) - 1 / m) D ]

(SVRG's memory stays as it is, and so does d: epochs/snapshots.py.)

Draws, L's and step size follow a rule (parts/visiting.py). SAG has correction 0. SAGA has 1: with p_i the probability
of the draw, its step is -a [ D / (n p_i) + d_before / m ], which has the right mean whatever the p_i. The drift d / m
is applied lazily (parts/drifting_vector.py). What is stored of g_i are node marginals and summed edge marginals
("mixed" memory), which start as the gold indicators: then g_i = 0 without a special case.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from fastcrf.chain.expectations import score_block
from fastcrf.chain.lanes import add_scaled, aligned_zeros, load, store
from fastcrf.chain.sequences import (
    Sequences,
    collect_change,
    copy_rows,
    gold_score,
    infer_sequence,
    make_workspace,
    refresh_edges,
    subtract_gold,
)
from fastcrf.kernel import kernel, means, verb
from fastcrf.parts.drifting_vector import drift, gather_drifting, make_drifting, settle_drifting, turn_drift
from fastcrf.parts.ray_search import make_ray, mask_change, search_lipschitz
from fastcrf.parts.sampling import epoch_uniforms
from fastcrf.parts.visiting import Rule, begin_visit, draw, end_visit, fade, place_of, probability, step_size
from fastcrf.types import Diverged, Floats, Step

FLAT = 1e-8  # squared gradient norm below which a search would only measure rounding (Algorithm 1, line 12)


class GradientMemory(NamedTuple):
    """The stored gradients, as expectations, and room for their change at the current draw."""

    marginals: np.ndarray  # [P, Kp]
    bigrams: np.ndarray  # [N K, Kp] summed edge marginals of sequence i in rows i K .. (i + 1) K
    change: np.ndarray  # [T, Kp] new minus old marginals
    edge_change: np.ndarray  # [Kp, Kp] new minus old bigrams


@verb
def exchange(memory, i, first, n_positions, posteriors, edge_sums, n_labels, lanes):  # type: ignore[no-untyped-def]
    """memory.change and .edge_change: how new expectations of sequence i differ from those stored. Writes: memory."""


@verb
def growth(memory):  # type: ignore[no-untyped-def]
    """The share of a change that becomes part of the drift."""


@means(exchange, GradientMemory)
def exchange_gradient(memory, i, first, n_positions, posteriors, edge_sums, n_labels, lanes):
    exchange_rows(posteriors, memory.marginals, first, n_positions, memory.change, lanes)
    exchange_rows(edge_sums, memory.bigrams, i * n_labels, n_labels, memory.edge_change, lanes)


@means(growth, GradientMemory)
def growth_of_gradient(memory):
    return 1.0


@kernel
def exchange_rows(new, memory, first, n_rows, change, lanes):
    """change = new - memory[first:], memory[first:] = new, over n_rows rows. Writes: memory, change."""
    for r in range(n_rows):
        for b in range(0, new.shape[1], len(lanes)):
            row = load(new, r, b, lanes)
            store(change, r, b, add_scaled(-1.0, load(memory, first + r, b, lanes), row))
            store(memory, first + r, b, row)


@kernel
def score_sequence(sequences, i, vector, space, lanes):
    """Label scores of sequence i at the current weights, and its edges. Writes: vector, space."""
    K = sequences.layout.n_labels
    gather_drifting(vector, sequences.support, i, space.weights, space.edges.scores, K, lanes)
    score_block(sequences.local, space.weights, space.lattice.bias, i, i + 1, space.lattice.scores, lanes)
    return refresh_edges(space.edges, K, space.lattice.bias, lanes)


@kernel
def average_gradient_draws(sequences, uniforms, lam, correction, vector, memory, rule, space, ray, lanes):
    """One draw per uniform; returns the number of forward(-backward) recursions. Writes: all state."""
    local, support, starts = sequences.local, sequences.support, sequences.local.starts
    K, n = sequences.layout.n_labels, len(starts) - 1
    lattice, scores = space.lattice, space.lattice.scores
    evaluations = 0
    for u in uniforms:
        i = draw(rule, u, lam)
        importance = 1.0 / (n * probability(rule, i, lam))
        first, T = starts[i], starts[i + 1] - starts[i]
        labels = sequences.labels[first : first + T]
        weight = sequences.weights[i] if len(sequences.weights) > 0 else 1.0
        edges = score_sequence(sequences, i, vector, space, lanes)
        searching, trials = begin_visit(rule, i), 0
        if searching:
            copy_rows(scores, ray.scores, T, lanes)
        loss = -gold_score(labels, scores, edges.scores)
        loss += infer_sequence(lattice, T, edges, weight, space.wide_edges, space.edge_sums, K, lanes)
        exchange(memory, i, first, T, scores, space.edge_sums, K, lanes)
        if searching:
            subtract_gold(labels, weight, scores, space.edge_sums)
            collect_change(local, support, i, scores, space.change, lanes)
            square = mask_change(support, i, space.change, space.edge_sums, K, lanes)
            if square > FLAT:
                score_block(local, space.change, ray.bias, i, i + 1, ray.slopes, lanes)
                copy_rows(space.edge_sums, ray.edge_slopes, K, lanes)
                k, down = place_of(rule, i), rule.n_seen[0] == 0
                rule.estimates[k], trials = search_lipschitz(
                    labels, weight, weight * loss, square, rule.estimates[k], down, ray, edges.scores, lattice, K, lanes
                )
        end_visit(rule, i, trials)
        evaluations += 1 + trials
        a, m = step_size(rule, lam), rule.n_seen[0]
        shrink = 1.0 - a * lam
        excess = correction * (importance - growth(memory) / m)
        collect_change(local, support, i, memory.change, space.change, lanes)
        step = excess * a / shrink
        turn_drift(vector, support, i, growth(memory), step, space.change, memory.edge_change, K, lanes)
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
        correction: float = 0.0,
    ) -> None:
        self.problem, self.rule, self.seed, self.correction = problem, rule, seed, correction
        self.weights, self.drift = weights, np.zeros_like(weights)  # of all features
        self.epoch = self.drawn = 0
        self.part = problem.part(memory["weights"] if memory else weights)
        self.sequences = self.part.sequences
        self.lam = problem.regulariser.mean_scale(problem.n_sequences)[1]
        self.space, self.ray = make_workspace(self.sequences), make_ray(self.sequences)
        self.lanes = (0,) * self.sequences.layout.width
        self.memory: Any = gold_memory(self.sequences)
        if memory:
            self._restore(memory)
        self.settled = self.part.take(self.weights), self.part.take(self.drift)  # of the features that draws can move
        self.vector, self.places = make_drifting(self.sequences.layout, self.part.features, *self.settled)

    def step(self, evaluations: int = 0) -> Step:
        """Where the run is, settled, after so many recursions."""
        ridge = 2.0 * self.problem.c2
        norm = np.sqrt(settle_drifting(self.vector, self.places, ridge, *self.settled, self.lanes))
        if not np.isfinite(norm):
            raise Diverged(f"The weights are not finite after {self.epoch} epochs.")
        for values, whole in zip(self.settled, (self.weights, self.drift), strict=True):
            self.part.put(values, whole)
        seen = int(self.rule.n_seen[0])
        info = {
            "gradient_norm_estimate": float(norm) if seen == self.problem.n_sequences else np.inf,
            "seen": seen,
            "step_size": float(step_size(self.rule, self.lam)),
        }
        return Step(self.weights, evaluations / self.problem.n_sequences, info=info, memory=self._state())

    def run_epoch(self) -> Step:
        """n draws (what is left of them after an interrupted epoch), in slices short enough for Ctrl-C."""
        n = self.problem.n_sequences
        evaluations = self.draw(n)
        if self.drawn == n:
            self.epoch, self.drawn = self.epoch + 1, 0
        return self.step(evaluations)

    def draw(self, n: int) -> int:
        """What is left of n draws, or less if told to stop; the number of recursions."""
        uniforms = epoch_uniforms(self.seed, self.epoch, n)
        evaluations = 0
        while self.drawn < n and not (evaluations and self.problem.asked_to_stop()):
            some = uniforms[self.drawn : self.drawn + self.problem.slice_size]
            evaluations += average_gradient_draws(
                self.sequences, some, self.lam, self.correction, self.vector, self.memory, self.rule,
                self.space, self.ray, self.lanes,
            )  # fmt: skip
            self.drawn += len(some)
        return evaluations

    def _state(self) -> dict[str, Any]:
        arrays = {"weights": self.weights, "drift": self.drift}
        arrays |= {"marginals": self.memory.marginals, "bigrams": self.memory.bigrams}
        return {**arrays, **self.rule.state(), "epoch": self.epoch, "drawn": self.drawn}

    def _restore(self, memory: Mapping[str, Any]) -> None:
        self.weights, self.drift = np.array(memory["weights"]), np.array(memory["drift"])
        self.memory.marginals[:], self.memory.bigrams[:] = memory["marginals"], memory["bigrams"]
        self.rule.restore(memory)
        self.epoch, self.drawn = int(memory["epoch"]), int(memory["drawn"])


def gold_memory(sequences: Sequences) -> GradientMemory:
    """Memory of sequences not seen yet: gold indicators, whose gradient is zero."""
    starts, labels, layout = sequences.local.starts, sequences.labels, sequences.layout
    n, K, Kp = len(starts) - 1, layout.n_labels, layout.padded
    weights = sequences.weights if len(sequences.weights) else np.ones(n)
    sequence = np.repeat(np.arange(n), np.diff(starts))
    marginals, bigrams = aligned_zeros(len(labels), Kp), aligned_zeros(n * K, Kp)
    marginals[np.arange(len(labels)), labels] = weights[sequence]
    inside = np.flatnonzero(sequence[1:] == sequence[:-1])
    rows = sequence[inside] * K + labels[inside]
    np.add.at(bigrams, (rows, labels[inside + 1]), weights[sequence[inside]])
    return GradientMemory(marginals, bigrams, aligned_zeros(sequences.widest[2], Kp), aligned_zeros(Kp, Kp))
