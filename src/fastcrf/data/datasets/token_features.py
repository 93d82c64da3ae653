"""Feature functions of tokens, in parts that are put together: each adds attributes to the items of a sentence.

`fastcrf.features` makes them. A part writes the names that the command line writes, by the same functions
(column_attributes.py), so that a model trained by one can tag for the other.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol
from zlib import crc32

from fastcrf.core.checks import whole
from fastcrf.data.encoding.column_attributes import add_ends, add_pairs, add_window, affixes
from fastcrf.exceptions import DataError

Rows = list[list[str]]
Items = list[list[str]]
MOST_BITS = 30


class Part(Protocol):
    """One kind of attributes."""

    @property
    def what(self) -> str:
        """Return its line of `describe`."""
        ...

    def add(self, items: Items, rows: Rows) -> None:
        """Append attributes to each item. Writes: items."""
        ...


@dataclass(frozen=True)
class Windows:
    """A value made of the token, here and at neighbors."""

    what: str
    name: str
    window: Sequence[int]
    value: Callable[[str], str] | None = None
    column: int = 0

    def add(self, items: Items, rows: Rows) -> None:
        values = column_of(rows, self.column)
        add_window(items, self.name, values if self.value is None else [*map(self.value, values)], self.window)


@dataclass(frozen=True)
class Pairs:
    """A value with that of a neighbor."""

    what: str
    name: str
    column: int = 0

    def add(self, items: Items, rows: Rows) -> None:
        add_pairs(items, self.name, column_of(rows, self.column))


@dataclass(frozen=True)
class Affixes:
    """First and last characters."""

    what: str
    longest: int

    def add(self, items: Items, rows: Rows) -> None:
        for item, token in zip(items, column_of(rows, 0), strict=True):
            item.extend(affixes(token, self.longest))


@dataclass(frozen=True)
class Constant:
    """The same attribute everywhere."""

    what: str
    name: str

    def add(self, items: Items, rows: Rows) -> None:
        for item in items:
            item.append(self.name)


@dataclass(frozen=True)
class Ends:
    """The marks of the first and the last token."""

    what: str

    def add(self, items: Items, rows: Rows) -> None:
        add_ends(items)


@dataclass(frozen=True)
class Phrases:
    """The entries of a list that a sentence contains, the longest first: B at the first token of an entry, I behind."""

    what: str
    name: str
    entries: frozenset[tuple[str, ...]] = field(repr=False)
    longest: int
    same_case: bool

    def add(self, items: Items, rows: Rows) -> None:
        tokens = column_of(rows, 0)
        words = tokens if self.same_case else [token.lower() for token in tokens]
        t = 0
        while t < len(words):
            n = self.length_at(words, t)
            for k in range(n):
                items[t + k].append(f"{self.name}[0]={'I' if k else 'B'}")
            t += max(n, 1)

    def length_at(self, words: list[str], t: int) -> int:
        """Return the number of tokens of the longest entry that begins at t, or 0."""
        longest = min(self.longest, len(words) - t)
        return next((n for n in range(longest, 0, -1) if tuple(words[t : t + n]) in self.entries), 0)


@dataclass(frozen=True)
class Clusters:
    """The cluster of a word, whole and by its first characters, here and at neighbors."""

    what: str
    name: str
    cluster_of: Mapping[str, str] = field(repr=False)
    prefixes: tuple[int, ...]
    window: Sequence[int]

    def add(self, items: Items, rows: Rows) -> None:
        found = [self.cluster_of.get(token) for token in column_of(rows, 0)]
        for offset in self.window:
            for t in range(max(0, -offset), min(len(found), len(found) - offset)):
                cluster = found[t + offset]
                if cluster is not None:
                    items[t].append(f"{self.name}[{offset}]={cluster}")
                    items[t] += [f"{self.name}{n}[{offset}]={cluster[:n]}" for n in self.prefixes if n < len(cluster)]


@dataclass(frozen=True)
class Given:
    """What a function returns for the rows of a sentence."""

    what: str
    function: Callable[[Rows], Iterable[Iterable[str]]]

    def add(self, items: Items, rows: Rows) -> None:
        every = [*self.function(rows)]
        if len(every) != len(rows):
            raise DataError(f"{self.what}: it returned {len(every)} items for {len(rows)} tokens; return one each.")
        for item, own in zip(items, every, strict=True):
            item.extend(own)


class Features:
    """Make attributes of tokens: what the functions of `fastcrf.features` return, and what ``+`` puts together.

    Call it on a single list of tokens, or use `transform` for many sentences. A sentence is a list of tokens
    (strings), or of rows of columns whose first is the token. The result is a list of strings for each token, which
    `CRF` takes. Nothing is learned, so `fit` changes nothing; it is there for scikit-learn's pipelines.

    Parameters
    ----------
    parts : sequence of parts
        What adds attributes, in this order.
    hash_bits : int, default=None
        Replace each name by one of 2 ** hash_bits numbers. A stream then meets no more names than that, and the
        vocabulary of the model stays small; names with the same number share their weights. None keeps the names.

    Examples
    --------
    >>> from fastcrf.features import affixes, words
    >>> features = words(window=1) + affixes(2)
    >>> features(["Elm", "St"])[1]
    ['0[-1]=Elm', '0[0]=St', 'pre1[0]=S', 'pre2[0]=St', 'suf1[0]=t', 'suf2[0]=St']
    """

    def __init__(self, parts: Sequence[Part], hash_bits: int | None = None) -> None:
        self.parts = tuple(parts)
        self.hash_bits = None if hash_bits is None else whole("hash_bits", hash_bits, 1)
        if self.hash_bits is not None and self.hash_bits > MOST_BITS:
            raise ValueError(f"hash_bits must be at most {MOST_BITS}; got hash_bits={hash_bits!r}.")

    def __add__(self, other: Features) -> Features:
        if not isinstance(other, Features):
            return NotImplemented
        if self.hash_bits is not None or other.hash_bits is not None:
            raise ValueError("Add features first and hash their sum: (a + b).hashed(18).")
        return Features(self.parts + other.parts)

    def __call__(self, sentence: Iterable[Any]) -> Items:
        return self._items(sentence, "The sentence")

    def __repr__(self) -> str:
        return f"<Features\n{self.describe()}>"

    def hashed(self, hash_bits: int = 18) -> Features:
        """Return the same features with hashed names.

        Parameters
        ----------
        hash_bits : int, default=18
            Names become one of 2 ** hash_bits numbers.

        Returns
        -------
        Features
            The new features.
        """
        return Features(self.parts, hash_bits)

    def fit(self, X: Any = None, y: Any = None) -> Features:
        """Do nothing: there is nothing to learn.

        Parameters
        ----------
        X : iterable of sentences, default=None
            Not used.
        y : iterable of lists of labels, default=None
            Not used.

        Returns
        -------
        Features
            The features themselves.
        """
        return self

    def transform(self, X: Iterable[Iterable[Any]]) -> list[Items]:
        """Return the attributes of the tokens of many sentences.

        Parameters
        ----------
        X : iterable of sentences
            Each a list of tokens, or of rows of columns whose first is the token.

        Returns
        -------
        list of lists of lists of str
            The attributes of each token of each sentence.

        Raises
        ------
        DataError
            If a sentence is no list of tokens or rows; the message has its place.
        """
        return [*self.stream(X)]

    def stream(self, X: Iterable[Iterable[Any]]) -> Iterator[Items]:
        """Return the attributes of one sentence after another, as `transform` does, without keeping them.

        Parameters
        ----------
        X : iterable of sentences
            Each a list of tokens, or of rows of columns whose first is the token.

        Returns
        -------
        iterator of lists of lists of str
            The attributes of each token of the next sentence.
        """
        if isinstance(X, str | bytes):
            raise DataError("X is a string; give one list of tokens per sentence.")
        return (self._items(sentence, f"X[{i}]") for i, sentence in enumerate(X))

    def describe(self) -> str:
        """Describe the attributes, a line for each part.

        Returns
        -------
        str
            A table: the form of the names and what they mean.
        """
        lines = [part.what for part in self.parts]
        if self.hash_bits is not None:
            lines.append(f"All names are hashed to one of {2**self.hash_bits:,} numbers (hash_bits={self.hash_bits}).")
        return "\n".join(lines)

    def _items(self, sentence: Iterable[Any], place: str) -> Items:
        rows = rows_of(sentence, place)
        items: Items = [[] for _ in rows]
        for part in self.parts:
            part.add(items, rows)
        if self.hash_bits is not None:
            mask = (1 << self.hash_bits) - 1
            return [[f"{crc32(name.encode('utf-8', 'surrogatepass')) & mask:x}" for name in item] for item in items]
        return items


def rows_of(sentence: Any, place: str) -> Rows:
    """Return a sentence as rows of columns; a token is a row of one."""
    if isinstance(sentence, str | bytes | Mapping) or not isinstance(sentence, Iterable):
        raise DataError(f"{place} is a {type(sentence).__name__}; give a list of tokens, or of rows of columns.")
    rows: Rows = []
    for t, token in enumerate(sentence):
        row = [token] if isinstance(token, str) else [*token] if isinstance(token, list | tuple) else []
        if not row or not all(isinstance(column, str) for column in row):
            raise DataError(f"{place}, position {t}: {token!r} is neither a string nor a list of strings.")
        if rows and len(row) != len(rows[0]):
            raise DataError(f"{place}, position {t}: it has {len(row)} columns and the first has {len(rows[0])}.")
        rows.append(row)
    return rows


def column_of(rows: Rows, column: int) -> list[str]:
    """Return one column of a sentence."""
    if rows and column >= len(rows[0]):
        raise DataError(f"The features read column {column}, but the rows have {len(rows[0])}; columns count from 0.")
    return [row[column] for row in rows]
