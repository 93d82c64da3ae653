"""The problem over allowed label sequences: log Z is that of what constraints allow, and so are expected counts.

    F(w) = sum_i s_i (log sum over allowed y of exp score(x_i, y) - score(x_i, y_i)) + c1 |w|_1 + c2 |w|^2

A log-sum-exp of fewer linear functions is convex, so the certificate holds as without constraints.

Which labels a position may have is data of the same form as its attributes: each set of live labels is an attribute
with constant weights, 0 for its labels and MASKED for the others, in rows of the table that no feature owns. So the
loops of inference/expectations.py run as they are, on a lattice for live labels (inference/live_labels.py).
"""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from fastcrf.constraints.allowed import Allowed
from fastcrf.core.types import Corpus, FeatureMap, Floats, Longs
from fastcrf.exceptions import ConstraintError
from fastcrf.feature_space.layout import Layout, Positions, make_layout, make_positions
from fastcrf.feature_space.transitions import transition_matrix
from fastcrf.higher_order.any_order import allowed_edges_from, live_lattice_of
from fastcrf.inference.forward_backward import AnyEdges, AnyLattice
from fastcrf.inference.live_labels import live_labels
from fastcrf.inference.score_range import MASKED
from fastcrf.objective.likelihood import Likelihood
from fastcrf.objective.problem import Problem


def check_gold(corpus: Corpus, allowed: Allowed, labels: list[Any]) -> None:
    """Raise ConstraintError at the first gold label that is not allowed."""
    wrong = np.flatnonzero(~allowed.keeps(corpus.labels, corpus.starts))
    if not len(wrong):
        return
    p = int(wrong[0])
    i = int(np.searchsorted(corpus.starts, p, "right")) - 1
    t = p - int(corpus.starts[i])
    here, before = labels[corpus.labels[p]], labels[corpus.labels[p - 1]]
    is_free = allowed.sets[allowed.set_of[p], corpus.labels[p]]
    fault = f"the label {here!r} may not follow {before!r}" if is_free else f"the label {here!r} is not allowed there"
    raise ConstraintError(
        f"y[{i}], position {t}: {fault} ({len(wrong)} of {len(corpus.labels)} labels break the constraints); correct "
        "the labels, or set constrained_training=False.",
        i,
        t,
    )


class ConstrainedLikelihood(Likelihood):
    """The likelihood of gold labels among the label sequences that are allowed."""

    def __init__(
        self, corpus: Corpus, features: FeatureMap, allowed: Allowed, n_jobs: int = 1, prior: Floats | None = None
    ) -> None:
        self.allowed = allowed
        super().__init__(corpus, features, n_jobs, prior)
        self.flat[self._places] = self._constants

    def arrange(self, corpus: Corpus, features: FeatureMap) -> tuple[Layout, Positions]:
        """Arrange features and corpus, and an attribute for each set of live labels."""
        sets, which = distinct_sets(live_labels(corpus.starts, self.allowed))
        with_sets, wider = with_attributes(corpus, features, sets, which)
        layout = make_layout(wider)
        self._places = layout.place[features.n_state :]
        self._constants = np.where(sets, 0.0, MASKED).reshape(-1)
        return layout._replace(place=layout.place[: features.n_state]), make_positions(with_sets, wider, layout)

    def make_lattice(self, longest: int) -> AnyLattice:
        """Allocate a lattice for live labels."""
        return live_lattice_of(self.tree, longest, self.features.n_labels, self.layout.padded)

    def edges(self, weights: Floats) -> AnyEdges:
        """Build the edges, whose factor is 0 where a transition is not allowed."""
        scores = transition_matrix(self.features, weights)
        return allowed_edges_from(self.tree, scores, self.allowed.transitions, self.layout.padded)


def distinct_sets(live: NDArray[np.bool_]) -> tuple[NDArray[np.bool_], Longs]:
    """Return the distinct rows that are not all true, and for each position its row among them, or -1."""
    limited = np.flatnonzero(~live.all(axis=1))
    which = np.full(len(live), -1)
    _, first, inverse = np.unique(np.packbits(live[limited], axis=1), axis=0, return_index=True, return_inverse=True)
    which[limited] = inverse.reshape(-1)
    return live[limited[first]], which


def with_attributes(
    corpus: Corpus, features: FeatureMap, sets: NDArray[np.bool_], which: Longs
) -> tuple[Corpus, FeatureMap]:
    """Return the corpus with an attribute more where a position has a set, and features of sets with all labels."""
    K, held = features.n_labels, which >= 0
    ends, ids = corpus.offsets[1:][held], features.n_attributes + which[held]
    attributes = np.insert(corpus.attributes, ends, ids).astype(np.int32)
    values = np.insert(corpus.values, ends, 1.0) if len(corpus.values) else corpus.values
    offsets = corpus.offsets + np.concatenate(([0], np.cumsum(held)))
    wider = features._replace(
        offsets=np.append(features.offsets, features.n_state + K * np.arange(1, len(sets) + 1)),
        labels=np.append(features.labels, np.tile(np.arange(K, dtype=np.int32), len(sets))).astype(np.int32),
    )
    return corpus._replace(attributes=attributes, values=values, offsets=offsets), wider


class ConstrainedProblem(Problem):
    """Minimize F over allowed label sequences. Batch solvers can."""

    provides = frozenset({"gradient", "subset-gradient"})

    def __init__(
        self,
        corpus: Corpus,
        features: FeatureMap,
        allowed: Allowed,
        c1: float = 0.0,
        c2: float = 0.0,
        n_jobs: int = 1,
        prior: Floats | None = None,
    ) -> None:
        self.allowed = allowed
        super().__init__(corpus, features, c1, c2, n_jobs, prior)

    def make_likelihood(self, n_jobs: int) -> Likelihood:
        return ConstrainedLikelihood(self.corpus, self.features, self.allowed, n_jobs, self.prior)

    def first_sequences(self, n: int) -> Self:
        """Return the problem of the first n sequences."""
        small = self.corpus.slice_of(0, min(n, self.n_sequences))
        allowed = self.allowed.slice_of(0, small.n_positions)
        return type(self)(small, self.features, allowed, self.c1, self.c2, self.n_jobs)
