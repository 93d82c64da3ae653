"""Read a plain command line without typer, which takes longer to load than a sentence takes to tag.

What is plain: options by the names they are declared with, each with its value as the next word, and arguments. What is
not (--help, --name=value, -mFILE, a number, several files, an unknown option, something missing) is left to typer,
which reports it.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple, get_args


class Argument(NamedTuple):
    """A declaration by typer.Argument."""


class Option(NamedTuple):
    """A declaration by typer.Option."""

    words: tuple[str, ...]


class Declarations:
    """A stand-in for typer that keeps only the words of an option."""

    @staticmethod
    def Argument(*words: str, **_: Any) -> Argument:
        return Argument()

    @staticmethod
    def Option(*words: str, **_: Any) -> Option:
        return Option(words)


def plain_call(command: Callable[..., None], words: Sequence[str]) -> Callable[[], None] | None:
    """Return the command with the arguments of these words, or None if they are not plain."""
    parameters = inspect.signature(command, eval_str=True, locals={"typer": Declarations}).parameters
    arguments, options = declarations(parameters)
    several = {name: get_args(p.annotation)[0] == list[str] for name, p in parameters.items()}
    values: dict[str, Any] = {}
    rest = iter(words)
    for word in rest:
        if word in options:
            name, kind = options[word]
            if kind not in (bool, str, str | None):
                return None
            value: Any = True if kind is bool else next(rest, "--")
        else:
            name, value = next(arguments, ""), word
        if not name or name in values or (value != "-" and str(value).startswith("-")):
            return None
        values[name] = [value] if several.get(name) else value
    given: dict[str, Any] = {name: p.default for name, p in parameters.items() if p.default is not p.empty} | values
    return partial(command, **given) if given.keys() == parameters.keys() else None


def declarations(parameters: Mapping[str, inspect.Parameter]) -> tuple[Iterator[str], dict[Any, tuple[str, type]]]:
    """Return the parameters that are arguments, and name and type of the others by their declared words."""
    arguments: list[str] = []
    options: dict[Any, tuple[str, type]] = {}
    for name, parameter in parameters.items():
        kind, declared = get_args(parameter.annotation)
        if isinstance(declared, Argument):
            arguments.append(name)
        else:
            words = declared.words or (f"--{name.replace('_', '-')}",)  # typer's, where none is declared
            options.update(dict.fromkeys(words, (name, kind)))
    return iter(arguments), options
