"""What `fastcrf train` is given: files that are read into memory, or an encoded corpus that is mapped."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import tee
from typing import Any, NamedTuple

import typer

from fastcrf.cli.data_files import DataFiles, Labelled, TrainingFiles, files_like, training_files
from fastcrf.cli.reading_bar import read_labelled
from fastcrf.data.files.destinations import CORPUS, kind_of
from fastcrf.training.fitting import Fit, fit_corpus, fit_model


class TrainingData(NamedTuple):
    files: DataFiles  # the kind of files that held-out data are
    transitions: bool  # whether pairs of labels have weights
    fit: Callable[..., Fit]  # train on them: of a plan, and of what `fit_corpus` takes besides


def open_training_data(
    paths: Sequence[str], template: str | None, template_kind: str | None, items: bool, quiet: bool
) -> TrainingData:
    """The data at `paths`, which the options of the command describe."""
    corpora = [path for path in paths if os.path.isfile(path) and kind_of(path) == CORPUS]
    if not corpora:
        inputs = training_files(template, template_kind, items)
        return TrainingData(inputs.files, inputs.transitions, partial(fit_files, paths, inputs, quiet))
    if len(paths) > 1:
        raise typer.BadParameter(
            f"{corpora[0]} is an encoded corpus and must be alone; encode all files into one.", param_hint="DATA"
        )
    for option, given in (("--template", template), ("--template-kind", template_kind), ("--items", items)):
        if given:
            raise typer.BadParameter("was settled when the corpus was encoded; leave it out.", param_hint=option)
    return encoded_data(corpora[0])


def fit_files(paths: Sequence[str], inputs: TrainingFiles, quiet: bool, plan: Any, **how: Any) -> Fit:
    labelled = read_labelled(inputs.files, paths[0], quiet) if len(paths) == 1 else one_behind_another(paths, inputs, quiet)
    return fit_model(
        labelled.X, labelled.y, plan, attributes=inputs.attributes, sample_weight=labelled.weights, **how
    )


def one_behind_another(paths: Sequence[str], inputs: TrainingFiles, quiet: bool) -> Labelled:
    """Several files as one; each is opened when the one before has been read."""
    weights: list[float] = []

    def pairs() -> Iterator[tuple[Any, list[str]]]:
        for path in paths:
            part = read_labelled(inputs.files, path, quiet)
            n = 0
            for n, pair in enumerate(zip(part.X, part.y, strict=True), 1):
                yield pair
            weights.extend([1.0] * n if part.weights is None else part.weights)

    forms, labels = tee(pairs())  # read in step, so that tee keeps one sequence
    return Labelled((X for X, _ in forms), (y for _, y in labels), weights)


def encoded_data(path: str) -> TrainingData:
    from fastcrf.data.corpus_file.reading import open_corpus

    encoded = open_corpus(path)
    files = files_like(encoded.input, items=encoded.input["kind"] == "items")
    fit = partial(fit_corpus, encoded.corpus, encoded.attributes, encoded.labels)
    return TrainingData(files, encoded.transitions, fit)
