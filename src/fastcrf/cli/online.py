"""`fastcrf train --online`: the data go by in chunks, and are learnt from once."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import islice
from typing import Any, NamedTuple

import typer

from fastcrf.checks import whole
from fastcrf.cli.command_errors import INTERRUPTED
from fastcrf.cli.data_files import Labelled, training_files
from fastcrf.cli.training_data import one_behind_another
from fastcrf.training.checkpoint import Checkpoint
from fastcrf.training.checkpoint_file import CheckpointError
from fastcrf.training.plan import Plan
from fastcrf.training.stream import Stream
from fastcrf.training.stream_file import load_stream, save_stream


class Chunks(NamedTuple):
    """How the data are cut, and how many there will be if anyone knows."""

    size: int
    expected: int | None


def refuse_with_online(options: Mapping[str, Any]) -> None:
    """Options that make no sense for data that are seen once; those that were given have a value."""
    for name in (name for name, value in options.items() if value is not None):
        hint = "has no meaning with --online, which sees everything once and keeps nothing; leave one of them out."
        raise typer.BadParameter(hint, param_hint=f"--{name.replace('_', '-')}")


def train_online(
    paths: Sequence[str],
    kind: tuple[str | None, str | None, bool, bool],
    plan: Plan,
    chunks: Chunks,
    features: Mapping[str, Any],
    model: str,
    state: Checkpoint | None,
    parameters: Mapping[str, Any],
    quiet: bool,
    as_json: bool,
) -> None:
    """Learn from one chunk after another, and save the model; after Ctrl-C, what was learnt until then.

    kind: the arguments of `training_files`.
    """
    inputs = training_files(*kind)
    labelled = one_behind_another(paths, inputs.files, quiet)
    features = {**features, "transitions": inputs.transitions}
    expected = None if chunks.expected is None else whole("expected", chunks.expected, 1)
    stream = Stream(plan.solver, plan.c1, plan.c2, inputs.attributes, features, expected)
    options, interrupted, wrong, written = {"parameters": dict(parameters)}, False, None, time.monotonic()
    if state and state.resume and os.path.exists(state.path):
        stream = continued(stream, state.path)
    try:
        for X, y, weights in cut(labelled, whole("chunk", chunks.size, 1), stream.seen):
            row = stream.learn(X, y, sample_weight=weights)[-1]
            wrong = row.get("progressive_error")
            if not quiet:
                typer.echo(in_words(row), err=True)
            if state and time.monotonic() - written >= state.every:
                save_stream(state.path, stream, options)
                written = time.monotonic()
    except KeyboardInterrupt:
        interrupted = True
    if not stream.chunks:
        raise ValueError("Interrupted before the first chunk was learnt, so there was nothing to save.")
    if state:
        save_stream(state.path, stream, options)
    learnt = replace(stream.model(options), input=inputs.files.remembered())
    learnt.save(model)
    outcome = {
        "algorithm": plan.solver.name, "c1": plan.c1, "c2": plan.c2, "sequences": stream.seen, "chunks": stream.chunks,
        "seconds": stream.seconds, "progressive_error": wrong, "labels": len(learnt.labels),
        "attributes": len(learnt.attributes), "weights": len(learnt.weights), "model": model,
    }  # fmt: skip
    if as_json:
        typer.echo(json.dumps(outcome, indent=2))
    elif not quiet:
        typer.echo(f"{plan.solver.name} learnt from {stream.seen:,} sequences, once; the model is saved in {model}.")
    if interrupted:
        raise typer.Exit(INTERRUPTED)


def continued(new: Stream, path: Any) -> Stream:
    """The stream in a file, if it was made with the same options."""
    saved, _ = load_stream(path)
    for what in ("solver", "c1", "c2", "expected"):
        if getattr(saved, what) != getattr(new, what):
            raise CheckpointError(f"The stream {path} was made with a different {what}; use the same, or start afresh.")
    if not saved.attributes.reads_like(new.attributes):
        raise CheckpointError(
            f"The stream {path} was made with another template, or differs in --boundaries; use the same, or "
            "start afresh."
        )
    if saved.features.order != new.feature_options.get("order", 1):
        raise CheckpointError(f"The stream {path} was made with a different order; use the same, or start afresh.")
    return saved


def cut(labelled: Labelled, size: int, skipped: int) -> Iterator[tuple[list[Any], list[Any], list[float] | None]]:
    """Sequences, labels and weights of each chunk, without the first sequences."""
    pairs, first = zip(labelled.X, labelled.y, strict=True), 0
    for _ in islice(pairs, skipped):
        first += 1
    while chunk := list(islice(pairs, size)):
        X, y = zip(*chunk, strict=True)
        weights = None
        if labelled.weights is not None:
            weights = labelled.weights[first : first + len(chunk)]
            del labelled.weights[: first + len(chunk)]
            first = 0
        yield list(X), list(y), weights


def in_words(row: Mapping[str, Any]) -> str:
    words = f"{row['sequences']:,} sequences, {row['labels']:,} labels, {row['weights']:,} weights"
    if "progressive_error" in row:
        words += f"; {row['progressive_error']:.2%} of the chunk's tokens predicted wrongly before learning"
    return words
