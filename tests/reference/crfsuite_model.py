"""Weights of a CRFsuite model file in full precision (python-crfsuite's own dump rounds them to 6 decimals)."""

from __future__ import annotations

import struct
from pathlib import Path
from typing import NamedTuple

import pycrfsuite

HEADER = 48  # bytes before the features
STATE, TRANSITION = 0, 1


class CRFsuiteModel(NamedTuple):
    labels: list[str]
    states: dict[tuple[str, str], float]
    transitions: dict[tuple[str, str], float]
    tagger: pycrfsuite.Tagger
    iterations: list[dict]


def train(X, y, folder: Path, algorithm: str = "lbfgs", **params) -> CRFsuiteModel:
    """A model trained by CRFsuite."""
    trainer = pycrfsuite.Trainer(algorithm, params=params, verbose=False)
    for sequence, labels in zip(X, y, strict=True):
        trainer.append(sequence, labels)
    path = folder / "model.crfsuite"
    trainer.train(str(path))
    tagger = pycrfsuite.Tagger()
    tagger.open(str(path))
    return CRFsuiteModel(tagger.labels(), *read_weights(path, tagger), tagger, trainer.logparser.iterations)


def read_weights(path: Path, tagger: pycrfsuite.Tagger):
    """{(attribute, label): weight} and {(label, label): weight}."""
    data = path.read_bytes()
    info = tagger.info()
    labels = {int(k): name for name, k in info.labels.items()}
    attributes = {int(a): name for name, a in info.attributes.items()}
    (tag, _, count) = struct.unpack_from("<4sII", data, HEADER)
    assert (data[:4], tag) == (b"lCRF", b"FEAT")
    states, transitions = {}, {}
    for kind, source, target, weight in struct.iter_unpack("<IIId", data[HEADER + 12 : HEADER + 12 + 20 * count]):
        if kind == STATE:
            states[attributes[source], labels[target]] = weight
        else:
            transitions[labels[source], labels[target]] = weight
    return states, transitions
