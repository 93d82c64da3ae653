"""What is attacked, by name."""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path

from fuzz import corpora, files, item_streams, sources, values

Target = Callable[[random.Random, Path], Callable[[], object]]  # makes an input; the rest is what uses it

TARGETS: dict[str, Target] = {
    "columns": files.columns,
    "items": files.items,
    "item-streams": item_streams.item_streams,
    "templates": files.templates,
    "sources": sources.sources,
    "brat": sources.brat,
    "word-lists": sources.word_lists,
    "arrays": sources.arrays,
    "models": files.models,
    "signed-models": files.signed_models,
    "encoded-corpora": corpora.encoded_corpora,
    "signed-corpora": corpora.signed_corpora,
    "checkpoints": files.checkpoints,
    "signed-checkpoints": files.signed_checkpoints,
    "streams": files.streams,
    "signed-streams": files.signed_streams,
    "data-values": values.data_values,
    "tagged-values": values.tagged_values,
    "parameters": values.parameters,
    "solver-options": values.solver_options,
    "regular-expressions": values.regular_expressions,
}


def make_input(target: str, seed: int, number: int, folder: Path) -> Callable[[], object]:
    """Input `number` of a target, ready to be used."""
    return TARGETS[target](random.Random(f"{target}/{seed}/{number}"), folder)
