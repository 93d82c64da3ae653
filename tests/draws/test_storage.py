"""Sizes of stored gradients against a count by hand, and what "auto" makes of them."""

import numpy as np
import pytest

from fastcrf.chain.blocks import make_sequences
from fastcrf.chain.layout import make_layout, make_positions
from fastcrf.draws import storage as memory_modes
from fastcrf.draws.storage import MODES, bytes_by_mode, choose_mode, make_memory, stored_arrays
from fastcrf.types import Corpus, FeatureMap
from reference.random_corpora import random_corpus, random_features


def by_sequence(corpus, features, blocks=None):
    layout = make_layout(features)
    return make_sequences(corpus, features, make_positions(corpus, features, layout), layout, blocks)


def two_short_sequences(blocks=None):
    """Attributes [[0 1] [1]] and [[0]] of 9 labels, which are padded to 16; attribute 1 has one label: it is a cell."""
    corpus = Corpus(
        starts=np.array([0, 2, 3]),
        offsets=np.array([0, 2, 3, 4]),
        attributes=np.array([0, 1, 1, 0], np.int32),
        values=np.zeros(0),
        labels=np.zeros(3, np.int32),
        weights=np.zeros(0),
    )
    pairs = np.zeros(0, np.int32)
    features = FeatureMap(np.array([0, 9, 10]), np.array([*range(9), 4], np.int32), pairs, pairs, 9)
    return by_sequence(corpus, features, blocks)


def test_bytes_are_those_of_a_count_by_hand():
    square = 9 * 16
    expected = {"mixed": 3 * 16 + 2 * square, "marginals": 3 * 16 + square}
    expected |= {"sparse": 2 * 16 + 1 + 2 * square, "naive": 2 * (16 + 1 + square)}
    assert bytes_by_mode(two_short_sequences()) == {mode: 8 * n for mode, n in expected.items()}
    assert bytes_by_mode(two_short_sequences(), "single") == {mode: 4 * n for mode, n in expected.items()}


def test_what_a_block_shares_is_kept_once():
    square = 9 * 16
    expected = {"mixed": 3 * 16 + square, "marginals": 3 * 16 + square, "sparse": 16 + 1 + square}
    expected["naive"] = expected["sparse"]  # one block has all attributes
    assert bytes_by_mode(two_short_sequences(np.array([0, 2]))) == {mode: 8 * n for mode, n in expected.items()}


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("precision", ["double", "single"])
def test_as_many_bytes_are_kept_as_were_foretold(mode, precision):
    sequences = two_short_sequences()
    kept = stored_arrays(make_memory(sequences, mode, precision))
    assert sum(array.nbytes for array in kept.values()) == bytes_by_mode(sequences, precision)[mode]


@pytest.mark.parametrize(
    ("lengths", "n_attributes", "per_item", "smallest", "chosen"),
    [
        pytest.param([400] * 120, 6, 3, "sparse", "sparse", id="long sequences of few attributes"),
        pytest.param([1] * 12_000, 50, 3, "marginals", "marginals", id="sequences of one position"),
        pytest.param([12] * 3000, 500, 10, "mixed", "mixed", id="sentences"),
        pytest.param([1] * 90, 50, 3, "marginals", "mixed", id="few sequences of one position"),
    ],
)
def test_auto_is_the_smallest_unless_mixed_is_hardly_larger(lengths, n_attributes, per_item, smallest, chosen):
    corpus = random_corpus(0, lengths=lengths, n_attributes=n_attributes, per_item=per_item)
    sequences = by_sequence(corpus, random_features(0, n_attributes=n_attributes))
    sizes = bytes_by_mode(sequences)
    assert min(sizes, key=sizes.get) == smallest
    assert choose_mode(sequences) == chosen
    kept = stored_arrays(make_memory(sequences, "auto", "double"))
    assert sum(array.nbytes for array in kept.values()) == sizes[chosen]


@pytest.mark.parametrize(("mode", "precision"), [("naive", "double"), ("mixed", "double"), ("mixed", "single")])
def test_more_than_the_machine_has_is_a_sentence_with_a_remedy(monkeypatch, mode, precision):
    monkeypatch.setattr(memory_modes, "physical_memory", lambda: 1000.0)
    remedy = {"naive": "memory='mixed' needs", "double": "precision='single' needs half", "single": "lbfgs"}
    with pytest.raises(ValueError, match=remedy["naive" if mode == "naive" else precision]) as raised:
        make_memory(two_short_sequences(), mode, precision)
    gigabytes = bytes_by_mode(two_short_sequences(), precision)[mode] / 1e9
    assert f"{gigabytes:.3g} GB with memory={mode!r}, more than this machine has" in str(raised.value)


def test_what_the_system_refuses_is_the_same_sentence(monkeypatch):
    def refuse(*shape_and_type):
        raise MemoryError

    monkeypatch.setattr(memory_modes, "aligned_zeros", refuse)
    with pytest.raises(ValueError, match="more than this machine has"):
        make_memory(two_short_sequences(), "naive", "double")


def test_the_memory_of_this_machine_is_more_than_a_hundred_megabytes():
    assert memory_modes.physical_memory() > 1e8
