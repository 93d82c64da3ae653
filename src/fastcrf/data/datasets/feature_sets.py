"""Attributes for the tasks of the literature, as functions from the columns of a sentence to lists of strings.

chunking    CRFsuite's 19 templates (those of CRF++'s example) with BOS and EOS: rows of (word, part of speech)
ner         words, affixes and shapes in a window: rows of (word, ...)
ner-pos     the same with parts of speech: rows of (word, part of speech, ...)
pos         words, affixes, shape: rows of (word, ...)
characters  character n-grams for segmentation: rows of (character, ...)
pixels      one attribute per set pixel of a letter image: rows whose last column is a string of 0 and 1
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from fastcrf.data.encoding.column_attributes import add_ends, add_window, affixes, shape

ColumnRows = Sequence[Sequence[str]]
Items = list[list[str]]

CHUNKING_TEMPLATES = (  # name and column of a field, first and last offset
    *[("w", 0, k, k) for k in range(-2, 3)],
    *[("w", 0, k, k + 1) for k in (-1, 0)],
    *[("pos", 1, k, k) for k in range(-2, 3)],
    *[("pos", 1, k, k + 1) for k in range(-2, 2)],
    *[("pos", 1, k, k + 2) for k in range(-2, 1)],
)


def chunking(rows: ColumnRows) -> Items:
    """Return attributes such as ``w[0]=the`` and ``pos[-1]|pos[0]=DT|NN``, where the sentence has them."""
    items: Items = [[] for _ in rows]
    add_n_grams(items, rows, CHUNKING_TEMPLATES)
    return with_ends(items)


def ner(rows: ColumnRows) -> Items:
    """Return words, lower case and shapes from -2 to 2, word pairs, affixes of the word and of its neighbors."""
    words = [row[0] for row in rows]
    items: Items = [[*affixes(word)] for word in words]
    add_window(items, "w", words, range(-2, 3))
    add_window(items, "low", [word.lower() for word in words], range(-2, 3))
    add_window(items, "shape", [shape(word) for word in words], range(-2, 3))
    add_n_grams(items, rows, (("w", 0, -1, 0), ("w", 0, 0, 1)))
    add_window(items, "suf3", [word[-3:] for word in words], (-1, 1))
    add_window(items, "pre3", [word[:3] for word in words], (-1, 1))
    return with_ends(items)


def ner_with_pos(rows: ColumnRows) -> Items:
    """Return the attributes of `ner`, parts of speech from -2 to 2 and their pairs with the neighbors."""
    items = ner(rows)
    add_window(items, "pos", [row[1] for row in rows], range(-2, 3))
    add_n_grams(items, rows, (("pos", 1, -1, 0), ("pos", 1, 0, 1)))
    return items


def pos(rows: ColumnRows) -> Items:
    """Return the word, its lower case, shape and affixes; the words around it and the pairs with them."""
    words = [row[0] for row in rows]
    items: Items = [[*affixes(word)] for word in words]
    add_window(items, "w", words, range(-2, 3))
    add_window(items, "low", [word.lower() for word in words], (0,))
    add_window(items, "shape", [shape(word) for word in words], (0,))
    add_n_grams(items, rows, (("w", 0, -1, 0), ("w", 0, 0, 1)))
    return with_ends(items)


def characters(rows: ColumnRows) -> Items:
    """Return characters from -2 to 2, pairs inside [-2, 2] and the triple around the position."""
    items: Items = [[] for _ in rows]
    add_window(items, "c", [row[0] for row in rows], range(-2, 3))
    add_n_grams(items, rows, (*[("c", 0, k, k + 1) for k in range(-2, 2)], ("c", 0, -1, 1)))
    return with_ends(items)


def pixels(rows: ColumnRows) -> Items:
    """Return ``p17`` for each pixel that is set, and a bias."""
    items: Items = [["bias", *(f"p{k}" for k, bit in enumerate(row[-1]) if bit == "1")] for row in rows]
    return with_ends(items)


FEATURE_SETS: dict[str, Callable[[ColumnRows], Items]] = {
    "chunking": chunking,
    "ner": ner,
    "ner-pos": ner_with_pos,
    "pos": pos,
    "characters": characters,
    "pixels": pixels,
}


def add_n_grams(items: Items, rows: ColumnRows, templates: Sequence[tuple[str, int, int, int]]) -> None:
    """Append ``name[-1]|name[0]=value|value`` for each template that stays inside the sentence. Writes: items."""
    for field, c, first, last in templates:
        name = "|".join(f"{field}[{offset}]" for offset in range(first, last + 1))
        column = [row[c] for row in rows]
        for t in range(max(0, -first), min(len(rows), len(rows) - last)):
            items[t].append(f"{name}={'|'.join(column[t + first : t + last + 1])}")


def with_ends(items: Items) -> Items:
    """Return the items, whose first and last are marked. Writes: items."""
    add_ends(items)
    return items
