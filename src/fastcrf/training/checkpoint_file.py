"""Read and write checkpoint files: named arrays and a JSON header in one safetensors file with a checksum.

Reading executes nothing. A file that is damaged, truncated or of another format raises `CheckpointError`. A signature
(checkpoint_signature.py) shows whether this user wrote the file.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import safetensors
import safetensors.numpy

from fastcrf.data.model_file.container import checksum
from fastcrf.exceptions import CheckpointError
from fastcrf.training.checkpoint_signature import is_ours, signature_of

FORMAT = "fastcrf-checkpoint-3"
STATES = "0.1.0"  # the first version of fastcrf whose solver states this one resumes; change it when they change
PARTS = ("fingerprint", "memory", "driver")  # of the header, each a JSON object

Arrays = dict[str, np.ndarray]


def to_bytes(arrays: Mapping[str, np.ndarray], header: Mapping[str, Any]) -> bytes:
    """Return the content of a checkpoint."""
    text = json.dumps(header, default=as_plain)
    contiguous = {name: np.ascontiguousarray(array) for name, array in arrays.items()}
    total = checksum(contiguous, text)
    signature = signature_of(total)
    metadata = {"format": FORMAT, "header": text, "seal": signature, "sha256": checksum_with(total, signature)}
    return safetensors.numpy.save(contiguous, metadata)


def read(path: Path) -> tuple[Arrays, dict[str, Any]]:
    """Return arrays and header of a checkpoint; raise `CheckpointError` if it is damaged."""
    return read_signed(path)[:2]


def read_signed(path: Path) -> tuple[Arrays, dict[str, Any], bool]:
    """Return arrays and header, and whether this user wrote the checkpoint."""
    try:
        arrays, metadata = read_tensors(path)
        if metadata.get("format") != FORMAT or "header" not in metadata:
            raise CheckpointError(f"{path} is not a checkpoint of this version of fastcrf; start over without it.")
        total, signature = checksum(arrays, metadata["header"]), metadata.get("seal", "")
        if metadata.get("sha256") != checksum_with(total, signature):
            fault = "is damaged: it does not match its checksum"
            raise CheckpointError(f"The checkpoint {path} {fault}; start over without it.")
        header = json.loads(metadata["header"])
    except CheckpointError:
        raise
    except (safetensors.SafetensorError, OSError, ValueError, TypeError, RecursionError) as error:
        raise CheckpointError(f"The checkpoint {path} cannot be read ({error}); start over without it.") from None
    if not isinstance(header, dict) or not all(isinstance(header.get(part), dict) for part in PARTS):
        parts = f"{', '.join(PARTS[:-1])} or {PARTS[-1]}"
        raise CheckpointError(f"The checkpoint {path} lacks its {parts}; start over without it.")
    return arrays, header, is_ours(total, signature)


def checksum_with(total: str, signature: str) -> str:
    """Return the checksum of a content, whose own checksum is given, and its signature."""
    return hashlib.sha256(f"{total} {signature}".encode()).hexdigest()


def read_tensors(path: Path) -> tuple[Arrays, dict[str, str]]:
    """Return all arrays and the metadata of a safetensors file."""
    with safetensors.safe_open(path, framework="numpy") as file:
        return {name: file.get_tensor(name) for name in file.keys()}, file.metadata() or {}  # noqa: SIM118


def as_plain(value: Any) -> Any:
    """Return a NumPy number as a Python number, for JSON."""
    return value.item() if isinstance(value, np.generic) else repr(value)
