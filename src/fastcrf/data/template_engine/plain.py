"""The template engine in NumPy, for tagging: what `kernels.py` does where no table grows, without the compiler."""

from __future__ import annotations

import numpy as np

from fastcrf.core.types import Ints, Longs
from fastcrf.data.template_engine.blocks import NONE, Outputs, Pairing, Slots


def find_sources(slots: Slots, place: int, n_before: int, n_after: int, sources: Ints) -> None:
    """Find what each slot shows: a token of the block, or -1 - d.

    d is the distance from the sentence, counted through the n_before texts before it (farther ones show the last) and
    then the n_after texts after it. With place 0 a slot shows its own token, else all slots of a sentence show that of
    one place: 1 is the first, -1 the last. Writes: sources.
    """
    lengths = np.diff(slots.starts)
    sizes = slots.before + lengths + slots.after
    length, first = np.repeat(lengths, sizes), np.repeat(slots.starts[:-1], sizes)
    if place:
        shown = np.full(len(length), place - 1) if place > 0 else length + place
    else:
        shown = np.arange(len(length)) - np.repeat(np.cumsum(sizes) - sizes, sizes) - slots.before
    sources[:] = first + shown
    before, after = shown < 0, shown >= length
    sources[before] = -1 - np.minimum(-shown[before] - 1, n_before - 1)
    sources[after & ~before] = (-1 - n_before - np.minimum(shown - length, n_after - 1))[after & ~before]


def show(sources: Ints, tokens: Ints, ids: Ints, padding: Ints, track: Ints) -> None:
    """Set the id of each slot: that of its token's value, or that of its padding. Writes: track."""
    inside = sources >= 0
    track[inside] = ids[tokens[sources[inside]]]
    track[~inside] = padding[-1 - sources[~inside]]


def combine(slots: Slots, pairing: Pairing, keys: Longs, order: Longs, track: Ints) -> None:
    """Set the ids of pairs in the slots of a pairing; NONE where one part is NONE.

    `keys` are those of the known pairs in ascending order, and `order` their ids. Writes: track.
    """
    within = spans(slots, pairing.first, pairing.last)
    lefts, rights = pairing.left[within].astype(np.int64), pairing.right[within + pairing.shift].astype(np.int64)
    wanted = lefts << 32 | rights
    track[within] = NONE
    if len(keys):
        places = np.minimum(np.searchsorted(keys, wanted), len(keys) - 1)
        known = (lefts >= 0) & (rights >= 0) & (keys[places] == wanted)
        track[within[known]] = order[places[known]]


def give_out(slots: Slots, tracks: Ints, outputs: Outputs, attributes: Ints, ends: Longs) -> None:
    """Set the attributes of each token, template by template.

    Writes: attributes, ends (the number of attributes up to and with each token).
    """
    tokens = spans(slots, 0, 0)
    found = tracks[outputs.tracks, tokens[:, None] + outputs.offsets]
    places = outputs.bases[outputs.families] + np.maximum(found, 0)
    given = np.full(found.shape, NONE, np.int32)
    if len(outputs.attributes):
        given = np.where(found >= 0, outputs.attributes[np.minimum(places, len(outputs.attributes) - 1)], NONE)
    kept = given >= 0
    ends[:] = np.cumsum(kept.sum(axis=1))
    attributes[: ends[-1]] = given[kept]


def spans(slots: Slots, first: int, last: int) -> Longs:
    """Return the slots from `first` before each sentence's first token to `last` after its last."""
    lengths = np.diff(slots.starts)
    sizes = np.maximum(lengths + last - first, 0)
    begins = slots.starts[:-1] + np.arange(len(lengths)) * (slots.before + slots.after) + slots.before + first
    return np.repeat(begins - (np.cumsum(sizes) - sizes), sizes) + np.arange(sizes.sum())
