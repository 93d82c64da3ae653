"""Carries out the runs of studies that are not on disk yet, one after another, and keeps each as soon as it has ended.

A run that was killed goes on from its checkpoint. A run that is on disk is not repeated, whatever its code, unless
stale ones are asked for.
"""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

from fastcrf.exceptions import DataError
from fastcrf.lab.dataset import Dataset
from fastcrf.lab.experiment import SEED, Objective, Penalty, PlannedRun, short_hash
from fastcrf.lab.machine import code_version, machine_facts
from fastcrf.lab.runner import Watcher, measure, warm_up
from fastcrf.papers.choose import Choice, Options
from fastcrf.papers.experiment import OPTIMUM, Curve, Study
from fastcrf.papers.records import Book, Record, make_key, part_of, short_rows, whole_of
from fastcrf.papers.substitutes import SETS, toy
from fastcrf.solvers.registry import make, options_of
from fastcrf.training.progress import Display

HOUR = 3600.0
PROBE = "probe"


class Wanted(NamedTuple):
    """A run that is not on disk."""

    set: str
    penalty: Penalty
    curve: Curve
    options: Options
    seed: int | None


@dataclasses.dataclass
class Session:
    """What one call of `run` knows: where things are kept, how far to go, and what went wrong."""

    rows: Path
    checkpoints: Path
    seeds: int | None = None
    sets: frozenset[str] = frozenset()  # only these, if there are any
    first: int | None = None  # train with so many sequences of each set
    until: float = float("inf")  # by time.monotonic: no run begins later
    stale: bool = False
    toy: bool = False
    say: Callable[[str], None] = lambda sentence: None
    display: Callable[[], Display | None] = lambda: None  # of one run

    def __post_init__(self) -> None:
        self.refused: set[str] = set()  # sets that are not at hand
        self.failed: set[Any] = set()
        self.repeated: set[Any] = set()
        self.warm: set[Any] = set()  # what has its kernels
        self.spent, self.done = 0.0, 0
        self.checkpoints.mkdir(parents=True, exist_ok=True)
        self.dataset: tuple[str, Dataset] | None = None

    def run(self, study: Study) -> None:
        """Everything of a study that is missing."""
        book = Book(self.rows, study.name)
        if study.probe:
            self.probe(study, book)
        while time.monotonic() < self.until:
            wanted = next(self.missing(study, book), None)
            if wanted is None:
                return
            self.carry_out(study, wanted, book)
        self.say(f"{study.name}: the hours are over; the same command continues.")

    def missing(self, study: Study, book: Book) -> Iterator[Wanted]:
        """Runs that are not on disk: the first seed of everything comes first, then the other seeds."""
        for seed in range(study.seeds if self.seeds is None else min(self.seeds, study.seeds)):
            for name in study.sets:
                for penalty in study.penalties:
                    for curve in study.to_run(name):
                        own, part = curve.penalty or penalty, part_of(name, self.first)
                        yield from self.missing_of(Choice(curve, part, own, first_seed(curve), self.toy), seed, book)

    def missing_of(self, choice: Choice, seed: int, book: Book) -> Iterator[Wanted]:
        curve = choice.curve
        if seed and (choice.seed is None or seed >= (curve.seeds or seed + 1)):
            return
        ranked = choice.ranked(book.newest)
        options = ranked[:1] if seed else [*(ranked if self.stale else ()), *choice.trials(book.newest)]
        for each in options:
            own_seed = None if choice.seed is None else seed
            wanted = Wanted(choice.name, choice.penalty, curve, each, own_seed)
            if self.is_missing(wanted, book):
                yield wanted

    def is_missing(self, wanted: Wanted, book: Book) -> bool:
        key = key_of(wanted)
        if wanted.set in self.refused or (self.sets and whole_of(wanted.set)[0] not in self.sets):
            return False
        if (book.path.name, key) in self.failed:
            return False
        record = book.newest.get(key)
        old = record is not None and self.stale and (book.path.name, key) not in self.repeated and is_older(record)
        return record is None or old

    def carry_out(self, study: Study, wanted: Wanted, book: Book) -> None:
        dataset = self.load(wanted.set)
        if dataset is None:
            return
        key = book.path.name, key_of(wanted)
        self.say(f"{study.name}, {wanted.set}: {in_words(wanted)} ({self.progress(study)})")
        began = time.monotonic()
        try:
            book.add(self.record(study, wanted, dataset))
            self.repeated.add(key)
        except (ValueError, ArithmeticError, MemoryError) as error:
            self.failed.add(key)
            self.say(f"{study.name}, {wanted.set}: {in_words(wanted)} failed: {type(error).__name__}: {error}")
        self.spent, self.done = self.spent + time.monotonic() - began, self.done + 1

    def record(self, study: Study, wanted: Wanted, dataset: Dataset) -> Record:
        """Run, and describe what was run."""
        options = dict(wanted.options) | ({} if wanted.seed is None else {SEED: wanted.seed})
        own = study if wanted.curve is not OPTIMUM else dataclasses.replace(study, marks=(), scores=())
        solver = make(wanted.curve.solver, **options)
        limits = wanted.curve.limits or study.limits
        planned = PlannedRun(Objective(dataset, wanted.penalty), wanted.curve.label, solver, 1, own.marks, own.scores)
        self.warm_up(planned)
        identity = short_hash([*planned.identity, limits])
        rows, _ = measure(planned, limits, self.checkpoints / f"{identity}.state", self.display())
        (self.checkpoints / f"{identity}.state").unlink(missing_ok=True)
        last = rows[-1]
        told = {name: last[name] for name in ("status", "reason", "cpu_share", "peak_mb", "state_mb", "machine")}
        return {
            **described(study, wanted.set, dataset),
            **wanted.penalty._asdict(),
            "curve": wanted.curve.label,
            "solver": solver.name,
            "options": dict(wanted.options),
            "seed": wanted.seed,
            "key": identity,
            "version": code_version(solver),
            "limits": limits._asdict(),
            "marks": list(own.marks),
            "date": today(),
            **told,
            "rows": short_rows(rows, own.scores),
        }

    def warm_up(self, planned: PlannedRun) -> None:
        """Compile what the run needs, once for each set, solver and options that are words."""
        words = (value for value in planned.options.values() if isinstance(value, str))
        key = planned.objective.dataset.name, planned.solver.name, *words, planned.objective.penalty.c1 > 0.0
        if key not in self.warm:
            self.warm.add(key)
            warm_up([planned], Watcher())

    def probe(self, study: Study, book: Book) -> None:
        """Figures of a set itself, such as sizes."""
        for name in study.sets:
            wanted = Wanted(name, Penalty(), Curve(PROBE, PROBE), {}, None)
            if not self.is_missing(wanted, book):
                continue
            dataset = self.load(name)
            if dataset is not None and study.probe:
                facts = {"c1": 0.0, "c2": 0.0, "curve": PROBE, "solver": PROBE, "options": {}, "seed": None}
                book.add(
                    {**described(study, name, dataset), **facts, "key": dataset.fingerprint, "version": None,
                     "status": "finished", "machine": machine_facts(), "date": today(), "rows": [study.probe(dataset)]}
                )  # fmt: skip

    def load(self, part: str) -> Dataset | None:
        """A set, of which the last one is kept in memory; None, and a sentence, if it is not at hand."""
        if self.dataset is None or self.dataset[0] != part:
            self.dataset = None
            name, first = whole_of(part)
            try:
                self.dataset = part, toy(name) if self.toy else SETS[name].load(**({"first": first} if first else {}))
            except (DataError, OSError) as error:
                self.refused.add(part)
                self.say(f"Skipped: {error}")
                return None
        return self.dataset[1]

    def progress(self, study: Study) -> str:
        """How long it will take, by the study's own estimate and by what the runs of this session took."""
        mean = f", {self.spent / self.done:.0f} s a run" if self.done else ""
        left = max(0.0, sum(study.hours.values()) - self.spent / HOUR)
        return f"{self.done} done{mean}, at most {left:.1f} h left" if study.hours else f"{self.done} done{mean}"


