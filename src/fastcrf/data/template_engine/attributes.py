"""The attributes of a model that reads raw columns: its template, and the ids of texts, pairs and attributes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import chain
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from fastcrf.core.types import Ints, Longs
from fastcrf.data.encoding.attributes import Attributes, Learner
from fastcrf.data.encoding.vocabulary import growing, names_by_id
from fastcrf.data.template_engine.gatherer import TemplateGatherer
from fastcrf.data.template_engine.program import Program, compile_templates
from fastcrf.data.template_engine.tables import Tables, join_key, split_key
from fastcrf.data.templates.dialects import TemplateFile


class TemplateAttributes:
    """Attributes that a template makes of raw columns. X is then sentences of rows, such as [["the", "DT"], ...]."""

    kind: ClassVar[str] = "template"
    n_fixed: ClassVar[int] = 0

    def __init__(
        self, template: TemplateFile, alphabets: Sequence[Mapping[str, int]], pairs: Sequence[Longs], keys: Longs
    ) -> None:
        self.template = template
        program = compile_templates(template.templates)
        self.tables = Tables(program, [dict(alphabet) for alphabet in alphabets], pairs, keys)

    @classmethod
    def empty(cls, template: TemplateFile) -> TemplateAttributes:
        """Return no attributes, from which learning begins."""
        program = compile_templates(template.templates)
        no_keys = np.empty(0, np.int64)
        alphabets: list[dict[str, int]] = [{} for _ in range(program.n_alphabets - 1)]
        return cls(template, [*alphabets, {"": 0}], [no_keys] * len(program.spaces), no_keys)

    def __len__(self) -> int:
        return self.tables.attributes.n

    @property
    def program(self) -> Program:
        return self.tables.program

    @property
    def pairs(self) -> list[Longs]:
        """Return the pairs of each space, in the order of their ids."""
        return [table.keys for table in self.tables.pairs]

    @property
    def keys(self) -> Longs:
        """Return family << 32 | id of each attribute."""
        return self.tables.attributes.keys

    def gatherer(self) -> TemplateGatherer:
        """Return a gatherer for tagging: unknown attributes are left out."""
        return TemplateGatherer(self.tables, self.template.padding, learning=False)

    def learner(self) -> Learner:
        """Return a gatherer for training, which adds unknown attributes to a copy, and a function that returns the
        copy.
        """
        copy = TemplateAttributes(self.template, self.tables.alphabets, self.pairs, self.keys)
        return Learner(TemplateGatherer(copy.tables, self.template.padding, learning=True), lambda: copy)

    def names(self) -> list[str]:
        """Return the attributes as the template spells them, such as "U05:the/cat"."""
        program = self.program
        texts = [names_by_id(alphabet) for alphabet in self.tables.alphabets]
        parts: list[Sequence[tuple[str, ...]]] = [[(text,) for text in each] for each in texts]
        for space, keys in zip(program.spaces, self.pairs, strict=True):
            lefts, rights = split_key(keys)
            pairs = zip(lefts.tolist(), rights.tolist(), strict=True)
            parts.append([(*parts[space.left][i], texts[space.right][j]) for i, j in pairs])
        families, ids = split_key(self.keys)
        chosen = zip((program.families[f] for f in families.tolist()), ids.tolist(), strict=True)
        return [spell(family.texts, parts[family.space][i]) for family, i in chosen]

    def kept(self, used: NDArray[np.bool_]) -> TemplateAttributes:
        """Return the used attributes in the same order, without texts and pairs that none of them needs."""
        program, tables = self.program, self.tables
        families, ids = split_key(self.keys[used])
        spaces = np.array([family.space for family in program.families])[families]
        needed = self.needed(spaces, ids)
        renumber = [np.cumsum(each) - 1 for each in needed]  # of each space: new id by old id
        alphabets = [
            {text: int(renumber[a][i]) for text, i in alphabet.items() if needed[a][i]}
            for a, alphabet in enumerate(tables.alphabets)
        ]
        pairs = []
        for p, (space, keys) in enumerate(zip(program.spaces, self.pairs, strict=True), program.n_alphabets):
            left, right = split_key(keys[needed[p]])
            pairs.append(join_key(renumber[space.left][left], renumber[space.right][right]))
        starts = np.cumsum([0, *map(len, renumber)])
        new_ids = np.concatenate(renumber)[starts[spaces] + ids]
        return TemplateAttributes(self.template, alphabets, pairs, join_key(families, new_ids))

    def reads_like(self, other: Attributes) -> bool:
        return isinstance(other, TemplateAttributes) and other.template[:2] == self.template[:2]  # kind and text

    def joined(self, others: Sequence[TemplateAttributes]) -> tuple[TemplateAttributes, list[Ints]]:
        """Return these and those of others with the same template, and the new ids: of texts, then pairs, then keys."""
        program = self.program
        alphabets = [growing(alphabet) for alphabet in self.tables.alphabets]
        pairs = [growing((key, i) for i, key in enumerate(keys.tolist())) for keys in self.pairs]
        known = growing((key, i) for i, key in enumerate(self.keys.tolist()))
        numbers = []
        for other in others:
            new = [
                numbered(grown, names_by_id(own)) for grown, own in zip(alphabets, other.tables.alphabets, strict=True)
            ]
            for space, grown, keys in zip(program.spaces, pairs, other.pairs, strict=True):
                left, right = split_key(keys)
                new.append(numbered(grown, join_key(new[space.left][left], new[space.right][right]).tolist()))
            families, ids = split_key(other.keys)
            spaces = np.array([family.space for family in program.families], np.int64)[families]
            starts = np.cumsum([0, *map(len, new)])
            keys = join_key(families, np.concatenate(new)[starts[spaces] + ids])
            numbers.append(numbered(known, keys.tolist()).astype(np.int32))
        tables = [np.array(names_by_id(grown), np.int64) for grown in (*pairs, known)]
        return TemplateAttributes(self.template, alphabets, tables[:-1], tables[-1]), numbers

    def needed(self, spaces: Longs, ids: Longs) -> list[NDArray[np.bool_]]:
        """Return which ids of each space these need: themselves, and the parts of pairs."""
        program = self.program
        needed = [np.zeros(size, np.bool_) for size in self.tables.sizes()]
        for space, each in enumerate(needed):
            each[ids[spaces == space]] = True
        needed[program.n_alphabets - 1][:] = True  # the empty text of templates without macros stays
        for p in reversed(range(len(program.spaces))):  # a pair comes after its parts
            left, right = split_key(self.pairs[p][needed[program.n_alphabets + p]])
            needed[program.spaces[p].left][left] = True
            needed[program.spaces[p].right][right] = True
        return needed


def numbered(grown: Mapping[Any, int], names: Sequence[Any]) -> Longs:
    """Return the id of each name; new ones get the next. Writes: grown."""
    return np.fromiter(map(grown.__getitem__, names), np.int64, len(names))


def spell(texts: Sequence[str], values: Sequence[str]) -> str:
    """Join texts with values between them. (A template without macros has one text, and the empty value after it.)"""
    return "".join(chain.from_iterable(zip(texts, (*values, ""), strict=False)))
