"""Readers of tables, JSON lines, data sets and annotation tools. Each returns `Sentences`, the source of X and y."""

from __future__ import annotations

from fastcrf.data.sources.annotations import brat, doccano
from fastcrf.data.sources.conllu import conllu
from fastcrf.data.sources.json_lines import json_lines
from fastcrf.data.sources.source import Sentences
from fastcrf.data.sources.spacy_docs import spacy_docs, to_docs
from fastcrf.data.sources.tables import dataset, frame, parquet

__all__ = [
    "Sentences",
    "brat",
    "conllu",
    "dataset",
    "doccano",
    "frame",
    "json_lines",
    "parquet",
    "spacy_docs",
    "to_docs",
]
