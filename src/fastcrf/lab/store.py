"""Where the lab keeps what it measured: a folder with, for each run, its rows and its weights.

    <run>.jsonl        one row per step, each complete in itself; written when the run has ended
    <run>.npy          the weights at its end
    <run>.state        the checkpoint of a run that has not ended; the next start goes on from it
    <objective>.best.json, .best.npy      the best known optimum

Every file is replaced in one piece, so killing a run leaves nothing half-written.
"""

from __future__ import annotations

import io
import json
import math
import os
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np

from fastcrf.core.types import Floats
from fastcrf.system.atomic_write import replace_file
from fastcrf.training.trace import Row

Rows = list[Row]


class Store:
    """The folder, which is made when it is first needed."""

    def __init__(self, folder: str | os.PathLike[str]) -> None:
        self.folder = Path(folder)

    def state(self, run: str) -> Path:
        """Where the checkpoint of a run is."""
        self.folder.mkdir(parents=True, exist_ok=True)
        return self.folder / f"{run}.state"

    def rows(self, run: str) -> Rows:
        """The rows of a run, or none if it has not ended (or its file is damaged)."""
        with suppress(OSError, ValueError):
            return [json.loads(line) for line in self._path(f"{run}.jsonl").read_text().splitlines()]
        return []

    def weights(self, run: str) -> Floats | None:
        with suppress(OSError, ValueError, EOFError):
            weights: Floats = np.load(self._path(f"{run}.npy"), allow_pickle=False)
            return weights
        return None

    def keep(self, run: str, rows: Rows, weights: Floats | None) -> None:
        """Keep a run that has ended. The rows come last: where they are, the weights are, if the run has any."""
        if weights is not None:
            self._keep_weights(f"{run}.npy", weights)
        self._write(f"{run}.jsonl", as_lines(rows).encode())
        self.state(run).unlink(missing_ok=True)

    def best(self, objective: str) -> Row:
        """What is known of an optimum; nothing at first."""
        with suppress(OSError, ValueError):
            found: Row = json.loads(self._path(f"{objective}.best.json").read_text())
            return found
        return {}

    def keep_best(self, objective: str, facts: Row, weights: Floats) -> None:
        self._keep_weights(f"{objective}.best.npy", weights)
        self._write(f"{objective}.best.json", json.dumps(plain(facts), indent=1).encode())

    def _keep_weights(self, name: str, weights: Floats) -> None:
        buffer = io.BytesIO()
        np.save(buffer, weights, allow_pickle=False)
        self._write(name, buffer.getvalue())

    def _path(self, name: str) -> Path:
        return self.folder / name

    def _write(self, name: str, content: bytes) -> None:
        self.folder.mkdir(parents=True, exist_ok=True)
        replace_file(self._path(name), content)


def as_lines(rows: Rows) -> str:
    """Rows as JSON lines."""
    return "".join(json.dumps(plain(row), allow_nan=False) + "\n" for row in rows)


def plain(value: Any) -> Any:
    """What strict JSON can hold: NumPy's numbers as Python's, and null for what is infinite or not a number."""
    if isinstance(value, dict):
        return {name: plain(part) for name, part in value.items()}
    if isinstance(value, list | tuple):
        return [plain(part) for part in value]
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value
