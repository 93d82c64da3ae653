"""The best labels of sequences together with all probabilities, from one inference: for the command line."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np

from fastcrf.model.decoder import OWN, Decoder, split
from fastcrf.model.model import Model


class Scored(NamedTuple):
    """The best labels of a sequence, and how sure the model is of them."""

    labels: list[Any]
    probability: float  # of all labels together
    marginals: list[dict[Any, float]]  # of each label at each position


def scored(model: Model, X: Iterable[Iterable[Any]], constraints: Any = OWN, given: Any = None) -> list[Scored]:
    """Return the best labels of each sequence with their probabilities."""
    decoder: Decoder = model._decoder
    corpus = decoder.encode(X)
    allowed = decoder.allowed(corpus, constraints, given)
    best = decoder.best(corpus, allowed)
    posterior, log_z = decoder.infer(corpus, allowed)
    chances = np.exp(decoder.log_chances(corpus, best, log_z, allowed))
    labels, marginals = split(corpus, decoder.names(best)), split(corpus, decoder.rows(posterior))
    return [Scored(*each) for each in zip(labels, chances.tolist(), marginals, strict=True)]
