"""The engine that needs no compiler; it tags, and never learns."""

from __future__ import annotations

from fastcrf.core.types import Ints, Longs
from fastcrf.data.template_engine.blocks import Pairing, Slots
from fastcrf.data.template_engine.plain import combine, find_sources, give_out, show
from fastcrf.data.template_engine.tables import PairTable, Tables


class PlainEngine:
    find_sources = staticmethod(find_sources)
    show = staticmethod(show)

    def combine(self, slots: Slots, pairing: Pairing, table: PairTable, growing: bool, track: Ints) -> None:
        combine(slots, pairing, *table.in_order(), track)

    def give_out(
        self, slots: Slots, tracks: Ints, tables: Tables, growing: bool, attributes: Ints, ends: Longs
    ) -> None:
        give_out(slots, tracks, tables.attributes.outputs, attributes, ends)


ENGINE = PlainEngine()
