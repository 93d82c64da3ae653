"""Where the corpora that cannot be shipped are, on machines that have them."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).parents[2]


def corpus_file(name: str) -> Path:
    """The path of a corpus file such as "conll2000/train.txt.gz", or a skipped test."""
    folders = [os.environ.get("FASTCRF_DATA"), REPOSITORY.parent / "shared" / "data"]
    for folder in folders:
        if folder and (path := Path(folder) / name).is_file():
            return path
    pytest.skip(f"{name} is not here; set FASTCRF_DATA to the folder that holds it")
