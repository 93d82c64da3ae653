"""Compiled parts of the template engine: laying sentences out in slots, looking pairs up, giving out attributes.

`plain.py` says the same in NumPy, for the first sentences of a process.
"""

from __future__ import annotations

import numpy as np

from fastcrf.data.template_engine.blocks import NONE
from fastcrf.jit.kernel import kernel


@kernel
def find_sources(slots, place, n_before, n_after, sources):
    """Find what each slot shows: a token of the block, or -1 - d.

    d is the distance from the sentence, counted through the n_before texts before it (farther ones show the last) and
    then the n_after texts after it. With place 0 a slot shows its own token, else all slots of a sentence show that of
    one place: 1 is the first, -1 the last. Writes: sources.
    """
    slot = 0
    for i in range(len(slots.starts) - 1):
        first, last = slots.starts[i], slots.starts[i + 1]
        length = last - first
        for t in range(-slots.before, length + slots.after):
            shown = t
            if place > 0:
                shown = place - 1
            elif place < 0:
                shown = length + place
            if shown < 0:
                sources[slot] = -1 - min(-shown - 1, n_before - 1)
            elif shown >= length:
                sources[slot] = -1 - n_before - min(shown - length, n_after - 1)
            else:
                sources[slot] = first + shown
            slot += 1


@kernel
def show(sources, tokens, ids, padding, track):
    """Set the id of each slot: that of its token's value, or that of its padding. Writes: track."""
    for slot in range(len(sources)):
        source = sources[slot]
        track[slot] = ids[tokens[source]] if source >= 0 else padding[-1 - source]


@kernel
def hash_of(key, secret, mask):
    """Hash by two rounds of multiplying and folding; the secret enters before each, so that no difference of keys is
    sure.
    """
    mixed = (np.uint64(key) ^ np.uint64(secret)) * np.uint64(0x9E3779B97F4A7C15)
    mixed = ((mixed ^ (mixed >> np.uint64(32))) + np.uint64(secret)) * np.uint64(0xD6E8FEB86659FD93)
    return np.int64(mixed >> np.uint64(32)) & mask


@kernel
def place_keys(pairs, n):
    """Fill the slots, all free, with the first n ids. Writes: pairs.slots."""
    mask = len(pairs.slots) - 1
    for i in range(n):
        slot = hash_of(pairs.keys[i], pairs.secret, mask)
        while pairs.slots[slot] != NONE:
            slot = (slot + 1) & mask
        pairs.slots[slot] = i


@kernel
def look_up(pairs, key, n, growing):
    """Return the id of a key. A new one gets the id n if the table is growing, else NONE. Writes: pairs."""
    mask = len(pairs.slots) - 1
    slot = hash_of(key, pairs.secret, mask)
    while pairs.slots[slot] != NONE:
        found = pairs.slots[slot]
        if pairs.keys[found] == key:
            return found
        slot = (slot + 1) & mask
    if not growing:
        return np.int32(NONE)
    pairs.slots[slot] = n
    pairs.keys[n] = key
    return np.int32(n)


@kernel
def combine(slots, pairing, pairs, n, growing, track):
    """Set the ids of pairs in the slots of a pairing; NONE where one part is NONE.

    Returns the number of pairs after that. Writes: track, pairs.
    """
    left, right, shift, slot = pairing.left, pairing.right, pairing.shift, np.int64(0)
    for i in range(len(slots.starts) - 1):
        begin = slot + slots.before
        end = begin + slots.starts[i + 1] - slots.starts[i]
        for s in range(begin + pairing.first, end + pairing.last):
            if left[s] < 0 or right[s + shift] < 0:
                track[s] = NONE
                continue
            found = look_up(pairs, np.int64(left[s]) << 32 | np.int64(right[s + shift]), n, growing)
            n += found == n
            track[s] = found
        slot = end + slots.after
    return n


@kernel
def give_out(slots, tracks, outputs, n, growing, attributes, ends):
    """Set the attributes of each token, template by template; a new one gets the number n if the table is growing.

    Returns the number of attributes after that. Writes: attributes, ends (the number of attributes up to and with each
    token), outputs.
    """
    slot, end = np.int64(0), np.int64(0)
    for i in range(len(slots.starts) - 1):
        slot += slots.before
        for p in range(slots.starts[i], slots.starts[i + 1]):
            for k in range(len(outputs.tracks)):
                found = tracks[outputs.tracks[k], slot + outputs.offsets[k]]
                if found < 0:
                    continue
                family = outputs.families[k]
                place = outputs.bases[family] + found
                a = outputs.attributes[place]
                if a < 0 and growing:
                    a = np.int32(n)
                    outputs.attributes[place] = a
                    outputs.keys[n] = np.int64(family) << 32 | np.int64(found)
                    n += 1
                if a >= 0:
                    attributes[end] = a
                    end += 1
            ends[p] = end
            slot += 1
        slot += slots.after
    return n
