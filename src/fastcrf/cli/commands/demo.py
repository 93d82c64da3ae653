"""`fastcrf demo`: train, score and show a model on a generated corpus."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

import typer


class Task(StrEnum):
    addresses = "addresses"
    digits = "digits"


def demo(
    task: Annotated[Task, typer.Option(help="Choose postal addresses or handwritten digits.")] = Task.addresses,
    output: Annotated[
        str | None,
        typer.Option(
            "--output", "-o", metavar="FILE", help="Save the model to this file.  [default: fastcrf-TASK.crf]"
        ),
    ] = None,
    random_state: Annotated[int, typer.Option(help="Seed the corpus.", min=0)] = 0,
) -> None:
    """Generate a corpus, train, score and show the result.

    The only file written is the model, which can be used at once: the last lines say how.

    Examples:

    \b
    fastcrf demo
    fastcrf demo --task digits
    fastcrf demo --random-state 7 --output addresses.crf
    """

    from rich.console import Console

    from fastcrf.cli.demo_tasks import addresses, digits
    from fastcrf.cli.reports import outcome_in_words, outcome_of, save, scores_in_words, scores_of
    from fastcrf.data.files.destinations import MODELS, check_ours
    from fastcrf.fitting.fit import fit_model
    from fastcrf.fitting.plan import make_plan
    from fastcrf.system.atomic_write import check_replaceable
    from fastcrf.system.threads import usable_jobs
    from fastcrf.training.progress import Progress

    path = output or f"fastcrf-{task}.crf"
    check_replaceable(path)
    check_ours(path, MODELS, "by --output")
    console = Console(highlight=False)
    chosen = addresses(random_state) if task is Task.addresses else digits(random_state)
    console.print(chosen.title, style="bold")
    plan = make_plan(random_state=random_state)
    fit = fit_model(chosen.X_train, chosen.y_train, plan, n_jobs=usable_jobs(), progress=Progress(reason=False))
    save(fit, chosen.input, path)
    console.print(outcome_in_words({**outcome_of(fit, plan), "model": path}), soft_wrap=True)
    predicted = fit.model.predict(chosen.X_test)
    console.print(f"\n{chosen.held_out}", style="bold")
    console.print(scores_in_words(scores_of(chosen.y_test, predicted)), soft_wrap=True)
    console.print()
    chosen.show(console, predicted)
    console.print(chosen.advice, style="bold")
    console.print(chosen.command(path), soft_wrap=True, markup=False)
