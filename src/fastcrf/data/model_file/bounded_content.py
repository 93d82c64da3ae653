"""Attributes with boundaries as arrays and a header of a model file, and back: those of the data, within a header."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from numpy.typing import NDArray

from fastcrf.data.encoding.boundaries import BoundedAttributes
from fastcrf.data.model_file.attribute_content import pack_attributes, unpack_attributes
from fastcrf.data.model_file.content_checks import require


def pack(attributes: BoundedAttributes) -> tuple[dict[str, NDArray[Any]], dict[str, Any]]:
    arrays, header = pack_attributes(attributes.inner)
    return arrays, {"inner": header}


def unpack(arrays: Mapping[str, NDArray[Any]], header: Mapping[str, Any]) -> BoundedAttributes:
    inner = header.get("inner")
    require(isinstance(inner, dict) and inner.get("kind") != BoundedAttributes.kind, "boundaries of no attributes")
    return BoundedAttributes(unpack_attributes(arrays, inner))
