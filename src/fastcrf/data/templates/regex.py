"""Wapiti's regular expressions: a small language over bytes.

``.`` is any byte, ``\\d \\a \\w \\l \\u \\p \\s`` are a digit, letter, letter or digit, lower-case letter, upper-case
letter, punctuation mark and space (an upper-case class is the complement), ``\\`` before another character is that
character. ``^`` at the beginning and ``$`` at the end are anchors. ``*`` repeats the character before it as seldom as
possible, ``?`` makes it optional and takes it if possible. Everything else stands for itself; there are no groups.

Classes are those of C's "C" locale: a byte beyond ASCII belongs to the complements only. The expression is translated
to Python's `re` over bytes. One difference on purpose: after a failed attempt to take a ``?`` Wapiti miscounts the
length of the match that follows, and the text of ``%m`` may run on beyond the match.
"""

from __future__ import annotations

import re
from functools import lru_cache

CLASSES = {
    "d": rb"0-9",
    "a": rb"A-Za-z",
    "w": rb"0-9A-Za-z",
    "l": rb"a-z",
    "u": rb"A-Z",
    "p": rb"!-/:-@\[-`{-~",
    "s": rb" \t\n\v\f\r",
}


class RegexError(ValueError):
    """An expression that Wapiti would refuse, and the index of the character at fault."""

    def __init__(self, index: int, fault: str) -> None:
        super().__init__(fault)
        self.index = index


def first_match(regex: str, text: bytes) -> bytes | None:
    """The first substring that a regex matches, or None."""
    found = compiled(regex).search(text)
    return found and found[0]


@lru_cache(maxsize=1024)
def compiled(regex: str) -> re.Pattern[bytes]:
    """The same expression for Python."""
    anchored = regex.startswith("^")
    translation = b"\\A" if anchored else b""
    i = int(anchored)
    while i < len(regex):
        if regex[i] == "$" and i == len(regex) - 1:
            return re.compile(translation + b"\\Z", re.DOTALL)
        if regex[i] in "*?":
            raise RegexError(i, f"{regex[i]!r} follows no character; write '\\{regex[i]}' for the character itself")
        size = 2 if regex[i] == "\\" else 1
        if i + size > len(regex):
            raise RegexError(i, "'\\' stands at the end; write '\\\\' for the character itself")
        translation += one_character(regex[i : i + size])
        i += size
        if i < len(regex) and regex[i] in "*?":
            translation += b"*?" if regex[i] == "*" else b"?"
            i += 1
    return re.compile(translation, re.DOTALL)


def one_character(symbol: str) -> bytes:
    """What matches one character of the expression; of several bytes the last alone can be repeated, as in Wapiti."""
    if symbol == ".":
        return b"."
    if symbol[0] == "\\" and symbol[1].lower() in CLASSES:
        complement = b"^" if symbol[1].isupper() else b""
        return b"[" + complement + CLASSES[symbol[1].lower()] + b"]"
    return b"".join(re.escape(bytes([byte])) for byte in symbol[-1].encode("utf-8", "surrogateescape"))
