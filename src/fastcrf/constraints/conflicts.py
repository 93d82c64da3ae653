"""Where constraints contradict each other, found by the labels that can be reached from the start of a sequence."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NoReturn

import numpy as np

from fastcrf.constraints.allowed import Allowed
from fastcrf.constraints.constraints import Label
from fastcrf.constraints.schemes import Flags, some
from fastcrf.core.types import Longs
from fastcrf.exceptions import ConstraintError


def raise_conflict(allowed: Allowed, starts: Longs, labels: Sequence[Label], i: int) -> NoReturn:
    """Raise ConstraintError for sequence i, which no label sequence is allowed for."""
    own = allowed.slice_of(int(starts[i]), int(starts[i + 1])).mask()
    before = own[0]
    for t, here in enumerate(own):
        reached = here if t == 0 else here & (before @ allowed.transitions)
        if not reached.any():
            raise ConstraintError(f"X[{i}], position {t}: {reason(before, here, labels, t)}", i, t)
        before = reached
    raise AssertionError(f"X[{i}] has an allowed label sequence")


def reason(before: Flags, here: Flags, labels: Sequence[Label], t: int) -> str:
    """Return why no label can be reached at position t, after those that can be reached before it."""
    reached, wanted = (some([labels[k] for k in np.flatnonzero(flags).tolist()]) or "none" for flags in (before, here))
    return (
        f"the constraints allow only {wanted}, which may not follow {reached} at position {t - 1}; "
        "allow the transition, or other labels at one of the two."
    )
