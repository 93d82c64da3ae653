"""The commands, as typer reads them. One file per command; each imports what it needs when it runs, to start quickly.

`start.py` comes before: it runs a plain `fastcrf tag` without typer.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from fastcrf import __version__
from fastcrf.cli.command_errors import Interrupted, run_to_the_end
from fastcrf.cli.commands.compare import compare
from fastcrf.cli.commands.convert import convert
from fastcrf.cli.commands.demo import demo
from fastcrf.cli.commands.dump import dump
from fastcrf.cli.commands.encode import encode
from fastcrf.cli.commands.evaluate import evaluate
from fastcrf.cli.commands.explain import explain
from fastcrf.cli.commands.info import info
from fastcrf.cli.commands.papers import papers
from fastcrf.cli.commands.rank import rank
from fastcrf.cli.commands.report import report
from fastcrf.cli.commands.shrink import shrink
from fastcrf.cli.commands.solvers import solvers
from fastcrf.cli.commands.tag import tag
from fastcrf.cli.commands.train import train
from fastcrf.cli.options.panels import InPanels
from fastcrf.cli.options.train_options import TrainOptions


class Commands(TyperGroup):
    """The group of all commands: it finds the command and runs it."""

    def invoke(self, ctx: Any) -> Any:
        try:
            return super().invoke(ctx)
        except KeyboardInterrupt as error:  # before typer turns it into an exit code without a message
            raise Interrupted from error

    def main(self, *args: Any, **options: Any) -> Any:
        run_to_the_end(lambda: super(Commands, self).main(*args, **{**options, "standalone_mode": False}))


def declared(command: Callable[..., None]) -> Callable[..., None]:
    """Return a command whose file does not import typer, with its declarations read as typer's."""

    @functools.wraps(command)
    def run(**arguments: Any) -> None:
        command(**arguments)

    return with_signature(run, inspect.signature(command, eval_str=True, locals={"typer": typer}))


def taking(options: type, command: Callable[[Any], None]) -> Callable[..., None]:
    """Return a command that takes its whole command line as one object, whose fields are its options."""

    @functools.wraps(command)
    def run(**arguments: Any) -> None:
        command(options(**arguments))

    return with_signature(run, inspect.signature(options, eval_str=True))


def with_signature(command: Callable[..., None], signature: inspect.Signature) -> Callable[..., None]:
    """Let typer see this signature."""
    command.__annotations__ = {name: parameter.annotation for name, parameter in signature.parameters.items()}
    command.__signature__ = signature  # type: ignore[attr-defined]
    return command


app = typer.Typer(
    name="fastcrf",
    cls=Commands,
    invoke_without_command=True,
    rich_markup_mode=None,  # plain help: it wraps well, pipes well and starts quickly
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
for command in (
    demo,
    taking(TrainOptions, train),
    encode,
    declared(tag),
    rank,
    explain,
    evaluate,
    report,
    compare,
    info,
    dump,
    convert,
    shrink,
    solvers,
):
    app.command(cls=InPanels)(command)
app.add_typer(papers)


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
    """Train and use conditional random fields for sequence labeling.

    Data is in columns: one token per line, a blank line between sequences and, for training, the label last. Files may
    be gzipped; - is standard input.

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
