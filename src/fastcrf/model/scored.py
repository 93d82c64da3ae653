"""The best labels of sequences together with all probabilities, from one inference: for the command line."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np

from fastcrf.model.best_labels import VITERBI, best_labels
from fastcrf.model.decoder import OWN, Decoder, split
from fastcrf.model.model import Model
from fastcrf.model.spans import Span, predicted_spans


class Scored(NamedTuple):
    """The labels of a sequence, and how sure the model is of them."""

    labels: list[Any]
    probability: float = 1.0  # of all labels together
    marginals: list[dict[Any, float]] = []  # noqa: RUF012 (never written) of each label at each position
    spans: list[Span] = []  # noqa: RUF012


def scored(
    model: Model,
    X: Iterable[Iterable[Any]],
    constraints: Any = OWN,
    given: Any = None,
    decode: str = VITERBI,
    max_segments: Any = None,
) -> list[Scored]:
    """Return the labels of each sequence with their probabilities, and its segments."""
    decoder: Decoder = model._decoder
    corpus = decoder.encode(X)
    allowed = decoder.allowed(corpus, constraints, given)
    best = best_labels(decoder, corpus, allowed, decode, max_segments)
    posterior, log_z = decoder.infer(corpus, allowed)
    chances = np.exp(decoder.log_chances(corpus, best, log_z, allowed))
    labels, marginals = split(corpus, decoder.names(best)), split(corpus, decoder.rows(posterior))
    spans = predicted_spans(decoder, corpus, allowed, best)
    return [Scored(*each) for each in zip(labels, chances.tolist(), marginals, spans, strict=True)]
