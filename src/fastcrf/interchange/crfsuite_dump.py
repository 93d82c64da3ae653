"""A .crfsuite model as text, byte by byte as CRFsuite's `dump` prints it."""

from __future__ import annotations

import struct
from collections.abc import Iterator

from fastcrf.interchange import crfsuite_format as layout
from fastcrf.interchange.crfsuite_reader import CRFsuiteModel, read_crfsuite

COUNTS = ("num_features", "num_labels", "num_attrs")
OFFSETS = ("off_features", "off_labels", "off_attrs", "off_labelrefs", "off_attrrefs")


def dump_lines(data: bytes) -> Iterator[str]:
    """Return the lines of the dump of a .crfsuite file. Bytes that are not UTF-8 are lone surrogates, as in names."""
    model = read_crfsuite(data)
    yield from block("FILEHEADER", header_lines(data))
    yield from block("LABELS", named(model.labels))
    yield from block("ATTRIBUTES", named(model.attributes))
    yield from block("TRANSITIONS", transitions(model))
    yield from block("STATE_FEATURES", states(model))


def block(name: str, lines: Iterator[str]) -> Iterator[str]:
    yield f"{name} = {{"
    yield from (f"  {line}" for line in lines)
    yield "}"
    yield ""


def header_lines(data: bytes) -> Iterator[str]:
    magic, size, kind, version, *numbers = struct.unpack_from(layout.HEADER, data)
    yield f"magic: {magic.decode()}"
    yield f"size: {size}"
    yield f"type: {kind.decode()}"
    yield f"version: {version}"
    yield from (f"{name}: {number}" for name, number in zip(COUNTS, numbers[:3], strict=True))
    yield from (f"{name}: 0x{number:X}" for name, number in zip(OFFSETS, numbers[3:], strict=True))


def named(names: list[str]) -> Iterator[str]:
    return (f"{number:5}: {name}" for number, name in enumerate(names))


def transitions(model: CRFsuiteModel) -> Iterator[str]:
    labels, features = model.labels, model.features
    weights = model.weights[features.n_state :].tolist()
    for j, k, weight in zip(features.sources.tolist(), features.targets.tolist(), weights, strict=True):
        yield f"({layout.TRANSITION}) {labels[j]} --> {labels[k]}: {weight:f}"


def states(model: CRFsuiteModel) -> Iterator[str]:
    offsets, targets, weights = model.features.offsets.tolist(), model.features.labels.tolist(), model.weights.tolist()
    for a, name in enumerate(model.attributes):
        for f in range(offsets[a], offsets[a + 1]):
            yield f"({layout.STATE}) {name} --> {model.labels[targets[f]]}: {weights[f]:f}"
