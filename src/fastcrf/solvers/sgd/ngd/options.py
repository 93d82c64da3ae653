"""Options shared by natural gradient solvers: which direction is taken. This file defines no solver."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, ClassVar

from fastcrf.exceptions import OptionError
from fastcrf.solvers.declaration import solver
from fastcrf.solvers.options import check_choice, check_number, check_positive
from fastcrf.solvers.sgd.ngd.bregman_updates import LOSSES, UPDATES, Coefficients, OfDivergence, coefficients_of
from fastcrf.solvers.sgd.ngd.convex_functions import Arctan, Erf, Gd, Power, WholeArctan, tabulate

FUNCTIONS = ("g1", "g2", "g3", "p")
NAMES = tuple(f"{update}.{function}" for update in (*UPDATES, *LOSSES) for function in FUNCTIONS)
INFINITE = ("u4.p", *(f"{loss}.p" for loss in LOSSES))  # G'' is taken where it need not be 0 or finite


@solver
class BregmanUpdate:
    """Declare the options of updates from Bregman divergences.

    Parameters
    ----------
    update
        Update U1 to U6 of the paper with a convex function, "g1", "g2", "g3" or "p", such as "u2.g1"; or the loss whose
        natural gradient is the update, B1 to B4, such as "b1.g1", or "b.g1", with `coefficients`.
    epsilon
        Parameter of g1.
    alpha
        Parameter of g2.
    beta
        Parameter of g3.
    p
        Exponent of the function |u|^p / p.
    gamma
        Of the losses B1 to B4: the share of the expected counts on one side of the divergence.
    coefficients
        Of the loss "b", B(a E - b O, c E - d O): the numbers a, b, c, d, with a - b = c - d (footnote 1).
    """

    name: ClassVar[str]

    update: str = "u2.g1"
    epsilon: float = 0.1
    alpha: float = 5.0 * math.sqrt(math.pi)
    beta: float = 10.0
    p: float = 2.0
    gamma: float = 1.0
    coefficients: Sequence[float] = (1.0, 0.0, 0.0, -1.0)

    def __post_init__(self) -> None:
        check_choice(self.name, "update", self.update, NAMES)
        for option in ("epsilon", "alpha", "beta", "p"):
            check_positive(self.name, option, getattr(self, option))
        if self.p <= 1.0:
            message = f"{self.name}: p must be above 1, so that |u|^p / p has a derivative at 0; got p={self.p!r}."
            raise OptionError(message, self.name, "p", self.p)
        if self.update in INFINITE and self.p < 2.0:
            message = (
                f"{self.name}: p must be at least 2 for {self.update}, which is otherwise infinite at 0; "
                f"got p={self.p!r}."
            )
            raise OptionError(message, self.name, "p", self.p)
        check_number(self.name, "gamma", self.gamma)
        object.__setattr__(self, "coefficients", check_coefficients(self.name, self.coefficients))

    @property
    def kind(self) -> str:
        """Return the update or the loss, without the function."""
        return self.update.partition(".")[0]

    @property
    def function(self) -> Any:
        """Return G, one of convex_functions.py."""
        kinds = {"g1": (Arctan, self.epsilon), "g2": (Erf, self.alpha), "g3": (Gd, self.beta), "p": (Power, self.p)}
        kind, constant = kinds[self.update.partition(".")[2]]
        if kind is Arctan and self.kind in LOSSES:
            kind = WholeArctan
        return kind(float(constant))  # an integer would be another type to the compiler

    @property
    def euclidean(self) -> bool:
        """Return whether the direction is the gradient of the log-likelihood."""
        a, _, c, _ = self.coefficients
        return bool(self.function == Power(2.0) and (self.kind != "b" or abs(a - c) == 1.0))

    def transformation(self, table: bool) -> Any:
        """Return the update with its function, one of bregman_updates.py; table: with G' and G'' looked up."""
        looked_up = table and not isinstance(self.function, Power)  # if p = 2 the result must equal sgd exactly
        function = tabulate(self.function) if looked_up else self.function
        if self.kind in UPDATES:
            return UPDATES[self.kind](function)
        a, b, c, d = self.coefficients if self.kind == "b" else coefficients_of(self.kind, float(self.gamma))
        return OfDivergence(a, b, c, d, function)


def check_coefficients(name: str, given: Sequence[float]) -> Coefficients:
    """Return (a, b, c, d); raise `OptionError` if their loss is not lowest where expected and observed counts agree."""
    try:
        a, b, c, d = (float(number) for number in given)
    except (TypeError, ValueError):
        a = b = c = d = math.nan
    if not abs((a - b) - (c - d)) <= 1e-12 * (abs(a) + abs(b) + abs(c) + abs(d)) or a == c:
        message = f"{name}: coefficients must be four numbers a, b, c, d with a - b = c - d and a != c; got {given!r}."
        raise OptionError(message, name, "coefficients", given)
    return a, b, c, d
