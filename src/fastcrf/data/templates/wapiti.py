"""Wapiti's patterns: ``u:word=%X[0,0]``, ``*suf=%m[0,0,"..?$"]`` and ``b``, one per line.

``#`` begins a comment anywhere, spaces at the end do not count. ``u`` goes with the label, ``b`` with the label and the
one before, ``*`` with both; the letter may be upper case and becomes lower case. The macros are

* ``%x[offset,column]``, the text of a cell,
* ``%t[offset,column,"regex"]``, ``true`` or ``false``: whether the regex matches it,
* ``%m[offset,column,"regex"]``, the first match in it, nothing if there is none;

in upper case, ``%X %T %M``, their result becomes lower case (ASCII letters only). An offset is a whole number as C
reads it (``+1``, ``0x10``); with ``@`` it counts from an end, ``@1`` the first token and ``@-1`` the last. Outside the
sentence there are ``_x-1`` ... ``_x-4``, ``_x-#`` for all that are farther, and ``_x+1`` ... ``_x+#``.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import cast

from fastcrf.data.templates.regex import RegexError, compiled
from fastcrf.data.templates.template import (
    PLAIN,
    Cell,
    Command,
    Operation,
    Padding,
    Scope,
    Template,
    split_pieces,
    template_error,
)

SPACES = " \t\n\v\f\r"
WHOLE_NUMBER = r"0[xX][0-9a-fA-F]{1,7}|0[0-7]{0,9}|[1-9][0-9]{0,8}"
COMMAND = re.compile(r"%([xXtTmM])")
ADDRESS = re.compile(rf"\[(@?)\s*([+-]?)({WHOLE_NUMBER}),\s*\+?([0-9]{{1,9}})", re.ASCII)
REGEX = re.compile(r',"((?:[^"\\]|\\.)*)"')
FARTHEST = 1000  # tokens that the offset of a macro may reach; every sentence is laid out with so much space around it
PADDING = Padding(
    before=("_x-1", "_x-2", "_x-3", "_x-4", "_x-#"),
    after=("_x+1", "_x+2", "_x+3", "_x+4", "_x+#"),
)


def parse(lines: Iterable[str], name: str) -> list[Template]:
    """Parse the patterns in the lines of a file called `name`."""
    stripped = (line.partition("#")[0].rstrip(SPACES) for line in lines)
    return [parse_line(line, f"{name}:{number}") for number, line in enumerate(stripped, 1) if line]


def parse_line(line: str, place: str) -> Template:
    if line[0] not in "uUbB*":
        raise template_error(place, 1, f"a pattern begins with u, b or *, not with {line[0]!r}; # begins a comment.")
    line = line[0].lower() + line[1:]
    macros = []
    start = line.find("%")
    while start >= 0:
        end, cell = parse_macro(line, start, place)
        macros.append((start, end, cell))
        start = line.find("%", end)
    return Template(cast(Scope, line[0]), split_pieces(line, macros), place)


def parse_macro(line: str, start: int, place: str) -> tuple[int, Cell]:
    """Parse the macro that begins at `start`; return it with its end."""
    command = COMMAND.match(line, start)
    if command is None:
        raise template_error(place, start + 1, f"% begins one of %x %t %m %X %T %M; found {line[start : start + 2]!r}.")
    address = ADDRESS.match(line, command.end())
    if address is None:
        fault = f"a macro continues with [offset,column or [@place,column; found {line[command.end() :][:10]!r}."
        raise template_error(place, command.end() + 1, fault)
    operation, end = parse_operation(line, command[1], address.end(), place)
    if line[end : end + 1] != "]":
        raise template_error(
            place, end + 1, f"the macro {line[start:end]!r} ends with ]; found {line[end : end + 1]!r}."
        )
    offset = c_integer(address[3]) * (-1 if address[2] == "-" else 1)
    if not address[1] and abs(offset) > FARTHEST:
        raise template_error(place, address.start(2) + 1, f"offset {offset} is more than {FARTHEST:,} tokens away.")
    return end + 1, Cell(offset, int(address[4]), operation, bool(address[1]))


def parse_operation(line: str, command: str, start: int, place: str) -> tuple[Operation, int]:
    """Parse the operation of a macro whose cell comes before `start`; return it with the end of its regex."""
    lower = command.isupper()
    if command in "xX":
        return (Operation(lower=True) if lower else PLAIN), start
    regex = REGEX.match(line, start)
    if regex is None:
        raise template_error(place, start + 1, f'%{command} needs a regular expression between quotes: ,"...".')
    try:
        compiled(regex[1])
    except RegexError as error:
        raise template_error(place, regex.start(1) + error.index + 1, f"in the regular expression {error}.") from None
    return Operation(cast(Command, command.lower()), regex[1], lower), regex.end()


def c_integer(digits: str) -> int:
    """Parse a whole number as C's %i reads it: 0x begins a hexadecimal, 0 an octal number."""
    if digits[:2] in ("0x", "0X"):
        return int(digits[2:], 16)
    return int(digits, 8 if digits.startswith("0") else 10)
