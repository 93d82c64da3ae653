"""`python -m fastcrf.compat program.py ...` runs a program in which pycrfsuite and sklearn_crfsuite are fastcrf's.

`python -m fastcrf.compat -m module ...` runs a module, as `python -m module ...` does.
"""

from __future__ import annotations

import os
import runpy
import sys

from fastcrf.compat.switch import install

USAGE = """usage: python -m fastcrf.compat program.py [argument ...]
       python -m fastcrf.compat -m module [argument ...]"""


def main(arguments: list[str]) -> None:
    """Run what the arguments name."""
    as_module = arguments[:1] == ["-m"]
    rest = arguments[1:] if as_module else arguments
    if not rest or rest[0].startswith("-"):
        sys.exit(USAGE)
    install()
    sys.argv = rest
    if as_module:
        sys.path.insert(0, os.getcwd())
        runpy.run_module(rest[0], run_name="__main__", alter_sys=True)
        return
    if not os.path.exists(rest[0]):
        sys.exit(f"fastcrf.compat: there is no program {rest[0]}.")
    sys.path.insert(0, os.path.dirname(os.path.abspath(rest[0])))
    runpy.run_path(rest[0], run_name="__main__")


if __name__ == "__main__":
    main(sys.argv[1:])
