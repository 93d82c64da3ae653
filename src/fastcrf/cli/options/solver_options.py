"""Solvers and their options as they are written on a command line: `pairs=20`, `sgd:batch_size=10`, `lbfgs,sgd`."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from fastcrf.cli.command_errors import refuse

if TYPE_CHECKING:
    from fastcrf.lab.crfsuite import CRFsuite
    from fastcrf.solvers.contract import Solver


def read_option(text: str, option: str = "--option") -> tuple[str, Any]:
    """Return `pairs=20` as ("pairs", 20); what is no number, true, false or null is a string."""
    name, equals, value = text.partition("=")
    if not (name and equals and value):
        refuse(option, f"expects NAME=VALUE, such as pairs=20; got {text!r}.")
    try:
        return name, json.loads(value)
    except ValueError:
        return name, value


def read_solver(text: str) -> tuple[str, Solver]:
    """Return `sgd:batch_size=10` as a label and a solver."""
    from fastcrf.solvers.registry import make

    name, *options = text.strip().split(":")
    return text.strip(), make(name, **dict(read_option(option, "--solvers") for option in options))


def listed_solvers(text: str | None, c1: float, c2: float) -> list[str]:
    """Return the named solvers, or `all`, or the usual ones; of the latter two, those that handle the penalty."""
    from fastcrf.fitting.solver_choice import able_solvers, usual_solvers

    if not text:
        return usual_solvers(c1, c2)
    return able_solvers(c1, c2) if text == "all" else text.split(",")


def listed_competitors(text: str | None, c1: float, c2: float) -> list[str]:
    """Return the solvers to compare; the usual ones and CRFsuite, where it is installed, without a list."""
    from fastcrf.lab.crfsuite import NAME, is_installed

    listed = listed_solvers(text, c1, c2)
    return [*listed, NAME] if not text and is_installed() else listed


def read_competitor(text: str) -> tuple[str, Solver | CRFsuite]:
    """Return a label and a solver, or CRFsuite."""
    from fastcrf.lab.crfsuite import NAME, CRFsuite

    return (NAME, CRFsuite()) if text.strip() == NAME else read_solver(text)


def complete_solver(incomplete: str) -> list[tuple[str, str]]:
    """Return (name, tier) of each solver whose name begins so."""
    from fastcrf.solvers.registry import TIERS, names

    return [(name, tier) for tier in TIERS for name in names(tier) if name.startswith(incomplete)]
