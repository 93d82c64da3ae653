"""The formats in which a model is saved: which one a content is in, and which one a path asks for.

A content says by its first bytes what it is; a path asks by its ending: ".crfsuite" is CRFsuite's format, everything
else is fastcrf's own.
"""

from __future__ import annotations

import os
from pathlib import Path

from fastcrf.data import model_file
from fastcrf.data.attributes import ItemAttributes
from fastcrf.data.model_content import ModelContent, pack, unpack
from fastcrf.interchange.crfsuite_reader import is_crfsuite, read_crfsuite
from fastcrf.interchange.crfsuite_writer import crfsuite_bytes

CRFSUITE = ".crfsuite"


def content_of(data: bytes) -> ModelContent:
    """The model in the content of a file of either format."""
    if is_crfsuite(data):
        return content_of_crfsuite(data)
    return unpack(*model_file.from_bytes(data))


def content_of_crfsuite(data: bytes) -> ModelContent:
    labels, attributes, features, weights = read_crfsuite(data)
    ids = {name: a for a, name in enumerate(attributes)}
    return ModelContent(list(labels), ItemAttributes(ids), features, weights, {}, {"kind": "items"})


def bytes_of(content: ModelContent) -> bytes:
    """A model as the content of a file of fastcrf's own format."""
    return model_file.to_bytes(*pack(content))


def bytes_of_crfsuite(content: ModelContent) -> bytes:
    """A model as the content of a .crfsuite file. A template stays behind: what it makes are names like any other."""
    return crfsuite_bytes(content.labels, content.attributes.names(), content.features, content.weights)


def bytes_for(path: str | os.PathLike[str], content: ModelContent) -> bytes:
    """A model as the content of a file of the format that the path asks for."""
    return bytes_of_crfsuite(content) if Path(path).suffix == CRFSUITE else bytes_of(content)
