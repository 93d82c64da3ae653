"""The container of a saved model: named arrays and a JSON header in one safetensors file.

Reading executes nothing in the file: the layout is checked by safetensors, the content by a SHA-256 over header
and arrays, and every other fault is a `ModelFileError`. Writing is atomic: the new file is complete and
on disk next to the old one before it takes its place.

Metadata of the safetensors file: ``format`` ("fastcrf-model"), ``version`` (of the format, a whole number), ``library``
(version of fastcrf that wrote it), ``header`` (JSON) and ``sha256``.

Modules that only writing needs are imported there, so that tagging a sentence starts sooner.
"""

from __future__ import annotations

import hashlib
import json
import os
import stat
from collections.abc import Mapping
from typing import Any

import numpy as np
import safetensors
from numpy.typing import NDArray

from fastcrf import __version__
from fastcrf.exceptions import ModelFileError

FORMAT = "fastcrf-model"
CORPUS_FORMAT = "fastcrf-corpus"  # the format that users confuse with it
ALIGNMENT = 8  # bytes of the arrays in a file
PLAIN, SHRUNK = "1", "2"  # versions of the format: a new one where an older fastcrf could not read a file

DTYPES = {
    "F64": np.float64,
    "I64": np.int64,
    "I32": np.int32,
    "I16": np.int16,
    "U16": np.uint16,
    "I8": np.int8,
    "U8": np.uint8,
}

Arrays = dict[str, NDArray[Any]]
PathLike = str | os.PathLike[str]


def to_bytes(arrays: Mapping[str, NDArray[Any]], header: Mapping[str, Any]) -> bytes:
    """Return the content of a model file; the same arrays and header give the same bytes."""
    import safetensors.numpy

    text = json.dumps(header, default=plain_number)
    metadata = {
        "format": FORMAT,
        "version": SHRUNK if isinstance(header, Mapping) and "steps" in header else PLAIN,
        "library": __version__,
        "header": text,
        "sha256": checksum(arrays, text),
    }
    return in_order(safetensors.numpy.save(dict(arrays), metadata))


def in_order(data: bytes) -> bytes:
    """Return a safetensors content with its layout sorted by name; safetensors writes metadata in random order."""
    size = int.from_bytes(data[:8], "little")
    layout = json.dumps(json.loads(data[8 : 8 + size]), sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    text = layout.encode("utf-8", "surrogatepass")
    text += b" " * (-len(text) % ALIGNMENT)
    return len(text).to_bytes(8, "little") + text + data[8 + size :]


def from_bytes(data: bytes) -> tuple[Arrays, dict[str, Any]]:
    """Read arrays (writable copies) and header of a model file."""
    try:
        tensors = safetensors.deserialize(bytes(data))
    except safetensors.SafetensorError as error:
        raise ModelFileError(f"this is not a fastcrf model, or it is truncated ({error})") from None
    metadata = read_metadata(data)
    arrays = {name: as_array(name, tensor) for name, tensor in tensors}
    if metadata.get("sha256") != checksum(arrays, metadata["header"]):
        raise ModelFileError("the file is damaged: its content does not match its checksum; copy it again")
    return arrays, parse_header(metadata["header"])


def read_metadata(data: bytes) -> dict[str, str]:
    """Read the metadata of a file whose layout safetensors has checked, if format and version are right."""
    size = int.from_bytes(data[:8], "little")
    metadata = json.loads(data[8 : 8 + size]).get("__metadata__") or {}
    if metadata.get("format") == CORPUS_FORMAT:
        raise ModelFileError("this is an encoded corpus, not a model; fastcrf train makes a model of it")
    if metadata.get("format") != FORMAT or "header" not in metadata:
        raise ModelFileError("this is a safetensors file, but not a fastcrf model")
    if metadata.get("version") not in (PLAIN, SHRUNK):
        raise ModelFileError(
            f"this model is in format {metadata.get('version')!r} of fastcrf {metadata.get('library')!r}, and this is "
            f"fastcrf {__version__}, which reads formats '{PLAIN}' and '{SHRUNK}'; use the version that wrote it, or a "
            "newer one"
        )
    return metadata


def as_array(name: str, tensor: Mapping[str, Any]) -> NDArray[Any]:
    """Return a tensor as a one-dimensional array of one of the types that models hold."""
    dtype = DTYPES.get(tensor["dtype"])
    if dtype is None or len(tensor["shape"]) != 1:
        raise ModelFileError(f"array {name!r} is {tensor['dtype']} of shape {tensor['shape']}, which no model uses")
    return np.frombuffer(bytearray(tensor["data"]), dtype)


def parse_header(text: str) -> dict[str, Any]:
    """Parse the JSON header as a dict."""
    try:
        header = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise ModelFileError(f"the header of the model is not JSON ({error})") from None
    if not isinstance(header, dict):
        raise ModelFileError("the header of the model is not a JSON object")
    return header


def checksum(arrays: Mapping[str, NDArray[Any]], header: str) -> str:
    """Compute the SHA-256 of the header and of name, type, shape and bytes of each array."""
    digest = hashlib.sha256(header.encode("utf-8", "surrogatepass"))
    for name in sorted(arrays):
        array = np.ascontiguousarray(arrays[name])
        digest.update(f"\0{name}\0{array.dtype.str}\0{array.shape}\0".encode("utf-8", "surrogatepass"))
        digest.update(array.data)
    return digest.hexdigest()


def plain_number(value: Any) -> Any:
    """Convert a NumPy number to a Python number, for JSON."""
    if isinstance(value, np.generic):
        return value.item()
    raise ModelFileError(f"{value!r} in the model's options cannot be saved; use numbers, strings, lists and dicts")


def write(path: PathLike, content: bytes) -> None:
    """Save a model file; an older file of this name stays whole until the new one is complete.

    If the file cannot be written, for example because the disk is full, save the model in another folder and raise an
    OSError that names it.
    """
    if os.path.exists(path) and not os.path.isfile(path):
        raise ModelFileError(f"cannot save to {os.fspath(path)}, which is not a file; choose another path")
    from fastcrf.data.model_file.rescue import saved_elsewhere
    from fastcrf.system.atomic_write import replace_file

    try:
        replace_file(path, content)
    except OSError as error:
        raise saved_elsewhere(path, content, error) from None


def read(path: PathLike) -> bytes:
    """Read the content of a model file."""
    with open(path, "rb") as file:
        if stat.S_ISCHR(os.fstat(file.fileno()).st_mode):
            raise ModelFileError("this is a device, such as /dev/zero, which never ends")
        return file.read()
