"""Matching an expression of characters, each alone, optional or repeated, in time linear in the text.

Backtracking, as `re` does it, may try every way of dividing the text among the repeated characters: `.*a.*a.*a!` takes
the cube of a text's length and more. Here one array a character of the expression says from which places of the text
the rest of the expression can match; the match is then read off from its beginning, in the order in which backtracking
would have found it.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

MOST_CELLS = 1 << 28  # characters of the expression times bytes of the text: some 256 MB and a second

ONCE, OPTIONAL, REPEATED = "", "?", "*"


class TooMuchWork(ValueError):
    """An expression and a text that are both so long that matching them would take all memory."""


class Unit(NamedTuple):
    """A character of an expression: the bytes that it may be, and how often."""

    accepts: NDArray[np.bool_]  # [256]
    times: str


class Expression(NamedTuple):
    units: tuple[Unit, ...]
    at_start: bool
    at_end: bool


def search(expression: Expression, text: bytes) -> bytes | None:
    """Find the first match; a repeated character is taken as seldom as possible, an optional one if it can be."""
    if (len(expression.units) + 1) * (len(text) + 1) > MOST_CELLS:
        raise TooMuchWork(
            f"A regular expression of {len(expression.units):,} characters is too long for a text of {len(text):,} "
            "bytes; shorten one of them."
        )
    letters = np.frombuffer(text, np.uint8)
    possible = possible_from(expression, letters)
    start = 0 if expression.at_start else int(possible[0].argmax())
    if not possible[0][start]:
        return None
    return text[start : end_of_match(expression, letters, possible, start)]


def possible_from(expression: Expression, letters: NDArray[np.uint8]) -> list[NDArray[np.bool_]]:
    """Return for each unit, and after the last, from which places of the text, its end included, the rest can match."""
    ends = np.zeros(len(letters) + 1, np.bool_) if expression.at_end else np.ones(len(letters) + 1, np.bool_)
    ends[-1] = True
    possible = [ends]
    for unit in reversed(expression.units):
        rest, taken = possible[-1], unit.accepts[letters]
        if unit.times == REPEATED:
            here = reachable(rest, taken)
        else:
            here = np.append(taken & rest[1:], False)
            if unit.times == OPTIONAL:
                here |= rest
        possible.append(here)
    return possible[::-1]


def reachable(rest: NDArray[np.bool_], taken: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Return from where a place of `rest` is reached over letters that are `taken`: not beyond the next other one."""
    places = np.arange(len(rest))
    beyond = len(rest)
    goal = np.minimum.accumulate(np.where(rest, places, beyond)[::-1])[::-1]
    wall = np.minimum.accumulate(np.where(np.append(taken, False), beyond, places)[::-1])[::-1]
    return goal <= wall


def end_of_match(
    expression: Expression, letters: NDArray[np.uint8], possible: list[NDArray[np.bool_]], place: int
) -> int:
    """Return where the match that begins at `place` ends."""
    for unit, rest in zip(expression.units, possible[1:], strict=True):
        if unit.times == REPEATED:
            place += int(rest[place:].argmax())
        elif unit.times == ONCE or (place < len(letters) and unit.accepts[letters[place]] and rest[place + 1]):
            place += 1
    return place
