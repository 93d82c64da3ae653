"""A parsed template, of any of the toolkits.

A template is text with macros. At a position of a sentence each macro stands for the text of a cell (a column of the
token at some offset), perhaps after an operation on that text; the template with its macros expanded is the name of an
attribute. CRF++, Wapiti and CRFsuite differ in how they write this down and in what they put outside the sentence.
"""

from __future__ import annotations

from typing import Literal, NamedTuple

from fastcrf.data.templates.regex import bytes_of, first_match
from fastcrf.exceptions import DataError

Command = Literal["x", "t", "m"]
Scope = Literal["u", "b", "*"]  # with the label, with the label and the one before, both
Where = Literal["every", "first", "last"]


class Operation(NamedTuple):
    """The result for the text of a cell: the text itself (x), whether a regex matches (t), or its first match (m)."""

    command: Command = "x"
    regex: str = ""
    lower: bool = False

    def apply(self, text: str) -> str:
        if self.command == "x" and not self.lower:
            return text
        found: bytes | None = bytes_of(text)
        if self.command != "x":
            found = first_match(self.regex, found or b"")
        if self.command == "t":
            found = b"false" if found is None else b"true"
        found = found or b""
        return (found.lower() if self.lower else found).decode("utf-8", "surrogateescape")


PLAIN = Operation()


class Cell(NamedTuple):
    """A macro: one column of the token at an offset from the position, or at a place counted from an end."""

    offset: int  # absolute: 1 is the first token, -1 the last
    column: int
    operation: Operation = PLAIN
    absolute: bool = False


Piece = str | Cell


class Template(NamedTuple):
    """One line of a template file."""

    scope: Scope
    pieces: tuple[Piece, ...]  # literal text and macros; no two texts in a row
    place: str  # where it stands, for messages: "template.txt:3"
    where: Where = "every"  # positions it applies to

    @property
    def cells(self) -> tuple[Cell, ...]:
        return tuple(piece for piece in self.pieces if isinstance(piece, Cell))


class Padding(NamedTuple):
    """The text of cells outside the sentence, by distance from its ends; the last is for all that are farther.

    None instead of a text means that a template which reaches there gives no attribute.
    """

    before: tuple[str | None, ...]
    after: tuple[str | None, ...]


def template_error(place: str, column: int, fault: str) -> DataError:
    """Return the error for a fault in a template file; `place` is its name and line."""
    return DataError(f"{place}:{column}: {fault}")


def split_pieces(text: str, macros: list[tuple[int, int, Cell]]) -> tuple[Piece, ...]:
    """Return a text with its macros, given as (first character, character after the last, cell), cut out of it."""
    pieces: list[Piece] = []
    done = 0
    for start, end, cell in macros:
        pieces += [text[done:start], cell] if start > done else [cell]
        done = end
    return tuple(pieces + ([text[done:]] if done < len(text) else []))
