"""sklearn-crfsuite's package: the same estimator, metrics and scorers, trained and tagged by fastcrf.

Made after sklearn-crfsuite 0.5.0. `fastcrf.CRF` has more to offer and the same parameters; this one is for programs
that cannot be changed, and for pickles. docs/from-crfsuite.md lists the differences.
"""

from __future__ import annotations

from fastcrf.compat.sklearn_crfsuite.estimator import CRF

__all__ = ["CRF"]
