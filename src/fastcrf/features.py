"""Feature functions for tokens: words, shapes, affixes, neighbors, lists of names and word clusters.

Each function returns `Features`; ``+`` puts them together. The names of the attributes are those of the command line,
so `columns` makes exactly what ``fastcrf train`` makes of a column file.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence

from fastcrf.core.checks import one_of, whole
from fastcrf.data.datasets import token_features as parts
from fastcrf.data.datasets.feature_sets import FEATURE_SETS
from fastcrf.data.datasets.token_features import Features
from fastcrf.data.encoding.column_attributes import LONGEST_AFFIX, shape
from fastcrf.data.files.word_lists import read_clusters, read_entries

__all__ = [
    "Features",
    "affixes",
    "clusters",
    "columns",
    "constant",
    "ends",
    "feature_set",
    "from_function",
    "gazetteer",
    "lowercase",
    "neighbors",
    "shapes",
    "words",
]


def words(window: int = 2, column: int = 0, name: str | None = None) -> Features:
    """Make attributes of the token, or of another column, and of the same at its neighbors: ``0[-1]=the``.

    Parameters
    ----------
    window : int, default=2
        How many tokens before and after.
    column : int, default=0
        The column to read; 0 is the token.
    name : str, default=None
        The beginning of the names; None is the number of the column.

    Returns
    -------
    Features
        The features.
    """
    name = str(column) if name is None else name
    window = whole("window", window, 0)
    column = whole("column", column, 0)
    what = line(f"{name}[{reach(window)}]=", f"column {column}, {where(window)}")
    return Features([parts.Windows(what, name, offsets(window), None, column)])


def neighbors(column: int = 0, name: str | None = None) -> Features:
    """Make attributes of the token, or of another column, together with each neighbor's: ``0[-1|0]=the|cat``.

    Parameters
    ----------
    column : int, default=0
        The column to read; 0 is the token.
    name : str, default=None
        The beginning of the names; None is the number of the column.

    Returns
    -------
    Features
        The features.
    """
    name = str(column) if name is None else name
    column = whole("column", column, 0)
    what = line(f"{name}[-1|0]=, {name}[0|1]=", f"column {column} with the previous and with the next value")
    return Features([parts.Pairs(what, name, column)])


def lowercase(window: int = 1) -> Features:
    """Make attributes of the lower case of the token and of its neighbors: ``low[0]=elm``.

    Parameters
    ----------
    window : int, default=1
        How many tokens before and after.

    Returns
    -------
    Features
        The features.
    """
    window = whole("window", window, 0)
    what = line(f"low[{reach(window)}]=", f"the token in lower case, {where(window)}")
    return Features([parts.Windows(what, "low", offsets(window), str.lower)])


def shapes(window: int = 1) -> Features:
    """Make attributes of the shape of the token and of its neighbors: ``shape[0]=Xx-dd`` for Bk-12.

    Parameters
    ----------
    window : int, default=1
        How many tokens before and after.

    Returns
    -------
    Features
        The features.
    """
    window = whole("window", window, 0)
    what = line(f"shape[{reach(window)}]=", f"X for upper case, x for lower case, d for a digit, {where(window)}")
    return Features([parts.Windows(what, "shape", offsets(window), shape)])


def affixes(longest: int = LONGEST_AFFIX) -> Features:
    """Make attributes of the first and the last characters of the token: ``pre2[0]=ca``, ``suf2[0]=at``.

    Parameters
    ----------
    longest : int, default=4
        The largest number of characters.

    Returns
    -------
    Features
        The features.
    """
    longest = whole("longest", longest, 1)
    what = line(f"pre1[0]= ... suf{longest}[0]=", f"the first and the last 1 to {longest} characters of the token")
    return Features([parts.Affixes(what, longest)])


def constant(name: str = "bias") -> Features:
    """Give every token the same attribute, which gives each label a weight of its own.

    Parameters
    ----------
    name : str, default="bias"
        The attribute.

    Returns
    -------
    Features
        The features.
    """
    return Features([parts.Constant(line(name, "at every token"), name)])


def ends() -> Features:
    """Mark the first token of a sentence with ``__BOS__`` and the last with ``__EOS__``.

    Returns
    -------
    Features
        The features.
    """
    return Features([parts.Ends(line("__BOS__, __EOS__", "at the first and at the last token"))])


def gazetteer(
    name: str, entries: str | os.PathLike[str] | Iterable[str | Sequence[str]], same_case: bool = False
) -> Features:
    """Mark what is in a list of names: ``city[0]=B`` at the first token of an entry, ``city[0]=I`` at its others.

    Entries do not overlap: the search goes from left to right and takes the longest entry.

    Parameters
    ----------
    name : str
        The beginning of the attributes' names.
    entries : path or iterable
        A file with one entry per line, its tokens separated by spaces; or such lines, or lists of tokens.
    same_case : bool, default=False
        Whether upper and lower case are different.

    Returns
    -------
    Features
        The features.

    Raises
    ------
    DataError
        If the file cannot be read, or there are no entries.
    """
    known = read_entries(entries, name, same_case)
    what = line(f"{name}[0]=", f"B or I where one of {len(known):,} entries stands")
    return Features([parts.Phrases(what, name, known, max(map(len, known)), same_case)])


def clusters(
    source: str | os.PathLike[str] | Mapping[str, str],
    prefixes: Sequence[int] = (4, 6, 10, 20),
    window: int = 1,
    name: str = "cluster",
) -> Features:
    """Make attributes of the cluster of the token and of its neighbors: ``cluster[0]=0110101``, ``cluster4[0]=0110``.

    Parameters
    ----------
    source : path or mapping
        A file with a word and its cluster per line, separated by a tab; or the output of Brown clustering, with bits,
        word and count. A mapping gives the cluster of each word.
    prefixes : sequence of int, default=(4, 6, 10, 20)
        Also use the first so many characters of a cluster, which are larger clusters in a tree; () uses none.
    window : int, default=1
        How many tokens before and after.
    name : str, default="cluster"
        The beginning of the attributes' names.

    Returns
    -------
    Features
        The features.

    Raises
    ------
    DataError
        If the file cannot be read; the message names the line.
    """
    window = whole("window", window, 0)
    lengths = tuple(whole("prefixes", n, 1) for n in prefixes)
    known = read_clusters(source)
    what = line(f"{name}[{reach(window)}]=", f"the cluster of {len(known):,} words, {where(window)}")
    return Features([parts.Clusters(what, name, known, lengths, offsets(window))])


def from_function(function: Callable[[list[list[str]]], Iterable[Iterable[str]]]) -> Features:
    """Use a function of your own as features.

    Parameters
    ----------
    function : callable
        It takes the rows of a sentence (a list of columns for each token) and returns a list of strings for each.

    Returns
    -------
    Features
        The features.
    """
    name = getattr(function, "__name__", type(function).__name__)
    return Features([parts.Given(line(f"{name}()", "what the function returns"), function)])


def columns(n_columns: int = 1) -> Features:
    """Make the attributes that ``fastcrf train`` makes of a column file without a template.

    Parameters
    ----------
    n_columns : int, default=1
        How many columns a row has; the first is the token.

    Returns
    -------
    Features
        The features.
    """
    total = constant()
    for c in range(whole("n_columns", n_columns, 1)):
        total += words(column=c) + neighbors(column=c)
    return total + lowercase() + shapes() + affixes() + ends()


def feature_set(name: str) -> Features:
    """Return the features of a task of the literature, with which the known data sets are read.

    Parameters
    ----------
    name : {"chunking", "ner", "ner-pos", "pos", "characters", "pixels"}
        The task.

    Returns
    -------
    Features
        The features.
    """
    function = FEATURE_SETS[one_of("name", name, FEATURE_SETS)]
    return Features([parts.Given(line(f"the set {name!r}", str(function.__doc__).splitlines()[0]), function)])


def line(names: str, meaning: str) -> str:
    """Return a line of `describe`."""
    return f"{names:<24} {meaning}"


def offsets(window: int) -> range:
    return range(-window, window + 1)


def reach(window: int) -> str:
    return f"-{window}..{window}" if window else "0"


def where(window: int) -> str:
    return f"from {window} before to {window} after" if window else "at the token itself"
