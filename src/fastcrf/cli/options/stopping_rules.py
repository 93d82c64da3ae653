"""Stopping rules as they are written on a command line: `gradient-norm:tol=0.05`."""

from __future__ import annotations

import re
from dataclasses import MISSING, fields
from difflib import get_close_matches
from typing import Any

from fastcrf import stopping
from fastcrf.cli.command_errors import refuse
from fastcrf.cli.options.solver_options import read_option
from fastcrf.stopping import Rule

OPTION = "--stopping"
RULES = {re.sub(r"(?<!^)(?=[A-Z])", "-", name).lower(): name for name in stopping.__all__}


def read_rule(text: str) -> Rule:
    """Return the rule that a text such as `gradient-norm:tol=0.05:per-sequence=true` means."""
    name, *options = text.strip().split(":")
    if name not in RULES:
        close = get_close_matches(name, RULES, n=1)
        guess = f"did you mean {close[0]}? " if close else ""
        refuse(OPTION, f"knows no rule {name!r}; {guess}The rules are {', '.join(RULES)}.")
    rule: Any = getattr(stopping, RULES[name])
    known = {field.name.replace("_", "-"): field for field in fields(rule)}
    given = dict(read_option(option, OPTION) for option in options)
    for option in given.keys() - known.keys():
        refuse(OPTION, f"{name} has no option {option!r}; its options are {', '.join(known)}.")
    for option, field in known.items():
        if field.default is MISSING and option not in given:
            refuse(OPTION, f"{name} requires {option}; write {name}:{option}=VALUE.")
    try:
        made: Rule = rule(**{option.replace("-", "_"): value for option, value in given.items()})
    except ValueError as error:
        fault = str(error).replace(f"{RULES[name]}'s ", "")
        refuse(OPTION, f"{name}: {fault}")
    return made
