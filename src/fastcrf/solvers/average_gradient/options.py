"""The options that solvers with a memory of gradients share, and how they run; not a solver itself.

A solver of the family is its rule of visiting (rule.py) and `correction`: 0 for SAG's step, 1 for SAGA's.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from fastcrf.draws.storage import MODES, PRECISIONS
from fastcrf.solvers.average_gradient.loop import AverageGradientRun
from fastcrf.solvers.average_gradient.rule import Rule
from fastcrf.solvers.options import check_choice, check_positive, check_whole
from fastcrf.types import Floats, Step


@dataclass(frozen=True)
class AverageGradient:
    """first_lipschitz: where the search for Lipschitz constants starts; batch: sequences a draw (at most); seed: of the
    draws, and of what is drawn together. Several sequences a draw need a few more passes, which are cheaper, and store
    less (schmidt2015, section 7); docs/batches.md has figures.

    memory: how gradients are kept, which has no effect on where the run goes: "mixed", "marginals", "sparse", "naive",
    or "auto", the smallest ("mixed" if that is hardly larger); precision: of what is kept, "double" or "single"
    (draws/storage.py).
    """

    name: ClassVar[str]
    needs: ClassVar[frozenset[str]] = frozenset({"sequences"})
    handles: ClassVar[frozenset[str]] = frozenset({"none", "l2"})
    correction: ClassVar[float] = 0.0

    first_lipschitz: float = 1.0
    batch: int = 1
    seed: int = 0
    memory: str = "auto"
    precision: str = "double"

    def __post_init__(self) -> None:
        check_positive(self.name, "first_lipschitz", self.first_lipschitz)
        check_whole(self.name, "batch", self.batch, 1)
        check_whole(self.name, "seed", self.seed, 0)
        check_choice(self.name, "memory", self.memory, ("auto", *MODES))
        check_choice(self.name, "precision", self.precision, PRECISIONS)

    def rule(self, n: int) -> Rule:
        """Draws, Lipschitz constants and step size for n blocks of sequences."""
        raise NotImplementedError

    def iterate(self, problem: Any, weights: Floats, memory: Mapping[str, Any] | None = None) -> Iterator[Step]:
        rule = self.rule(-(-problem.n_sequences // self.batch))
        run = AverageGradientRun(
            problem, weights, memory, rule, self.seed,
            correction=self.correction, mode=self.memory, precision=self.precision,
        )  # fmt: skip
        yield run.step()
        while True:
            yield run.run_epoch()
