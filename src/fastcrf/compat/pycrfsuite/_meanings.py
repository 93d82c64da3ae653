"""The place in fastcrf for the value of a parameter of CRFsuite."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Meaning:
    """The name that the value has in that place."""

    name: str = ""


@dataclass(frozen=True)
class Feature(Meaning):
    """A choice of features, under the name of the estimator's parameter."""


@dataclass(frozen=True)
class Penalty(Meaning):
    """The weight of a penalty."""


@dataclass(frozen=True)
class Option(Meaning):
    """An option of the solver object."""


@dataclass(frozen=True)
class Criterion(Meaning):
    """A number of one of the stopping rules that `_plan.py` makes."""


@dataclass(frozen=True)
class Ignored(Meaning):
    """Accepted, without effect."""
