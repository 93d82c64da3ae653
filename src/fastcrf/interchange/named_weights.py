"""Weights by name, as other toolkits keep them, to a model whose attributes a template makes.

CRF++ and Wapiti identify an attribute by its text, "U02:a/b/c", and do not record whether that is "a/b" and "c" or "a"
and "b/c". Templates here distinguish the two. So a name becomes as many attributes as there are ways to read it, each
with the weights of the name: the score is that of the other toolkit, whichever of them occurs.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice
from typing import NamedTuple

import numpy as np

from fastcrf.core.types import FeatureMap, Floats, Longs
from fastcrf.data.encoding.attributes import Attributes, ItemAttributes
from fastcrf.data.encoding.vocabulary import growing
from fastcrf.data.model_file.content import ModelContent
from fastcrf.data.template_engine.attributes import TemplateAttributes
from fastcrf.data.template_engine.program import Family, Program, compile_templates
from fastcrf.data.templates.dialects import TemplateFile
from fastcrf.exceptions import ModelFileError

MOST_READINGS = 10_000  # of one name; a file that needs more is no file that a toolkit wrote


class NamedWeights(NamedTuple):
    """State weights that are not 0, by name and then by label, and all transitions."""

    labels: list[str]
    names: list[str]
    owners: Longs  # [S] index of the name, ascending
    targets: Longs  # [S] label, ascending within a name
    values: Floats  # [S]
    transitions: Floats  # [K, K]


def with_template(named: NamedWeights, template: TemplateFile) -> ModelContent:
    """Return the model that reads columns through a template.

    The input may have more columns than the template reads.
    """
    used, counts = np.unique(named.owners, return_counts=True)
    readings = Readings(compile_templates(template.templates))
    owners = [place for place, name in enumerate(used.tolist()) for _ in range(readings.add(named.names[name]))]
    attributes = TemplateAttributes(template, readings.alphabets, readings.pair_keys(), readings.attribute_keys())
    columns = {"kind": "template", "n_columns": readings.program.n_columns, "more_columns": True}
    firsts = np.cumsum(counts) - counts
    return content(named, attributes, firsts[owners], counts[owners], columns)


def with_items(named: NamedWeights) -> ModelContent:
    """Return the model whose attributes are the names themselves."""
    used, counts = np.unique(named.owners, return_counts=True)
    attributes = ItemAttributes.of(named.names[name] for name in used.tolist())
    return content(named, attributes, np.cumsum(counts) - counts, counts, {"kind": "items"})


def content(
    named: NamedWeights, attributes: Attributes, firsts: Longs, counts: Longs, input: dict[str, object]
) -> ModelContent:
    """Return a model whose attribute a has the `counts[a]` weights from `firsts[a]` on."""
    before = np.cumsum(counts) - counts
    taken = np.repeat(firsts - before, counts) + np.arange(counts.sum())
    sources, targets = np.nonzero(named.transitions)
    features = FeatureMap(
        offsets=np.concatenate(([0], np.cumsum(counts))).astype(np.int64),
        labels=named.targets[taken].astype(np.int32),
        sources=sources.astype(np.int32),
        targets=targets.astype(np.int32),
        n_labels=len(named.labels),
    )
    weights = np.concatenate((named.values[taken], named.transitions[sources, targets]))
    return ModelContent(list(named.labels), attributes, features, weights, {}, input)


class Readings:
    """The attributes of a program that are spelled like the names that were added."""

    def __init__(self, program: Program) -> None:
        self.program = program
        self.alphabets: list[dict[str, int]] = [growing() for _ in range(program.n_alphabets)]
        self.alphabets[-1][""]  # of templates without macros
        self.pairs: list[dict[int, int]] = [growing() for _ in program.spaces]
        self.attributes: dict[tuple[int, int], int] = growing()
        self.by_beginning: dict[str, list[int]] = {}
        for f, family in enumerate(program.families):
            self.by_beginning.setdefault(family.texts[0], []).append(f)
        self.lengths = sorted(set(map(len, self.by_beginning)))
        self.may_be_empty = {s.alphabet for s in program.streams if s.operation.command == "m"}
        self.truths = {s.alphabet for s in program.streams} - {
            s.alphabet for s in program.streams if s.operation.command != "t"
        }

    def add(self, name: str) -> int:
        """Add the attributes that are spelled so, and return their number."""
        before = len(self.attributes)
        for length in self.lengths:
            for f in self.by_beginning.get(name[:length], ()) if length <= len(name) else ():
                self.add_family(f, name)
        return len(self.attributes) - before

    def add_family(self, f: int, name: str) -> None:
        family = self.program.families[f]
        found = 0
        for values in islice(self.readings(family, name), MOST_READINGS + 1):
            self.attributes[f, self.number(family.space, values)]
            found += 1
        if found > MOST_READINGS:
            raise ModelFileError(f"attribute {name[:50]!r} can be read in more than {MOST_READINGS:,} ways")

    def readings(self, family: Family, name: str) -> Iterator[tuple[str, ...]]:
        """Return the values of the macros that make a family spell the name."""
        first, *texts = family.texts
        if not texts:
            if name == first:
                yield ("",)
            return
        alphabets = self.alphabets_of(family.space)
        for values in divisions(name[len(first) :], texts):
            if all(self.can_be(value, a) for value, a in zip(values, alphabets, strict=True)):
                yield values

    def can_be(self, value: str, alphabet: int) -> bool:
        """Return whether a cell can have this value.

        (Fewer readings are fewer attributes; unneeded ones do no harm.)
        """
        if alphabet in self.truths:
            return value in ("true", "false")
        return bool(value) or alphabet in self.may_be_empty

    def alphabets_of(self, space: int) -> list[int]:
        if space < self.program.n_alphabets:
            return [space]
        left, right = self.program.spaces[space - self.program.n_alphabets]
        return [*self.alphabets_of(left), right]

    def number(self, space: int, values: Sequence[str]) -> int:
        """Return the id of values in a space."""
        if space < self.program.n_alphabets:
            return self.alphabets[space][values[0]]
        pair = space - self.program.n_alphabets
        left, right = self.program.spaces[pair]
        return self.pairs[pair][self.number(left, values[:-1]) << 32 | self.alphabets[right][values[-1]]]

    def pair_keys(self) -> list[Longs]:
        return [np.fromiter(pairs, np.int64, len(pairs)) for pairs in self.pairs]

    def attribute_keys(self) -> Longs:
        return np.fromiter((f << 32 | i for f, i in self.attributes), np.int64, len(self.attributes))


def divisions(rest: str, texts: Sequence[str]) -> Iterator[tuple[str, ...]]:
    """Return the values v that make v[0] + texts[0] + v[1] + texts[1] + ... equal to `rest`."""
    text, *more = texts
    if not more:
        if rest.endswith(text):
            yield (rest[: len(rest) - len(text)],)
        return
    place = rest.find(text)
    while place >= 0:
        for values in divisions(rest[place + len(text) :], more):
            yield (rest[:place], *values)
        place = rest.find(text, place + 1) if place < len(rest) else -1
