"""CRF++'s templates: ``U01:%x[-1,0]/%x[0,1]`` and ``B``, one per line.

Lines that are empty or begin with # are passed over. ``U`` goes with the label, ``B`` with the label and the one before
it. The one macro is ``%x[row,column]``: row at most 8 away, with neither + nor spaces; columns count from 0. The whole
line, with its macros expanded, is the name of the attribute. Outside the sentence there are ``_B-1`` ... ``_B-8`` and
``_B+1`` ... ``_B+8``.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from fastcrf.data.templates.template import Cell, Padding, Template, split_pieces, template_error

MACRO = re.compile(r"%x\[(-?[0-9]{1,9}),([0-9]{1,9})\]")
FARTHEST = 8
PADDING = Padding(
    before=tuple(f"_B-{distance}" for distance in range(1, FARTHEST + 1)),
    after=tuple(f"_B+{distance}" for distance in range(1, FARTHEST + 1)),
)


def parse(lines: Iterable[str], name: str) -> list[Template]:
    """Parse the templates in the lines of a file called `name`."""
    return [
        parse_line(line, f"{name}:{number}")
        for number, line in enumerate(lines, 1)
        if line and not line.startswith("#")
    ]


def parse_line(line: str, place: str) -> Template:
    if line[0] not in "UB":
        raise template_error(place, 1, f"a template begins with U or B, not with {line[0]!r}; # begins a comment.")
    macros = []
    start = line.find("%")
    while start >= 0:
        match = MACRO.match(line, start)
        if match is None:
            raise template_error(
                place,
                start + 1,
                "% begins a macro such as %x[-1,0] (row and column, without spaces or a plus sign); "
                f"found {line[start : start + 10]!r}.",
            )
        row, column = int(match[1]), int(match[2])
        if abs(row) > FARTHEST:
            raise template_error(place, match.start(1) + 1, f"row {row} is more than {FARTHEST} tokens away.")
        macros.append((start, match.end(), Cell(row, column)))
        start = line.find("%", match.end())
    return Template("u" if line[0] == "U" else "b", split_pieces(line, macros), place)
