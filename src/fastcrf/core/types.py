"""Data types of the package: NamedTuples of arrays, and the `Step` that solvers yield.

Notation: N sequences, P positions (tokens), K labels, A attributes; `t` position, `j`/`k` labels, `i` sequence, `a`
attribute, `f` feature (index into the flat weight vector).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Ints = NDArray[np.int32]
Longs = NDArray[np.int64]

NOTHING: Mapping[str, Any] = MappingProxyType({})
SLICE = 1 << 23  # attribute occurrences per slice, where the entire corpus at once would need too much memory


class Corpus(NamedTuple):
    """Encoded sequences. Position t of sequence i is starts[i] + t; the attributes of position p are
    offsets[p]:offsets[p + 1].
    """

    starts: Longs  # [N + 1] first position of each sequence, and the number of positions
    offsets: Longs  # [P + 1] first attribute occurrence of each position
    attributes: Ints  # [occurrences] attribute ids; when tagging, -1 for attributes unknown to the model
    values: Floats  # [occurrences], or [0] when every value is 1
    labels: Ints  # [P] gold label ids, or [0] when there are none
    weights: Floats  # [N] sequence weights, or [0] when every weight is 1

    @property
    def n_sequences(self) -> int:
        return len(self.starts) - 1

    @property
    def n_positions(self) -> int:
        return int(self.starts[-1])

    def slice_of(self, first: int, last: int) -> Corpus:
        """Return sequences first..last-1 as a corpus; its starts and offsets are copies, the rest are views."""
        starts = self.starts[first : last + 1]
        offsets = self.offsets[starts[0] : starts[-1] + 1]
        return Corpus(
            starts=starts - starts[0],
            offsets=offsets - offsets[0],
            attributes=self.attributes[offsets[0] : offsets[-1]],
            values=self.values[offsets[0] : offsets[-1]],
            labels=self.labels[starts[0] : starts[-1]],
            weights=self.weights[first:last],
        )

    def slices(self, occurrences: int = SLICE) -> Iterator[Corpus]:
        """Yield the entire corpus in order, in slices of about `occurrences` attribute occurrences."""
        reached = self.offsets[self.starts]
        targets = np.arange(occurrences, max(int(reached[-1]), 1), occurrences)
        bounds = np.unique(np.concatenate(([0], np.searchsorted(reached, targets), [self.n_sequences])))
        for first, last in zip(bounds[:-1].tolist(), bounds[1:].tolist(), strict=True):
            yield self.slice_of(first, last)


class FeatureMap(NamedTuple):
    """The (attribute, label) pairs and label bigrams that have a weight, in the order of the flat weight vector.

    The vector is [state weights | transition weights]: state weights by attribute and then label, transition weights by
    source and then target. It has no padding, so norms, counts and penalties need no masks. In a chain of higher order,
    sources are label contexts of one label or more (feature_space/label_contexts.py): bigrams, trigrams ...
    """

    offsets: Longs  # [A + 1] first state weight of each attribute
    labels: Ints  # [S] label of each state weight, ascending within an attribute
    sources: Ints  # [E] label before, or label context
    targets: Ints  # [E] label after
    n_labels: int
    order: int = 1  # number of previous labels per transition feature

    @property
    def n_attributes(self) -> int:
        return len(self.offsets) - 1

    @property
    def n_state(self) -> int:
        return len(self.labels)

    @property
    def n_weights(self) -> int:
        return len(self.labels) + len(self.sources)


class Step(NamedTuple):
    """The result of one iteration or epoch of a solver. Arrays stay valid until the next `next()`: copy to keep."""

    weights: Floats  # all lazy updates are applied; reading never changes the trajectory
    passes: float  # effective passes over the data spent since the previous Step
    objective: float | None = None  # F(weights), sum scale, penalties included, if the solver has evaluated it
    gradient: Floats | None = None  # of the smooth part (loss + c2 |w|^2) at `weights`, if the solver has it
    info: Mapping[str, float] = NOTHING  # values to plot
    state: Mapping[str, Any] = NOTHING  # named arrays and numbers needed to resume exactly from here
    lower_bound: float | None = None  # on F*, sum scale, if the solver has one


class Diverged(Exception):
    """Raised by a solver that cannot continue; the message is the reason shown to the user."""