def first_seed(curve: Curve) -> int | None:
    """0, or None for a solver that is not stochastic."""
    return 0 if SEED in options_of(curve.solver) else None


def today() -> str:
    return time.strftime("%Y-%m-%d", time.gmtime())


def described(study: Study, name: str, dataset: Dataset) -> Record:
    facts = {**dataset.facts(), "data": dataset.fingerprint}
    return {"study": study.name, "set": name, "facts": facts}


def key_of(wanted: Wanted) -> Any:
    return make_key(wanted.set, wanted.penalty, wanted.curve.label, wanted.options, wanted.seed)


def is_older(record: Record) -> bool:
    """Whether sources that the run depends on have changed since."""
    if record["solver"] == PROBE:
        return False
    now = code_version(make(record["solver"], **record["options"]))
    return sources_of(record["version"]) != sources_of(now)


def sources_of(version: str) -> str:
    """The hash of sources in a version such as `1.0.0+0a1b2c`: a release alone makes no run older."""
    return version.rpartition("+")[2]


def in_words(wanted: Wanted) -> str:
    options = ", ".join(f"{name}={value}" for name, value in wanted.options.items())
    seed = "" if wanted.seed is None else f", seed {wanted.seed}"
    return f"{wanted.curve.label}{' (' if options else ''}{options}{')' if options else ''}{seed}"
