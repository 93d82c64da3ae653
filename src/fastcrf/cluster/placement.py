"""Sources of the shards: files that workers read, an encoded corpus that they map, or a corpus of the client.

Each source gives futures of corpora with one numbering, and the names behind it. All of it is tasks on data that can be
had again: Dask repeats them when a worker is lost with what it held.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from fastcrf.cluster import shard
from fastcrf.cluster.shard import Piece
from fastcrf.core.types import Corpus
from fastcrf.data.corpus_file.reading import EncodedCorpus
from fastcrf.data.encoding.attributes import Attributes
from fastcrf.exceptions import DataError


class Placed(NamedTuple):
    """The corpora of the shards on the workers, none of them empty."""

    corpora: list[Any]  # futures
    attributes: Attributes
    labels: list[Any]


Place = Callable[[Any, int], Placed]  # of a client, in so many shards


def from_files(paths: Sequence[str], read: Callable[..., Any], nothing: Attributes) -> Place:
    """Place files that every worker can read under the same path. read: returns X, y and weights of a share of one."""
    if "-" in paths:
        raise DataError("Workers cannot read this process' standard input; give files that all of them can read.")

    def place(client: Any, n_shards: int) -> Placed:
        pieces = [pieces_of(paths, read, k, n_shards) for k in range(n_shards)]
        encoded = [client.submit(shard.read_pieces, each, nothing, pure=False) for each in pieces if each]
        names = [client.submit(shard.names_of, each, pure=False) for each in encoded]
        joined = client.submit(shard.join_names, names, nothing, pure=False)
        corpora = [client.submit(shard.renumber, each, joined, k, pure=False) for k, each in enumerate(encoded)]
        attributes, labels = client.submit(shard.joined_names, joined, pure=False).result()
        return Placed(without_empty(client, corpora), attributes, labels)

    return place


def pieces_of(paths: Sequence[str], read: Callable[..., Any], k: int, n_shards: int) -> list[Piece]:
    """Return what shard k reads: whole files if there are enough of them, else every n-th sequence of each."""
    if len(paths) >= n_shards:
        return [Piece(read, path, (0, None, 1)) for path in paths[k::n_shards]]
    return [Piece(read, path, (k, None, n_shards)) for path in paths]


def from_encoded(encoded: EncodedCorpus) -> Place:
    """Place an encoded corpus that every worker can map under the same path."""

    def place(client: Any, n_shards: int) -> Placed:
        bounds = even_bounds(encoded.corpus, n_shards)
        slices = [client.submit(shard.map_slice, encoded.path, *ends, pure=False) for ends in bounds]
        return Placed(slices, encoded.attributes, encoded.labels)

    return place


def from_client(corpus: Corpus, attributes: Attributes, labels: list[Any]) -> Place:
    """Place a corpus that the client has encoded. Replacements of lost workers receive their shard again."""

    def place(client: Any, n_shards: int) -> Placed:
        slices = [corpus.slice_of(*ends) for ends in even_bounds(corpus, n_shards)]
        return Placed(client.scatter(slices, hash=False), attributes, labels)

    return place


def even_bounds(corpus: Corpus, n_shards: int) -> list[tuple[int, int]]:
    """Return the first sequence of each shard and the end of the last: about as many positions each, none empty."""
    targets = np.arange(1, n_shards) * corpus.n_positions // n_shards
    bounds = np.unique(np.concatenate(([0], np.searchsorted(corpus.starts, targets), [corpus.n_sequences]))).tolist()
    return list(pairwise(bounds))


def without_empty(client: Any, corpora: list[Any]) -> list[Any]:
    sizes = client.gather([client.submit(shard.size_of, each, pure=False) for each in corpora])
    if not any(sizes):
        raise DataError("There is nothing to train on: the files contain no sequence with at least one item.")
    return [each for each, size in zip(corpora, sizes, strict=True) if size]
