"""The papers, and their items by name."""

from __future__ import annotations

from fastcrf.papers.experiment import Study
from fastcrf.papers.experiments import cao2015, schmidt2015, tsuboi2011, tsuruoka2009, yang2012
from fastcrf.papers.item import Item, Paper

PAPERS: tuple[Paper, ...] = tuple(module.PAPER for module in (schmidt2015, tsuruoka2009, yang2012, tsuboi2011, cao2015))
ITEMS: dict[str, Item] = {item.name: item for paper in PAPERS for item in paper.items}


def find_items(names: list[str]) -> list[Item]:
    """Items by their names, or all items of a paper by its name, or all items."""
    found: dict[str, Item] = {}
    for name in names:
        own = [item for item in ITEMS.values() if name in ("all", item.name, item.name.partition("/")[0])]
        if not own:
            raise ValueError(f"There is no item {name!r}; `fastcrf papers list` shows them.")
        found |= {item.name: item for item in own}
    return list(found.values())


def studies_of(items: list[Item]) -> list[Study]:
    """What has to run for these items, each study once."""
    return list({study.name: study for item in items for study in item.studies}.values())
