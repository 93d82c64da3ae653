"""python-crfsuite's module: the same names, items, files, parameters, messages and exceptions, trained by fastcrf.

Made after python-crfsuite 0.9.12. docs/how-to/from-crfsuite.md lists the differences.
"""

from __future__ import annotations

from fastcrf.compat.pycrfsuite import _dumpparser, _logparser
from fastcrf.compat.pycrfsuite._errors import CRFSuiteError
from fastcrf.compat.pycrfsuite._items import ItemSequence
from fastcrf.compat.pycrfsuite._tagger import Tagger
from fastcrf.compat.pycrfsuite._trainer import BaseTrainer, Trainer

CRFSUITE_VERSION = "0.12.2"  # whose behavior this module has

__all__ = [
    "CRFSUITE_VERSION",
    "BaseTrainer",
    "CRFSuiteError",
    "ItemSequence",
    "Tagger",
    "Trainer",
    "_dumpparser",
    "_logparser",
]
