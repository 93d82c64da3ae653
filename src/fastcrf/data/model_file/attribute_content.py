"""Attributes as arrays and a header of a model file, and back. Each kind of attributes has a file that knows how."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from typing import Any

from numpy.typing import NDArray

from fastcrf.data.encoding.attributes import Attributes
from fastcrf.data.encoding.boundaries import BoundedAttributes
from fastcrf.data.model_file.content_checks import require
from fastcrf.exceptions import ModelFileError

CONTENTS = {  # by kind; imported when needed, because templates are many files
    "items": "fastcrf.data.model_file.item_content",
    "template": "fastcrf.data.model_file.template_content",
    "bounded": __name__,  # by `pack` and `unpack` below
}


def pack_attributes(attributes: Attributes) -> tuple[dict[str, NDArray[Any]], dict[str, Any]]:
    """Return arrays and header of the attributes of a model."""
    arrays, header = import_module(CONTENTS[attributes.kind]).pack(attributes)
    return arrays, {"kind": attributes.kind, **header}


def unpack_attributes(arrays: Mapping[str, NDArray[Any]], header: Any) -> Attributes:
    """Return the attributes in arrays and header, if every part fits every other."""
    if not isinstance(header, dict) or not isinstance(header.get("kind"), str) or header["kind"] not in CONTENTS:
        raise ModelFileError("the model is damaged: it has attributes of no known kind")
    return import_module(CONTENTS[header["kind"]]).unpack(arrays, header)


def pack(attributes: BoundedAttributes) -> tuple[dict[str, NDArray[Any]], dict[str, Any]]:
    arrays, header = pack_attributes(attributes.inner)
    return arrays, {"inner": header}


def unpack(arrays: Mapping[str, NDArray[Any]], header: Mapping[str, Any]) -> BoundedAttributes:
    inner = header.get("inner")
    require(isinstance(inner, dict) and inner.get("kind") != BoundedAttributes.kind, "boundaries of no attributes")
    return BoundedAttributes(unpack_attributes(arrays, inner))
