"""`fastcrf papers`: the experiments of five papers, to be listed, run and drawn again."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Annotated

import typer

Folder = Annotated[
    Path | None,
    typer.Option("--rows", metavar="FOLDER", help="Keep rows here.  [default: a folder in the user's cache]"),
]
Toy = Annotated[bool, typer.Option("--toy", help="Use tiny data and short runs, to try the machinery.")]

papers = typer.Typer(
    name="papers",
    help="Reproduce the tables and figures of five papers.",
    no_args_is_help=True,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
)


@papers.command("list")
def list_items(rows: Folder = None, toy: Toy = False) -> None:
    """List the items, with the verdicts of their rows and the hours that they take.

    Examples:

    \b
    fastcrf papers list
    fastcrf papers list --rows docs/papers/rows
    """
    from fastcrf.papers.catalog import ITEMS
    from fastcrf.papers.index import listed

    typer.echo(listed(list(ITEMS.values()), rows_folder(rows, toy)))


@papers.command("run")
def run(
    items: Annotated[list[str], typer.Argument(metavar="ITEM...", help="Items, papers, or all.")],
    rows: Folder = None,
    toy: Toy = False,
    seeds: Annotated[int | None, typer.Option(help="Run at most this many seeds.", min=1)] = None,
    sets: Annotated[str | None, typer.Option(metavar="A,B,...", help="Run on these sets only.")] = None,
    first: Annotated[int | None, typer.Option(metavar="N", help="Train on the first N sequences only.", min=1)] = None,
    hours: Annotated[float | None, typer.Option(help="Begin no run after this many hours.")] = None,
    stale: Annotated[bool, typer.Option("--stale", help="Repeat runs whose sources have changed.")] = False,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Show no progress.")] = False,
) -> None:
    """Run what an item needs and is not on disk yet.

    Runs are kept one by one: a command that was killed continues where it stopped. Items share runs. FASTCRF_DATA names
    the folder of the corpora; what is not there is skipped. Pages name the part of a set that --first has left.

    Examples:

    \b
    fastcrf papers run all --toy
    fastcrf papers run all --seeds 1 --hours 2
    """
    from fastcrf.papers.catalog import find_items, studies_of
    from fastcrf.papers.runs import HOUR, Session
    from fastcrf.system.cache_folder import lab_folder
    from fastcrf.training.progress import Progress

    studies = studies_of(find_items(items))
    session = Session(
        rows_folder(rows, toy),
        lab_folder() / "papers-checkpoints",
        seeds=seeds,
        sets=frozenset(sets.split(",") if sets else ()),
        first=first,
        until=float("inf") if hours is None else time.monotonic() + hours * HOUR,
        stale=stale,
        toy=toy,
        say=(lambda sentence: None) if quiet else (lambda sentence: typer.echo(sentence, err=True)),
        display=(lambda: None) if quiet else Progress,
    )
    for study in studies:
        session.run(study.toy() if toy else study)


@papers.command("redraw")
def redraw(
    pages: Annotated[
        Path, typer.Option("--pages", metavar="FOLDER", help="Write pages and figures here.", show_default=True)
    ] = Path("docs/papers"),
    rows: Folder = None,
    toy: Toy = False,
) -> None:
    """Make the pages and figures from rows alone. Needs matplotlib: pip install 'fastcrf[plot]'.

    Examples:

    \b
    fastcrf papers redraw --rows docs/papers/rows --pages docs/papers
    """
    from fastcrf.displays import import_pyplot
    from fastcrf.papers.catalog import PAPERS
    from fastcrf.papers.index import write_pages

    import_pyplot()
    for path in write_pages(PAPERS, rows_folder(rows, toy), pages):
        typer.echo(path)


def rows_folder(rows: Path | None, toy: bool) -> Path:
    """Where rows are, which never mix those of toys with others."""
    from fastcrf.system.cache_folder import lab_folder

    return rows or lab_folder() / ("papers-toy" if toy else "papers")
