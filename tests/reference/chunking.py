"""CRFsuite's 19 chunking templates, with BOS and EOS, as lists of strings such as "w[0]=the".

Words at -2..2, the word pairs (-1, 0) and (0, 1), part-of-speech tags at -2..2, their pairs and triples within -2..2; a
template that reaches outside the sentence gives nothing.
"""

from __future__ import annotations

from collections.abc import Sequence

TEMPLATES = (  # name and column of a field, first and last offset
    *[("w", 0, k, k) for k in range(-2, 3)],
    *[("w", 0, k, k + 1) for k in (-1, 0)],
    *[("pos", 1, k, k) for k in range(-2, 3)],
    *[("pos", 1, k, k + 1) for k in range(-2, 2)],
    *[("pos", 1, k, k + 2) for k in range(-2, 1)],
)


def chunking_items(rows: Sequence[Sequence[str]]) -> list[list[str]]:
    """Attributes of each position of a sentence whose rows begin with word and part of speech."""
    items: list[list[str]] = [[] for _ in rows]
    for field, c, first, last in TEMPLATES:
        name = "|".join(f"{field}[{offset}]" for offset in range(first, last + 1))
        column = [row[c] for row in rows]
        for t in range(max(0, -first), min(len(rows), len(rows) - last)):
            items[t].append(f"{name}={'|'.join(column[t + first : t + last + 1])}")
    if items:
        items[0].append("__BOS__")
        items[-1].append("__EOS__")
    return items
