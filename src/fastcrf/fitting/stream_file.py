"""A stream in one file, to go on with exactly: the model with all its features, and the solver's memory.

The file is that of a checkpoint (checkpoint_file.py: safetensors with a checksum), the model within it a model file;
both are read without executing anything. The memory is checked against what the solver declares before it runs.
"""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from fastcrf.constraints.constraints import Constraints
from fastcrf.core.solver_state import COUNT, StateField, StateMismatch, check_state
from fastcrf.exceptions import CheckpointError, ModelFileError
from fastcrf.fitting.stream import Stream
from fastcrf.model.model import Model
from fastcrf.solvers import registry
from fastcrf.solvers.renamed import renamed_options, renamed_state
from fastcrf.system.atomic_write import replace_file
from fastcrf.training.checkpoint_file import STATES, read, to_bytes

KIND = "stream"
NUMBERS = {
    **dict.fromkeys(("seen", "chunks"), COUNT),
    "expected": StateField(dtype="int64", low=1, optional=True),
    **dict.fromkeys(("c1", "c2", "seconds"), StateField(low=0.0)),
}
FEATURE_OPTIONS = {"all_states": bool, "all_transitions": bool, "transitions": bool, "order": int}


def save_stream(
    path: str | os.PathLike[str], stream: Stream, options: Mapping[str, Any], constraints: Constraints | None = None
) -> None:
    """Replace the file by this stream; `options` are what its model remembers of its making, and its constraints."""
    parts = stream.labels, stream.attributes, stream.features, stream.weights
    model = Model(*parts, options=dict(options), constraints=constraints)
    state = stream.state or {}
    arrays = {f"m:{name}": value for name, value in state.items() if isinstance(value, np.ndarray)}
    arrays["model"] = np.frombuffer(model.to_bytes(), np.uint8)
    solver_options: dict[str, Any] = dataclasses.asdict(stream.solver)  # type: ignore[call-overload]
    numbers = {name: getattr(stream, name) for name in NUMBERS if getattr(stream, name) is not None}
    features = {name: stream.feature_options[name] for name in FEATURE_OPTIONS if name in stream.feature_options}
    header = {
        "fingerprint": {"kind": KIND, "version": STATES, "solver": [stream.solver.name, solver_options]},
        "memory": {name: value for name, value in state.items() if not isinstance(value, np.ndarray)},
        "driver": {"numbers": numbers, "features": features},
    }
    replace_file(Path(path), to_bytes(arrays, header))


def load_stream(path: str | os.PathLike[str]) -> tuple[Stream, Model]:
    """The stream in a file, and the model that it held, with its options."""
    arrays, header = read(Path(path))
    made_by = header["fingerprint"]
    if made_by.get("kind") != KIND:
        raise refused(path, "it is the state of a run over one corpus, not of a stream")
    if made_by.get("version") != STATES:
        raise refused(
            path, f"it has states of version {made_by.get('version')}, and this fastcrf resumes those of {STATES}"
        )
    try:
        model = Model.from_bytes(arrays["model"].tobytes())
        name, options = made_by["solver"]
        solver = registry.make(name, **renamed_options(name, options))
        numbers, features = header["driver"]["numbers"], header["driver"]["features"]
        check_state(KIND, NUMBERS, numbers, 0)
        if not all(type(features[option]) is FEATURE_OPTIONS[option] for option in features):
            raise StateMismatch(KIND, "its options of features are not what they should be")
        if features.get("order", 1) != model.features.order:
            raise StateMismatch(KIND, "its model is a chain of another order")
        state = {**header["memory"], **{item[2:]: array for item, array in arrays.items() if item[:2] == "m:"}}
        state = renamed_state(name, state)
        check_state(name, solver.state_fields, state, len(model.weights))
        stream = Stream(
            solver, attributes=model.attributes, feature_options=features, labels=list(model.labels),
            features=model.features, weights=model.weights, state=state, **numbers,
        )  # fmt: skip
    except StateMismatch as mismatch:
        raise refused(path, mismatch.fault) from None
    except (KeyError, TypeError, ValueError, AttributeError, ModelFileError) as error:
        raise refused(path, f"{error}".rstrip(".")) from None
    return stream, model


def refused(path: str | os.PathLike[str], fault: str) -> CheckpointError:
    return CheckpointError(f"The stream {os.fspath(path)} cannot be resumed: {fault}; start over without it.")
