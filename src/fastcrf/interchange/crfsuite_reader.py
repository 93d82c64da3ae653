"""Reading .crfsuite files. Every offset, count and id is checked here, because kernels use them as indices.

CRFsuite finds the features of an attribute through the lists of AFRF and LFRF, this reader through the features
themselves; so it insists that both say the same. The hash tables are not read: the backward array holds the same.
"""

from __future__ import annotations

import struct
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from fastcrf.core.types import FeatureMap, Floats
from fastcrf.exceptions import ModelFileError
from fastcrf.interchange import crfsuite_format as layout

Bytes = NDArray[np.uint8]
Words = NDArray[np.int64]  # 32-bit numbers, widened: sums of them cannot wrap around


class CRFsuiteModel(NamedTuple):
    """The content of a .crfsuite file."""

    labels: list[str]
    attributes: list[str]
    features: FeatureMap
    weights: Floats


class Header(NamedTuple):
    n_labels: int
    n_attributes: int
    features: int  # offsets in the file
    labels: int
    attributes: int
    label_lists: int
    attribute_lists: int


def is_crfsuite(data: bytes) -> bool:
    """Return whether this is the beginning of a .crfsuite file."""
    return data[: len(layout.MAGIC)] == layout.MAGIC


def read_crfsuite(data: bytes) -> CRFsuiteModel:
    """Read the model in the content of a .crfsuite file."""
    header = read_header(data)
    block = np.frombuffer(data, np.uint8)
    labels = read_names(data, block, header.labels, header.n_labels, "label")
    attributes = read_names(data, block, header.attributes, header.n_attributes, "attribute")
    records = read_records(block, header)
    check_lists(block, header.label_lists, b"LFRF", header.n_labels, records, layout.TRANSITION)
    check_lists(block, header.attribute_lists, b"AFRF", header.n_attributes, records, layout.STATE)
    return CRFsuiteModel(labels, attributes, *sorted_features(records, header))


def read_header(data: bytes) -> Header:
    require(len(data) >= layout.HEADER_SIZE, f"{len(data)} bytes, fewer than a header")
    magic, size, kind, version, _, *numbers = struct.unpack_from(layout.HEADER, data)
    require(magic == layout.MAGIC, "another beginning than 'lCRF'")
    require(kind == layout.TYPE, f"a model of type {kind!r}, not a first-order chain {layout.TYPE!r}")
    if version != layout.VERSION:
        raise ModelFileError(f"it is a .crfsuite file of version {version}, and only {layout.VERSION} is known")
    require(size == len(data), f"{len(data)} bytes and says that it has {size}; copy it again")
    header = Header(*numbers)
    require(header.n_labels > 0, "no labels")
    return header


def read_records(block: Bytes, header: Header) -> NDArray[np.void]:
    """Read the features of the file; check that ids are in range and weights finite."""
    n = read_chunk(block, header.features, b"FEAT")
    raw = piece(block, header.features + layout.CHUNK_SIZE, n * layout.FEATURE.itemsize, "features")
    records = raw.view(layout.FEATURE)
    kinds = records["kind"]
    if not np.isin(kinds, (layout.STATE, layout.TRANSITION)).all():
        raise ModelFileError(
            f"it has a feature of kind {kinds.max()}; only state features and transitions between labels are known"
        )
    limits = np.where(kinds == layout.STATE, header.n_attributes, header.n_labels)
    require(bool((records["source"] < limits).all()), "a feature of an attribute or label that it does not have")
    require(bool((records["target"] < header.n_labels).all()), "a feature of a label that it does not have")
    require(bool(np.isfinite(records["weight"]).all()), "a weight that is not finite")
    return records


def sorted_features(records: NDArray[np.void], header: Header) -> tuple[FeatureMap, Floats]:
    """Return features and weights in the order of fastcrf's weight vector, which is also CRFsuite's."""
    kinds, sources, targets = (records[name].astype(np.int64) for name in ("kind", "source", "target"))
    order = np.lexsort((targets, sources, kinds))
    kinds, sources, targets = kinds[order], sources[order], targets[order]
    same = (np.diff(kinds) == 0) & (np.diff(sources) == 0) & (np.diff(targets) == 0)
    require(not same.any(), "the same feature twice")
    n_state = int(np.count_nonzero(kinds == layout.STATE))
    offsets = np.zeros(header.n_attributes + 1, np.int64)
    np.cumsum(np.bincount(sources[:n_state], minlength=header.n_attributes), out=offsets[1:])
    features = FeatureMap(
        offsets=offsets,
        labels=targets[:n_state].astype(np.int32),
        sources=sources[n_state:].astype(np.int32),
        targets=targets[n_state:].astype(np.int32),
        n_labels=header.n_labels,
    )
    return features, records["weight"][order].astype(np.float64)


