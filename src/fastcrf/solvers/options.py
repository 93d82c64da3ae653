"""Checks that solvers make of their options: a wrong value is one sentence, before anything runs."""

from __future__ import annotations

from collections.abc import Collection
from numbers import Integral

from fastcrf.core.checks import is_number


def check_whole(solver: str, option: str, value: object, least: int) -> None:
    """`value` must be a whole number of at least `least`."""
    if isinstance(value, bool) or not isinstance(value, Integral) or value < least:
        raise ValueError(f"{solver}: {option} must be a whole number of at least {least}; got {option}={value!r}.")


def check_positive(solver: str, option: str, value: object) -> None:
    """`value` must be a finite number above zero."""
    if not is_number(value) or value <= 0.0:  # type: ignore[operator]
        raise ValueError(f"{solver}: {option} must be a number above 0; got {option}={value!r}.")


def check_not_negative(solver: str, option: str, value: object) -> None:
    """`value` must be a finite number of at least zero."""
    if not is_number(value) or value < 0.0:  # type: ignore[operator]
        raise ValueError(f"{solver}: {option} must be a number of at least 0; got {option}={value!r}.")


def check_share(solver: str, option: str, value: object) -> None:
    """`value` must be a number above zero and at most one."""
    if not is_number(value) or not 0.0 < value <= 1.0:  # type: ignore[operator]
        raise ValueError(f"{solver}: {option} must be a number above 0, and 1 at most; got {option}={value!r}.")


def check_truth(solver: str, option: str, value: object) -> None:
    """`value` must be True or False: a word such as "no" would count as True."""
    if not isinstance(value, bool):
        raise ValueError(f"{solver}: {option} must be true or false; got {option}={value!r}.")


def check_choice(solver: str, option: str, value: object, choices: Collection[str]) -> None:
    """`value` must be one of `choices`."""
    if not isinstance(value, str) or value not in choices:
        raise ValueError(f"{solver}: {option} must be one of {', '.join(choices)}; got {option}={value!r}.")
