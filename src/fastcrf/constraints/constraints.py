"""`Constraints`: which label sequences are allowed, by the names of labels and attributes."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence, Set
from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from fastcrf.constraints.schemes import AUTO, SCHEMES, scheme_of_data
from fastcrf.core.checks import one_of, whole

Label = Any


@dataclass(frozen=True)
class Constraints:
    """Which label sequences are allowed. Everything that is given applies at once.

    A prediction under constraints is the best allowed label sequence, and its probabilities are those given that the
    sequence is allowed.

    Parameters
    ----------
    scheme : {"BIO", "IOB1", "BIOES", "BILOU", "auto"}, default=None
        The tagging scheme. "auto": the one that the training labels follow or, for a trained model, the one that the
        names of its labels show.
    allow : collection of labels and pairs, default=None
        The only labels, and the only pairs of adjacent labels. None: all. A pair is a tuple (before, after).
    forbid : collection of labels and pairs, default=()
        Labels and pairs that are not allowed. In a pair, None is the start or the end of a sequence:
        ``(None, "I-LOC")`` forbids to begin with I-LOC.
    first, last : collection of labels, default=None
        The only labels of the first and of the last token. None: all.
    dictionary : mapping or str, default=None
        The labels that tokens with an attribute may have, by the name of the attribute, such as
        ``{"word:the": ["DT"]}``. Attributes that the model does not know do not count. A string, such as "word:", is
        the beginning of the names of attributes whose labels `fit` takes from the training data.
    dictionary_min_count : int, default=5
        `fit` takes labels for attributes that occur at least this often.

    Examples
    --------
    >>> from fastcrf import CRF, Constraints
    >>> X = [[["a"], ["b"]], [["b"], ["a"]]] * 5
    >>> y = [["B-X", "I-X"], ["O", "B-X"]] * 5
    >>> crf = CRF(constraints=Constraints("BIO")).fit(X, y)
    >>> crf.predict([[["b"], ["b"]]], given=[["O", None]])
    [['O', 'O']]
    """

    scheme: str | None = None
    allow: Collection[Any] | None = None
    forbid: Collection[Any] = ()
    first: Collection[Label] | None = None
    last: Collection[Label] | None = None
    dictionary: Mapping[str, Collection[Label]] | str | None = None
    dictionary_min_count: int = 5

    def __post_init__(self) -> None:
        if self.scheme is not None:
            one_of("scheme", self.scheme, (*SCHEMES, AUTO))
        for name in ("allow", "forbid", "first", "last"):
            object.__setattr__(self, name, checked_collection(name, getattr(self, name)))
        whole("dictionary_min_count", self.dictionary_min_count, 1)
        if not isinstance(self.dictionary, Mapping | str | None):
            raise ValueError(
                f"dictionary must map names of attributes to labels; got a {type(self.dictionary).__name__}."
            )
        if self.forbid is None:
            object.__setattr__(self, "forbid", ())
        if isinstance(self.dictionary, Mapping):
            items = self.dictionary.items()
            entries = {name: checked_collection(f"dictionary[{name!r}]", labels) or () for name, labels in items}
            object.__setattr__(self, "dictionary", entries)

    @classmethod
    def from_labels(cls, y: Iterable[Iterable[Label]]) -> Self:
        """Recognize the tagging scheme of label sequences.

        Parameters
        ----------
        y : iterable of sequences of labels
            Label sequences, such as those of the training data.

        Returns
        -------
        Constraints
            The constraints of the first of BIO, IOB1, BIOES and BILOU that no sequence breaks.

        Raises
        ------
        ValueError
            If the sequences follow none of them.
        """
        known: dict[Label, int] = {}
        ids = [[known.setdefault(label, len(known)) for label in sequence] for sequence in y]
        starts = np.concatenate(([0], np.cumsum([len(each) for each in ids], dtype=np.int64)))
        flat = np.array([k for each in ids for k in each], np.int32)
        return cls(scheme_of_data(list(known), flat, starts))


def checked_collection(name: str, given: Any) -> tuple[Any, ...] | None:
    """Return a collection as a tuple, sets in a fixed order; raise ValueError for anything else but None."""
    if given is not None and (isinstance(given, str) or not isinstance(given, Collection)):
        raise ValueError(f"{name} must be a collection of labels, such as [{given!r}]; got {given!r}.")
    return None if given is None else tuple(sorted(given, key=str) if isinstance(given, Set) else given)


def pairs_and_labels(given: Collection[Any]) -> tuple[Sequence[tuple[Label, Label]], Sequence[Label]]:
    """Return the pairs and the labels of `allow` or `forbid`."""
    pairs = [each for each in given if isinstance(each, tuple) and len(each) == 2]
    return pairs, [each for each in given if not (isinstance(each, tuple) and len(each) == 2)]


def constraints_of(given: Any) -> Constraints | None:
    """Return the constraints that a parameter means: an object, the name of a scheme, or None."""
    if given is None or isinstance(given, Constraints):
        return given
    if isinstance(given, str):
        return Constraints(given)
    raise ValueError(f"constraints must be a Constraints object, the name of a scheme or None; got {given!r}.")
