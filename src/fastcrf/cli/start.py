"""`fastcrf`: where the command line begins. A plain `fastcrf tag` runs at once; typer reads everything else."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any, NoReturn

from fastcrf.cli.command_errors import run_to_the_end
from fastcrf.cli.commands.tag import tag
from fastcrf.cli.quick import plain_call


def main() -> None:
    name, *words = sys.argv[1:] or [""]
    quick = plain_call(tag, words) if name == "tag" else None
    if quick is not None:
        run_at_once(quick)
    run_to_the_end(run_by_typer)


def run_by_typer() -> None:
    """Run any command line. The tagger alone has no typer; the error says what to install."""
    from fastcrf.cli.main import app
    from fastcrf.cli.program_name import program_name

    app(prog_name=program_name())


def run_at_once(command: Callable[[], Any]) -> NoReturn:
    """Run a command of which a sentence is all that is wanted, perhaps: save the tenths of a second around it."""
    import gc
    import os

    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # for matrices, of which tagging has none: NumPy starts sooner
    gc.set_threshold(100_000, 20, 20)  # loading makes many objects, and no garbage
    try:
        run_to_the_end(command)
    except SystemExit as end:
        if sys.stderr is not None:
            sys.stderr.flush()
        os._exit(end.code if isinstance(end.code, int) else 0)  # what Python would tidy up goes with the process
