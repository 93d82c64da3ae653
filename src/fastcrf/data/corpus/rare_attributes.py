"""A corpus without its rare attributes: the cut-off of CRF++ (`-f`), which counts attributes whatever their label."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from fastcrf.core.types import Corpus
from fastcrf.data.corpus.occurrences import with_attributes


def without_rare(
    corpus: Corpus, n_attributes: int, min_count: int, n_known: int = 0
) -> tuple[Corpus, NDArray[np.bool_]]:
    """Return the corpus with the attributes that occur at least `min_count` times, renumbered, and a mask of these.

    The first `n_known`, which an earlier model has, stay even if they do not occur.
    """
    counts = np.zeros(n_attributes, np.int64)
    for part in corpus.slices():
        counts += np.bincount(part.attributes, minlength=n_attributes)
    used = counts >= min_count
    used[:n_known] = True
    return with_attributes(corpus, used, (np.cumsum(used) - 1).astype(np.int32)), used
