"""Attributes of items as arrays of a model file, and back."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from numpy.typing import NDArray

from fastcrf.data.encoding.attributes import ItemAttributes
from fastcrf.data.encoding.names import Names
from fastcrf.data.model_file.content_checks import require, take_names


def pack(attributes: ItemAttributes) -> tuple[dict[str, NDArray[Any]], dict[str, Any]]:
    names, offsets = attributes.known.packed
    return {"attribute_names": names, "attribute_name_offsets": offsets}, {}


def unpack(arrays: Mapping[str, NDArray[Any]], header: Mapping[str, Any]) -> ItemAttributes:
    names = take_names(arrays, "attribute")
    ids = dict(zip(names, range(len(names)), strict=True))
    require(len(ids) == len(names), "the same attribute twice")
    return ItemAttributes(Names(ids))
