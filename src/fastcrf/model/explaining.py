"""Explain labels: the weights that make one label sequence score more than another."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import numpy as np

from fastcrf.core.types import Corpus, Ints
from fastcrf.decoding.decoder_choice import path_scores
from fastcrf.exceptions import ConstraintError, DataError
from fastcrf.feature_space.label_contexts import context_of
from fastcrf.markup.token_text import token_of
from fastcrf.model.decoder import Decoder
from fastcrf.model.explanation import Contribution, Explanation


def explained(
    decoder: Decoder, xseq: Iterable[Any], place: Any, against: Any, labels: Any, constraints: Any, given: Any
) -> Explanation:
    """Return why the best labels, or those with `labels` at the place, score more than the best with others there."""
    items = list(xseq)
    corpus, span = decoder.encode_one(items), span_of(place, len(items))
    free = [None] * len(items) if given is None else list(given)

    def best(forced: dict[int, Any]) -> Ints:
        entries = [forced.get(t, entry) for t, entry in enumerate(free)]
        return decoder.best(corpus, decoder.allowed(corpus, constraints, [entries]))

    ours = best(forced_by("labels", labels, span, decoder))
    if against is None:
        theirs = best_of_others(decoder, corpus, best, ours, span, free)
    else:
        theirs = best(forced_by("against", against, span, decoder))
    if (ours[slice(*span)] == theirs[slice(*span)]).all():
        raise DataError(f"The labels at {place} are {decoder.names(ours[slice(*span)])} already; name other labels.")
    found = sorted(contributions(decoder, corpus, ours, theirs), key=lambda each: -abs(each.score))
    return Explanation(
        tokens=tuple(map(token_of, items)),
        span=span,
        labels=tuple(decoder.names(ours)),
        against=tuple(decoder.names(theirs)),
        difference=math.fsum(each.score for each in found),
        contributions=tuple(found),
    )


def span_of(place: Any, n_tokens: int) -> tuple[int, int]:
    """Return a position or a span as (first, last + 1)."""
    first, last = place if isinstance(place, tuple) else (place, place + 1)
    if not 0 <= first < last <= n_tokens:
        raise DataError(
            f"The place {place!r} is not within the sequence, which has {n_tokens} tokens; give a position, or a span "
            "(first, last + 1), counted from 0."
        )
    return int(first), int(last)


def forced_by(name: str, labels: Any, span: tuple[int, int], decoder: Decoder) -> dict[int, Any]:
    """Return the label that each position of the span must have: one for all, or those of a list."""
    if labels is None:
        return {}
    n = span[1] - span[0]
    listed = labels if isinstance(labels, list) else [labels] * n
    if len(listed) != n:
        raise DataError(f"{name} has {len(listed)} labels and the place has {n} tokens; give one label per token.")
    for label in listed:
        if label not in decoder.labels:
            raise DataError(f"{name}: the model has no label {label!r}; classes_ lists its labels.")
    return dict(zip(range(*span), listed, strict=True))


def best_of_others(
    decoder: Decoder, corpus: Corpus, best: Callable[[dict[int, Any]], Ints], ours: Ints, span: tuple[int, int],
    free: list[Any],
) -> Ints:  # fmt: skip
    """Return the best label sequence that differs somewhere in the span: the best of those that differ at a token."""
    found: list[Ints] = []
    for t in range(*span):
        try:
            found.append(best({t: options(free[t], decoder.labels) - {decoder.labels[ours[t]]}}))
        except ConstraintError:
            if t == span[1] - 1 and not found:
                raise
    scores = [path_scores(corpus, decoder.features, decoder.weights, path)[0] for path in found]
    return found[int(np.argmax(scores))]


def options(entry: Any, labels: list[Any]) -> set[Any]:
    """Return the labels that an entry of `given` leaves open."""
    if entry is None:
        return set(labels)
    return set(entry) if isinstance(entry, set | frozenset | list) else {entry}


def contributions(decoder: Decoder, corpus: Corpus, ours: Ints, theirs: Ints) -> Iterator[Contribution]:
    """Yield what differs in the scores of two label sequences, except where it is 0."""
    names = decoder.content.attributes.names()
    for t in range(len(ours)):
        for o in range(int(corpus.offsets[t]), int(corpus.offsets[t + 1])):
            a = int(corpus.attributes[o])
            if a >= 0 and ours[t] != theirs[t]:
                score = weight_of(decoder, a, ours[t]) - weight_of(decoder, a, theirs[t])
                score *= float(corpus.values[o]) if len(corpus.values) else 1.0
                if score:
                    yield Contribution(t, "attribute", names[a], score)
        for length in range(1, min(decoder.features.order, t) + 1):
            grams = [tuple(path[t - length : t + 1].tolist()) for path in (ours, theirs)]
            for gram, sign in zip(grams, (1.0, -1.0), strict=True):
                score = sign * transition_weight(decoder, gram) if grams[0] != grams[1] else 0.0
                if score:
                    yield Contribution(t, "transition", " ".join(str(decoder.labels[k]) for k in gram), score)


def weight_of(decoder: Decoder, attribute: int, label: int) -> float:
    """Return the weight of an attribute with a label; 0 if they have none."""
    first, last = decoder.features.offsets[attribute : attribute + 2]
    place = first + np.searchsorted(decoder.features.labels[first:last], label)
    return float(decoder.weights[place]) if place < last and decoder.features.labels[place] == label else 0.0


def transition_weight(decoder: Decoder, gram: tuple[int, ...]) -> float:
    """Return the weight of labels in a row; 0 if they have none."""
    features = decoder.features
    context = int(context_of(np.array([gram[:-1]]), features.n_labels)[0])
    found = np.flatnonzero((features.sources == context) & (features.targets == gram[-1]))
    return float(decoder.weights[features.n_state + found[0]]) if len(found) else 0.0
