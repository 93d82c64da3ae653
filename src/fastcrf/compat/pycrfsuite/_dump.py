"""A model as text, in the format of `crfsuite dump`."""

from __future__ import annotations

import struct
from collections.abc import Iterable, Iterator

from fastcrf.interchange import crfsuite_format as layout

NUMBERS = ("num_features", "num_labels", "num_attrs")
OFFSETS = ("off_features", "off_labels", "off_attrs", "off_labelrefs", "off_attrrefs")


def header_of(data: bytes) -> dict[str, str]:
    """The header of a .crfsuite file in words."""
    magic, size, kind, version, *rest = struct.unpack_from(layout.HEADER, data)
    numbers = dict(zip(NUMBERS, map(str, rest), strict=False))
    offsets = {name: f"0x{offset:X}" for name, offset in zip(OFFSETS, rest[len(NUMBERS) :], strict=True)}
    first = {"magic": magic.decode(), "size": str(size), "type": kind.decode(), "version": str(version)}
    return first | numbers | offsets


def block(title: str, lines: Iterable[str]) -> Iterator[str]:
    yield f"{title} = {{\n"
    yield from (f"  {line}\n" for line in lines)
    yield "}\n\n"
