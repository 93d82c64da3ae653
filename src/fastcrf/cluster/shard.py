"""The work of workers: read their share of the files, agree on names and features, evaluate. Plain functions of data.

A shard is evaluated in one thread, in the order of its sequences, and shards are summed in a fixed order (sums.py): the
result depends on how many shards there are, not on who holds them.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from itertools import chain
from typing import Any, NamedTuple

import numpy as np

from fastcrf.certificates.certificate import sparse_bound
from fastcrf.cluster.sums import INDEX, Traveling, worth_it
from fastcrf.core.types import Corpus, FeatureMap, Floats, Ints, Longs
from fastcrf.data.corpus_file.reading import open_corpus
from fastcrf.data.encoding.attributes import Attributes
from fastcrf.data.encoding.encoder import Encoder, encode_pairs
from fastcrf.data.encoding.vocabulary import growing
from fastcrf.decoding.compiled_decoder import viterbi
from fastcrf.decoding.held_out_counts import Counts, count, read_marks
from fastcrf.feature_space.feature_map import (
    FeatureCounts,
    choose_features,
    count_features,
    join_counts,
    occurring_features,
)
from fastcrf.objective.problem import Problem
from fastcrf.system.memory_budget import in_words
from fastcrf.training.checkpoint import digest

Share = tuple[int, None, int]  # which sequences of a file: the first, and of how many one is taken


class Piece(NamedTuple):
    """A share of a file, and who can read it: `read(path, None, share)` gives X, y and weights."""

    read: Callable[..., Any]
    path: str
    share: Share


class Encoded(NamedTuple):
    """A corpus with names of its own."""

    corpus: Corpus
    attributes: Attributes
    labels: list[Any]


class Names(NamedTuple):
    """The attributes and labels of all shards, and the new ids of those of each shard."""

    attributes: Attributes
    labels: list[Any]
    attribute_ids: list[Ints]
    label_ids: list[Ints]


def read_pieces(pieces: Sequence[Piece], nothing: Attributes) -> Encoded:
    """Encode shares of files, which lie where this worker can read them."""
    parts = [piece.read(piece.path, None, piece.share) for piece in pieces]
    weights: list[float] | None = None if any(part.weights is None for part in parts) else []

    def weigh(part: Any) -> Any:
        yield from part.X
        if weights is not None:
            weights.extend(part.weights)

    gatherer, learnt = nothing.learner()
    labels: Mapping[Hashable, int] = growing()
    X, y = chain.from_iterable(map(weigh, parts)), chain.from_iterable(part.y for part in parts)
    corpus, kept, _ = encode_pairs(X, y, gatherer, labels.__getitem__)  # maybe none: there may be more shards than data
    if weights is not None:
        corpus = corpus._replace(weights=np.array(weights)[kept])
    return Encoded(corpus, learnt(), list(labels))


def names_of(encoded: Encoded) -> tuple[Attributes, list[Any]]:
    return encoded.attributes, encoded.labels


def join_names(names: Sequence[tuple[Attributes, list[Any]]], nothing: Attributes) -> Names:
    """Number the names of all shards together, by first appearance from shard to shard."""
    attributes, attribute_ids = nothing.joined([each for each, _ in names])
    labels: Mapping[Hashable, int] = growing()
    label_ids = [np.fromiter(map(labels.__getitem__, each), np.int32, len(each)) for _, each in names]
    return Names(attributes, list(labels), attribute_ids, label_ids)


def joined_names(names: Names) -> tuple[Attributes, list[Any]]:
    """Return what the client needs of the joined names."""
    return names.attributes, names.labels


def renumber(encoded: Encoded, names: Names, k: int) -> Corpus:
    """Return the corpus of shard k with the ids of all shards."""
    corpus = encoded.corpus
    return corpus._replace(
        attributes=names.attribute_ids[k][corpus.attributes], labels=names.label_ids[k][corpus.labels]
    )


def size_of(corpus: Corpus) -> int:
    return corpus.n_sequences


def map_slice(path: str, first: int, last: int) -> Corpus:
    """Map some sequences of an encoded corpus, which stay on the disk."""
    return open_corpus(path).corpus.slice_of(first, last)


def counts_of(corpus: Corpus, sizes: tuple[int, int], order: int) -> FeatureCounts:
    return count_features(writable(corpus), *sizes, order)


def features_of(counts: Sequence[FeatureCounts], n_labels: int, options: dict[str, Any]) -> FeatureMap:
    return choose_features(join_counts(counts, n_labels), n_labels, **options)


def writable(arrays: Any) -> Any:
    """Return a NamedTuple with copies of its read-only arrays.

    Arrays from another process are read-only; kernels, which are compiled for writable arrays, would be compiled again.
    """
    return type(arrays)(*(np.require(a, requirements="W") if isinstance(a, np.ndarray) else a for a in arrays))


class Shard:
    """A shard ready to be evaluated: the problem of its sequences, with the features that occur in them if these are
    few among all, else with all features, so that neither weights nor gradients have to be taken apart.

    A worker may have to hand it to another one; then the corpus travels, and the rest is made again there.
    """

    def __init__(self, corpus: Corpus, features: FeatureMap) -> None:
        self.corpus, self.features = corpus, features = writable(corpus), writable(features)
        occurring = occurring_features(corpus, features)
        self.places: Longs | None = None  # of the features of the problem among all; None: these are all
        if occurring and worth_it(len(occurring[1]), features.n_weights):
            features, self.places = occurring
        self.problem = Problem(corpus, features, n_jobs=1)

    def __reduce__(self) -> tuple[Any, ...]:
        return Shard, (self.corpus, self.features)

    def __sizeof__(self) -> int:
        """Return the size by which Dask decides what to move."""
        positions = self.problem.likelihood.positions
        return sum(array.nbytes for array in (*self.corpus, *positions)) + 32 * self.problem.n_weights

    def __repr__(self) -> str:
        return f"Shard({self.corpus.n_sequences:,} sequences, {in_words(self.__sizeof__())})"

    def take(self, weights: Floats) -> Floats:
        return np.require(weights, requirements="W") if self.places is None else weights[self.places]

    def part(self, loss: float, vector: Floats) -> Traveling:
        places = None if self.places is None else self.places.astype(INDEX)
        return loss, vector, places, self.features.n_weights


def facts_of(shard: Shard) -> tuple[int, str]:
    """Return the number of sequences and their fingerprint."""
    return shard.corpus.n_sequences, digest(shard.corpus)


def gradient_of(shard: Shard, weights: Floats) -> Traveling:
    return shard.part(*shard.problem.gradient(shard.take(weights)))


def product_of(shard: Shard, weights: Floats, direction: Floats) -> Traveling:
    product = shard.problem.hessian_product(shard.take(weights), shard.take(direction))
    return shard.part(0.0, product)


def value_of(shard: Shard, weights: Floats) -> float:
    return shard.problem.value(shard.take(weights))


def bound_of(shard: Shard, weights: Floats, largest_slope: float, c1: float) -> float:
    """Return the shard's terms of the lower bound for an L1 penalty alone."""
    figures = shard.problem.likelihood.sequence_figures(shard.take(weights))
    return sparse_bound(figures, shard.corpus.weights, largest_slope, c1)


def read_held_out(piece: Piece, names: tuple[Attributes, list[Any]]) -> Corpus:
    """Read a share of held-out data, with the ids of the training data."""
    part = piece.read(piece.path, None, piece.share)
    return Encoder(names[0]).encode_labeled(part.X, part.y, names[1])


def counts_in(corpus: Corpus, features: FeatureMap, labels: list[Any], weights: Floats) -> Counts:
    """Count correct tokens and segments."""
    if not corpus.n_positions:
        return Counts(0, 0, 0, 0, 0)
    found = viterbi(writable(corpus), writable(features), np.require(weights, requirements="W"))
    return count(corpus, found, read_marks(labels))
