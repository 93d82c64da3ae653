"""The data that flows through the package: NamedTuples of arrays, and the Step that solvers yield.

Letters used everywhere: N sequences, P positions (tokens), K labels, A attributes; `t` position, `j`/`k` labels,
`i` sequence, `a` attribute, `f` feature (index into the flat weight vector).
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
STRETCH = 1 << 23  # attribute occurrences that are worked on together where a whole corpus would take too much memory


class Corpus(NamedTuple):
    """Encoded sequences. Position t of sequence i is starts[i] + t; its attributes are offsets[p]:offsets[p + 1]."""

    starts: Longs  # [N + 1] first position of each sequence, and the number of positions
    offsets: Longs  # [P + 1] first attribute occurrence of each position
    attributes: Ints  # [occurrences] attribute ids; when tagging, -1 for those that the model does not know
    values: Floats  # [occurrences], or [0] when every value is 1
    labels: Ints  # [P] gold label ids, or [0] when there are none
    weights: Floats  # [N] sequence weights, or [0] when every weight is 1

    @property
    def n_sequences(self) -> int:
        return len(self.starts) - 1

    @property
    def n_positions(self) -> int:
        return int(self.starts[-1])

    def stretch(self, first: int, last: int) -> Corpus:
        """Sequences first..last-1 as a corpus of their own; its starts and offsets are copies, the rest are views."""
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

    def stretches(self, occurrences: int = STRETCH) -> Iterator[Corpus]:
        """The whole corpus in its order, about so many attribute occurrences at a time."""
        reached = self.offsets[self.starts]
        targets = np.arange(occurrences, max(int(reached[-1]), 1), occurrences)
        bounds = np.unique(np.concatenate(([0], np.searchsorted(reached, targets), [self.n_sequences])))
        for first, last in zip(bounds[:-1].tolist(), bounds[1:].tolist(), strict=True):
            yield self.stretch(first, last)


class FeatureMap(NamedTuple):
    """Which (attribute, label) pairs and label bigrams have a weight, in the order of the flat weight vector.

    The vector is [state weights | transition weights]: state weights by attribute and then label, transition weights by
    source and then target. It holds features and nothing else (no padding), so norms, counts and penalties are plain.
    In a chain of higher order sources are histories of one label or more (features/histories.py): bigrams, triples ...
    """

    offsets: Longs  # [A + 1] first state weight of each attribute
    labels: Ints  # [S] label of each state weight, ascending within an attribute
    sources: Ints  # [E] label before, or history
    targets: Ints  # [E] label after
    n_labels: int
    order: int = 1  # how many labels before a label its transition weights look at

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
    """What a solver yields after each iteration or epoch of its paper. Live until the next `next()`: copy to keep."""

    weights: Floats  # settled: lazy updates are flushed; reading never changes the trajectory
    passes: float  # effective passes over the data spent since the previous Step
    objective: float | None = None  # F(weights), sum scale, penalties included, when the solver already has it
    gradient: Floats | None = None  # of the smooth part (loss + c2 |w|^2) at `weights`, when the solver already has it
    info: Mapping[str, float] = NOTHING  # what a reader may plot
    state: Mapping[str, Any] = NOTHING  # named arrays and numbers needed to continue exactly from here
    lower_bound: float | None = None  # on F*, sum scale, when the solver has one


class Diverged(Exception):
    """A solver cannot go on; the message is the reason shown to the user."""
