"""Wapiti's regular expressions: a small language over bytes.

``.`` is any byte, ``\\d \\a \\w \\l \\u \\p \\s`` are a digit, letter, letter or digit, lower-case letter, upper-case
letter, punctuation mark and space (an upper-case class is the complement), ``\\`` before another character is that
character. ``^`` at the beginning and ``$`` at the end are anchors. ``*`` repeats the character before it as seldom as
possible, ``?`` makes it optional and takes it if possible. Everything else stands for itself; there are no groups.

Classes are those of C's "C" locale: a byte beyond ASCII belongs to the complements only. The expression is translated
to Python's `re` over bytes, which is quick but backtracks; where that might take long, the same match is found in
linear time by `matching.py`. One difference on purpose: after a failed attempt to take a ``?`` Wapiti miscounts the
length of the match that follows, and the text of ``%m`` may run on beyond the match.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from fastcrf.data.templates.matching import ONCE, OPTIONAL, REPEATED, Expression, TooMuchWork, Unit, search
from fastcrf.exceptions import DataError

CLASSES = {
    "d": rb"0-9",
    "a": rb"A-Za-z",
    "w": rb"0-9A-Za-z",
    "l": rb"a-z",
    "u": rb"A-Z",
    "p": rb"!-/:-@\[-`{-~",
    "s": rb" \t\n\v\f\r",
}
MOST_ATTEMPTS = 10_000  # ways of matching that backtracking may have to try
MOST_MARKS = 12  # stars, and question marks, beyond which it is not even counted


class RegexError(ValueError):
    """Raise for an expression that Wapiti rejects, with the index of the character at fault."""

    def __init__(self, index: int, fault: str) -> None:
        super().__init__(fault)
        self.index = index


class Compiled(NamedTuple):
    """An expression for Python and for `matching`, and what makes the first slow."""

    pattern: re.Pattern[bytes]
    expression: Expression
    n_repeated: int
    n_optional: int

    def is_quick(self, size: int) -> bool:
        """Return whether backtracking has few ways to try on a text of this size: a place to begin, and one for each
        star.
        """
        if self.n_optional > MOST_MARKS or self.n_repeated > MOST_MARKS:
            return False
        return (size + 1) ** (self.n_repeated + 1) << self.n_optional <= MOST_ATTEMPTS


def first_match(regex: str, text: bytes) -> bytes | None:
    """Return the first substring that a regex matches, or None."""
    ready = compiled(regex)
    if ready.is_quick(len(text)):
        found = ready.pattern.search(text)
        return found and found[0]
    try:
        return search(ready.expression, text)
    except TooMuchWork as error:
        raise DataError(str(error)) from None


@lru_cache(maxsize=1024)
def compiled(regex: str) -> Compiled:
    """Compile the same expression for Python, and for `matching`."""
    at_start = regex.startswith("^")
    characters, at_end = parse(regex, int(at_start))
    marks = {ONCE: b"", OPTIONAL: b"?", REPEATED: b"*?"}
    translation = b"".join(one + marks[times] for one, times in characters)
    pattern = re.compile((b"\\A" if at_start else b"") + translation + (b"\\Z" if at_end else b""), re.DOTALL)
    expression = Expression(tuple(Unit(accepted(one), times) for one, times in characters), at_start, at_end)
    n_repeated, n_optional = ([times for _, times in characters].count(mark) for mark in (REPEATED, OPTIONAL))
    return Compiled(pattern, expression, n_repeated, n_optional)


def parse(regex: str, i: int) -> tuple[list[tuple[bytes, str]], bool]:
    """Parse the expression from character i on: the bytes of each unit, how often it matches, and whether it must end
    the text.
    """
    characters: list[tuple[bytes, str]] = []
    while i < len(regex):
        if regex[i] == "$" and i == len(regex) - 1:
            return characters, True
        if regex[i] in "*?":
            raise RegexError(i, f"{regex[i]!r} follows no character; write '\\{regex[i]}' for the character itself")
        size = 2 if regex[i] == "\\" else 1
        if i + size > len(regex):
            raise RegexError(i, "'\\' stands at the end; write '\\\\' for the character itself")
        *before, last = bytes_of_symbol(regex[i : i + size])
        i += size
        times = regex[i] if i < len(regex) and regex[i] in "*?" else ONCE
        i += len(times)
        characters += [*((one, ONCE) for one in before), (last, times)]
    return characters, False


def bytes_of_symbol(symbol: str) -> list[bytes]:
    """Return what matches each byte of a symbol; of several bytes only the last can be repeated, as in Wapiti."""
    if symbol == ".":
        return [b"."]
    if symbol[0] == "\\" and symbol[1].lower() in CLASSES:
        complement = b"^" if symbol[1].isupper() else b""
        return [b"[" + complement + CLASSES[symbol[1].lower()] + b"]"]
    return [re.escape(bytes([byte])) for byte in bytes_of(symbol[-1])]


def bytes_of(text: str) -> bytes:
    """Return a text as UTF-8; bytes that were not UTF-8 are restored, other lone surrogates have their own."""
    try:
        return text.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:
        return text.encode("utf-8", "surrogatepass")


@lru_cache(maxsize=512)
def accepted(one: bytes) -> NDArray[np.bool_]:
    """Return which bytes match, [256]."""
    pattern = re.compile(one, re.DOTALL)
    return np.array([pattern.fullmatch(bytes([byte])) is not None for byte in range(256)])
