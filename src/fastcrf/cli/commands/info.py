"""`fastcrf info`: a summary of a model."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import chain
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from fastcrf.model.model import Model

MOST_LABELS = 20  # that are listed in words


def info(
    model: Annotated[str, typer.Argument(metavar="MODEL", help="Read this model, of any format.")],
    top: Annotated[int, typer.Option(min=0, help="Show this many of the largest weights of each kind.")] = 10,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object instead of text.")] = False,
) -> None:
    """Summarize a model: its labels, its weights by size, what it was trained with and how that ended.

    Examples:

    \b
    fastcrf info model.crf
    fastcrf info model.crfsuite --top 50
    fastcrf info model.crf --json
    """
    from fastcrf.model.model import Model

    summary = summary_of(Model.load(model), top)
    if as_json:
        import json

        typer.echo(json.dumps(summary, indent=2))
    else:
        typer.echo(printable(in_words(summary)))


def printable(text: str) -> str:
    """Replace bytes that are not UTF-8, which cannot be printed."""
    return text.encode("utf-8", "surrogateescape").decode("utf-8", "replace")


def summary_of(model: Model, top: int) -> dict[str, Any]:
    """Return the properties of a model, as JSON can hold them."""
    return {
        "labels": model.labels,
        "input": model.input,
        "attributes": len(model.attributes),
        "weights": weights_by_size(model),
        "order": model.features.order,
        "transitions": largest(model.transition_features_, top),
        "grams": largest(model.ngram_features_, top),
        "states": largest(model.state_features_, top),
        "parameters": model.options.get("parameters", {}),
        "training": model.options.get("training", {}),
    }


def weights_by_size(model: Model) -> dict[str, Any]:
    """Return the number of weights of each kind and the quantiles of their size."""
    import numpy as np

    sizes = np.abs(model.weights)
    quantiles = np.quantile(sizes, (0.5, 0.9, 0.99)) if len(sizes) else np.zeros(3)
    return {
        "states": model.features.n_state,
        "transitions": len(model.features.sources),
        "zero": int(np.count_nonzero(sizes == 0.0)),
        "median": float(quantiles[0]),
        "90%": float(quantiles[1]),
        "99%": float(quantiles[2]),
        "largest": float(sizes.max(initial=0.0)),
    }


def largest(weights: Mapping[tuple[Any, ...], float], n: int) -> list[list[Any]]:
    """Return the n largest weights, by size and then by name: [attribute or labels before, label, weight]."""
    chosen = sorted(weights.items(), key=lambda pair: (-abs(pair[1]), str(pair[0])))[:n]
    return [[*names, weight] for names, weight in chosen]


def in_words(summary: dict[str, Any]) -> str:
    """Return the same as text."""
    labels, sizes, training = summary["labels"], summary["weights"], summary["training"]
    more = f", ... ({len(labels):,} labels)" if len(labels) > MOST_LABELS else ""
    lines = {
        "labels": ", ".join(map(str, labels[:MOST_LABELS])) + more,
        "input": input_in_words(summary["input"]),
        "attributes": f"{summary['attributes']:,}",
        "weights": f"{sizes['states']:,} states, {sizes['transitions']:,} transitions, {sizes['zero']:,} are 0",
        "sizes": f"median {sizes['median']:.3g}, 90 % below {sizes['90%']:.3g}, 99 % below {sizes['99%']:.3g}, largest "
        f"{sizes['largest']:.3g}",
        "parameters": ", ".join(f"{name}={value}" for name, value in summary["parameters"].items()),
        "training": training_in_words(training) if training else "not recorded in this file",
    }
    text = "\n".join(f"{name:13}{value}" for name, value in lines.items() if value)
    kinds = {"label pairs": "transitions", "longer label n-grams": "grams", "attributes": "states"}
    return "\n".join([text, *chain.from_iterable(table(title, summary[kind]) for title, kind in kinds.items())])


def input_in_words(kind: dict[str, Any]) -> str:
    if kind.get("kind") == "items":
        return "items"
    least = "at least " if kind.get("more_columns") else ""
    template = ", read by a template" if kind.get("kind") == "template" else ""
    return f"columns, {least}{kind.get('n_columns')} of them{template}"


def training_in_words(training: dict[str, Any]) -> str:
    """Return the reason why training ended, and the figures that the model holds."""
    figures = ", ".join(
        f"{name.replace('_', ' ')} {value:.6g}" for name, value in training.items() if isinstance(value, (int, float))
    )
    return f"{training.get('stop_reason', '')} {figures}".strip()


def table(title: str, rows: list[list[Any]]) -> list[str]:
    """Return the largest weights of a kind, one per line."""
    return (
        [
            "",
            f"largest weights of {title}:",
            *(f"{weight:12.6f}  {' -> '.join(map(str, names))}" for *names, weight in rows),
        ]
        if rows
        else []
    )
