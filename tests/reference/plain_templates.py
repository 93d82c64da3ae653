"""Templates expanded as text, token by token: what the integer engine must agree with.

Written from the descriptions of CRF++ and Wapiti, with regular expressions matched byte by byte.
"""

from __future__ import annotations

import re

CRFPP_MACRO = re.compile(r"%x\[(-?\d+),(\d+)\]")
WAPITI_MACRO = re.compile(r'%([xtmXTM])\[(@?)\s*([+-]?\d+),\s*(\d+)(?:,"((?:[^"\\]|\\.)*)")?\]')


def crfpp(lines, rows, t):
    """The attributes that CRF++ gives token t."""

    def text(macro):
        return cell(rows, t + int(macro[1]), int(macro[2]), lambda d: f"_B-{d}", lambda d: f"_B+{d}")

    return [CRFPP_MACRO.sub(text, line) for line in lines if line.startswith("U")]


def wapiti(lines, rows, t):
    """The observations that Wapiti makes at token t."""

    def text(macro):
        command, absolute, offset, column, regex = macro.groups()
        place = t + int(offset)
        if absolute:
            place = len(rows) + int(offset) if int(offset) < 0 else int(offset) - 1
        value = cell(rows, place, int(column), lambda d: f"_x-{far(d)}", lambda d: f"_x+{far(d)}")
        if command in "tT":
            value = "false" if match(regex, as_bytes(value)) is None else "true"
        elif command in "mM":
            value = (match(regex, as_bytes(value)) or "").encode("latin-1").decode("utf-8", "surrogateescape")
        return "".join(c.lower() if "A" <= c <= "Z" else c for c in value) if command.isupper() else value

    def far(distance):
        return distance if distance < 5 else "#"

    return [line[0].lower() + WAPITI_MACRO.sub(text, line[1:]) for line in lines if line[0] in "uU*"]


def cell(rows, place, column, before, after):
    if place < 0:
        return before(-place)
    return after(place - len(rows) + 1) if place >= len(rows) else rows[place][column]


def as_bytes(text):
    """A text whose characters are the bytes of this one."""
    return text.encode("utf-8").decode("latin-1")


CLASSES = {
    "d": str.isdigit,
    "a": str.isalpha,
    "w": str.isalnum,
    "l": str.islower,
    "u": str.isupper,
    "p": lambda c: c.isprintable() and not c.isalnum() and c != " ",
    "s": str.isspace,
}


def match(regex, text):
    """The first match of one of Wapiti's regular expressions in a text of bytes, or None."""
    for start in range(1 if regex.startswith("^") else len(text) + 1):
        end = match_here(regex.removeprefix("^"), text, start)
        if end is not None:
            return text[start:end]
    return None


def match_here(regex, text, at):
    """Where a match that begins here ends, or None. A star takes as little as it can, a question mark what it can."""
    if not regex:
        return at
    if regex == "$":
        return at if at == len(text) else None
    size = 2 if regex[0] == "\\" else 1
    symbol, rest = regex[:size], regex[size:]
    if rest.startswith("*"):
        end = match_here(rest[1:], text, at)
        while end is None and at < len(text) and is_one(symbol, text[at]):
            at += 1
            end = match_here(rest[1:], text, at)
        return end
    taken = at < len(text) and is_one(symbol, text[at])
    if rest.startswith("?"):
        end = match_here(rest[1:], text, at + 1) if taken else None
        return match_here(rest[1:], text, at) if end is None else end
    return match_here(rest, text, at + 1) if taken else None


def is_one(symbol, character):
    if symbol == ".":
        return True
    if symbol[0] == "\\" and symbol[1].lower() in CLASSES:
        belongs = character.isascii() and CLASSES[symbol[1].lower()](character)
        return belongs != symbol[1].isupper()
    return symbol[-1] == character
