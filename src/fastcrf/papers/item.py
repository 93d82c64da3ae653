"""What an item of a paper says: figures beside printed ones, claims that rows decide, and axes of a picture."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import NamedTuple

from fastcrf.papers.experiment import Study
from fastcrf.papers.view import View


class Verdict(NamedTuple):
    """A word of WORDS, and why.

    partly: whether some comparisons could not be made, because runs are missing; reduced: whether sets were, to their
    first sequences.
    """

    word: str
    why: str = ""
    partly: bool = False
    reduced: bool = False

    def __str__(self) -> str:
        details = ["partly run"] * self.partly + ["reduced"] * (self.reduced and self.word in DECIDED)
        return f"{self.word} ({', '.join(details)})" if details else self.word


CONFIRMED, REFUTED, UNDECIDED = "confirmed", "refuted", "undecided"
NOT_COMPARABLE, NOT_RUN = "not comparable", "not run"
DECIDED = (CONFIRMED, REFUTED, UNDECIDED)
WORDS = (CONFIRMED, REFUTED, UNDECIDED, NOT_COMPARABLE, NOT_RUN)


class Quantity(NamedTuple):
    """A printed figure beside ours.

    measure: ours, one value a seed; near: by how much the mean may differ for "confirmed", relative or absolute; None:
    the figure depends on hardware or data that we do not have.
    """

    label: str
    printed: float | None
    measure: Callable[[View], list[float]]
    form: str = ".4g"
    near: float | None = None
    absolute: bool = False

    def judge(self, found: list[float], reduced: bool = False) -> Verdict:
        """reduced: ours are of a part of the paper's data."""
        if not found:
            return Verdict(NOT_RUN)
        if self.near is None or self.printed is None or reduced:
            return Verdict(NOT_COMPARABLE)
        off = abs(sum(found) / len(found) - self.printed)
        return Verdict(CONFIRMED if off <= self.near * (1.0 if self.absolute else abs(self.printed)) else REFUTED)


class Claim(NamedTuple):
    """A sentence of the paper and how rows decide on it.

    whole: whether the number of sequences matters, as it does for what is reached after one pass: sets that are reduced
    then have no say.
    """

    sentence: str
    judge: Callable[[View], Verdict]
    whole: bool = False


class Panel(NamedTuple):
    """One set of axes of a figure. limits: of the y axis; None: what the rows need."""

    title: str
    set: str
    y: str
    limits: tuple[float, float] | None = None


class Figure(NamedTuple):
    """Curves against effort, with the paper's axes. dotted: also with the second-best step size."""

    panels: tuple[Panel, ...]
    x: str
    curves: tuple[str, ...] = ()  # none: all
    log_x: bool = False
    last_x: float | None = None  # where the axis ends
    dotted: bool = False


@dataclass(frozen=True)
class Item:
    """A table, a figure or a part of the text of a paper."""

    name: str  # "schmidt2015/figure-1"
    title: str
    says: str  # what the paper says of it
    studies: tuple[Study, ...]
    quantities: tuple[Quantity, ...] = ()
    claims: tuple[Claim, ...] = ()
    figure: Figure | None = None
    differs: str = ""  # how our experiment differs from the paper's

    @property
    def hours(self) -> float:
        return sum(sum(study.hours.values()) for study in self.studies)


class Paper(NamedTuple):
    name: str
    title: str  # authors and year
    citation: str
    says: str
    items: tuple[Item, ...]
    features: Mapping[str, int]  # that it prints, by our set
    learnt: str = ""  # what our runs say that the paper does not
