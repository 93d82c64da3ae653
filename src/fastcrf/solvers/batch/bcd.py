"""Block coordinate descent: all labels of an attribute at a time.

Sokolovska, Lavergne, Cappé & Yvon (2010), "Efficient learning of sparse conditional random fields for supervised
sequence labeling", IEEE Journal of Selected Topics in Signal Processing 4(6), pp. 953-964; as Wapiti's trainer `bcd`
(Lavergne, Cappé & Yvon 2010, "Practical very large scale CRFs", ACL, pp. 504-513).

Minimizes   F(w) = sum_i s_i (-log p(y_i | x_i, w)) + c2 |w|^2  +  c1 |w|_1

    repeat: for each attribute, with x its value where it occurs, and last for the transitions as one more block
        g_k ← sum of x (p(y_t = k | x) - [y_t = k]);   h_k ← sum of x^2 p (1 - p)
        h ← kappa max(1, max_k |g_k| / h_k) h
        w_k ← soft(h_k w_k - g_k, c1) / (h_k + 2 c2)

A Step is one sweep over all blocks, or the part of it that costs 8 passes; the next Step continues it. h would be the
diagonal of the block's Hessian if positions were independent. It is increased so that no gradient component moves a
weight by more than 1 / kappa; 1.5 is Wapiti's default. A step may increase F, and no step is undone.

Differs from Wapiti: only sequences that a move has changed are inferred again (attribute_blocks.py), while Wapiti runs
forward and backward recursions for each block and each of its sequences, as far as the block extends; sequences may
have weights and attributes values; a curvature of zero counts as 1e-30.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, ClassVar

import numpy as np

from fastcrf.core.solver_state import COUNT, WEIGHTS, StateField
from fastcrf.core.types import Diverged, Floats, Step
from fastcrf.objective.capabilities import SequenceProblem
from fastcrf.solvers.batch.attribute_blocks import AttributeBlocks, Penalty
from fastcrf.solvers.declaration import solver
from fastcrf.solvers.options import check_positive
from fastcrf.stochastic.slices import Slices

LONGEST = 8  # passes of a Step: a sweep costs a hundred on a large corpus, beyond the limits of a user who asks for ten


@solver
class BCD:
    """Train with block coordinate descent, one attribute's weights at a time.

    Parameters
    ----------
    kappa
        Factor of the curvatures, Wapiti's kappa: the larger, the shorter the moves.
    """

    name: ClassVar[str] = "bcd"
    needs: ClassVar[frozenset[str]] = frozenset({"sequences"})
    handles: ClassVar[frozenset[str]] = frozenset({"l1", "l2", "l1+l2"})
    guarantee: ClassVar[str] = "optimum, slowly"
    state_fields: ClassVar[Mapping[str, StateField]] = {"weights": WEIGHTS, "blocks_done": COUNT}

    kappa: float = 1.5

    def __post_init__(self) -> None:
        check_positive(self.name, "kappa", self.kappa)

    def iterate(
        self, problem: SequenceProblem, weights: Floats, state: Mapping[str, Any] | None = None
    ) -> Iterator[Step]:
        penalty = Penalty(problem.c1, 2.0 * problem.c2, float(self.kappa))
        w, done = (np.array(state["weights"]), int(state["blocks_done"])) if state else (weights, 0)
        corpus = AttributeBlocks(problem.corpus, problem.features)
        n, occurrences = corpus.n_blocks, len(problem.corpus.attributes)
        size, limit = problem.slice_size * n // max(1, occurrences), LONGEST * problem.n_sequences
        blocks, passes = Slices(problem, n, size, done=min(done, n - 1)), 0.0
        while True:
            info = {"non_zeros": int(np.count_nonzero(w))}
            yield Step(w, passes, info=info, state={"weights": w, "blocks_done": blocks.done})
            moved, inferred = w.copy(), 0
            corpus.begin(problem.model_weights(moved))
            for some in blocks:
                reached, spent = corpus.descend(some, moved, penalty, limit - inferred)
                inferred += spent
                if inferred >= limit:
                    blocks.done = reached
                    break
            if blocks.finished:
                blocks.start_again()
            if not np.isfinite(moved).all():
                raise Diverged(f"A sweep of {self.name} produced a weight that is not finite; raise kappa, c1 or c2.")
            w, passes = moved, inferred / problem.n_sequences
