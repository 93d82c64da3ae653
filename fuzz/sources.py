"""Targets that read data of other tools: JSON lines, CoNLL-U, doccano, brat, clusters of words; and arrays."""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path

import numpy as np

from fastcrf import features, readers
from fastcrf.data.encoding.encoder import encode_training
from fuzz.files import Work, written
from fuzz.mutation import mutated

JSON = [
    b'{"tokens": ["a", "b"], "labels": ["X", 1]}\n\n{"tokens": [], "labels": []}\n',
    b'{"tokens": ["\\ud800"], "labels": [true], "more": {"x": [1.5e3]}}\n',
]
CONLLU = [b"# text = a b\n1-2\tab" + b"\t_" * 8 + b"\n1\ta" + b"\t_" * 8 + b"\n2\tb" + b"\t_" * 8 + b"\n\n"]
DOCCANO = [
    b'{"id": 1, "text": "Ann lives in Oslo", "label": [[0, 3, "PER"], [13, 17, "LOC"]]}\n',
    b'{"text": "x y", "entities": [{"start_offset": 0, "end_offset": 1, "label": "A"}], "relations": []}\n',
]
ANN = [b"T1\tPER 0 3\tAnn\nR1\tLives Arg1:T1 Arg2:T1\nT2\tLOC 13 17\tOslo\n#1\tAnnotatorNotes T1\tsure\n"]
WORDS = [b"0110\tthe\t17\n01\tdog\t3\n", b"the\t7\ndog\tx\n"]
READERS: dict[str, tuple[list[bytes], Callable[[Path], readers.Sentences]]] = {
    "lines.jsonl": (JSON, readers.json_lines),
    "lines.conllu": (CONLLU, readers.conllu),
    "doccano.jsonl": (DOCCANO, readers.doccano),
}


def sources(rng: random.Random, folder: Path) -> Work:
    name = rng.choice(list(READERS))
    seeds, read = READERS[name]
    path = written(folder / name, mutated(seeds, rng))
    return lambda: use_sentences(read(path))


def brat(rng: random.Random, folder: Path) -> Work:
    written(folder / "note.ann", mutated(ANN, rng))
    path = written(folder / "note.txt", b"Ann lives in Oslo\n")
    return lambda: use_sentences(readers.brat(path))


def use_sentences(found: readers.Sentences) -> None:
    X, y = found.load()
    for rows, labels in zip(X, y, strict=True):
        assert len(rows) == len(labels)
        features.columns()(rows)


def word_lists(rng: random.Random, folder: Path) -> Work:
    path = written(folder / "words", mutated(WORDS, rng))
    read = rng.choice((features.clusters, lambda path: features.gazetteer("name", path)))
    return lambda: read(path)(["the", "dog"])


def arrays(rng: random.Random, folder: Path) -> Work:
    """Sequences of arrays whose shapes, types and numbers may be wrong."""
    noise = np.random.default_rng(rng.randrange(1 << 30))
    X = [noise.normal(size=rng.choice([(2, 3), (2, 3), (2, 3), (0, 3), (2, 2), (3,), ()])) for _ in range(3)]
    X = [x.astype(rng.choice(["f4", "f8", "i8", "?", "c8", "O", "S3"])) for x in X]
    for x in X:
        if rng.random() < 0.1 and x.dtype.kind == "f":
            x[...] = rng.choice([np.nan, np.inf, 1e300])
    return lambda: encode_training(X, [["A"] * (len(x) if x.ndim else 1) for x in X])
