"""Writing .crfsuite files, byte by byte as CRFsuite writes them.

As in CRFsuite, weights that are 0 and attributes that have no others are left out.
"""

from __future__ import annotations

import struct
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fastcrf.core.types import FeatureMap, Floats, Longs
from fastcrf.exceptions import ModelFileError
from fastcrf.interchange import crfsuite_format as layout
from fastcrf.interchange.lookup3 import hashes

LARGEST = 2**32 - 1  # bytes that offsets of 32 bits can reach


def crfsuite_bytes(labels: Sequence[Any], attributes: Sequence[str], features: FeatureMap, weights: Floats) -> bytes:
    """Return the content of a .crfsuite file with this model."""
    label_names = [encoded(label, "label") for label in labels]
    kept, records = kept_features(features, weights)
    names = [encoded(attributes[a], "attribute") for a in kept.tolist()]
    for what, every in (("label", label_names), ("attribute", names)):
        refuse_twins(every, what)
    chunks = [chunk(b"FEAT", len(records), records.tobytes())]
    places = [layout.HEADER_SIZE]
    for block in (names_chunk(label_names), names_chunk(names)):
        places.append(places[-1] + len(chunks[-1]))
        chunks.append(block)
    end = places[-1] + len(chunks[-1])
    chunks[-1] += bytes(-end % 4)
    for tag, n, kind, n_empty in (
        (b"LFRF", len(labels), layout.TRANSITION, layout.FORMER_LABELS),
        (b"AFRF", len(names), layout.STATE, 0),
    ):
        places.append(places[-1] + len(chunks[-1]))
        chunks.append(lists_chunk(tag, n, n_empty, records, kind, places[-1]))
    size = places[-1] + len(chunks[-1])
    if size > LARGEST:
        raise ModelFileError(
            f"the model needs {size:,} bytes as a .crfsuite file, which can have {LARGEST:,}; save it as .crf, "
            "or train with a larger min_freq or c1"
        )
    head = (layout.MAGIC, size, layout.TYPE, layout.VERSION, 0, len(labels), len(names))
    return struct.pack(layout.HEADER, *head, *places) + b"".join(chunks)


def encoded(name: Any, what: str) -> bytes:
    """Return a name as CRFsuite keeps it."""
    if not isinstance(name, str):
        raise ModelFileError(
            f"{what} {name!r} is of type {type(name).__name__}, and a .crfsuite file holds strings; train with "
            "strings, or save the model as .crf"
        )
    try:
        raw = name.encode(layout.ENCODING, layout.ERRORS)
    except UnicodeEncodeError:
        raise ModelFileError(f"{what} {name!r} cannot be written as UTF-8; save the model as .crf") from None
    if b"\0" in raw:
        raise ModelFileError(f"{what} {name!r} has a NUL, where names end in a .crfsuite file; save the model as .crf")
    return raw


def refuse_twins(names: Sequence[bytes], what: str) -> None:
    """Reject equal names.

    A template may make attributes that differ only in their parts: "a/b" + "c" and "a" + "b/c".
    """
    if len(set(names)) < len(names):
        twin = next(name for name, n in Counter(names).items() if n > 1).decode(layout.ENCODING, layout.ERRORS)
        raise ModelFileError(
            f"{what} {twin!r} occurs twice, and names in a .crfsuite file are distinct; save it as .crf"
        )


def kept_features(features: FeatureMap, weights: Floats) -> tuple[Longs, NDArray[np.void]]:
    """Return the attributes that have a weight, and a record of each weight that is not 0."""
    sources = np.concatenate((np.repeat(np.arange(features.n_attributes), np.diff(features.offsets)), features.sources))
    is_state = np.arange(features.n_weights) < features.n_state
    used = weights != 0.0
    kept = np.unique(sources[is_state & used])
    sources[: features.n_state] = np.searchsorted(kept, sources[: features.n_state])
    records = np.empty(np.count_nonzero(used), layout.FEATURE)
    records["kind"] = np.where(is_state, layout.STATE, layout.TRANSITION)[used]
    records["source"] = sources[used]
    records["target"] = np.concatenate((features.labels, features.targets))[used]
    records["weight"] = weights[used]
    return kept, records


def chunk(tag: bytes, n: int, content: bytes) -> bytes:
    return struct.pack(layout.CHUNK, tag, layout.CHUNK_SIZE + len(content), n) + content


def lists_chunk(tag: bytes, n: int, n_empty: int, records: NDArray[np.void], kind: int, start: int) -> bytes:
    """Return LFRF or AFRF: for each of n sources its features; `n_empty` more have no list. It begins at `start`."""
    ids = np.flatnonzero(records["kind"] == kind)  # by source: that is how the features are ordered
    counts = np.bincount(records["source"][ids], minlength=n)
    before = np.cumsum(counts) - counts
    content = np.empty(n + len(ids), "<u4")
    heads = before + np.arange(n)
    is_head = np.zeros(len(content), np.bool_)
    is_head[heads] = True
    content[is_head], content[~is_head] = counts, ids
    offsets = np.zeros(n + n_empty, "<u4")
    offsets[:n] = start + layout.CHUNK_SIZE + 4 * (n + n_empty + heads)
    return chunk(tag, n + n_empty, offsets.tobytes() + content.tobytes())


def names_chunk(names: Sequence[bytes]) -> bytes:
    """Return a CQDB: names by id, and ids by name."""
    terminated = [name + b"\0" for name in names]
    records = [struct.pack("<II", k, len(name)) + name for k, name in enumerate(terminated)]
    first = layout.NAMES_HEADER_SIZE + 8 * layout.N_TABLES
    ends = first + np.cumsum([0, *map(len, records)])
    references, tables = hash_tables(hashes(terminated), ends[:-1].tolist(), int(ends[-1]))
    backward = int(ends[-1]) + len(tables)
    size = backward + 4 * len(names)
    head = struct.pack(layout.NAMES_HEADER, b"CQDB", size, 0, layout.BYTE_ORDER, len(names), backward if names else 0)
    return b"".join((head, references, *records, tables, ends[:-1].astype("<u4").tobytes()))


def hash_tables(keys: Longs, places: Iterable[int], start: int) -> tuple[bytes, bytes]:
    """Return the references to the hash tables, which begin at `start`, and their slots.

    A table has twice as many slots as names. A name goes to the first free slot from (hash / 256) on, around the end.
    """
    sizes = 2 * np.bincount(keys % layout.N_TABLES, minlength=layout.N_TABLES)
    tables: list[list[tuple[int, int]]] = [[(0, 0)] * size for size in sizes.tolist()]
    for key, place in zip(keys.tolist(), places, strict=True):
        table = tables[key % layout.N_TABLES]
        slot = (key >> 8) % len(table)
        while table[slot][1]:
            slot = (slot + 1) % len(table)
        table[slot] = (key, place)
    references = np.zeros((layout.N_TABLES, 2), "<u4")
    references[:, 0] = np.where(sizes > 0, start + 8 * (np.cumsum(sizes) - sizes), 0)
    references[:, 1] = sizes
    slots = np.array([slot for table in tables for slot in table], "<u4")
    return references.tobytes(), slots.tobytes()
