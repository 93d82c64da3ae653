"""A small corpus on disk, a model of it, and a way to run commands in this process."""

from __future__ import annotations

import random

import pytest
from typer.testing import CliRunner

from fastcrf.cli.main import app

KINDS = {"the": "D", "a": "D", "dog": "N", "cat": "N", "bird": "N", "sees": "V", "bites": "V"}
CHUNKS = {"D": "B-NP", "N": "I-NP", "V": "O"}


def column_text(n: int, seed: int) -> str:
    """Sentences of two columns and a label, an empty line after each."""
    rng = random.Random(seed)
    text = ""
    for _ in range(n):
        for word in rng.choices(sorted(KINDS), k=rng.randint(1, 7)):
            text += f"{word} {KINDS[word]} {CHUNKS[KINDS[word]]}\n"
        text += "\n"
    return text


@pytest.fixture
def run():
    """Run `fastcrf` with these arguments; the result has exit_code, stdout and stderr."""

    def invoke(*arguments, **options):
        return CliRunner().invoke(app, [str(a) for a in arguments], prog_name="fastcrf", **options)

    return invoke


@pytest.fixture(scope="session")
def corpus(tmp_path_factory):
    """The path of a training file; `dev.txt` is beside it."""
    folder = tmp_path_factory.mktemp("corpus")
    (folder / "dev.txt").write_text(column_text(10, seed=2))
    (folder / "train.txt").write_text(column_text(40, seed=1))
    return folder / "train.txt"


@pytest.fixture(scope="session")
def model(corpus):
    """The path of a model that was trained on the corpus."""
    path = corpus.parent / "model.crf"
    result = CliRunner().invoke(app, ["train", str(corpus), "-m", str(path), "--quiet", "--n-jobs", "1"])
    assert (result.exit_code, result.output) == (0, "")
    return path
