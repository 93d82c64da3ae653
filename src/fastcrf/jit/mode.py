"""How kernels are compiled: with the help of Numba's internals (tuned.py), or by its documented API alone (plain.py).

The tuned mode compiles several times as quickly (docs/kernels.md). The plain mode is for any Numba: it is taken where

* FASTCRF_PLAIN_JIT=1 asks for it;
* Numba is newer than the newest one whose internals were tested, or lacks one of those (a warning says so);
* NUMBA_DISABLE_JIT=1: then nothing is compiled.

FASTCRF_PLAIN_JIT=0 tries the tuned mode with a newer Numba.
"""

from __future__ import annotations

import logging
import os
import re
from typing import Any

import numba

NEWEST_TESTED = (0, 68)
SWITCH = "FASTCRF_PLAIN_JIT"


def choose_mode(version: str = numba.__version__) -> Any:
    """The module that makes kernels: tuned or plain."""
    asked = os.environ.get(SWITCH, "")
    if numba.config.DISABLE_JIT or asked not in ("", "0"):  # type: ignore[attr-defined]
        return plain_mode()
    if asked == "" and is_newer(version):
        return plain_mode(f"Numba {version} is newer than {'.'.join(map(str, NEWEST_TESTED))}, the newest tested one")
    try:
        from fastcrf.jit import tuned
    except (ImportError, AttributeError) as error:
        return plain_mode(f"Numba {version} has changed: {error}")
    return tuned


def is_newer(version: str) -> bool:
    """Whether a version of Numba is newer than the newest tested one, or cannot be told."""
    numbers = re.match(r"(\d+)\.(\d+)", version)
    return numbers is None or (int(numbers[1]), int(numbers[2])) > NEWEST_TESTED


def plain_mode(reason: str = "") -> Any:
    """The plain mode; a reason is given for what nobody asked for."""
    from fastcrf.jit import plain

    if reason:
        logging.getLogger("fastcrf").warning(
            "Kernels take longer to compile: %s. Upgrade fastcrf, or set %s=1 to silence this warning.", reason, SWITCH
        )
    return plain
