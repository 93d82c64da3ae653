"""`fastcrf compare`: run several solvers on data and show how fast each approaches the optimum."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from tempfile import TemporaryFile
from typing import TYPE_CHECKING, Annotated, Any

import typer

from fastcrf.cli.command_errors import refuse
from fastcrf.cli.options.shared_options import ALGORITHM, DATA, PENALTY, STOPPING, Items, NJobs, Separator

if TYPE_CHECKING:
    from fastcrf.cli.data_files import TrainingFiles
    from fastcrf.lab.dataset import Dataset
    from fastcrf.lab.experiment import Experiment
    from fastcrf.lab.runner import Watcher
    from fastcrf.lab.store import Rows


def compare(
    data: Annotated[
        list[str],
        typer.Argument(
            metavar="DATA",
            help="Read column files, addresses, digits, or a set in FASTCRF_DATA.",
            rich_help_panel=DATA,
        ),
    ],
    solvers: Annotated[
        str | None,
        typer.Option(
            metavar="A,B,...",
            help="Compare these solvers, crfsuite, or all.  [default: the usual ones]",
            rich_help_panel=ALGORITHM,
        ),
    ] = None,
    c1: Annotated[float, typer.Option(help="Weight the L1 penalty |w|.", min=0.0, rich_help_panel=PENALTY)] = 0.0,
    c2: Annotated[float, typer.Option(help="Weight the L2 penalty |w|^2.", min=0.0, rich_help_panel=PENALTY)] = 1.0,
    dev: Annotated[
        str | None,
        typer.Option(
            metavar="FILE",
            help="Score on these held-out data.  [default: every fifth sequence of DATA]",
            rich_help_panel=DATA,
        ),
    ] = None,
    template: Annotated[
        str | None,
        typer.Option(
            "--template",
            "-t",
            metavar="FILE",
            help="Make attributes with a template, as in `fastcrf train`.",
            rich_help_panel=DATA,
        ),
    ] = None,
    items: Items = False,
    separator: Separator = None,
    tol: Annotated[
        float, typer.Option(help="Stop at this certified relative gap to the optimum.", rich_help_panel=STOPPING)
    ] = 1e-6,
    max_passes: Annotated[
        float, typer.Option(help="Start no iteration after this many passes over the data.", rich_help_panel=STOPPING)
    ] = 50.0,
    max_seconds: Annotated[
        float | None,
        typer.Option(help="Stop after this many seconds in a solver.  [default: no limit]", rich_help_panel=STOPPING),
    ] = None,
    repeat: Annotated[
        int,
        typer.Option(help="Run each stochastic solver with this many seeds.", min=1, rich_help_panel=ALGORITHM),
    ] = 1,
    n_jobs: NJobs = None,
    figure: Annotated[
        str | None, typer.Option(metavar="FILE", help="Draw the curves: .html (interactive), .png, .svg or .pdf.")
    ] = None,
    rows: Annotated[
        str | None, typer.Option(metavar="FILE", help="Write one JSON line per iteration of each run to this file.")
    ] = None,
    cache: Annotated[
        str | None,
        typer.Option(metavar="FOLDER", help="Keep finished runs in this folder.  [default: in the user's cache]"),
    ] = None,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Show no progress.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print the comparison as one JSON list.")] = False,
) -> None:
    """Compare solvers on your data.

    Every solver starts from zero, and only the time spent inside it counts: compiling, scoring and printing do not. The
    first table shows how each run ended, its optimality gap, held-out error, non-zero weights and memory; the second
    shows which solver was the first to reach each gap. Finished runs are kept: a repeated command trains nothing, and
    an interrupted run continues where it stopped.

    A solver may have options, as in sgd:batch_size=10:schedule=sqrt. crfsuite is CRFsuite's L-BFGS on the same
    objective; the default includes it where python-crfsuite is installed.

    Examples:

    \b
    fastcrf compare addresses
    fastcrf compare train.txt --dev dev.txt --figure curves.html
    fastcrf compare train.txt --solvers lbfgs,sag-nus-star,sgd --c2 0.5 --max-passes 30 --repeat 3
    fastcrf compare conll2000 ocr-letters --c1 1 --c2 0 --solvers owlqn --json
    """
    from fastcrf.cli.data_files import training_files
    from fastcrf.cli.options.solver_options import listed_competitors, read_competitor
    from fastcrf.data.files.destinations import check_apart
    from fastcrf.lab.drawing.figures import check_figure, save_figure
    from fastcrf.lab.experiment import Experiment, Penalty
    from fastcrf.lab.limits import Limits
    from fastcrf.lab.store import as_lines
    from fastcrf.lab.summary import as_json as comparisons_as_json
    from fastcrf.lab.summary import compare as compare_rows
    from fastcrf.lab.tables import in_words
    from fastcrf.system.atomic_write import check_replaceable, replace_file
    from fastcrf.system.threads import usable_jobs

    if figure:
        check_figure(figure)
    reads = {f"the data {name}": name for name in data} | {"the held-out data": dev, "the template": template}
    check_apart(reads, {"the figure": figure, "the rows": rows})
    for path in filter(None, (figure, rows)):
        check_replaceable(path)
    penalty = Penalty(c1, c2)
    chosen = dict(map(read_competitor, listed_competitors(solvers, *penalty)))
    limits = Limits(tol, max_passes, max_seconds)
    limits.rules()  # which checks them before anything is read
    folder = usable_cache(cache)
    experiment = Experiment(
        [find_dataset(name, dev, training_files(template, None, items, separator=separator)) for name in data],
        [penalty],
        chosen,
        range(repeat),
        limits,
        usable_jobs(n_jobs),
    )
    found = run(experiment, folder, watcher(quiet))
    comparisons = compare_rows(found)
    if as_json:
        typer.echo(json.dumps(comparisons_as_json(comparisons), indent=2))
    else:
        typer.echo("\n\n\n".join(in_words(comparison) for comparison in comparisons))
    if rows:
        replace_file(rows, as_lines(found).encode())
    if figure:
        save_figure(found, figure)


def find_dataset(name: str, dev: str | None, inputs: TrainingFiles) -> Dataset:
    """Return the dataset of a file, or else of a known name; `dev` is a file of held-out data."""
    from fastcrf.lab.dataset import make_dataset
    from fastcrf.lab.named_datasets import NAMED_DATASETS, divided

    if name in NAMED_DATASETS and not Path(name).is_file():
        if dev is not None:
            refuse("--dev", f"is for files, but {name} has held-out data of its own; remove it.")
        return NAMED_DATASETS[name]()
    labeled = inputs.files.labeled(name)
    weights: Iterable[float] | None = labeled.weights
    if dev is not None:
        held_out = inputs.files.labeled(dev)
        train: tuple[Any, Any] = labeled.X, labeled.y
        test: tuple[Any, Any] = held_out.X, held_out.y
    else:
        (X, X_test), (y, y_test) = divided(labeled.X), divided(labeled.y)
        train, test = (X, y), (X_test, y_test)
        weights = divided(weights)[0] if weights is not None else None
    return make_dataset(
        Path(name).name,
        *train,
        test,
        attributes=inputs.attributes,
        sample_weight=weights,
        transitions=inputs.transitions,
    )


def usable_cache(folder: str | None) -> str:
    """Return the folder of runs. Raise OSError, before anything is read or compiled, if no file can be made there."""
    from fastcrf.system.cache_folder import lab_folder

    chosen = Path(folder or lab_folder())
    try:
        chosen.mkdir(parents=True, exist_ok=True)
        with TemporaryFile(dir=chosen):
            return str(chosen)
    except OSError as error:
        raise OSError(
            error.errno, f"Cannot save runs in {chosen}: {error.strerror}. Name a writable folder with --cache FOLDER."
        ) from None


def run(experiment: Experiment, cache: str, watcher: Watcher) -> Rows:
    """Return the rows of the experiment; finished runs are kept after Ctrl-C."""
    from fastcrf.jit.compile_notice import announce_compilation
    from fastcrf.lab.runner import run_experiment
    from fastcrf.lab.store import Store

    try:
        with announce_compilation():
            return run_experiment(experiment, Store(cache), watcher)
    except KeyboardInterrupt:
        typer.echo("Finished runs are kept; run the same command again to continue.", err=True)
        raise


def watcher(quiet: bool) -> Watcher:
    """Return what shows progress on standard error, or shows nothing."""
    from fastcrf.lab.runner import NOBODY, Watcher
    from fastcrf.training.progress import Progress

    return NOBODY if quiet else Watcher(lambda sentence: typer.echo(sentence, err=True), Progress)
