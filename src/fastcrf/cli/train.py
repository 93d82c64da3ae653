"""`fastcrf train`: a column file in, a model out."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Annotated, Any

import typer

from fastcrf.cli.command_errors import INTERRUPTED

if TYPE_CHECKING:
    from fastcrf.training.plan import Plan


def train(
    data: Annotated[
        list[str],
        typer.Argument(
            metavar="DATA",
            help="Column files with the label last, or what `fastcrf encode` wrote; - is standard input.",
        ),
    ],
    model: Annotated[str, typer.Option("--model", "-m", metavar="FILE", help="Where to save the model.")],
    template: Annotated[
        str | None,
        typer.Option(
            "--template",
            "-t",
            metavar="FILE",
            help="Make attributes with a template of CRF++, Wapiti or CRFsuite: a file, or crfsuite-chunking.",
        ),
    ] = None,
    template_kind: Annotated[
        str | None,
        typer.Option(metavar="KIND", help="crfpp, wapiti or crfsuite.  [default: recognised from the template]"),
    ] = None,
    items: Annotated[bool, typer.Option("--items", help="DATA is an item file in CRFsuite's format.")] = False,
    algorithm: Annotated[
        str, typer.Option("--algorithm", "-a", metavar="NAME", help="One of `fastcrf solvers`; auto chooses for you.")
    ] = "auto",
    option: Annotated[
        list[str] | None,
        typer.Option(
            "--option",
            "-o",
            metavar="NAME=VALUE",
            help="An option of the algorithm, or a parameter of CRF such as delta. Can be repeated.",
        ),
    ] = None,
    c1: Annotated[
        float | None, typer.Option(help="Weight of the L1 penalty |w|, which makes the model sparse.")
    ] = None,
    c2: Annotated[float | None, typer.Option(help="Weight of the L2 penalty |w|^2.  [default: 1]")] = None,
    cv: Annotated[
        int | None,
        typer.Option(metavar="FOLDS", help="Choose c2 among ten values from 10 to 0.01 by so many folds."),
    ] = None,
    dev: Annotated[
        str | None, typer.Option(metavar="FILE", help="Held-out data; their token accuracy is shown after each step.")
    ] = None,
    patience: Annotated[
        int | None,
        typer.Option(help="Stop after this many steps without a better --dev accuracy, and keep the best model."),
    ] = None,
    init: Annotated[str | None, typer.Option(metavar="FILE", help="Start from the weights of this model.")] = None,
    prior: Annotated[
        str | None,
        typer.Option(metavar="FILE", help="Penalise the distance to the weights of this model, c2 |w - prior|^2."),
    ] = None,
    checkpoint: Annotated[
        str | None, typer.Option(metavar="FILE", help="Save the state of training to this file from time to time.")
    ] = None,
    resume: Annotated[bool, typer.Option("--resume", help="Continue from the --checkpoint file if it exists.")] = False,
    checkpoint_every: Annotated[float, typer.Option(metavar="SECONDS", help="Seconds between checkpoints.")] = 30.0,
    max_iterations: Annotated[int | None, typer.Option(help="Maximum number of steps.")] = None,
    tol: Annotated[
        float | None, typer.Option(help="Stop once the certified relative gap to the optimum is at most this.")
    ] = None,
    gradient_tol: Annotated[
        float | None, typer.Option(help="Stop once no component of the gradient exceeds this (instead of --tol).")
    ] = None,
    mean_gradient_tol: Annotated[
        float | None, typer.Option(help="The same for the gradient divided by the number of sequences.")
    ] = None,
    seconds: Annotated[float | None, typer.Option(help="Maximum time spent in the algorithm, in seconds.")] = None,
    min_freq: Annotated[float, typer.Option(help="Drop features that occur less often than this.")] = 0.0,
    min_count: Annotated[
        int, typer.Option(help="Drop attributes that occur less often than this, whatever their label (CRF++'s -f).")
    ] = 1,
    all_states: Annotated[
        bool, typer.Option("--all-states", help="Give every (attribute, label) pair a weight, seen or not.")
    ] = False,
    all_transitions: Annotated[
        bool, typer.Option("--all-transitions", help="Give every pair of labels a weight, seen or not.")
    ] = False,
    order: Annotated[
        int, typer.Option(help="How many labels before a label its transition weights look at: 1 or 2.")
    ] = 1,
    boundaries: Annotated[
        bool, typer.Option("--boundaries", help="Give the start and the end of a sequence weights of their own.")
    ] = False,
    online: Annotated[
        bool, typer.Option("--online", help="Learn from everything once, in chunks, and keep none of it.")
    ] = False,
    chunk: Annotated[int, typer.Option(help="Sequences in a chunk of --online.")] = 1000,
    expected: Annotated[
        int | None, typer.Option(help="With --online: how many sequences there will be.  [default: those seen so far]")
    ] = None,
    force: Annotated[
        bool, typer.Option("--force", help="Replace --model and --checkpoint even if they are no files of fastcrf.")
    ] = False,
    jobs: Annotated[
        int | None, typer.Option(help="Number of threads; on a cluster, of shards.  [default: all cores]")
    ] = None,
    cluster: Annotated[
        str | None,
        typer.Option(
            metavar="ENGINE",
            help="Train on Dask workers, which read DATA and --dev themselves: tcp://host:8786, or local:4 for four "
            "processes here. Needs fastcrf[dask].",
        ),
    ] = None,
    local_epochs: Annotated[
        int,
        typer.Option(help="With --cluster: epochs that each shard learns alone before the first step, to save rounds."),
    ] = 0,
    seed: Annotated[int, typer.Option(help="Random seed of stochastic algorithms.")] = 0,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Print nothing but errors.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print the outcome as one JSON object.")] = False,
) -> None:
    """Train a model on column files, or on an encoded corpus.

    Without a template, attributes are made from the columns before the label: words, shapes, prefixes and suffixes of
    the token and its neighbours. A template without B or b has no weights for pairs of labels. Ctrl-C ends training
    after the current step and saves what was learnt. An older model of that name is replaced only when the new one is
    complete; a file that is no model is not replaced without --force.

    Examples:

    \b
    fastcrf train train.txt -m model.crf
    fastcrf train train.txt.gz -m model.crf --dev dev.txt --patience 5
    fastcrf train train.txt -m sparse.crf --c1 0.5 --c2 0 --tol 1e-4
    fastcrf train train.txt -m model.crf --cv 5
    fastcrf train train.txt -m model.crf -a lbfgs -o pairs=20 --seconds 60
    fastcrf train train.txt -m model.crf --template template.txt --min-count 3
    fastcrf train items.txt -m model.crf --items
    fastcrf train corpus.fcc -m model.crf
    fastcrf train /shared/part-*.txt -m model.crf --cluster tcp://host:8786
    fastcrf train train.txt -m model.crf --checkpoint run.state --resume
    fastcrf train train.txt -m model.crf --order 2 --boundaries
    fastcrf train more.txt -m adapted.crf --prior model.crf --c2 10
    zcat logs*.gz | fastcrf train - -m model.crf --online --checkpoint stream.state
    """
    from fastcrf.chain.histories import check_order
    from fastcrf.cli.fit_report import outcome_in_words, outcome_of, save
    from fastcrf.cli.solver_options import read_option
    from fastcrf.cli.training_data import held_out_data, open_training_data
    from fastcrf.model import Model
    from fastcrf.training.checkpoint import Checkpoint
    from fastcrf.training.jobs import usable_jobs
    from fastcrf.training.progress import Progress
    from fastcrf.training.solver_choice import AUTO, ONLINE

    if resume and not checkpoint:
        raise typer.BadParameter("needs a checkpoint to continue from; add --checkpoint FILE.", param_hint="--resume")
    if local_epochs and not cluster:
        raise typer.BadParameter("is for shards; add --cluster ENGINE.", param_hint="--local-epochs")
    check_paths(data, dev, template, model, checkpoint, force)
    state = Checkpoint(checkpoint, checkpoint_every, resume) if checkpoint else None
    parameters = {"algorithm": algorithm, "c1": c1, "c2": c2, "max_iterations": max_iterations, "tol": tol}
    parameters |= {"gradient_tol": gradient_tol, "mean_gradient_tol": mean_gradient_tol}
    if online:
        from fastcrf.cli.online import refuse_with_online

        refuse_with_online(
            {
                "cluster": cluster,
                "dev": dev,
                "patience": patience,
                "init": init,
                "prior": prior,
                "max_iterations": max_iterations,
                "tol": tol,
            }
            | {"gradient_tol": gradient_tol, "mean_gradient_tol": mean_gradient_tol, "seconds": seconds}
            | {"min_freq": min_freq or None, "min_count": min_count if min_count > 1 else None}
        )
        parameters["algorithm"] = ONLINE if algorithm == AUTO else algorithm
    given = {name: value for name, value in {**parameters, "random_state": seed}.items() if value is not None}
    given, options = with_options(given, dict(map(read_option, option or [])))
    if cv is not None:
        check_cv(data, {"--c2": c2, "--template": template, "--cluster": cluster, "--prior": prior, "--online": online})
        chain = {"order": order, "boundaries": boundaries}
        given["c2"] = chosen_c2(data, items, cv, given, chain, jobs, quiet or as_json)
    plan = make_plan_with({**given, "prior": prior, "engine": cluster, "order": check_order(order)}, options, seconds)
    features = {"min_freq": min_freq, "all_states": all_states, "all_transitions": all_transitions, "order": order}
    if online:
        from fastcrf.cli.online import Chunks, train_online

        chunks = Chunks(chunk, expected)
        train_online(
            data,
            (template, template_kind, items, boundaries),
            plan,
            chunks,
            features,
            model,
            state,
            given,
            quiet,
            as_json,
        )
        return
    inputs = open_training_data(data, template, template_kind, items, quiet, cluster, boundaries)
    fit = inputs.fit(
        plan,
        dev=held_out_data(inputs, dev, quiet, bool(cluster)),
        min_count=min_count,
        features=features | {"transitions": inputs.transitions},
        start=Model.load(init) if init else None,
        prior=Model.load(prior) if prior else None,
        patience=patience,
        n_jobs=jobs if cluster else usable_jobs(jobs),
        progress=None if quiet else Progress(reason=False),
        checkpoint=state,
        options={"parameters": given},
        **({"local_epochs": local_epochs} if cluster else {}),
    )
    save(fit, inputs.files.remembered(), model)
    outcome = {**outcome_of(fit, plan), "model": model}
    if as_json:
        typer.echo(json.dumps(outcome, indent=2))
    elif not quiet:
        typer.echo(outcome_in_words(outcome))
    if fit.result.status == "interrupted":
        raise typer.Exit(INTERRUPTED)


def check_paths(
    data: list[str], dev: str | None, template: str | None, model: str, checkpoint: str | None, force: bool
) -> None:
    """Refuse, before anything is read, to write where something would be lost or nothing can be written."""
    from fastcrf.data.files.atomic_write import check_replaceable
    from fastcrf.data.files.destinations import CHECKPOINT, MODELS, check_apart, check_ours
    from fastcrf.data.templates.dialects import BUILT_IN

    numbers = range(1, len(data) + 1) if len(data) > 1 else [""]
    reads = {
        **{f"the training data {number}".rstrip(): path for number, path in zip(numbers, data, strict=True)},
        "the held-out data": dev,
        "the template": None if template in BUILT_IN else template,
    }
    check_apart(reads, {"the model": model, "the checkpoint": checkpoint})
    for path, kinds in ((model, MODELS), (checkpoint, (CHECKPOINT,))):
        if path:
            check_replaceable(path)
            if not force:
                check_ours(path, kinds)


def check_cv(data: list[str], others: dict[str, Any]) -> None:
    """--cv chooses c2, reads the files twice, and works on items and on this machine."""
    for option, value in others.items():
        if value is not None and value is not False:
            raise typer.BadParameter(f"does not work with {option}; leave one of them out.", param_hint="--cv")
    if "-" in data:
        raise typer.BadParameter("reads the data twice, which standard input does not allow.", param_hint="--cv")


def chosen_c2(
    data: list[str],
    items: bool,
    cv: int,
    given: dict[str, Any],
    chain: dict[str, Any],
    jobs: int | None,
    silent: bool,
) -> float:
    """The c2 with the highest held-out likelihood; `chain` are CRF's parameters that say what is trained."""
    from fastcrf.cli.data_files import training_files
    from fastcrf.cli.training_data import one_behind_another
    from fastcrf.estimator import CRF
    from fastcrf.regularization import CRFCV

    labelled = one_behind_another(data, training_files(None, None, items).files, quiet=True)
    X, y = map(list, zip(*zip(labelled.X, labelled.y, strict=True), strict=True))
    base = CRF(c1=given.get("c1", 0.0), tol=given.get("tol"), **chain)
    search = CRFCV(base, cv=cv, n_jobs=jobs, random_state=given["random_state"]).choose(X, y)
    if not silent:
        score = f"held-out log-likelihood of a token {search.best_score_:.4f} in {cv} folds"
        typer.echo(f"c2={search.c2_:.3g}: {score}.", err=True)
    return search.c2_


def with_options(given: dict[str, Any], options: dict[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """CRF's parameters, those among the options included, and the options that are the solver's alone."""
    from fastcrf.training.plan import PARAMETERS

    for name in given.keys() & options.keys() & PARAMETERS:
        hint = f"is given twice, by --{name.replace('_', '-')} and by --option; remove one of them."
        raise typer.BadParameter(hint, param_hint=name)
    parameters = {name: value for name, value in options.items() if name in PARAMETERS}
    return given | parameters, {name: value for name, value in options.items() if name not in PARAMETERS}


def make_plan_with(parameters: dict[str, Any], options: dict[str, Any], seconds: float | None) -> Plan:
    """The plan for CRF's parameters, with options of the solver that it chose, and with a limit of time."""
    from fastcrf.checks import above
    from fastcrf.solvers.registry import changed
    from fastcrf.training.plan import make_plan
    from fastcrf.training.stopping import MaxSeconds

    plan = make_plan(parameters)
    solver = changed(plan.solver, **options) if options else plan.solver
    limits = () if seconds is None else (MaxSeconds(above("seconds", seconds, 0.0)),)
    return plan._replace(solver=solver, stop=(*plan.stop, *limits))
