"""Validate solver options: an invalid value raises `OptionError` before a run begins."""

from __future__ import annotations

from collections.abc import Collection
from numbers import Integral
from typing import Protocol

from fastcrf.core.checks import is_number
from fastcrf.exceptions import OptionError


class Seeded(Protocol):
    """A solver with a seed."""

    @property
    def seed(self) -> int | None: ...


def check_whole(solver: str, option: str, value: object, least: int) -> None:
    """Require a whole number of at least `least`."""
    if isinstance(value, bool) or not isinstance(value, Integral) or value < least:
        raise OptionError(
            f"{solver}: {option} must be a whole number of at least {least}; got {option}={value!r}.",
            solver,
            option,
            value,
        )


def check_seed(solver: str, seed: object) -> None:
    """Require None or a whole number of at least zero."""
    if seed is not None:
        check_whole(solver, "seed", seed, 0)


def seed_of(solver: Seeded) -> int:
    """Return the seed of a run: that of the solver, or 0 for None."""
    return 0 if solver.seed is None else solver.seed


def check_number(solver: str, option: str, value: object) -> None:
    """Require a finite number."""
    if not is_number(value):
        raise OptionError(f"{solver}: {option} must be a finite number; got {option}={value!r}.", solver, option, value)


def check_positive(solver: str, option: str, value: object) -> None:
    """Require a finite number above zero."""
    if not is_number(value) or value <= 0.0:  # type: ignore[operator]
        raise OptionError(
            f"{solver}: {option} must be a number above 0; got {option}={value!r}.", solver, option, value
        )


def check_not_negative(solver: str, option: str, value: object) -> None:
    """Require a finite number of at least zero."""
    if not is_number(value) or value < 0.0:  # type: ignore[operator]
        raise OptionError(
            f"{solver}: {option} must be a number of at least 0; got {option}={value!r}.", solver, option, value
        )


def check_share(solver: str, option: str, value: object) -> None:
    """Require a number above zero and at most one."""
    if not is_number(value) or not 0.0 < value <= 1.0:  # type: ignore[operator]
        raise OptionError(
            f"{solver}: {option} must be a number above 0 and at most 1; got {option}={value!r}.",
            solver,
            option,
            value,
        )


def check_truth(solver: str, option: str, value: object) -> None:
    """Require True or False: a word such as "no" would count as True."""
    if not isinstance(value, bool):
        raise OptionError(f"{solver}: {option} must be true or false; got {option}={value!r}.", solver, option, value)


def check_choice(solver: str, option: str, value: object, choices: Collection[str]) -> None:
    """Require one of `choices`."""
    if not isinstance(value, str) or value not in choices:
        raise OptionError(
            f"{solver}: {option} must be one of {', '.join(choices)}; got {option}={value!r}.", solver, option, value
        )