def read_names(data: bytes, block: Bytes, start: int, n: int, what: str) -> list[str]:
    """Read the names of a CQDB, by id."""
    piece(block, start, layout.NAMES_HEADER_SIZE, f"{what} names")
    tag, size, _, order, n_ids, backward = struct.unpack_from(layout.NAMES_HEADER, data, start)
    require(tag == b"CQDB" and order == layout.BYTE_ORDER, f"no {what} names where they should be")
    require(n_ids == n, f"{n_ids} {what} names, and says that it has {n}")
    chunk = piece(block, start, size, f"{what} names")
    records = words(piece(chunk, backward, 4 * n, f"offsets of {what} names"))
    require(bool((records + 8 <= len(chunk)).all()), f"{what} names beyond its end")
    ids, lengths = (gather_words(chunk, records + shift) for shift in (0, 4))
    require(bool((ids == np.arange(n)).all()), f"{what} names under other ids")
    ends = records + 8 + lengths
    require(bool(((lengths > 0) & (ends <= len(chunk))).all()), f"{what} names beyond its end")
    require(not chunk[ends - 1].any(), f"{what} names without an end")
    raw = chunk.tobytes()
    bounds = zip((records + 8).tolist(), ends.tolist(), strict=True)
    text = b"".join([raw[first:last] for first, last in bounds]).decode(layout.ENCODING, layout.ERRORS)
    names = text.split("\0")[:-1]  # all at once: one by one is slow where there are many
    require(len(names) == n, f"{what} names with a NUL in them")
    require(len(set(names)) == n, f"the same {what} name twice")
    return names


def check_lists(block: Bytes, start: int, tag: bytes, n: int, records: NDArray[np.void], kind: int) -> None:
    """Check that the lists of LFRF or AFRF give each source the features that have it, no more and no fewer."""
    n_lists = read_chunk(block, start, tag)
    require(n_lists >= n, f"{n_lists} lists of features for {n} {tag.decode()} entries")
    offsets = words(piece(block, start + layout.CHUNK_SIZE, 4 * n, "offsets of feature lists"))
    require(bool((offsets + 4 <= len(block)).all()), "a list of features beyond its end")
    lengths = gather_words(block, offsets)
    require(bool((offsets + 4 + 4 * lengths <= len(block)).all()), "a list of features beyond its end")
    features = np.flatnonzero(records["kind"] == kind)
    require(int(lengths.sum()) == len(features), "features that no list names, or names twice")
    sources = np.repeat(np.arange(n), lengths)
    within = np.arange(len(sources)) - np.repeat(np.cumsum(lengths) - lengths, lengths)
    listed = gather_words(block, offsets[sources] + 4 + 4 * within)
    require(bool((listed < len(records)).all()), "a list with a feature that it does not have")
    agrees = (records["kind"][listed] == kind) & (records["source"][listed] == sources)
    require(bool(agrees.all()), "a list with a feature of another attribute or label")
    seen = np.zeros(len(records), np.bool_)
    seen[listed] = True
    require(np.count_nonzero(seen) == len(listed), "a feature that is listed twice")


def read_chunk(block: Bytes, start: int, tag: bytes) -> int:
    """Read the number of entries of a chunk."""
    head = piece(block, start, layout.CHUNK_SIZE, f"chunk {tag.decode()}")
    found, _, n = struct.unpack(layout.CHUNK, head.tobytes())
    require(found == tag, f"no chunk {tag.decode()} where it should be")
    return int(n)


def piece(block: Bytes, start: int, size: int, what: str) -> Bytes:
    """Return `size` bytes from `start` on."""
    require(start + size <= len(block), f"{what} beyond its end")
    return block[start : start + size]


def words(raw: Bytes) -> Words:
    return raw.view("<u4").astype(np.int64)


def gather_words(block: Bytes, places: Words) -> Words:
    """Return the numbers that begin at these places, which need not be multiples of 4."""
    return sum((block[places + k].astype(np.int64) << 8 * k for k in range(4)), np.zeros(len(places), np.int64))


def require(holds: bool, fault: str) -> None:
    """Raise an error that names what the file should not contain, unless `holds`."""
    if not holds:
        raise ModelFileError(f"the .crfsuite file is damaged: it has {fault}")
