"""`fastcrf demo`: the whole job on a corpus that needs no download."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

import typer


class Task(StrEnum):
    addresses = "addresses"
    digits = "digits"


def demo(
    task: Annotated[
        Task, typer.Option(help="Postal addresses from a grammar, or handwritten digits.")
    ] = Task.addresses,
    output: Annotated[
        str | None, typer.Option("--output", "-o", metavar="FILE", help="The model.  [default: fastcrf-TASK.crf]")
    ] = None,
    seed: Annotated[int, typer.Option(help="Seed of the corpus.", min=0)] = 0,
) -> None:
    """Generate a corpus, train, score and show the result.

    The only file written is the model, which can be used at once: the last lines say how.

    Examples:

    \b
    fastcrf demo
    fastcrf demo --task digits
    fastcrf demo --seed 7 --output addresses.crf
    """
    from pathlib import Path

    from rich.console import Console

    from fastcrf.cli.exhibits import addresses, digits
    from fastcrf.cli.outcome import outcome_in_words, outcome_of, save
    from fastcrf.cli.report import scores_in_words, scores_of
    from fastcrf.data.destinations import MODELS, check_folder, check_ours
    from fastcrf.training.fitting import fit_model
    from fastcrf.training.jobs import usable_jobs
    from fastcrf.training.plan import make_plan
    from fastcrf.training.progress import Progress

    path = output or f"fastcrf-{task}.crf"
    check_folder(Path(path).absolute())
    check_ours(path, MODELS, "by --output")
    console = Console(highlight=False)
    exhibit = addresses(seed) if task is Task.addresses else digits(seed)
    console.print(exhibit.title, style="bold")
    plan = make_plan({"random_state": seed})
    fit = fit_model(exhibit.X_train, exhibit.y_train, plan, n_jobs=usable_jobs(), progress=Progress())
    save(fit, exhibit.input, path)
    console.print(outcome_in_words({**outcome_of(fit, plan), "model": path}), soft_wrap=True)
    predicted = fit.model.tag(exhibit.X_test)
    console.print(f"\n{exhibit.held_out}", style="bold")
    console.print(scores_in_words(scores_of(exhibit.y_test, predicted)), soft_wrap=True)
    console.print()
    exhibit.show(console, predicted)
    console.print(exhibit.advice, style="bold")
    console.print(exhibit.command(path), soft_wrap=True, markup=False)
