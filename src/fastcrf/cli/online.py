"""`fastcrf train --online`: train on a stream, chunk by chunk."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Iterator, Mapping
from dataclasses import fields, replace
from itertools import islice
from typing import Any

import typer

from fastcrf.cli.command_errors import INTERRUPTED, refuse
from fastcrf.cli.data_files import Labeled, training_files
from fastcrf.cli.options.train_options import TrainOptions, described_by, features_of
from fastcrf.cli.training_data import one_behind_another
from fastcrf.core.checks import whole
from fastcrf.exceptions import CheckpointError
from fastcrf.fitting.plan import Plan
from fastcrf.fitting.stream import Stream
from fastcrf.fitting.stream_file import load_stream, save_stream
from fastcrf.training.checkpoint import Checkpoint

CHUNK_SIZE = 1000
WITHOUT_MEANING = (
    *("engine", "dev", "patience", "init", "prior", "tol", "max_iterations", "max_seconds", "stopping"),
    *("min_freq", "min_count", "constraints", "constrained_training", "partial_labels"),
)


def refuse_with_online(asked: TrainOptions) -> None:
    """Reject options that do not apply to data that is read once."""
    for field in fields(asked):
        if field.name in WITHOUT_MEANING and getattr(asked, field.name) != field.default:
            refuse(f"--{field.name.replace('_', '-')}", "cannot be combined with --online; remove one of them.")


def train_online(asked: TrainOptions, plan: Plan, given: Mapping[str, Any], state: Checkpoint | None) -> None:
    """Train on one chunk after another and save the model; after Ctrl-C, the model so far.

    given: parameters of CRF, which the model remembers.
    """
    inputs = training_files(*described_by(asked))
    labeled = one_behind_another(asked.data, inputs.files, asked.quiet)
    features = {**features_of(asked), "transitions": inputs.transitions}
    total = asked.total_sequences
    expected = None if total is None else whole("total_sequences", total, 1)
    stream = Stream(plan.solver, plan.c1, plan.c2, inputs.attributes, features, expected)
    size = whole("chunk_size", CHUNK_SIZE if asked.chunk_size is None else asked.chunk_size, 1)
    options, interrupted, wrong, written = {"parameters": dict(given)}, False, None, time.monotonic()
    if state and state.resume and os.path.exists(state.path):
        stream = continued(stream, state.path)
    try:
        for X, y, weights in cut(labeled, size, stream.seen):
            row = stream.learn(X, y, sample_weight=weights)[-1]
            wrong = row.get("progressive_error")
            if not asked.quiet:
                typer.echo(in_words(row), err=True)
            if state and time.monotonic() - written >= state.every:
                save_stream(state.path, stream, options)
                written = time.monotonic()
    except KeyboardInterrupt:
        interrupted = True
    if not stream.chunks:
        raise ValueError("Interrupted before the end of the first chunk; no model was saved.")
    if state:
        save_stream(state.path, stream, options)
    learnt = replace(stream.model(options), input=inputs.files.remembered())
    learnt.save(asked.model)
    outcome = {
        "algorithm": plan.solver.name, "c1": plan.c1, "c2": plan.c2, "sequences": stream.seen, "chunks": stream.chunks,
        "seconds": stream.seconds, "progressive_error": wrong, "labels": len(learnt.labels),
        "attributes": len(learnt.attributes), "weights": len(learnt.weights), "model": asked.model,
    }  # fmt: skip
    if asked.as_json:
        typer.echo(json.dumps(outcome, indent=2))
    elif not asked.quiet:
        story = f"{plan.solver.name} trained on {stream.seen:,} sequences in one pass"
        typer.echo(f"{story}; the model is saved in {asked.model}.")
    if interrupted:
        raise typer.Exit(INTERRUPTED)


def continued(new: Stream, path: Any) -> Stream:
    """Return the stream in a file, if it was made with the same options."""
    saved, _ = load_stream(path)
    for what, name in (("solver", "algorithm"), ("c1", "c1"), ("c2", "c2"), ("expected", "total_sequences")):
        if getattr(saved, what) != getattr(new, what):
            raise CheckpointError(f"The stream {path} was made with a different {name}; use the same, or start over.")
    if not saved.attributes.reads_like(new.attributes):
        raise CheckpointError(
            f"The stream {path} was made with another template, or differs in --boundaries; use the same, or "
            "start over."
        )
    if saved.features.order != new.feature_options.get("order", 1):
        raise CheckpointError(f"The stream {path} was made with a different order; use the same, or start over.")
    return saved


def cut(labeled: Labeled, size: int, skipped: int) -> Iterator[tuple[list[Any], list[Any], list[float] | None]]:
    """Return sequences, labels and weights of each chunk, without the first `skipped` sequences."""
    pairs, first = zip(labeled.X, labeled.y, strict=True), 0
    for _ in islice(pairs, skipped):
        first += 1
    while chunk := list(islice(pairs, size)):
        X, y = zip(*chunk, strict=True)
        weights = None
        if labeled.weights is not None:
            weights = labeled.weights[first : first + len(chunk)]
            del labeled.weights[: first + len(chunk)]
            first = 0
        yield list(X), list(y), weights


def in_words(row: Mapping[str, Any]) -> str:
    words = f"{row['sequences']:,} sequences, {row['labels']:,} labels, {row['weights']:,} weights"
    if "progressive_error" in row:
        words += f"; {row['progressive_error']:.2%} of the chunk's tokens predicted wrongly before training on it"
    return words
