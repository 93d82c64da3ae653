"""Training data as a table: every token has the same columns, and one attribute per column.

So all libraries make the same features: CRF++ and Wapiti by a template with a line per column, the others from lists of
strings. CRF++ and Wapiti give each attribute a weight with every label; the others are asked to.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path

Rows = list[list[list[str]]]  # sequences of tokens of columns
Labels = list[list[str]]


def named(k: int, value: str) -> str:
    """Return the attribute of column k, as a template writes it."""
    return f"U{k:02}:{value}"


def as_items(rows: Rows) -> list[list[list[str]]]:
    """Return the sequences as lists of attributes."""
    return [[[named(k, value) for k, value in enumerate(token)] for token in tokens] for tokens in rows]


def write_files(rows: Rows, labels: Labels, folder: Path) -> None:
    """Write `train.txt`, `tiny.txt` (the first sequence), and the template."""
    n_columns = len(rows[0][0])
    for name, chosen in (("train.txt", len(rows)), ("tiny.txt", 1)):
        with open(folder / name, "w", encoding="utf-8") as file:
            for tokens, own in zip(rows[:chosen], labels[:chosen], strict=True):
                file.writelines("\t".join([*token, label]) + "\n" for token, label in zip(tokens, own, strict=True))
                file.write("\n")
    lines = [named(k, f"%x[0,{k}]") for k in range(n_columns)]
    (folder / "template").write_text("\n".join([*lines, "B"]) + "\n")  # Wapiti reads the same lines


def with_neighbors(sentences: Iterable[list[str]], describe: Callable[[str], list[str]]) -> Rows:
    """Return columns of each token and of the tokens beside it."""
    rows: Rows = []
    for words in sentences:
        own = [describe(word) for word in words]
        edge = ["<none>"] * len(own[0])
        padded = [edge, *own, edge]
        rows.append([[*padded[t + 1], *padded[t], *padded[t + 2]] for t in range(len(own))])
    return rows
