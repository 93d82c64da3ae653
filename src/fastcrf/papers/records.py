"""The rows of studies on disk: JSON lines, gzipped, one line a run.

A line is complete in itself: what was run, on which data, by which code and machine, how it ended, and its rows. Rows
of edited code are kept, and told apart by their version. A file is replaced in one piece.
"""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from fastcrf.lab.experiment import Penalty
from fastcrf.lab.store import plain
from fastcrf.system.atomic_write import replace_file

Record = dict[str, Any]
Key = tuple[str, float, float, str, str, int | None]  # set or part of it, c1, c2, curve, options, seed

COLUMNS = ("step", "passes", "seconds", "cpu_seconds", "objective", "relative_gap")
DIGITS = 12  # of an objective, whose distance to the optimum is small; of everything else, half
EXACT = ("objective",)


class Book:
    """The records of one study. Of several runs that answer the same question, the newest counts."""

    def __init__(self, folder: Path, study: str) -> None:
        self.path = folder / f"{study}.jsonl.gz"
        self.records: list[Record] = self.read()
        self.newest = {key_of(record): record for record in self.records}

    def read(self) -> list[Record]:
        if not self.path.is_file():
            return []
        with gzip.open(self.path, "rt", encoding="utf-8") as lines:
            return [json.loads(line) for line in lines]

    def add(self, record: Record) -> None:
        """Append a record, and whatever another process has added meanwhile stays."""
        self.records = [*self.read(), plain(record)]
        text = "".join(json.dumps(each, allow_nan=False) + "\n" for each in self.records)
        self.path.parent.mkdir(parents=True, exist_ok=True)
        replace_file(self.path, gzip.compress(text.encode(), mtime=0))
        self.newest = {key_of(each): each for each in self.records}


def part_of(name: str, first: int | None) -> str:
    """The name of the first sequences of a set; of the whole set, if there is no number."""
    return name if first is None else f"{name}[:{first}]"


def whole_of(part: str) -> tuple[str, int | None]:
    """A set, and how many of its sequences a name stands for; None: all."""
    name, _, number = part.partition("[:")
    return name, int(number.removesuffix("]")) if number else None


def key_of(record: Record) -> Key:
    asked = record["set"], record["c1"], record["c2"], record["curve"]
    return *asked, options_text(record["options"]), record["seed"]


def make_key(set: str, penalty: Penalty, curve: str, options: Mapping[str, Any], seed: int | None) -> Key:
    return set, penalty.c1, penalty.c2, curve, options_text(options), seed


def options_text(options: Mapping[str, Any]) -> str:
    return json.dumps(plain(dict(options)), sort_keys=True)


def short_rows(rows: Iterable[Mapping[str, Any]], scores: Iterable[str]) -> list[Record]:
    """Rows with what pages read, in as many digits as they need."""
    return [
        {name: rounded(row[name], name) for name in (*COLUMNS, *scores) if row.get(name) is not None} for row in rows
    ]


def rounded(value: Any, name: str) -> Any:
    digits = DIGITS if name in EXACT else DIGITS // 2
    return float(f"{value:.{digits}g}") if isinstance(value, float) else value
