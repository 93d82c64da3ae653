"""`fastcrf shrink`: a smaller model, and what that changes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from fastcrf.cli.options.shared_options import Items, Separator

if TYPE_CHECKING:
    from fastcrf.model.model import Model


def shrink(
    source: Annotated[str, typer.Argument(metavar="MODEL", help="Read this model, of any format.")],
    target: Annotated[str, typer.Argument(metavar="FILE", help="Save the smaller model to this file.")],
    keep: Annotated[
        float, typer.Option(help="Keep the largest weights, up to this share of the sum of all absolute values.")
    ] = 0.999,
    bits: Annotated[
        int | None, typer.Option(help="Round each weight to this many bits, 2 to 16.  [default: no rounding]")
    ] = None,
    data: Annotated[
        str | None, typer.Option(metavar="FILE", help="Tag this labeled file with both models and compare them.")
    ] = None,
    items: Items = False,
    separator: Separator = None,
    force: Annotated[bool, typer.Option("--force", help="Replace FILE even if it is not a model.")] = False,
) -> None:
    """Make a model smaller: drop small weights, and round the others.

    The report compares sizes and, with --data, the labels of both models. The smaller model tags like any other; it
    gives nearly the same labels and slightly different probabilities.

    Examples:

    \b
    fastcrf shrink model.crf small.crf --keep 0.999 --bits 8 --data dev.txt
    fastcrf shrink model.crf small.crf --keep 0.99
    """
    import os

    from fastcrf.data.files.destinations import MODELS, check_apart, check_ours
    from fastcrf.data.model_file import container
    from fastcrf.model.formats import bytes_of, content_of
    from fastcrf.model.model import Model
    from fastcrf.model.shrinking import shrink as shrunk
    from fastcrf.system.atomic_write import check_replaceable

    check_apart({"the model": source, "the data": data}, {"the new model": target})
    check_replaceable(target)
    if not force:
        check_ours(target, MODELS)
    before = Model.load(source)
    content = bytes_of(*shrunk(content_of(container.read(source)), keep, bits))
    after = Model.from_bytes(content)
    lines = [
        changed("bytes", os.path.getsize(source), len(content)),
        changed("attributes", len(before.attributes), len(after.attributes)),
        changed("weights", len(before.weights), len(after.weights)),
    ]
    if data is not None:
        lines += comparison(before, after, data, items, separator)
    container.write(target, content)
    typer.echo("\n".join(lines))


def changed(what: str, before: int, after: int) -> str:
    return f"{what:<12}{before:>12,} -> {after:>12,}  ({after / max(before, 1):.1%})"


def comparison(before: Model, after: Model, data: str, items: bool, separator: str | None) -> list[str]:
    """Return lines about the labels that both models give to a labeled file."""
    from fastcrf.cli.data_files import files_of
    from fastcrf.cli.reading_bar import read_labeled
    from fastcrf.metrics import flat_accuracy_score, segment_f1_score

    labeled = read_labeled(files_of(before, items, separator), data)
    X, gold = list(labeled.X), list(labeled.y)
    old, new = before.predict(X), after.predict(X)
    n_tokens = sum(map(len, old))
    n_other = sum(a != b for labels in zip(old, new, strict=True) for a, b in zip(*labels, strict=True))
    scores = {"accuracy": flat_accuracy_score, "F1": segment_f1_score}
    return [
        f"{'labels':<12}{n_other:,} of {n_tokens:,} tokens get another label ({n_other / max(n_tokens, 1):.2%})",
        *(f"{name:<12}{score(gold, old):>12.4f} -> {score(gold, new):>12.4f}" for name, score in scores.items()),
    ]
