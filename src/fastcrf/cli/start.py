"""`fastcrf`: where the command line begins. A plain `fastcrf tag` runs at once; typer reads everything else."""

from __future__ import annotations

import sys

from fastcrf.cli.command_errors import run_to_the_end
from fastcrf.cli.quick import plain_call
from fastcrf.cli.tag import tag


def main() -> None:
    name, *words = sys.argv[1:] or [""]
    quick = plain_call(tag, words) if name == "tag" else None
    if quick is not None:
        run_to_the_end(quick)
    from fastcrf.cli.main import app

    app(prog_name="fastcrf")
