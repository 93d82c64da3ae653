"""`LabelSequences`: what `predict` returns."""

from __future__ import annotations

from typing import Any

import numpy as np


class LabelSequences(list[list[Any]]):
    """A list of lists of labels that NumPy takes as a 1-D array of lists, whatever their lengths.

    So `cross_val_predict` of scikit-learn works, and its metrics raise an error instead of a wrong number. In all else
    it is a list.
    """

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        array = np.empty(len(self), dtype=object)
        for i, sequence in enumerate(self):
            array[i] = sequence
        return array
