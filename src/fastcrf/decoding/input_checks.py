"""Check the memory for decoding: [K, K] and [P, K] arrays of a model with very many labels would fill the memory."""

from __future__ import annotations

import numpy as np

from fastcrf.core.types import Corpus, FeatureMap
from fastcrf.feature_space.label_contexts import known_contexts
from fastcrf.system.memory_budget import SMALL, require_memory


def require_memory_for(n_labels: int, n_positions: int, squares: int, rows: int) -> None:
    """Raise if so many matrices [K, K] and so many [P, K] would fill the memory."""
    n_bytes = 8 * n_labels * (squares * n_labels + rows * n_positions)
    if n_bytes > SMALL:
        what = f"Tagging {n_positions:,} tokens with {n_labels:,} labels"
        require_memory(n_bytes, what, "tag fewer at a time, or use a model with fewer labels")


def require_memory_for_states(corpus: Corpus, features: FeatureMap, rows: int, columns: int) -> None:
    """Raise if so many [H, K] and, for each position of the longest sequence, [H] would fill the memory."""
    if features.order == 1:
        return
    longest, H, K = int(np.diff(corpus.starts).max(initial=1)), len(known_contexts(features)), features.n_labels
    n_bytes = 8 * H * (rows * K + columns * longest)
    if n_bytes > SMALL:
        what = f"Tagging sequences of up to {longest:,} tokens in a chain of order {features.order} with {H:,} contexts"
        require_memory(n_bytes, what, "tag shorter sequences, or use a model of a lower order")


SAFE_WEIGHT = 1e270  # no corpus has so many attributes that weights below could add up to LARGEST_SCORE


LARGEST_SCORE = 1e290  # of a sum over the whole corpus; kernels mask padding with scores of -1e300


class ScoreOverflow(ValueError):
    """Raise for values or weights so large that their products are infinite."""


def check_scores(corpus: Corpus, largest_weight: float) -> None:
    """Raise if the scores of a corpus might not be finite."""
    if largest_weight < SAFE_WEIGHT and not len(corpus.values):
        return  # the usual case, at once
    values, n_terms = corpus.values, len(corpus.attributes) + corpus.n_positions + 1
    largest_value = float(np.abs(values).max()) if len(values) else 1.0
    if max(largest_value, 1.0) * largest_weight * n_terms < LARGEST_SCORE:
        return
    sizes = np.where(corpus.attributes >= 0, np.abs(values), 0.0) if len(values) else np.ones(1)
    if max(float(sizes.max()), 1.0) * largest_weight * n_terms < LARGEST_SCORE:
        return  # what is large is unknown to the model
    if largest_weight > LARGEST_SCORE**0.5:
        raise ScoreOverflow(
            f"The model has a weight of {largest_weight:.3g}, which overflows float64 in sums; train it with a penalty."
        )
    place = int(sizes.argmax())
    sequence = int(np.searchsorted(corpus.starts, np.searchsorted(corpus.offsets, place, "right") - 1, "right")) - 1
    raise ScoreOverflow(
        f"X[{sequence}]: the value {values[place]:.3g} times a weight of {largest_weight:.3g} overflows float64; "
        "scale the values down."
    )
