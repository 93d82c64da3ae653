"""What `fastcrf train` may be told, a field each, as typer reads it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any

import typer

from fastcrf.cli.shared_options import Boundaries, Items, Quiet, Template, TemplateKind
from fastcrf.cli.solver_options import complete_solver


@dataclass(frozen=True)
class TrainOptions:
    """The command line of `fastcrf train`."""

    data: Annotated[
        list[str],
        typer.Argument(
            metavar="DATA",
            help="Column files with the label last, or what `fastcrf encode` wrote; - is standard input.",
        ),
    ]
    model: Annotated[str, typer.Option("--model", "-m", metavar="FILE", help="Where to save the model.")]
    template: Template = None
    template_kind: TemplateKind = None
    items: Items = False
    algorithm: Annotated[
        str,
        typer.Option(
            "--algorithm",
            "-a",
            metavar="NAME",
            help="One of `fastcrf solvers`; auto chooses for you.",
            autocompletion=complete_solver,
        ),
    ] = "auto"
    option: Annotated[
        list[str] | None,
        typer.Option(
            "--option",
            "-o",
            metavar="NAME=VALUE",
            help="An option of the algorithm, or a parameter of CRF such as delta. Can be repeated.",
        ),
    ] = None
    c1: Annotated[float | None, typer.Option(help="Weight of the L1 penalty |w|, which makes the model sparse.")] = None
    c2: Annotated[float | None, typer.Option(help="Weight of the L2 penalty |w|^2.  [default: 1]")] = None
    cv: Annotated[
        int | None,
        typer.Option(metavar="FOLDS", help="Choose c2 among ten values from 10 to 0.01 by cross-validation."),
    ] = None
    dev: Annotated[
        str | None, typer.Option(metavar="FILE", help="Held-out data; their token accuracy is shown after each step.")
    ] = None
    patience: Annotated[
        int | None,
        typer.Option(help="Stop after this many steps without a better --dev accuracy, and keep the best model."),
    ] = None
    init: Annotated[str | None, typer.Option(metavar="FILE", help="Start from the weights of this model.")] = None
    prior: Annotated[
        str | None,
        typer.Option(metavar="FILE", help="Penalize the distance to the weights of this model, c2 |w - prior|^2."),
    ] = None
    checkpoint: Annotated[
        str | None, typer.Option(metavar="FILE", help="Save the state of training to this file from time to time.")
    ] = None
    resume: Annotated[bool, typer.Option("--resume", help="Continue from the --checkpoint file if it exists.")] = False
    checkpoint_every: Annotated[float, typer.Option(metavar="SECONDS", help="Seconds between checkpoints.")] = 30.0
    max_iterations: Annotated[int | None, typer.Option(help="Maximum number of steps.")] = None
    tol: Annotated[
        float | None, typer.Option(help="Stop once the certified relative gap to the optimum is at most this.")
    ] = None
    gradient_tol: Annotated[
        float | None, typer.Option(help="Stop once no component of the gradient exceeds this (instead of --tol).")
    ] = None
    mean_gradient_tol: Annotated[
        float | None, typer.Option(help="The same for the gradient divided by the number of sequences.")
    ] = None
    seconds: Annotated[float | None, typer.Option(help="Maximum time spent in the algorithm, in seconds.")] = None
    min_freq: Annotated[float, typer.Option(help="Drop features that occur less often than this.")] = 0.0
    min_count: Annotated[
        int, typer.Option(help="Drop attributes that occur less often than this, whatever their label (CRF++'s -f).")
    ] = 1
    all_states: Annotated[
        bool, typer.Option("--all-states", help="Give every (attribute, label) pair a weight, seen or not.")
    ] = False
    all_transitions: Annotated[
        bool, typer.Option("--all-transitions", help="Give every pair of labels a weight, seen or not.")
    ] = False
    order: Annotated[
        int, typer.Option(help="How many labels before a label its transition weights look at: 1 to 9.")
    ] = 1
    boundaries: Boundaries = False
    online: Annotated[
        bool, typer.Option("--online", help="Learn from everything once, in chunks, and keep none of it.")
    ] = False
    chunk: Annotated[int, typer.Option(help="Sequences in a chunk of --online.")] = 1000
    expected: Annotated[
        int | None, typer.Option(help="With --online: how many sequences there will be.  [default: those seen so far]")
    ] = None
    force: Annotated[
        bool, typer.Option("--force", help="Replace --model and --checkpoint even if fastcrf did not write them.")
    ] = False
    jobs: Annotated[
        int | None, typer.Option(help="Number of threads; on a cluster, of shards.  [default: all cores]")
    ] = None
    cluster: Annotated[
        str | None,
        typer.Option(
            metavar="ENGINE",
            help="Train on Dask workers, which read DATA and --dev themselves: tcp://host:8786, or local:4 for four "
            "processes here. Needs fastcrf[dask].",
        ),
    ] = None
    local_epochs: Annotated[
        int,
        typer.Option(help="With --cluster: epochs that each shard learns alone before the first step, to save rounds."),
    ] = 0
    seed: Annotated[int, typer.Option(help="Random seed of stochastic algorithms.")] = 0
    quiet: Quiet = False
    as_json: Annotated[bool, typer.Option("--json", help="Print the outcome as one JSON object.")] = False


def features_of(asked: TrainOptions) -> dict[str, Any]:
    """Which features a model gets, as far as the command line says."""
    return {name: getattr(asked, name) for name in ("min_freq", "all_states", "all_transitions", "order")}
