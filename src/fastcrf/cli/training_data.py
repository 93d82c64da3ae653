"""The data of `fastcrf train`: files that are read into memory, or a memory-mapped encoded corpus."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import chain, tee
from typing import Any, NamedTuple

from fastcrf.cli.command_errors import refuse
from fastcrf.cli.data_files import DataFiles, Labeled, TrainingFiles, files_like, training_files
from fastcrf.cli.options.train_options import Described
from fastcrf.cli.reading_bar import read_labeled
from fastcrf.data.encoding.boundaries import BoundedAttributes, bounded
from fastcrf.data.files.conll import OR
from fastcrf.data.files.destinations import CORPUS, kind_of
from fastcrf.fitting.fit import Fit, fit_corpus, fit_model


class TrainingData(NamedTuple):
    files: DataFiles  # the kind of files that held-out data are
    transitions: bool  # whether pairs of labels have weights
    fit: Callable[..., Fit]  # train on them: of a plan, and of what `fit_corpus` takes besides


def open_training_data(
    paths: Sequence[str],
    described: Described,
    quiet: bool,
    engine: str | None = None,
) -> TrainingData:
    """Open the data at `paths`, as the options describe them; on a cluster, if an engine is named."""
    corpora = [path for path in paths if os.path.isfile(path) and kind_of(path) == CORPUS]
    if not corpora:
        inputs = training_files(*described)
        if engine:
            return files_on_cluster(paths, inputs, engine)
        labeled = one_behind_another(paths, inputs.files, quiet)
        return TrainingData(inputs.files, inputs.transitions, partial(fit_files, labeled, inputs))
    if len(paths) > 1:
        refuse("DATA", f"has several files, but {corpora[0]} is an encoded corpus; encode all files into one.")
    for name, given in described._asdict().items():
        if given and name != "boundaries":
            refuse(f"--{name.replace('_', '-')}", "was settled when the corpus was encoded; remove it.")
    return encoded_data(corpora[0], engine, described.boundaries)


def held_out_data(data: TrainingData, path: str | None, quiet: bool, on_cluster: bool) -> Any:
    """Return the `dev` argument of `data.fit`: sequences and labels or, on a cluster, a path and its reader."""
    if path is None:
        return None
    if on_cluster:
        data.files.labeled(path)  # reads the first sentence, so that a wrong file is an error at once
        return [os.path.abspath(path)], data.files.labeled
    held_out = read_labeled(data.files, path, quiet)
    return held_out.X, held_out.y


def fit_files(labeled: Labeled, inputs: TrainingFiles, plan: Any, partial_labels: str | None = None, **how: Any) -> Fit:
    """Train on files; `partial_labels` is the mark of unknown labels, if there are any."""
    how = {"attributes": inputs.attributes, "sample_weight": labeled.weights, **how}
    if partial_labels is None:
        return fit_model(labeled.X, labeled.y, plan, **how)
    from fastcrf.fitting.partial import fit_partial

    return fit_partial(labeled.X, (open_labels(row, partial_labels) for row in labeled.y), plan, **how)


def open_labels(row: list[str], mark: str) -> list[Any]:
    """Return labels with None for the mark of unknown ones, and sets for A|B."""
    return [None if word == mark else set(word.split(OR)) if OR in word else word for word in row]


def one_behind_another(paths: Sequence[str], files: DataFiles, quiet: bool) -> Labeled:
    """Read several files as one: the first is opened now, each other when the one before has been read."""
    first = read_labeled(files, paths[0], quiet)
    if len(paths) == 1:
        return first
    weights: list[float] = []

    def pairs() -> Iterator[tuple[Any, list[str]]]:
        for part in chain([first], (read_labeled(files, path, quiet) for path in paths[1:])):
            before = len(weights)
            for pair in zip(part.X, part.y, strict=True):
                weights.append(1.0)
                yield pair
            weights[before:] = part.weights or weights[before:]

    forms, labels = tee(pairs())  # read in step, so that tee keeps one sequence
    return Labeled((X for X, _ in forms), (y for _, y in labels), weights)


def files_on_cluster(paths: Sequence[str], inputs: TrainingFiles, engine: str) -> TrainingData:
    """Place files that workers read; this process only counts the columns of the first line."""
    from fastcrf.cluster.placement import from_files

    inputs.files.labeled(paths[0])
    place = from_files([os.path.abspath(path) for path in paths], inputs.files.labeled, inputs.attributes)
    return TrainingData(inputs.files, inputs.transitions, partial(fit_on, engine, place))


def fit_on(engine: str, place: Any, plan: Any, n_jobs: int | None = None, **how: Any) -> Fit:
    from fastcrf.cluster.training import fit_on_cluster

    return fit_on_cluster(engine, place, plan, n_shards=n_jobs, **how)


def encoded_data(path: str, engine: str | None, boundaries: bool) -> TrainingData:
    from fastcrf.data.corpus_file.reading import open_corpus

    encoded = open_corpus(path)
    files = files_like(encoded.input, items=encoded.input["kind"] == "items")
    if engine:
        from fastcrf.cluster.placement import from_encoded

        if boundaries and not isinstance(encoded.attributes, BoundedAttributes):
            refuse("--boundaries", "must be given to `fastcrf encode` for training on a cluster; encode again.")
        return TrainingData(files, encoded.transitions, partial(fit_on, engine, from_encoded(encoded)))
    corpus, attributes = encoded.corpus, encoded.attributes
    if boundaries:
        corpus, attributes = bounded(corpus, attributes)
    fit = partial(fit_corpus, corpus, attributes, encoded.labels)
    return TrainingData(files, encoded.transitions, fit)
