"""A corpus without its rare attributes: the cut-off of CRF++ (`-f`), which counts attributes whatever their label."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from fastcrf.mapped import empty_beside
from fastcrf.types import Corpus


def without_rare(
    corpus: Corpus, n_attributes: int, min_count: int, n_known: int = 0
) -> tuple[Corpus, NDArray[np.bool_]]:
    """The corpus with the attributes that occur at least `min_count` times, renumbered, and which of them these are.

    The first `n_known`, which an earlier model has, stay whether they occur or not.
    """
    counts = np.zeros(n_attributes, np.int64)
    for stretch in corpus.stretches():
        counts += np.bincount(stretch.attributes, minlength=n_attributes)
    used = counts >= min_count
    used[:n_known] = True
    numbers = (np.cumsum(used) - 1).astype(np.int32)
    n_kept, home = int(counts[used].sum()), corpus.attributes
    fewer = corpus._replace(
        offsets=empty_beside(home, corpus.n_positions + 1, np.int64),
        attributes=empty_beside(home, n_kept, np.int32),
        values=empty_beside(home, n_kept if len(corpus.values) else 0, np.float64),
    )
    fewer.offsets[0] = p = o = 0
    for stretch in corpus.stretches():
        kept = used[stretch.attributes]
        kept_before = np.concatenate(([0], np.cumsum(kept)))
        place = slice(o, o + int(kept_before[-1]))
        fewer.offsets[p + 1 : p + stretch.n_positions + 1] = o + kept_before[stretch.offsets[1:]]
        fewer.attributes[place] = numbers[stretch.attributes[kept]]
        if len(corpus.values):
            fewer.values[place] = stretch.values[kept]
        p, o = p + stretch.n_positions, place.stop
    return fewer, used
