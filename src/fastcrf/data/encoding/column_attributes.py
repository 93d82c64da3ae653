"""The default attributes for the columns of a file: a set that works on most tagging tasks.

With columns numbered from 0 (the token itself), each position has, for every column c,

* its values up to two places away: ``0[-1]=the``,
* its pairs with the neighbors on either side: ``0[-1|0]=the|cat``;

of the token and of each neighbor, its lower case ``low[1]=sat`` and its shape ``shape[0]=Xx``; of the token alone, its
first and last one to four characters ``pre3[0]=cat``, ``suf2[0]=at``; and ``bias``. The first position has ``__BOS__``,
the last ``__EOS__``; places outside the sentence give no attributes.

Trained models depend on these names: what is here may be added to, not renamed.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from itertools import pairwise

NEAR = (-1, 0, 1)
WINDOW = (-2, -1, 0, 1, 2)
LONGEST_AFFIX = 4

LETTER_RUNS = re.compile(r"([Xx])\1+")


def column_items(rows: Sequence[Sequence[str]]) -> list[list[str]]:
    """Return the attributes of each position of a sentence; `rows` are its columns, without the label."""
    items: list[list[str]] = [["bias"] for _ in rows]
    for c, column in enumerate(zip(*rows, strict=True)):
        add_window(items, str(c), column, WINDOW)
        add_pairs(items, str(c), column)
    tokens = [row[0] for row in rows]
    add_window(items, "low", [token.lower() for token in tokens], NEAR)
    add_window(items, "shape", [shape(token) for token in tokens], NEAR)
    for item, token in zip(items, tokens, strict=True):
        item.extend(affixes(token))
    add_ends(items)
    return items


def add_window(items: list[list[str]], name: str, values: Sequence[str], window: Sequence[int]) -> None:
    """Append ``name[offset]=value`` for each offset that stays inside the sentence. Writes: items."""
    for offset in window:
        prefix = f"{name}[{offset}]="
        for t in range(max(0, -offset), min(len(values), len(values) - offset)):
            items[t].append(prefix + values[t + offset])


def add_pairs(items: list[list[str]], name: str, values: Sequence[str]) -> None:
    """Append ``name[-1|0]=before|after`` and ``name[0|1]=...``: a value with its neighbor's. Writes: items."""
    for t, (before, after) in enumerate(pairwise(values)):
        items[t].append(f"{name}[0|1]={before}|{after}")
        items[t + 1].append(f"{name}[-1|0]={before}|{after}")


def add_ends(items: list[list[str]]) -> None:
    """Mark the first and the last position. Writes: items."""
    if items:
        items[0].append("__BOS__")
        items[-1].append("__EOS__")


@lru_cache(maxsize=1 << 16)
def shape(token: str) -> str:
    """Return upper case as X and lower case as x (a run of either as one), digits as d: Bk-12 -> Xx-dd."""
    classes = ("X" if c.isupper() else "x" if c.islower() else "d" if c.isdigit() else c for c in token)
    return LETTER_RUNS.sub(r"\1", "".join(classes))


@lru_cache(maxsize=1 << 16)
def affixes(token: str, longest: int = LONGEST_AFFIX) -> tuple[str, ...]:
    """Return the first and last characters of a token, as attributes."""
    lengths = range(1, min(longest, len(token)) + 1)
    return (*(f"pre{n}[0]={token[:n]}" for n in lengths), *(f"suf{n}[0]={token[-n:]}" for n in lengths))
