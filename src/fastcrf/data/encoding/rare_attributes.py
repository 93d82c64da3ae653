"""A corpus without its rare attributes: the cut-off of CRF++ (`-f`), which counts attributes whatever their label."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from fastcrf.types import Corpus


def without_rare(
    corpus: Corpus, n_attributes: int, min_count: int, n_known: int = 0
) -> tuple[Corpus, NDArray[np.bool_]]:
    """The corpus with the attributes that occur at least `min_count` times, renumbered, and which of them these are.

    The first `n_known`, which an earlier model has, stay whether they occur or not.
    """
    used = np.bincount(corpus.attributes, minlength=n_attributes) >= min_count
    used[:n_known] = True
    numbers = (np.cumsum(used) - 1).astype(np.int32)
    kept = used[corpus.attributes]
    kept_before = np.concatenate(([0], np.cumsum(kept)))
    return (
        corpus._replace(
            offsets=kept_before[corpus.offsets],
            attributes=numbers[corpus.attributes[kept]],
            values=corpus.values[kept] if len(corpus.values) else corpus.values,
        ),
        used,
    )
