"""A dataset of an experiment: an encoded training corpus with its features, and held-out sequences to score."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from fastcrf.core.types import Corpus, FeatureMap
from fastcrf.data.corpus.rare_attributes import without_rare
from fastcrf.data.encoding.attributes import Attributes
from fastcrf.data.encoding.encoder import NO_ITEMS, Encoder, encode_training
from fastcrf.feature_space.feature_map import build_feature_map
from fastcrf.objective.problem import Problem
from fastcrf.training.checkpoint import digest
from fastcrf.training.warm_up import first_sequences

SAMPLE = 8  # sequences that are enough to make every kernel run


@dataclass(frozen=True, eq=False)
class Dataset:
    """What a run of the lab depends on, apart from penalty and solver."""

    name: str
    corpus: Corpus = field(repr=False)
    features: FeatureMap = field(repr=False)
    held_out: Corpus | None = field(repr=False, default=None)
    label_names: tuple[Any, ...] = field(repr=False, default=())  # by their ids; segments are told by them

    @cached_property
    def fingerprint(self) -> str:
        """Hash of the encoded data: the same data under another name are the same data."""
        held_out = self.held_out or ()
        return digest([*self.corpus, *self.features, *held_out])

    def facts(self) -> dict[str, Any]:
        """What a row says of its dataset."""
        return {
            "dataset": self.name,
            "sequences": self.corpus.n_sequences,
            "positions": self.corpus.n_positions,
            "labels": self.features.n_labels,
            "weights": self.features.n_weights,
        }

    def problem(self, c1: float, c2: float, n_jobs: int) -> Problem:
        return Problem(self.corpus, self.features, c1, c2, n_jobs)

    def sample(self) -> Dataset:
        """The first sequences with features of their own. As many labels, so the kernels are those of the whole."""
        corpus = first_sequences(self.corpus, SAMPLE)
        features = build_feature_map(corpus, self.features.n_attributes, self.features.n_labels, all_transitions=True)
        held_out = first_sequences(self.held_out, SAMPLE) if self.held_out else None
        return Dataset(f"sample of {self.name}", corpus, features, held_out, self.label_names)


def make_dataset(
    name: str,
    X: Iterable[Any],
    y: Iterable[Any],
    held_out: tuple[Iterable[Any], Iterable[Any]] | None = None,
    *,
    attributes: Attributes = NO_ITEMS,
    sample_weight: Iterable[float] | None = None,
    min_count: int = 1,
    **features: Any,
) -> Dataset:
    """Encode sequences X with labels y, and held-out ones.

    attributes: their kind says what the sequences hold (items, or rows for a template); min_count: attributes that
    occur less often are left out (the cut-off of CRF++); features: options of `build_feature_map`.
    """
    corpus, learnt, labels = encode_training(X, y, sample_weight, attributes)
    if min_count > 1:
        corpus, frequent = without_rare(corpus, len(learnt), min_count)
        learnt = learnt.kept(frequent)
    feature_map = build_feature_map(corpus, len(learnt), len(labels), **features)
    scored = Encoder(learnt).encode_labeled(*held_out, labels) if held_out else None
    return Dataset(name, corpus, feature_map, scored if scored and scored.n_positions else None, tuple(labels))
