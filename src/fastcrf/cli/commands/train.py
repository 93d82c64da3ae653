"""`fastcrf train`: a column file in, a model out."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, Any

import typer

from fastcrf.cli.command_errors import INTERRUPTED, refuse
from fastcrf.cli.options.train_options import TrainOptions, described_by, features_of

if TYPE_CHECKING:
    from fastcrf.fitting.plan import Plan
    from fastcrf.training.checkpoint import Checkpoint


def train(asked: TrainOptions) -> None:
    """Train a model on column files, or on an encoded corpus.

    Without a template, attributes are made from the columns before the label: words, shapes, prefixes and suffixes of
    the token and its neighbors. A template without B or b has no weights for pairs of labels. Ctrl-C ends training
    after the current iteration and saves the model. An older model of that name is replaced only when the new one is
    complete; a file that is not a model is replaced only with --force.

    Examples:

    \b
    fastcrf train train.txt -m model.crf
    fastcrf train train.txt.gz -m model.crf --dev dev.txt --patience 5
    fastcrf train train.txt -m sparse.crf --c1 0.5 --c2 0 --tol 1e-4
    fastcrf train train.txt -m model.crf --cv 5
    fastcrf train train.txt -m model.crf -a lbfgs -o pairs=20 --max-seconds 60
    fastcrf train train.txt -m model.crf --template template.txt --min-count 3
    fastcrf train items.txt -m model.crf --items
    fastcrf train corpus.fcc -m model.crf
    fastcrf train /shared/part-*.txt -m model.crf --engine tcp://host:8786
    fastcrf train train.txt -m model.crf --checkpoint run.state --resume
    fastcrf train train.txt -m model.crf --order 2 --boundaries
    fastcrf train train.txt -m model.crf --constraints auto --constrained-training
    fastcrf train partly.txt -m model.crf --partial-labels "?"
    fastcrf train more.txt -m adapted.crf --prior model.crf --c2 10
    zcat logs*.gz | fastcrf train - -m model.crf --online --checkpoint stream.state
    """
    from fastcrf.feature_space.label_contexts import check_order
    from fastcrf.fitting.plan import make_plan
    from fastcrf.fitting.saved_parameters import saved
    from fastcrf.training.checkpoint import Checkpoint

    check_combination(asked)
    check_paths(asked)
    check_order(asked.order)
    state = Checkpoint(asked.checkpoint, asked.checkpoint_every, asked.resume) if asked.checkpoint else None
    given = parameters_of(asked)
    if asked.cv is not None:
        given["c2"] = chosen_c2(asked, asked.cv, given)
    plan = make_plan(**given, engine=asked.engine)
    if asked.online:
        from fastcrf.cli.online import train_online
        from fastcrf.solvers.contract import Policy

        if isinstance(plan.solver, Policy):
            plan = plan._replace(solver=plan.solver.for_streams())
        train_online(asked, plan, saved(given), state)
    else:
        train_in_steps(asked, plan, saved(given), state)


def train_in_steps(asked: TrainOptions, plan: Plan, given: dict[str, Any], state: Checkpoint | None) -> None:
    """Train on all data until a stopping rule is met, save the model and report the outcome."""
    from fastcrf.cli.reports import outcome_in_words, outcome_of, save
    from fastcrf.cli.tagging.label_choice import read_constraints
    from fastcrf.cli.training_data import held_out_data, open_training_data
    from fastcrf.constraints.constraints import constraints_of
    from fastcrf.model.model import Model
    from fastcrf.system.threads import usable_jobs
    from fastcrf.training.progress import Progress

    constraints = None if asked.constraints is None else constraints_of(read_constraints(asked.constraints))
    inputs = open_training_data(asked.data, described_by(asked), asked.quiet, asked.engine)
    fit = inputs.fit(
        plan,
        dev=held_out_data(inputs, asked.dev, asked.quiet, bool(asked.engine)),
        min_count=asked.min_count,
        features=features_of(asked) | {"transitions": inputs.transitions},
        start=Model.load(asked.init) if asked.init else None,
        prior=Model.load(asked.prior) if asked.prior else None,
        n_jobs=asked.n_jobs if asked.engine else usable_jobs(asked.n_jobs),
        progress=None if asked.quiet else Progress(reason=False),
        checkpoint=state,
        options={"parameters": given},
        constraints=constraints,
        destination=asked.model,
        **({"local_epochs": asked.local_epochs} if asked.engine else {}),
        **({"constrained_training": True} if asked.constrained_training else {}),
        **({"partial_labels": asked.partial_labels} if asked.partial_labels is not None else {}),
    )
    save(fit, inputs.files.remembered(), asked.model)
    outcome = {**outcome_of(fit, plan), "model": asked.model}
    if asked.as_json:
        typer.echo(json.dumps(outcome, indent=2))
    elif not asked.quiet:
        typer.echo(outcome_in_words(outcome))
    if fit.result.status == "interrupted":
        raise typer.Exit(INTERRUPTED)


def check_partial(asked: TrainOptions) -> None:
    """Reject what training on partial labels excludes."""
    from fastcrf.data.files.destinations import CORPUS, kind_of

    others = {
        "--engine": asked.engine,
        "--cv": asked.cv,
        "--prior": asked.prior,
        "--checkpoint": asked.checkpoint,
        "--constrained-training": asked.constrained_training,
    }
    for option, given in others.items():
        if given:
            refuse("--partial-labels", f"cannot be combined with {option}; remove one of them.")
    if any(os.path.isfile(path) and kind_of(path) == CORPUS for path in asked.data):
        refuse("--partial-labels", "reads column files and item files; an encoded corpus has all labels.")


def check_combination(asked: TrainOptions) -> None:
    """Reject options that require or exclude each other."""
    if asked.resume and not asked.checkpoint:
        refuse("--resume", "requires a checkpoint; add --checkpoint FILE.")
    if asked.patience is not None and not asked.dev:
        refuse("--patience", "requires held-out data; add --dev FILE.")
    if asked.local_epochs and not asked.engine:
        refuse("--local-epochs", "requires a cluster; add --engine ENGINE.")
    if asked.constrained_training and asked.constraints is None:
        refuse("--constrained-training", "requires constraints; add --constraints NAME.")
    if asked.constrained_training and asked.engine:
        refuse("--constrained-training", "is for data in one process; remove --engine.")
    if asked.partial_labels is not None:
        check_partial(asked)
    if asked.online:
        from fastcrf.cli.online import refuse_with_online

        refuse_with_online(asked)
    for option, given in (("--chunk-size", asked.chunk_size), ("--total-sequences", asked.total_sequences)):
        if given is not None and not asked.online:
            refuse(option, "requires --online.")
    if asked.cv is not None:
        check_cv(asked)
    for option, given in (("--order", asked.order > 1), ("--boundaries", asked.boundaries)):
        if given and asked.model.endswith(".crfsuite"):
            refuse(option, "cannot be saved in CRFsuite's format; choose a --model that does not end in .crfsuite.")


def check_cv(asked: TrainOptions) -> None:
    """Reject options that --cv excludes: it chooses c2, reads the files twice, and runs in this process."""
    from fastcrf.data.files.destinations import CORPUS, kind_of

    for option in ("c2", "template_kind", "engine", "prior", "online"):
        if getattr(asked, option) not in (None, False):
            refuse("--cv", f"cannot be combined with --{option.replace('_', '-')}; remove one of them.")
    if "-" in asked.data:
        refuse("--cv", "reads the data twice, which standard input does not allow; give files.")
    if any(os.path.isfile(path) and kind_of(path) == CORPUS for path in asked.data):
        refuse("--cv", "cannot use an encoded corpus; give column or item files.")


def check_paths(asked: TrainOptions) -> None:
    """Reject destinations that cannot be written or hold something else, before any data is read."""
    from fastcrf.data.files.destinations import CHECKPOINT, MODELS, check_apart, check_ours
    from fastcrf.data.templates.dialects import BUILT_IN
    from fastcrf.system.atomic_write import check_replaceable

    several = len(asked.data) > 1
    reads = {
        **{f"training file {i}" if several else "the training data": path for i, path in enumerate(asked.data, 1)},
        "the held-out data": asked.dev,
        "the template": None if asked.template in BUILT_IN else asked.template,
    }
    check_apart(reads, {"the model": asked.model, "the checkpoint": asked.checkpoint})
    for path, kinds in ((asked.model, MODELS), (asked.checkpoint, (CHECKPOINT,))):
        if path:
            check_replaceable(path)
            if not asked.force:
                check_ours(path, kinds)


def parameters_of(asked: TrainOptions) -> dict[str, Any]:
    """Return the arguments of `make_plan` that were given."""
    from fastcrf.cli.options.solver_options import read_option
    from fastcrf.cli.options.stopping_rules import read_rule
    from fastcrf.solvers.registry import make
    from fastcrf.stopping import EarlyStopping

    names = ("algorithm", "c1", "c2", "tol", "max_iterations", "max_seconds", "random_state")
    given = {name: getattr(asked, name) for name in names if getattr(asked, name) is not None}
    if asked.option:
        given["algorithm"] = make(asked.algorithm, **dict(map(read_option, asked.option)))
    rules = list(map(read_rule, asked.stopping or []))
    if asked.patience is not None:
        rules.append(EarlyStopping(asked.patience))
    elif not asked.dev and any(isinstance(rule, EarlyStopping) for rule in rules):
        refuse("--stopping", "early-stopping requires held-out data; add --dev FILE.")
    return given | {"stopping": tuple(rules)}


def chosen_c2(asked: TrainOptions, folds: int, given: dict[str, Any]) -> float:
    """Return the c2 with the highest held-out likelihood."""
    from fastcrf.cli.data_files import training_files
    from fastcrf.cli.training_data import one_behind_another
    from fastcrf.estimators.crf import CRF
    from fastcrf.estimators.cross_validation import CRFCV
    from fastcrf.stopping import EarlyStopping

    inputs = training_files(*described_by(asked)._replace(boundaries=False))
    labeled = one_behind_another(asked.data, inputs.files, quiet=True)
    X, y = map(list, zip(*zip(labeled.X, labeled.y, strict=True), strict=True))
    names = (
        "template",
        "order",
        "boundaries",
        "min_freq",
        "min_count",
        "all_possible_states",
        "all_possible_transitions",
    )
    goals = [rule for rule in given["stopping"] if not isinstance(rule, EarlyStopping)]  # held-out data are for the end
    shown = {"verbose": not (asked.quiet or asked.as_json)}
    base = CRF(**(given | shown | {"stopping": goals} | {name: getattr(asked, name) for name in names}))
    search = CRFCV(base, cv=folds, refit=False, n_jobs=asked.n_jobs, random_state=asked.random_state)
    search.fit(X, y, sample_weight=labeled.weights or None)
    if not (asked.quiet or asked.as_json):
        score = f"held-out log-likelihood of a token {search.best_score_:.4f} in {folds} folds"
        typer.echo(f"c2={search.c2_:.3g}: {score}.", err=True)
    return search.c2_
