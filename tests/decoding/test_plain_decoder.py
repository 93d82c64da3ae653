"""Plain NumPy decodes as the kernels do: the same labels, the same probabilities to 1e-12."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fastcrf.core.types import Corpus, FeatureMap
from fastcrf.decoding import compiled_decoder as decode
from fastcrf.decoding import decoder_choice as decoder_choice
from fastcrf.decoding import plain_decoder as plain_decoder

TAG_ONE = """
import sys
import numpy as np
from fastcrf.core.types import FeatureMap
from fastcrf.data.encoding.attributes import ItemAttributes
import fastcrf

path = sys.argv[1]
features = FeatureMap(np.array([0, 1]), np.zeros(1, np.int32), np.zeros(0, np.int32), np.zeros(0, np.int32), 2)
fastcrf.Model(["A", "B"], ItemAttributes.of(["a"]), features, np.ones(1)).save(path)
model = fastcrf.load(path)
assert model.predict_single([["a"], ["b"]]) == ["A", "A"]
assert abs(model.predict_marginals_single([{"a": 2.0}])[0]["A"] - 1 / (1 + np.exp(-2.0))) < 1e-15
print(*sorted({name.split(".")[0] for name in sys.modules} & {"numba", "llvmlite", "scipy", "sklearn", "typer"}))
model.predict([[["a"]] * 1000] * 100)
print("numba" in sys.modules)
"""


@st.composite
def problems(draw):
    """A model, and a corpus with empty sequences, unknown attributes, and values or none."""
    random = np.random.default_rng(draw(st.integers(0, 2**32)))
    n_labels, n_attributes = draw(st.integers(1, 9)), draw(st.integers(1, 12))
    present = random.random((n_attributes, n_labels)) < draw(st.sampled_from([0.2, 0.7, 1.0]))
    sources, targets = np.nonzero(random.random((n_labels, n_labels)) < draw(st.sampled_from([0.0, 0.5, 1.0])))
    features = FeatureMap(
        offsets=np.concatenate(([0], np.cumsum(present.sum(axis=1)))).astype(np.int64),
        labels=np.nonzero(present)[1].astype(np.int32),
        sources=sources.astype(np.int32),
        targets=targets.astype(np.int32),
        n_labels=n_labels,
    )
    weights = random.normal(size=features.n_weights) * draw(st.sampled_from([0.1, 1.0, 30.0, 1000.0]))
    if draw(st.booleans()):
        weights = np.round(weights)  # many ties
    lengths = random.integers(0, 7, draw(st.integers(1, 5)))
    counts = random.integers(0, 5, lengths.sum())
    n = counts.sum()
    corpus = Corpus(
        starts=np.concatenate(([0], np.cumsum(lengths))).astype(np.int64),
        offsets=np.concatenate(([0], np.cumsum(counts))).astype(np.int64),
        attributes=random.integers(-1, n_attributes, n).astype(np.int32),
        values=np.round(random.normal(size=n), 1) if draw(st.booleans()) else np.empty(0),
        labels=np.empty(0, np.int32),
        weights=np.empty(0),
    )
    return corpus, features, weights


@settings(max_examples=200)
@given(problems())
def test_numpy_gives_what_kernels_give(problem):
    corpus, _, weights = problem
    best = decode.viterbi(*problem)
    posterior, log_z = decode.infer_corpus(*problem)
    plain_posterior, plain_log_z = plain_decoder.infer_corpus(*problem)
    np.testing.assert_allclose(plain_posterior, posterior, rtol=0, atol=1e-12)
    np.testing.assert_allclose(plain_log_z, log_z, rtol=1e-12, atol=1e-12)
    scores = plain_decoder.path_scores(*problem, best)
    np.testing.assert_allclose(scores, decode.path_scores(*problem, best), rtol=1e-12, atol=1e-10)
    plain = plain_decoder.viterbi(*problem)
    if (plain != best).any():  # two paths of one score, but for rounding
        np.testing.assert_allclose(decode.path_scores(*problem, plain), scores, rtol=1e-14, atol=1e-13)
    if (weights == np.round(weights)).all() and not len(corpus.values):  # no rounding: ties go to the same labels
        np.testing.assert_array_equal(plain, best)


def test_a_long_sequence_of_wide_scores_stays_exact():
    random = np.random.default_rng(5)
    n, n_labels = 3000, 5
    features = FeatureMap(
        offsets=np.arange(0, 5 * 40 + 1, 5),
        labels=np.tile(np.arange(5, dtype=np.int32), 40),
        sources=np.repeat(np.arange(5, dtype=np.int32), 5),
        targets=np.tile(np.arange(5, dtype=np.int32), 5),
        n_labels=n_labels,
    )
    weights = random.normal(size=features.n_weights) * 5
    attributes = random.integers(0, 40, 3 * n).astype(np.int32)
    no_ints, no_floats = np.empty(0, np.int32), np.empty(0)
    corpus = Corpus(np.array([0, n]), np.arange(0, 3 * n + 1, 3), attributes, no_floats, no_ints, no_floats)
    plain, log_z = plain_decoder.infer_corpus(corpus, features, weights)
    compiled, compiled_log_z = decode.infer_corpus(corpus, features, weights)
    np.testing.assert_allclose(plain, compiled, rtol=0, atol=1e-12)
    np.testing.assert_allclose(log_z, compiled_log_z, rtol=1e-13)
    np.testing.assert_array_equal(
        plain_decoder.viterbi(corpus, features, weights), decode.viterbi(corpus, features, weights)
    )


def test_where_compiled_code_is_loaded_it_decodes():
    nothing = Corpus(np.array([0]), np.array([0]), *[np.empty(0, np.int32)] * 2, *[np.empty(0)] * 2)
    features = FeatureMap(np.array([0]), *[np.empty(0, np.int32)] * 3, 2)
    assert decoder_choice.decoder(1.0, nothing, features) is decode


@pytest.mark.parametrize("name", ["model.crf", "model.crfsuite"])
def test_the_first_sentences_need_neither_compiler_nor_scikit_learn_and_many_load_the_compiler(name, tmp_path):
    command = [sys.executable, "-c", TAG_ONE, str(tmp_path / name)]
    output = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    assert output.split("\n")[:2] == ["", "True"]
