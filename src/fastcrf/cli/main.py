"""`fastcrf`: the command line. One file per command; each imports what it needs when it runs, so starting is quick."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from fastcrf import __version__
from fastcrf.cli.command_errors import Commands, run_to_the_end
from fastcrf.cli.compare import compare
from fastcrf.cli.convert import convert
from fastcrf.cli.demo import demo
from fastcrf.cli.dump import dump
from fastcrf.cli.encode import encode
from fastcrf.cli.evaluate import evaluate
from fastcrf.cli.info import info
from fastcrf.cli.quick import plain_call
from fastcrf.cli.solvers import solvers
from fastcrf.cli.tag import tag
from fastcrf.cli.train import train

app = typer.Typer(
    name="fastcrf",
    cls=Commands,
    invoke_without_command=True,
    rich_markup_mode=None,  # plain help: it wraps well, pipes well and starts quickly
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
for command in (demo, train, encode, tag, evaluate, compare, info, dump, convert, solvers):
    app.command()(command)


def show_version(asked: bool) -> None:
    if asked:
        typer.echo(f"fastcrf {__version__}")
        raise typer.Exit


@app.callback()
def fastcrf(
    context: typer.Context,
    version: Annotated[
        bool, typer.Option("--version", callback=show_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    """Train and use conditional random fields for sequence labelling.

    Data are columns: one token per line, a blank line between sequences and, for training, the label last. Files may be
    gzipped; - is standard input.

    Examples:

    \b
    fastcrf demo
    fastcrf train train.txt -m model.crf --dev dev.txt
    fastcrf tag new.txt -m model.crf > tagged.txt
    fastcrf evaluate test.txt -m model.crf
    fastcrf compare train.txt --figure curves.html
    fastcrf convert model.crf model.crfsuite
    """
    if context.invoked_subcommand is None:
        typer.echo(context.get_help())


def main() -> None:
    name, *words = sys.argv[1:] or [""]
    quick = plain_call(tag, words) if name == "tag" else None
    if quick is not None:
        run_to_the_end(quick)
    app(prog_name="fastcrf")
