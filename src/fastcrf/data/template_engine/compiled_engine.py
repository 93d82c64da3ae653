"""The engine of compiled code, which tags and learns."""

from __future__ import annotations

from fastcrf.core.types import Ints, Longs
from fastcrf.data.template_engine.blocks import Pairing, Slots
from fastcrf.data.template_engine.kernels import combine, find_sources, give_out, show
from fastcrf.data.template_engine.tables import PairTable, Tables


class CompiledEngine:
    find_sources = staticmethod(find_sources)
    show = staticmethod(show)

    def combine(self, slots: Slots, pairing: Pairing, table: PairTable, growing: bool, track: Ints) -> None:
        if growing or not len(table.pairs.slots):
            table.reserve(len(track) if growing else 0)
        n = combine(slots, pairing, table.pairs, table.n, growing, track)
        if growing:
            table.n = n

    def give_out(
        self, slots: Slots, tracks: Ints, tables: Tables, growing: bool, attributes: Ints, ends: Longs
    ) -> None:
        table = tables.attributes
        if growing:
            table.reserve(tables.sizes(), len(attributes))
        n = give_out(slots, tracks, table.outputs, table.n, growing, attributes, ends)
        if growing:
            table.n = n


ENGINE = CompiledEngine()
