"""Sizes of stored gradients against a count by hand, and what "auto" makes of them."""

import numpy as np
import pytest

from fastcrf.core.types import Corpus, FeatureMap
from fastcrf.feature_space.layout import make_layout, make_positions
from fastcrf.objective.blocks import make_blocks
from fastcrf.simd.widths import choose_width
from fastcrf.stochastic import gradient_storage as storage
from fastcrf.stochastic.gradient_storage import FORMS, bytes_by_form, choose_form, make_gradients, stored_arrays
from reference.random_corpora import random_corpus, random_features

PADDED = choose_width(9)[1]  # 12 or 16, by what the machine's registers hold


def by_sequence(corpus, features, bounds=None):
    layout = make_layout(features)
    return make_blocks(corpus, features, make_positions(corpus, features, layout), layout, bounds)


def two_short_sequences(bounds=None):
    """Attributes [[0 1] [1]] and [[0]] of 9 labels, which are padded; attribute 1 has one label: it is a cell."""
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
    return by_sequence(corpus, features, bounds)


def test_bytes_are_those_of_a_count_by_hand():
    square = 9 * PADDED
    expected = {"mixed": 3 * PADDED + 2 * square, "marginals": 3 * PADDED + square}
    expected |= {"sparse": 2 * PADDED + 1 + 2 * square, "naive": 2 * (PADDED + 1 + square)}
    assert bytes_by_form(two_short_sequences()) == {form: 8 * n for form, n in expected.items()}
    assert bytes_by_form(two_short_sequences(), "single") == {form: 4 * n for form, n in expected.items()}


def test_what_a_block_shares_is_kept_once():
    square = 9 * PADDED
    expected = {"mixed": 3 * PADDED + square, "marginals": 3 * PADDED + square, "sparse": PADDED + 1 + square}
    expected["naive"] = expected["sparse"]  # one block has all attributes
    assert bytes_by_form(two_short_sequences(np.array([0, 2]))) == {form: 8 * n for form, n in expected.items()}


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("precision", ["double", "single"])
def test_as_many_bytes_are_kept_as_were_foretold(form, precision):
    blocks = two_short_sequences()
    kept = stored_arrays(make_gradients(blocks, form, precision))
    assert sum(array.nbytes for array in kept.values()) == bytes_by_form(blocks, precision)[form]


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
    blocks = by_sequence(corpus, random_features(0, n_attributes=n_attributes))
    sizes = bytes_by_form(blocks)
    assert min(sizes, key=sizes.get) == smallest
    assert choose_form(blocks) == chosen
    kept = stored_arrays(make_gradients(blocks, "auto", "double"))
    assert sum(array.nbytes for array in kept.values()) == sizes[chosen]


@pytest.mark.parametrize(("form", "precision"), [("naive", "double"), ("mixed", "double"), ("mixed", "single")])
def test_more_than_the_machine_has_is_a_sentence_with_a_remedy(monkeypatch, form, precision):
    monkeypatch.setattr(storage, "physical_memory", lambda: 1000.0)
    remedy = {
        "naive": "storage='mixed', which needs",
        "double": "precision='single', which needs half",
        "single": "lbfgs",
    }
    with pytest.raises(ValueError, match=remedy["naive" if form == "naive" else precision]) as raised:
        make_gradients(two_short_sequences(), form, precision)
    gigabytes = bytes_by_form(two_short_sequences(), precision)[form] / 1e9
    assert f"{gigabytes:.3g} GB with storage={form!r}, more than the memory of this machine" in str(raised.value)


def test_what_the_system_rejects_is_the_same_message(monkeypatch):
    def refuse(*shape_and_type):
        raise MemoryError

    monkeypatch.setattr(storage, "aligned_zeros", refuse)
    with pytest.raises(ValueError, match="more than the memory of this machine"):
        make_gradients(two_short_sequences(), "naive", "double")


def test_the_memory_of_this_machine_is_more_than_a_hundred_megabytes():
    assert storage.physical_memory() > 1e8
