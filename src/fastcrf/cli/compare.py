"""`fastcrf compare`: which solver for these data? Runs several and shows how fast each comes near the optimum."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from fastcrf.cli.source import Source
    from fastcrf.lab.dataset import Dataset
    from fastcrf.lab.experiment import Experiment
    from fastcrf.lab.runner import Watcher
    from fastcrf.lab.store import Rows
    from fastcrf.types import Solver

USUAL = ("lbfgs", "l2sgd", "sgd", "sag-nus-star")  # what one would choose among in practice
USUAL_SPARSE = ("owlqn", "prox-saga", "prox-svrg")  # the same where there is an L1 penalty


def compare(
    data: Annotated[
        list[str],
        typer.Argument(metavar="DATA...", help="Column files, addresses, digits, or a set in FASTCRF_DATA."),
    ],
    solvers: Annotated[
        str | None,
        typer.Option(
            metavar="A,B,...", help="See `fastcrf solvers`; all: every one.  [default: a handful for the penalty]"
        ),
    ] = None,
    c1: Annotated[float, typer.Option(help="Weight of the L1 penalty |w|.", min=0.0)] = 0.0,
    c2: Annotated[float, typer.Option(help="Weight of the L2 penalty |w|^2.", min=0.0)] = 1.0,
    dev: Annotated[
        str | None, typer.Option(metavar="FILE", help="Held-out data.  [default: every fifth sequence of DATA]")
    ] = None,
    template: Annotated[
        str | None,
        typer.Option("--template", "-t", metavar="FILE", help="Attributes by a template, as in `fastcrf train`."),
    ] = None,
    items: Annotated[bool, typer.Option("--items", help="DATA are item files, as CRFsuite reads them.")] = False,
    passes: Annotated[float, typer.Option(help="Limit of effective passes over the data.")] = 50.0,
    seconds: Annotated[float | None, typer.Option(help="Limit of seconds in a solver.")] = None,
    tol: Annotated[float, typer.Option(help="A run ends when proven to be so near the optimum (relative).")] = 1e-6,
    repeat: Annotated[int, typer.Option(help="Seeds for each solver that draws: 0, 1, ...", min=1)] = 1,
    jobs: Annotated[int | None, typer.Option(help="Threads.  [default: all cores]")] = None,
    figure: Annotated[
        str | None, typer.Option(metavar="FILE", help="Draw the curves: .html is interactive; .png, .svg, .pdf.")
    ] = None,
    rows: Annotated[
        str | None, typer.Option(metavar="FILE", help="Write every step of every run, as JSON lines.")
    ] = None,
    cache: Annotated[
        str | None, typer.Option(metavar="FOLDER", help="Where runs are kept.  [default: the user's cache]")
    ] = None,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Show no progress.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print the comparison as one JSON list.")] = False,
) -> None:
    """Compare solvers on your data.

    Every solver starts at zero. Its time is what it spends itself: compiling, scoring and printing are not counted. Of
    each run you see how it ended, its distance to the optimum, the held-out error, the non-zero weights, and memory;
    then who came within which distance first. Runs are kept: the same command again trains nothing, and one that was
    killed goes on where it was.

    A solver may have options, as in sgd:batch=10:schedule=sqrt.

    Examples:

    \b
    fastcrf compare addresses
    fastcrf compare train.txt --dev dev.txt --figure curves.html
    fastcrf compare train.txt --solvers lbfgs,sag-nus-star,sgd --c2 0.5 --passes 30 --repeat 3
    fastcrf compare conll2000 ocr-letters --c1 1 --c2 0 --solvers owlqn --json
    """
    from fastcrf.cli.source import source_of
    from fastcrf.data.atomic_file import replace_file
    from fastcrf.data.destinations import check_apart, check_folder
    from fastcrf.lab.experiment import Experiment, Limits, Penalty
    from fastcrf.lab.figures import check_figure, save_figure
    from fastcrf.lab.store import as_lines
    from fastcrf.lab.summary import as_json as comparisons_as_json
    from fastcrf.lab.summary import compare as compare_rows
    from fastcrf.lab.tables import in_words
    from fastcrf.training.jobs import usable_jobs

    if figure:
        check_figure(figure)
    reads = {f"the data {name}": name for name in data} | {"the held-out data": dev, "the template": template}
    check_apart(reads, {"the figure": figure, "the rows": rows})
    for path in filter(None, (figure, rows)):
        check_folder(Path(path).absolute())
    penalty = Penalty(c1, c2)
    chosen = dict(map(read_solver, listed(solvers, penalty)))
    limits = Limits(tol, passes, seconds)
    limits.rules()  # wrong limits are told before anything is read
    experiment = Experiment(
        [find_dataset(name, dev, source_of(template, None, items)) for name in data],
        [penalty],
        chosen,
        range(repeat),
        limits,
        usable_jobs(jobs),
    )
    found = run(experiment, cache, watcher(quiet))
    comparisons = compare_rows(found)
    if as_json:
        typer.echo(json.dumps(comparisons_as_json(comparisons), indent=2))
    else:
        typer.echo("\n\n\n".join(in_words(comparison) for comparison in comparisons))
    if rows:
        replace_file(rows, as_lines(found).encode())
    if figure:
        save_figure(found, figure)


def find_dataset(name: str, dev: str | None, source: Source) -> Dataset:
    """A file, or else a corpus that is known by name; `dev` is a file of held-out data."""
    from fastcrf.lab.corpora import NAMED, divided
    from fastcrf.lab.dataset import make_dataset

    if name in NAMED and not Path(name).is_file():
        if dev is not None:
            raise typer.BadParameter(f"is for files; {name} has held-out data of its own.", param_hint="--dev")
        return NAMED[name]()
    labelled = source.files.labelled(name)
    weights: Iterable[float] | None = labelled.weights
    if dev is not None:
        held_out = source.files.labelled(dev)
        train: tuple[Any, Any] = labelled.X, labelled.y
        test: tuple[Any, Any] = held_out.X, held_out.y
    else:
        (X, X_test), (y, y_test) = divided(labelled.X), divided(labelled.y)
        train, test = (X, y), (X_test, y_test)
        weights = divided(weights)[0] if weights is not None else None
    return make_dataset(
        Path(name).name,
        *train,
        test,
        attributes=source.attributes,
        sample_weight=weights,
        transitions=source.transitions,
    )


def run(experiment: Experiment, cache: str | None, watcher: Watcher) -> Rows:
    """The rows of the experiment; what Ctrl-C breaks off is kept."""
    from fastcrf.lab.runner import run_experiment
    from fastcrf.lab.store import Store, cache_folder
    from fastcrf.training.compiling import announce_compilation

    try:
        with announce_compilation():
            return run_experiment(experiment, Store(cache or cache_folder()), watcher)
    except KeyboardInterrupt:
        typer.echo("What was measured is kept; the same command goes on from here.", err=True)
        raise


def watcher(quiet: bool) -> Watcher:
    """Progress on standard error, or none."""
    from fastcrf.lab.runner import NOBODY, Watcher
    from fastcrf.training.progress import Progress

    return NOBODY if quiet else Watcher(lambda sentence: typer.echo(sentence, err=True), lambda: Progress(interval=5.0))


def listed(solvers: str | None, penalty: tuple[float, float]) -> list[str]:
    """The solvers that the user named, or `all`, or the usual ones that handle the penalty."""
    from fastcrf.objective.regulariser import make_regulariser
    from fastcrf.solvers.base import names, solver_class

    if solvers and solvers != "all":
        return solvers.split(",")
    kind = make_regulariser(*penalty).kind
    known = names() if solvers else USUAL_SPARSE if penalty[0] > 0.0 else USUAL
    return [name for name in known if kind in solver_class(name).handles]


def read_solver(text: str) -> tuple[str, Solver]:
    """`sgd:batch=10` as a label and a solver."""
    from fastcrf.cli.train import read_option
    from fastcrf.solvers.base import make

    name, *options = text.strip().split(":")
    return text.strip(), make(name, **dict(map(read_option, options)))
