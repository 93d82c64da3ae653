"""A damaged .crfsuite file ends in a sentence, or in a model that tags without harm."""

from __future__ import annotations

import struct

import numpy as np
import pytest

from fastcrf.core.types import FeatureMap
from fastcrf.exceptions import ModelFileError
from fastcrf.interchange.crfsuite_reader import read_crfsuite
from fastcrf.interchange.crfsuite_writer import crfsuite_bytes
from fastcrf.model.formats import content_of
from fastcrf.model.model import Model

LABELS, ATTRIBUTES = ["O", "B"], ["a", "bb", "the longest of them all"]
FEATURES = FeatureMap(
    offsets=np.array([0, 2, 3, 4]),
    labels=np.array([0, 1, 1, 0], np.int32),
    sources=np.array([0, 1], np.int32),
    targets=np.array([1, 0], np.int32),
    n_labels=2,
)
SOUND = crfsuite_bytes(LABELS, ATTRIBUTES, FEATURES, np.array([0.5, -1.0, 2.0, 3.0, -0.25, 1.5]))
SEQUENCE = [["a", "bb"], ["the longest of them all"], ["unknown", "a"]]
WORDS = (0, 1, 2, 3, 7, 48, 2**16, 2**31 - 1, 2**31, 2**32 - 4, 2**32 - 1)


def mutated(random: np.random.Generator) -> bytes:
    """A few bytes or whole numbers changed, a piece cut out, put in, or missing at the end."""
    data = bytearray(SOUND)
    kind = random.integers(5)
    if kind == 0:
        for _ in range(random.integers(1, 4)):
            data[random.integers(len(data))] = random.integers(256)
    elif kind == 1:
        struct.pack_into("<I", data, 4 * random.integers(len(data) // 4), random.choice(WORDS))
    elif kind == 2:
        start = random.integers(len(data))
        del data[start : start + random.integers(1, 9)]
    elif kind == 3:
        start = random.integers(len(data))
        data[start:start] = random.bytes(random.integers(1, 9))
    else:
        places = [*range(0, 48, 4), *range(48, len(data) - 4)]  # the header and what is behind it, as often
        place = places[random.integers(12)] if random.random() < 0.5 else random.choice(places)
        struct.pack_into("<I", data, int(place), int(random.integers(len(data) + 8)))
    if kind in (2, 3) and random.random() < 0.9:  # else the size alone gives it away
        struct.pack_into("<I", data, 4, len(data))
    return bytes(data)


def test_mutated_files_ends_in_an_error_or_tag_without_harm():
    random = np.random.default_rng(0)
    refused = tagged = 0
    for _ in range(10_000):
        try:
            content = content_of(mutated(random))
        except ModelFileError:
            refused += 1
            continue
        features = content.features
        assert features.offsets[0] == 0
        assert (np.diff(features.offsets) >= 0).all()
        assert features.offsets[-1] == features.n_state
        for ids in (features.labels, features.sources, features.targets):
            assert ((ids >= 0) & (ids < features.n_labels)).all()
        assert len(content.weights) == features.n_weights
        tagged += 1
        if tagged % 50 == 0:
            model = Model(*content)
            assert set(model.predict_single(SEQUENCE)) <= set(model.labels)
            assert np.isfinite([*model.predict_marginals_single(SEQUENCE)[0].values()]).all()
    assert refused > 3000  # the rest is damage where no one looks: hash tables, names and weights
    assert tagged > 1000


def replaced(place: int, value: int) -> bytes:
    data = bytearray(SOUND)
    struct.pack_into("<I", data, place, value)
    return bytes(data)


FEAT = 48
LABEL_NAMES, ATTRIBUTE_NAMES, LFRF, AFRF = struct.unpack_from("<4I", SOUND, 32)


@pytest.mark.parametrize(
    ("data", "sentence"),
    [
        (SOUND[:40], "it has 40 bytes, fewer than a header"),
        (SOUND[:-1], f"it has {len(SOUND) - 1} bytes and says that it has {len(SOUND)}"),
        (replaced(8, 7), "a model of type"),
        (replaced(12, 101), "is a .crfsuite file of version 101, and only 100 is known"),
        (replaced(20, 0), "it has no labels"),
        (replaced(20, 3), "it has 2 label names, and says that it has 3"),
        (replaced(28, 2**32 - 4), "it has chunk FEAT beyond its end"),
        (replaced(FEAT + 8, 2**31), "it has features beyond its end"),
        (replaced(FEAT + 12, 2), "it has a feature of kind 2; only state features and transitions"),
        (replaced(FEAT + 16, 3), "it has a feature of an attribute or label that it does not have"),
        (replaced(FEAT + 20, 2), "it has a feature of a label that it does not have"),
        (replaced(FEAT + 28, 0x7FF00000), "it has a weight that is not finite"),
        (replaced(FEAT + 20, 1), "it has the same feature twice"),
        (replaced(LABEL_NAMES + 12, 0), "it has no label names where they should be"),
        (replaced(ATTRIBUTE_NAMES + 20, 2**31), "it has offsets of attribute names beyond its end"),
        (replaced(ATTRIBUTE_NAMES + 2072, 1), "it has attribute names under other ids"),
        (replaced(ATTRIBUTE_NAMES + 2076, 2**31), "it has attribute names beyond its end"),
        (replaced(LFRF, 0), "it has no chunk LFRF where it should be"),
        (replaced(LFRF + 12, len(SOUND)), "it has a list of features beyond its end"),
        (replaced(len(SOUND) - 4, 99), "it has a list with a feature that it does not have"),
        (replaced(len(SOUND) - 4, 0), "it has a list with a feature of another attribute or label"),
        (replaced(AFRF + 12, len(SOUND) - 8), "it has features that no list names, or names twice"),
    ],
)
def test_each_fault_has_its_sentence(data, sentence):
    with pytest.raises(ModelFileError, match=sentence):
        read_crfsuite(data)


def test_the_sentence_names_the_file(tmp_path):
    (tmp_path / "half.crfsuite").write_bytes(SOUND[:1000])
    with pytest.raises(ModelFileError, match=r"^Cannot load .*half.crfsuite: the .crfsuite file is damaged: it "):
        Model.load(tmp_path / "half.crfsuite")
