"""Choose how kernels are compiled: with Numba's internals (tuned.py) or by its documented API only (plain.py).

The tuned mode compiles several times faster (docs/develop/kernels.md). The plain mode works with any Numba. It is
chosen if

* FASTCRF_PLAIN_JIT=1 is set;
* Numba is newer than the newest tested one, or lacks an internal name (a warning says so);
* NUMBA_DISABLE_JIT=1 is set: then nothing is compiled.

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
    """Return the module that makes kernels: tuned or plain."""
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
    """Return whether a version of Numba is newer than the newest tested one, or is not a number."""
    numbers = re.match(r"(\d+)\.(\d+)", version)
    return numbers is None or (int(numbers[1]), int(numbers[2])) > NEWEST_TESTED


def plain_mode(reason: str = "") -> Any:
    """Return the plain mode, with a warning if there is a reason that the user does not know."""
    from fastcrf.jit import plain

    if reason:
        logging.getLogger("fastcrf").warning(
            "Kernels take longer to compile: %s. Upgrade fastcrf, or set %s=1 to silence this warning.", reason, SWITCH
        )
    return plain
