"""Decoding that starts at once: plain NumPy for the first sentences of a process, compiled code when there are more.

Loading Numba and machine code takes some tenths of a second and a hundred megabytes. So the first sentences are decoded
without, until that has taken as long as loading would; from then on, and wherever compiled code is loaded anyway, it
decodes. Nobody waits more than twice as long as with the better choice. Both give the same labels, and probabilities
that differ by rounding alone. Where Numba is not installed, NumPy decodes everything.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from importlib import import_module
from typing import Any

import numpy as np

from fastcrf.constraints.allowed import Allowed
from fastcrf.core.types import Corpus, FeatureMap, Floats, Ints
from fastcrf.inference.score_range import DENSE
from fastcrf.system.optional_packages import is_installed

PLAIN, COMPILED = "fastcrf.decoding.plain_decoder", "fastcrf.decoding.compiled_decoder"
SEGMENTS, COMPILED_SEGMENTS = "fastcrf.decoding.segments", "fastcrf.decoding.compiled_segments"
LOADING = 0.3  # seconds
VITERBI, INFERENCE = 1e-5, 5e-5  # seconds a position in NumPy, for few labels
MANY = 60  # labels at which [K, K] arrays begin to matter


class Spent:
    """An estimate of the seconds that this process has spent in NumPy instead of loading compiled code."""

    seconds = 0.0


def viterbi(corpus: Corpus, features: FeatureMap, weights: Floats, allowed: Allowed | None = None) -> Ints:
    """Return the best label id of each position, [P]; ties go to the lowest id.

    Where no label sequence is allowed, the first label of the sequence is -1.
    """
    return decoder(VITERBI, corpus, features).viterbi(corpus, features, weights, allowed)


def infer_corpus(
    corpus: Corpus, features: FeatureMap, weights: Floats, allowed: Allowed | None = None
) -> tuple[Floats, Floats]:
    """Compute p(y_t = k | x) of each position, [P, K], and log Z of each sequence, [N] (0 where it is empty).

    With `allowed` they are those of the allowed label sequences; where there is none, probabilities are 0, log Z -inf.
    """
    return decoder(INFERENCE, corpus, features).infer_corpus(corpus, features, weights, allowed)


def best_of_scores(scores: Floats, corpus: Corpus, features: FeatureMap, allowed: Allowed) -> Ints:
    """Return the allowed labels with the highest sum of scores [P, K], [P]. Writes: scores."""
    return decoder(VITERBI, corpus, features).best_of_scores(scores, corpus.starts, allowed)


def segment_probabilities(
    corpus: Corpus,
    features: FeatureMap,
    weights: Floats,
    rules: Any,
    segments: Sequence[Sequence[tuple[int, int, int]]],
    allowed: Allowed | None = None,
) -> list[list[float]]:
    """Compute the probability of each segment (type, first, last + 1), counted from its sequence's first position."""
    is_plain = features.order > 1 or decoder(INFERENCE, corpus, features).__name__ == PLAIN
    module = import_module(SEGMENTS if is_plain else COMPILED_SEGMENTS)
    found: list[list[float]] = module.segment_probabilities(corpus, features, weights, rules, segments, allowed)
    return found


def path_scores(corpus: Corpus, features: FeatureMap, weights: Floats, labels: Ints) -> Floats:
    """Compute the score of each sequence with these labels (ids of each position), [N]."""
    return decoder(0.0, corpus, features).path_scores(corpus, features, weights, labels)


def log_chances(
    corpus: Corpus, features: FeatureMap, weights: Floats, labels: Ints, log_z: Floats, allowed: Allowed | None = None
) -> Floats:
    """Compute the log of the probability of each sequence's labels, [N], given its log Z.

    With `allowed`, log Z is that of the allowed label sequences, and the labels must be allowed where it is finite.
    """
    chances = np.minimum(path_scores(corpus, features, weights, labels) - log_z, 0.0)
    for i in np.flatnonzero((np.abs(log_z) > DENSE) & np.isfinite(log_z)).tolist():
        chances[i] = min(import_module(PLAIN).log_chance(corpus, features, weights, labels, i, allowed), 0.0)
    return chances


def decoder(seconds: float, corpus: Corpus, features: FeatureMap) -> Any:
    """Return the module that decodes this corpus, given the cost of a position in NumPy."""
    return import_module(COMPILED if is_compiled(seconds, corpus, features) else PLAIN)


def is_compiled(seconds: float, corpus: Corpus, features: FeatureMap) -> bool:
    """Return whether compiled code decodes this corpus, given the cost of a position in NumPy."""
    if COMPILED in sys.modules:
        return True
    Spent.seconds += seconds * corpus.n_positions * (1 + (features.n_labels / MANY) ** 2)
    return Spent.seconds > LOADING and is_installed("numba")
