"""The command line of `fastcrf train`: a field for each option, in the order of the help."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any, NamedTuple

import typer

from fastcrf.cli.options.shared_options import (
    ALGORITHM,
    CLUSTER,
    DATA,
    FEATURES,
    ONLINE,
    OUTPUT,
    PENALTY,
    SAVING,
    STOPPING,
    Boundaries,
    Fields,
    Items,
    NJobs,
    Quiet,
    Separator,
    Template,
    TemplateKind,
)
from fastcrf.cli.options.solver_options import complete_solver


def option(panel: str, *words: str, help: str, **more: Any) -> Any:
    """Return typer's declaration of an option in a panel of the help."""
    return typer.Option(*words, help=help, rich_help_panel=panel, **more)


class Described(NamedTuple):
    """The options that describe the input of training, in the order in which `training_files` takes them."""

    template: str | None = None
    template_kind: str | None = None
    items: bool = False
    boundaries: bool = False
    separator: str | None = None
    fields: str | None = None


@dataclass(frozen=True)
class TrainOptions:
    """The options of `fastcrf train`. None: not given."""

    data: Annotated[
        list[str],
        typer.Argument(
            metavar="DATA",
            help="Read columns with the label last, JSON lines, or an encoded corpus.",
            rich_help_panel=DATA,
        ),
    ]
    model: Annotated[str, option(DATA, "--model", "-m", metavar="FILE", help="Save the model to this file.")]
    dev: Annotated[
        str | None, option(DATA, metavar="FILE", help="Show accuracy and segment F1 on these held-out data.")
    ] = None
    template: Template = None
    template_kind: TemplateKind = None
    items: Items = False
    separator: Separator = None
    fields: Fields = None

    order: Annotated[int, option(FEATURES, help="Set how many previous labels a transition feature reads, 1 to 9.")] = 1
    boundaries: Boundaries = False
    min_freq: Annotated[float, option(FEATURES, help="Drop features whose frequency is below this.")] = 0.0
    min_count: Annotated[
        int, option(FEATURES, help="Drop attributes that occur less often than this (CRF++'s -f).")
    ] = 1
    all_possible_states: Annotated[
        bool, option(FEATURES, "--all-possible-states", help="Give every (attribute, label) pair a weight.")
    ] = False
    all_possible_transitions: Annotated[
        bool, option(FEATURES, "--all-possible-transitions", help="Give every pair of labels a weight.")
    ] = False

    constraints: Annotated[
        str | None,
        option(FEATURES, metavar="NAME", help="Allow what a scheme, such as BIO, auto or a JSON file allows."),
    ] = None
    constrained_training: Annotated[
        bool, option(FEATURES, "--constrained-training", help="Count only allowed label sequences in training.")
    ] = False

    partial_labels: Annotated[
        str | None,
        option(FEATURES, metavar="MARK", help="Read MARK, such as ?, as an unknown label, and A|B as A or B."),
    ] = None

    c1: Annotated[float, option(PENALTY, help="Weight the L1 penalty |w|, which makes the model sparse.")] = 0.0
    c2: Annotated[float | None, option(PENALTY, help="Weight the L2 penalty |w|^2.  [default: 1.0]")] = None
    cv: Annotated[
        int | None, option(PENALTY, metavar="FOLDS", help="Choose c2 from 10 to 0.01 by cross-validation.")
    ] = None
    prior: Annotated[
        str | None, option(PENALTY, metavar="FILE", help="Penalize the distance to this model, c2 |w - prior|^2.")
    ] = None

    algorithm: Annotated[
        str,
        option(
            ALGORITHM,
            "--algorithm",
            "-a",
            metavar="NAME",
            help="Train with one of `fastcrf solvers`; auto needs no tuning.",
            autocompletion=complete_solver,
        ),
    ] = "auto"
    option: Annotated[
        list[str] | None,
        option(ALGORITHM, "--option", "-o", metavar="NAME=VALUE", help="Set an option of the algorithm. Repeatable."),
    ] = None
    random_state: Annotated[int, option(ALGORITHM, help="Seed stochastic algorithms.")] = 0
    n_jobs: NJobs = None

    tol: Annotated[
        float | None, option(STOPPING, help="Stop at this certified relative gap to the optimum.  [default: 0.001]")
    ] = None
    max_iterations: Annotated[
        int | None, option(STOPPING, help="Stop after this many iterations or epochs.  [default: 1000]")
    ] = None
    max_seconds: Annotated[
        float | None, option(STOPPING, help="Stop after this many seconds in the algorithm.  [default: no limit]")
    ] = None
    patience: Annotated[
        int | None, option(STOPPING, help="Stop after this many iterations without a better --dev accuracy.")
    ] = None
    stopping: Annotated[
        list[str] | None,
        option(STOPPING, metavar="RULE", help="Add a rule, such as gradient-norm:tol=0.05. Repeatable."),
    ] = None

    init: Annotated[str | None, option(SAVING, metavar="FILE", help="Start from the weights of this model.")] = None
    checkpoint: Annotated[
        str | None, option(SAVING, metavar="FILE", help="Save the state of training to this file regularly.")
    ] = None
    checkpoint_every: Annotated[
        float, option(SAVING, metavar="SECONDS", help="Set the seconds between two checkpoints.")
    ] = 30.0
    resume: Annotated[bool, option(SAVING, "--resume", help="Continue from the --checkpoint file if it exists.")] = (
        False
    )
    force: Annotated[
        bool, option(SAVING, "--force", help="Replace --model and --checkpoint even if fastcrf did not write them.")
    ] = False

    online: Annotated[bool, option(ONLINE, "--online", help="Train in a single streaming pass (online learning).")] = (
        False
    )
    chunk_size: Annotated[int | None, option(ONLINE, help="Read this many sequences per chunk.  [default: 1000]")] = (
        None
    )
    total_sequences: Annotated[
        int | None, option(ONLINE, help="Scale the penalty for a stream of this length.  [default: those seen so far]")
    ] = None

    engine: Annotated[
        str | None,
        option(
            CLUSTER,
            metavar="ENGINE",
            help="Train on Dask: tcp://host:8786 or local:4 (needs fastcrf[dask]).",
        ),
    ] = None
    local_epochs: Annotated[
        int, option(CLUSTER, help="Pre-train each shard for this many epochs, then average the weights.")
    ] = 0

    quiet: Quiet = False
    as_json: Annotated[bool, option(OUTPUT, "--json", help="Print the outcome as one JSON object.")] = False


def features_of(asked: TrainOptions) -> dict[str, Any]:
    """Return the arguments of `build_feature_map`."""
    return {
        "min_freq": asked.min_freq,
        "all_states": asked.all_possible_states,
        "all_transitions": asked.all_possible_transitions,
        "order": asked.order,
    }


def described_by(asked: TrainOptions) -> Described:
    """Return the options that describe the data."""
    return Described(asked.template, asked.template_kind, asked.items, asked.boundaries, asked.separator, asked.fields)
