"""The objective estimated on a sample of the sequences, in the scale of all."""

from __future__ import annotations

from typing import NamedTuple

from fastcrf.core.types import Floats, Longs
from fastcrf.objective.capabilities import SubsetProblem
from fastcrf.simd.vectors import dot


class Sample(NamedTuple):
    """f_B(w) = n / |B| sum of the losses in B + c2 |w|^2: in the mean over all B of a size, it is F."""

    problem: SubsetProblem
    sequences: Longs  # B

    @property
    def share(self) -> float:
        """Return the share of a pass that an evaluation costs."""
        return len(self.sequences) / self.problem.n_sequences

    def gradient(self, weights: Floats) -> tuple[float, Floats]:
        """Return value and gradient (a new array)."""
        loss, gradient = self.problem.subset_gradient(weights, self.sequences)
        gradient /= self.share
        gradient += 2.0 * self.problem.c2 * weights
        return loss / self.share + self.problem.c2 * dot(weights, weights), gradient
