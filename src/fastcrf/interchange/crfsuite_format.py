"""The layout of a .crfsuite file, as far as reader and writer share it.

All whole numbers are unsigned, of 32 bits, little-endian; weights are doubles. The order in which CRFsuite writes it:

    header (48 bytes) | FEAT | CQDB of the labels | CQDB of the attributes | padding to 4 | LFRF | AFRF

* header: "lCRF", size of the file, "FOMC", version, number of features (CRFsuite leaves it 0), number of labels, number
  of attributes, then the offsets of FEAT, labels, attributes, LFRF and AFRF;
* FEAT: "FEAT", size, number of features, then a record for each (`FEATURE`), ordered by kind, source and target;
* CQDB: names and their ids. "CQDB", size, flags, a word that shows the byte order, number of ids, offset of the
  backward array; 256 hash tables (offset, number of slots); the records (id, length, name, NUL); the slots of the hash
  tables (hash, offset of the record); the backward array, the offset of each id's record. Offsets count from "CQDB";
* LFRF and AFRF: tag, size, number of lists, their offsets in the file, then each list: its length and feature ids. LFRF
  has a list of transitions for each label that they come from, and two empty places behind (of a start and an end that
  CRFsuite once had); AFRF has a list of state features for each attribute.
"""

from __future__ import annotations

import numpy as np

MAGIC, TYPE, VERSION = b"lCRF", b"FOMC", 100
HEADER_SIZE = 48
HEADER = "<4sI4s9I"  # magic, size, type, version, features, labels, attributes and five offsets

STATE, TRANSITION = 0, 1  # kinds of features
FEATURE = np.dtype([("kind", "<u4"), ("source", "<u4"), ("target", "<u4"), ("weight", "<f8")])

NAMES_HEADER = "<4s5I"  # "CQDB", size, flags, BYTE_ORDER, number of ids, offset of the backward array
NAMES_HEADER_SIZE = 24
BYTE_ORDER = 0x62445371
N_TABLES = 256

CHUNK = "<4sII"  # tag, size, number of entries
CHUNK_SIZE = 12
FORMER_LABELS = 2  # lists of LFRF beyond those of the labels

ENCODING, ERRORS = "utf-8", "surrogateescape"  # of names: other bytes become lone surrogates, as in items
