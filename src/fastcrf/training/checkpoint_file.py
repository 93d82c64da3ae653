"""The file of a checkpoint: named arrays and a JSON header in one safetensors file, with the checksum of model files.

Reading executes nothing and trusts nothing: whatever is damaged, cut off or of another format is one sentence. A seal
(checkpoint_signature.py) tells whether this user wrote the file.
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
from fastcrf.training.checkpoint_signature import is_ours, seal_of

FORMAT = "fastcrf-checkpoint-3"
PARTS = ("fingerprint", "memory", "driver")  # of the header, each a JSON object

Arrays = dict[str, np.ndarray]


def to_bytes(arrays: Mapping[str, np.ndarray], header: Mapping[str, Any]) -> bytes:
    """The content of a checkpoint."""
    text = json.dumps(header, default=as_plain)
    contiguous = {name: np.ascontiguousarray(array) for name, array in arrays.items()}
    total = checksum(contiguous, text)
    seal = seal_of(total)
    metadata = {"format": FORMAT, "header": text, "seal": seal, "sha256": checksum_with(total, seal)}
    return safetensors.numpy.save(contiguous, metadata)


def read(path: Path) -> tuple[Arrays, dict[str, Any]]:
    """Arrays and header of a checkpoint that was not damaged."""
    return read_sealed(path)[:2]


def read_sealed(path: Path) -> tuple[Arrays, dict[str, Any], bool]:
    """The same, and whether this user wrote it."""
    try:
        arrays, metadata = read_tensors(path)
        if metadata.get("format") != FORMAT or "header" not in metadata:
            raise CheckpointError(f"{path} is not a checkpoint of this version of fastcrf; start afresh without it.")
        total, seal = checksum(arrays, metadata["header"]), metadata.get("seal", "")
        if metadata.get("sha256") != checksum_with(total, seal):
            fault = "is damaged: it does not match its checksum"
            raise CheckpointError(f"The checkpoint {path} {fault}; start afresh without it.")
        header = json.loads(metadata["header"])
    except CheckpointError:
        raise
    except (safetensors.SafetensorError, OSError, ValueError, TypeError, RecursionError) as error:
        raise CheckpointError(f"The checkpoint {path} cannot be read ({error}); start afresh without it.") from None
    if not isinstance(header, dict) or not all(isinstance(header.get(part), dict) for part in PARTS):
        parts = f"{', '.join(PARTS[:-1])} or {PARTS[-1]}"
        raise CheckpointError(f"The checkpoint {path} lacks its {parts}; start afresh without it.")
    return arrays, header, is_ours(total, seal)


def checksum_with(total: str, seal: str) -> str:
    """What shows damage: of the content, whose checksum is given, or of its seal."""
    return hashlib.sha256(f"{total} {seal}".encode()).hexdigest()


def read_tensors(path: Path) -> tuple[Arrays, dict[str, str]]:
    """All arrays and the metadata of a safetensors file."""
    with safetensors.safe_open(path, framework="numpy") as file:
        return {name: file.get_tensor(name) for name in file.keys()}, file.metadata() or {}  # noqa: SIM118


def as_plain(value: Any) -> Any:
    """A NumPy number as a Python number, for JSON."""
    return value.item() if isinstance(value, np.generic) else repr(value)
