"""The corpora of `fastcrf demo`, each with a display of labels and advice on what to do next."""

from __future__ import annotations

import shlex
from collections.abc import Callable
from itertools import groupby
from typing import Any, NamedTuple

from rich.columns import Columns
from rich.console import Console
from rich.text import Text

from fastcrf.cli.program_name import program_name
from fastcrf.data.datasets.addresses import LABELS, make_addresses
from fastcrf.data.datasets.digits import SIDE, make_digits
from fastcrf.data.encoding.column_attributes import column_items

Labels = list[list[str]]

SHOWN = 3  # held-out sequences
COLOURS = (
    *("cyan", "green", "magenta", "yellow", "blue"),
    *("bright_cyan", "bright_green", "bright_magenta", "bright_yellow", "bright_blue", "white"),
)
STYLES = dict(zip(LABELS, COLOURS, strict=True))
SHADES = " ░▒▓█"
EXAMPLE = "12 Oak Street, Springfield IL 62704"


class DemoTask(NamedTuple):
    title: str
    X_train: list[Any]
    y_train: Labels
    held_out: str  # what is scored
    X_test: list[Any]
    y_test: Labels
    show: Callable[[Console, Labels], None]  # given the predicted labels of X_test
    input: dict[str, Any]  # what `Model.input` remembers
    advice: str
    command: Callable[[str], str]  # given the path of the model


def addresses(seed: int, n: int = 4000) -> DemoTask:
    """Generate postal addresses, 25 % of them held out. The model takes a file of one token per line."""
    tokens, labels = make_addresses(n, seed)
    X = [column_items([[token] for token in address]) for address in tokens]
    train = n - n // 4

    def show(console: Console, predicted: Labels) -> None:
        for words, gold, found in list(zip(tokens[train:], labels[train:], predicted, strict=True))[:SHOWN]:
            console.print(colored(words, gold, found), "")

    return DemoTask(
        title=f"{train:,} postal addresses, {len(LABELS)} labels (seed {seed})",
        X_train=X[:train],
        y_train=labels[:train],
        held_out=f"{n - train:,} held-out addresses",
        X_test=X[train:],
        y_test=labels[train:],
        show=show,
        input={"kind": "columns", "n_columns": 1},
        advice="Now try your own: a file with one token per line and a blank line between addresses, or",
        command=lambda path: f"echo '{EXAMPLE}' | tr ' ' '\\n' | {program_name()} tag - -m {shlex.quote(path)}",
    )


def colored(words: list[str], gold: list[str], found: list[str]) -> Columns:
    """Return the parts of an address with their labels below; errors are red, with the correct label in brackets."""
    parts = []
    triples = zip(words, gold, found, strict=True)
    for (label, right), part in groupby(triples, key=lambda triple: (triple[2], triple[1] == triple[2])):
        tokens, truth, _ = zip(*part, strict=True)
        below = (label, f"bold {STYLES[label]}") if right else (f"{label}\n({truth[0]})", "red")
        parts.append(Text.assemble((" ".join(tokens), "bold" if right else "bold red"), "\n", below))
    return Columns(parts, padding=(0, 2))


def digits(seed: int) -> DemoTask:
    """Generate handwritten digits in a meter's log. Pixels are not columns, so the model is used from Python."""
    X_train, X_test, y_train, y_test = make_digits(random_state=seed)

    def show(console: Console, predicted: Labels) -> None:
        for log, gold, found in list(zip(X_test, y_test, predicted, strict=True))[:SHOWN]:
            console.print(drawn(log[:SIDE], gold, found))

    return DemoTask(
        title=f"{len(X_train):,} meter logs of {sum(map(len, X_train)):,} handwritten digits (seed {seed})",
        X_train=X_train,
        y_train=y_train,
        held_out=f"{len(X_test):,} held-out logs, written with other images",
        X_test=X_test,
        y_test=y_test,
        show=show,
        input={"kind": "items"},
        advice="Now try your own in Python, with dicts of pixels as fastcrf.data.datasets.digits makes them:",
        command=lambda path: f"import fastcrf; fastcrf.load({path!r}).predict(X)",
    )


def drawn(log: list[dict[str, float]], gold: list[str], found: list[str]) -> Text:
    """Draw the images of a log side by side with the predicted digit below each; errors are red."""
    text = Text()
    for row in range(SIDE):
        greys = [[image.get(f"pixel{row}{column}", 0.0) for column in range(SIDE)] for image in log]
        text.append(" ".join("".join(SHADES[round(g * (len(SHADES) - 1))] for g in line) for line in greys) + "\n")
    for truth, label in zip(gold[: len(log)], found[: len(log)], strict=True):
        wrong = f"{label} ({truth})"
        text.append(
            f"{label if label == truth else wrong:^{SIDE + 1}}", style="bold green" if label == truth else "red"
        )
    return text.append("\n")
