"""Many cases of one property as one test."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Iterable


def for_each(names: str, cases: Iterable):
    """Decorator: run the test for each case in turn; a failure names its case. names: arguments, by comma."""
    words, listed = [name.strip() for name in names.split(",")], list(cases)
    assert listed, "there are no cases"

    def decorate(test):
        @functools.wraps(test)
        def run(*args, **kwargs):
            for case in listed:
                given = dict(zip(words, case if len(words) > 1 else (case,), strict=True))
                try:
                    test(*args, **kwargs, **given)
                except Exception as error:
                    error.add_note(f"in the case {given}")
                    raise

        signature = inspect.signature(test)
        left = [parameter for name, parameter in signature.parameters.items() if name not in words]
        run.__signature__ = signature.replace(parameters=left)
        return run

    return decorate
