"""Attributes of a template as arrays and a header of a model file, and back."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import chain
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fastcrf.core.types import Longs
from fastcrf.data.encoding.vocabulary import names_by_id, pack_names
from fastcrf.data.model_file.content_checks import ascend_to, require, take, take_names
from fastcrf.data.template_engine.attributes import TemplateAttributes
from fastcrf.data.template_engine.program import compile_templates
from fastcrf.data.template_engine.tables import split_key
from fastcrf.data.templates.dialects import parse_template
from fastcrf.exceptions import DataError, ModelFileError

Arrays = Mapping[str, NDArray[Any]]

ID_LIMIT = 1 << 31


def pack(attributes: TemplateAttributes) -> tuple[dict[str, NDArray[Any]], dict[str, Any]]:
    alphabets, pairs = attributes.tables.alphabets, attributes.pairs
    texts, offsets = pack_names(chain.from_iterable(map(names_by_id, alphabets)))
    arrays: dict[str, NDArray[Any]] = {
        "text_names": texts,
        "text_name_offsets": offsets,
        "text_counts": counts(alphabets),
        "pair_keys": np.concatenate([np.empty(0, np.int64), *pairs]),
        "pair_counts": counts(pairs),
        "attribute_keys": attributes.keys.copy(),
    }
    return arrays, {"template_kind": attributes.template.kind, "template": attributes.template.text}


def unpack(arrays: Arrays, header: Mapping[str, Any]) -> TemplateAttributes:
    kind, text = header.get("template_kind"), header.get("template")
    if not (isinstance(kind, str) and isinstance(text, str)):
        raise ModelFileError("the model is damaged: it has no template")
    try:
        template = parse_template(text, kind)
    except DataError as error:
        raise ModelFileError(f"the model is damaged: its template cannot be read ({error})") from None
    program = compile_templates(template.templates)
    names = divide(take_names(arrays, "text"), arrays, "text_counts", program.n_alphabets)
    alphabets = [{name: i for i, name in enumerate(each)} for each in names]
    require([len(each) for each in names] == [len(each) for each in alphabets], "the same text twice")
    require(alphabets[-1] == {"": 0}, "no empty text")
    pairs = divide(take(arrays, "pair_keys", np.int64), arrays, "pair_counts", len(program.spaces))
    sizes = np.array([*map(len, alphabets), *map(len, pairs)])
    for space, keys in zip(program.spaces, pairs, strict=True):
        require_keys(keys, sizes[space.left], sizes[space.right], "a pair")
    keys = take(arrays, "attribute_keys", np.int64)
    require_keys(keys, len(program.families), ID_LIMIT, "an attribute")
    families, ids = split_key(keys)
    sizes_of_spaces = sizes[[family.space for family in program.families]]
    require(bool((ids < sizes_of_spaces[families]).all()), "an attribute out of range")
    return TemplateAttributes(template, alphabets, pairs, keys)


def counts(parts: Sequence[Any]) -> Longs:
    return np.fromiter(map(len, parts), np.int64, len(parts))


def divide(whole: Any, arrays: Arrays, name: str, n: int) -> list[Any]:
    """Divide joined values into n parts of the lengths in the array `name`."""
    lengths = take(arrays, name, np.int64)
    ends = np.concatenate(([0], np.cumsum(lengths)))
    require(len(lengths) == n and ascend_to(ends, len(whole)), f"{name} that do not fit")
    return [whole[start:end] for start, end in zip(ends[:-1].tolist(), ends[1:].tolist(), strict=True)]


def require_keys(keys: Longs, n_left: int, n_right: int, what: str) -> None:
    """Check that keys are within bounds and distinct."""
    left, right = split_key(keys)
    within = (left >= 0) & (left < n_left) & (right < n_right)
    require(bool(within.all()), f"{what} out of range")
    require(len(np.unique(keys)) == len(keys), f"{what} twice")
