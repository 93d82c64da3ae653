"""`python -m fastcrf.compat program.py ...` runs a program in which pycrfsuite and sklearn_crfsuite are fastcrf's.

`python -m fastcrf.compat -m module ...` runs a module, as `python -m module ...` does. `--max-segments N` before that
limits how often each label may occur in a prediction, and `--unless LABEL` exempts sequences with that label.
"""

from __future__ import annotations

import os
import runpy
import sys

from fastcrf.compat.limits import Limits
from fastcrf.compat.switch import install

USAGE = """usage: python -m fastcrf.compat [option ...] program.py [argument ...]
       python -m fastcrf.compat [option ...] -m module [argument ...]

options: --max-segments N   predict at most N segments of each label, such as 1 for usaddress
         --unless LABEL     leave sequences with this label as they are; repeatable"""


def main(arguments: list[str]) -> None:
    """Run what the arguments name."""
    limits, arguments = read_limits(arguments)
    as_module = arguments[:1] == ["-m"]
    rest = arguments[1:] if as_module else arguments
    if not rest or rest[0].startswith("-"):
        sys.exit(USAGE)
    install(max_segments=limits.max_segments, unless=limits.unless)
    sys.argv = rest
    if as_module:
        sys.path.insert(0, os.getcwd())
        runpy.run_module(rest[0], run_name="__main__", alter_sys=True)
        return
    if not os.path.exists(rest[0]):
        sys.exit(f"fastcrf.compat: there is no program {rest[0]}.")
    sys.path.insert(0, os.path.dirname(os.path.abspath(rest[0])))
    runpy.run_path(rest[0], run_name="__main__")


def read_limits(arguments: list[str]) -> tuple[Limits, list[str]]:
    """Return the limits that the first arguments ask for, and the other arguments."""
    most, unless = None, []
    while len(arguments) > 1 and arguments[0] in ("--max-segments", "--unless"):
        option, value, *arguments = arguments
        if option == "--unless":
            unless.append(value)
        elif value.isdecimal():
            most = int(value)
        else:
            sys.exit(f"fastcrf.compat: --max-segments must be a whole number; got {value!r}.")
    return Limits(most, tuple(unless)), arguments


if __name__ == "__main__":
    main(sys.argv[1:])
