"""The formats in which a model is saved: which one a content is in, and which one a path asks for.

A content says by its first bytes what it is; a path asks by its ending: ".crfsuite" is CRFsuite's format, everything
else is fastcrf's own. Models of CRF++ and Wapiti are read, not written; what reads them is imported when needed.
"""

from __future__ import annotations

import os

from fastcrf.core.checks import one_of
from fastcrf.data.encoding.attributes import ItemAttributes
from fastcrf.data.encoding.boundaries import BoundedAttributes
from fastcrf.data.model_file import container
from fastcrf.data.model_file.content import ModelContent, pack, unpack
from fastcrf.data.model_file.few_bytes import Steps
from fastcrf.exceptions import ModelFileError
from fastcrf.interchange.crfsuite_format import MAGIC

CRFSUITE = ".crfsuite"
CRFPP_TEXT, CRFPP_BINARY, WAPITI = b"version: ", b"\x64\0\0\0", b"#mdl#"


def content_of(data: bytes) -> ModelContent:
    """The model in the content of a file of any of the formats."""
    if data.startswith(MAGIC):
        return content_of_crfsuite(data)
    if data.startswith(CRFPP_TEXT):
        from fastcrf.interchange.crfpp_model import read_crfpp

        return read_crfpp(data)
    if data.startswith(WAPITI):
        from fastcrf.interchange.wapiti_model import read_wapiti

        return read_wapiti(data)
    if data.startswith(CRFPP_BINARY) and data[8:9] != b"{":  # where the header of our own would begin
        raise ModelFileError("this is a binary model of CRF++; train with `crf_learn -t`, which writes one as text too")
    return unpack(*container.from_bytes(data))


def content_of_crfsuite(data: bytes) -> ModelContent:
    from fastcrf.interchange.crfsuite_reader import read_crfsuite

    labels, attributes, features, weights = read_crfsuite(data)
    return ModelContent(list(labels), ItemAttributes.of(attributes), features, weights, {}, {"kind": "items"})


def bytes_of(content: ModelContent, steps: Steps | None = None) -> bytes:
    """A model as the content of a file of fastcrf's own format. steps: see few_bytes.py."""
    return container.to_bytes(*pack(content, steps))


def bytes_of_crfsuite(content: ModelContent) -> bytes:
    """A model as the content of a .crfsuite file. A template stays behind: what it makes are names like any other."""
    from fastcrf.interchange.crfsuite_writer import crfsuite_bytes

    if isinstance(content.attributes, BoundedAttributes):
        raise ModelFileError(
            "the model has weights for the start and the end of a sequence (boundaries), which CRFsuite does not know; "
            "save it as .crf, or train without boundaries"
        )
    if content.features.order > 1:
        raise ModelFileError(
            f"the model is a chain of order {content.features.order}, and a .crfsuite file holds chains of order 1; "
            "save it as .crf, or train with order=1"
        )
    return crfsuite_bytes(content.labels, content.attributes.names(), content.features, content.weights)


WRITERS = {"fastcrf": bytes_of, "crfsuite": bytes_of_crfsuite}


def bytes_as(format: str, content: ModelContent) -> bytes:
    """A model as the content of a file of this format."""
    return WRITERS[one_of("format", format, WRITERS)](content)


def bytes_for(path: str | os.PathLike[str], content: ModelContent) -> bytes:
    """A model as the content of a file of the format that the path asks for."""
    return bytes_as("crfsuite" if os.path.splitext(path)[1] == CRFSUITE else "fastcrf", content)
