"""Scores of labels that are not allowed at a position."""

from __future__ import annotations

from fastcrf.inference.score_range import MASKED
from fastcrf.jit.kernel import outlined_kernel


@outlined_kernel
def mask_scores(scores, live, first):
    """Set the scores of labels that are not live; row 0 of scores is position `first`. Writes: scores."""
    for t in range(len(scores)):
        for k in range(live.shape[1]):
            if not live[first + t, k]:
                scores[t, k] = MASKED
