"""Errors of the command line: a message and an exit code.

0 all is well; 1 the data, the model or a file cannot be used; 2 the command line is wrong; 3 a fault of fastcrf itself;
130 interrupted. With FASTCRF_DEBUG=1 in the environment the traceback is shown instead. Nothing here imports typer, so
that what needs none starts without it.
"""

from __future__ import annotations

import errno
import os
import re
import sys
import warnings
from collections.abc import Callable
from typing import Any, NoReturn

from fastcrf.system.optional_packages import advice_for

NOT_IN_A_PATH = r"(?<![\w/.-])"
PARAMETERS = re.compile(
    NOT_IN_A_PATH
    + r"(max_iterations|max_seconds|max_passes|random_state|n_jobs|min_freq|min_count|checkpoint_every|local_epochs"
    r"|total_sequences|chunk_size|all_possible_states|all_possible_transitions)\b(=True|=)?"
)
PLAIN_NAMES = re.compile(
    NOT_IN_A_PATH + r"(c1|c2|tol|order|boundaries)(=True|=| > (?=0)| (?=must))"
)  # only as parameters
FORMS = {"=": " ", " > ": " above ", " ": " "}  # what follows a name, as an option
NO_SPACE = os.strerror(errno.ENOSPC)
STANDARD_OUTPUT = "standard output"  # the only thing that is written without a name
CANNOT_USE, WRONG_COMMAND, OUR_FAULT, INTERRUPTED = 1, 2, 3, 130


class Interrupted(Exception):
    """Raise for Ctrl-C, in place of KeyboardInterrupt, which typer hides."""


def run_to_the_end(command: Callable[[], Any]) -> NoReturn:
    """Run a command and leave the process with its code; every exception ends in `explain`."""
    try:
        with warnings.catch_warnings():
            warnings.showwarning = show_warning
            code = command()
            if sys.stdout is not None:
                sys.stdout.flush()  # here, where a full disk is understood, and not when Python ends
    except BrokenPipeError:  # the reader of our output has gone, as `head` does
        drop_output()
        sys.exit(CANNOT_USE)
    except (Exception, KeyboardInterrupt) as error:
        if os.environ.get("FASTCRF_DEBUG"):
            raise
        sentence, code = explain(error)
        tell(f"fastcrf: {sentence}")
        drop_output()
    sys.exit(code if isinstance(code, int) else 0)


def drop_output() -> None:
    """Forget what could not be written: Python would try once more when it ends, and complain."""
    try:
        if sys.stdout is not None:
            sys.stdout.flush()
    except OSError:
        sys.stdout = open(os.devnull, "w")  # noqa: SIM115 (it outlives us)


def explain(error: BaseException) -> tuple[str, int]:
    """Return the message for an error, and the exit code."""
    if (
        isinstance(error, KeyboardInterrupt | Interrupted) or type(error).__name__ == "Abort"
    ):  # typer's, for Ctrl-C at a question
        return "interrupted.", INTERRUPTED
    if hasattr(error, "format_message"):  # a usage error of typer, which knows the command it concerns
        context = getattr(error, "ctx", None)
        message = error.format_message().rstrip()
        stop = "" if message.endswith((".", "?", "!")) else "."
        return f"{message}{stop} See {context.command_path if context else 'fastcrf'} --help.", WRONG_COMMAND
    if isinstance(error, OSError) and error.strerror:
        place = error.filename or (STANDARD_OUTPUT if error.strerror == NO_SPACE else "")
        return f"{error.strerror}: {place}" if place else error.strerror, CANNOT_USE
    if isinstance(error, (ValueError, OSError)):
        return as_options(" ".join(str(error).split())), CANNOT_USE
    if isinstance(error, ModuleNotFoundError) and (advice := advice_for(error)):
        return f"{advice}.", CANNOT_USE
    if isinstance(error, MemoryError):
        return f"There is not enough memory for this ({str(error) or 'nothing is left'}).", CANNOT_USE
    return (
        f"unexpected {type(error).__name__}: {error} (a bug in fastcrf; set FASTCRF_DEBUG=1 to see the traceback)",
        OUR_FAULT,
    )


def show_warning(message: Warning | str, category: type[Warning], *_: Any, **__: Any) -> None:
    """Print a warning as one message, without the line of source that Python would show."""
    tell(f"fastcrf: warning: {as_options(str(message))}")


def tell(sentence: str) -> None:
    """Print to standard error, if there is one."""
    if sys.stderr is not None:
        print(sentence, file=sys.stderr)


def refuse(option: str, why: str) -> NoReturn:
    """End the command with a message that begins with the option."""
    from fastcrf.cli.wrong_option import WrongOption

    raise WrongOption(f"{option} {why}")


def as_options(sentence: str) -> str:
    """Return a message with parameters of CRF as options: `max_iterations=0` is `--max-iterations 0`."""

    def option(found: re.Match[str]) -> str:
        return f"--{found[1].replace('_', '-')}{FORMS.get(found[2] or '', '')}"

    return PLAIN_NAMES.sub(option, PARAMETERS.sub(option, sentence))
