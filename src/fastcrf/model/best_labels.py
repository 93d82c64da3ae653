"""The labels that are predicted: the best as a whole, the best of each token, or within limits on segments."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise
from typing import Any

import numpy as np

from fastcrf.constraints.allowed import Allowed
from fastcrf.core.checks import one_of, whole
from fastcrf.core.types import Corpus, Ints, Longs
from fastcrf.decoding.decoder_choice import best_of_scores
from fastcrf.exceptions import ConstraintError
from fastcrf.model.decoder import Decoder

VITERBI, MARGINAL, MBR = "viterbi", "marginal", "mbr"
Limits = int | Mapping[Any, int] | None


def best_labels(
    decoder: Decoder, corpus: Corpus, allowed: Allowed | None, decode: str = VITERBI, max_segments: Limits = None
) -> Ints:
    """Return the id of the label of each position.

    decode: the most probable label sequence; the most probable label of each token; or the allowed label sequence in
    which the most tokens are expected to be right (minimum risk).
    """
    if one_of("decode", decode, (VITERBI, MARGINAL, MBR)) == VITERBI:
        labels = decoder.best(corpus, allowed)
        return labels if max_segments is None else within_limits(decoder, corpus, allowed, labels, max_segments)
    if max_segments is not None:
        raise ValueError(f"max_segments requires decode='viterbi'; got decode={decode!r}.")
    probabilities = decoder.infer(corpus, allowed)[0]
    if decode == MARGINAL or allowed is None:
        return probabilities.argmax(axis=1).astype(np.int32)
    return best_of_scores(probabilities, corpus, decoder.features, allowed)


def within_limits(
    decoder: Decoder, corpus: Corpus, allowed: Allowed | None, labels: Ints, max_segments: Limits
) -> Ints:
    """Return the best labels with at most so many segments; `labels` are the best without that limit."""
    from fastcrf.decoding.plain_decoder import scores_and_steps
    from fastcrf.decoding.segment_limit import (
        UNLIMITED,
        NoneWithin,
        TooManyTypes,
        best_within,
        segments_of,
    )
    from fastcrf.decoding.segments import segment_rules

    rules = segment_rules(decoder.labels)
    limits, labels = limits_of(max_segments, rules.types, UNLIMITED), labels.copy()
    for i, (first, last) in enumerate(pairwise(corpus.starts.tolist())):
        numbers = segments_of(labels[first:last], rules, len(limits))
        if not ((limits != UNLIMITED) & (numbers > limits)).any():
            continue
        own = None if allowed is None else allowed.slice_of(first, last)
        scores, steps = scores_and_steps(corpus.slice_of(i, i + 1), decoder.features, decoder.weights, own)
        try:
            labels[first:last] = best_within(scores, steps, rules, limits)
        except NoneWithin:
            raise ConstraintError(
                f"X[{i}]: no label sequence has at most max_segments={max_segments!r}; allow more segments.", i, 0
            ) from None
        except TooManyTypes as error:
            raise ConstraintError(f"X[{i}]: {error}; limit fewer types, or split the sequence.", i, 0) from None
    return labels


def limits_of(max_segments: Limits, types: list[Any], unlimited: int) -> Longs:
    """Return the limit of each type of segment."""
    if not isinstance(max_segments, Mapping):
        return np.full(len(types), whole("max_segments", max_segments, 0))
    limits = np.full(len(types), unlimited)
    for kind, most in max_segments.items():
        if kind is None or kind not in types:
            known = ", ".join(repr(each) for each in types if each is not None)
            raise ValueError(f"max_segments has {kind!r}, but the types of segments are {known}.")
        limits[types.index(kind)] = whole(f"max_segments[{kind!r}]", most, 0)
    return limits
