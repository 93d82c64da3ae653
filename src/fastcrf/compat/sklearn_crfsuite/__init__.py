"""sklearn-crfsuite's package: the same estimator, metrics and scorers, trained and tagged by fastcrf.

Made after sklearn-crfsuite 0.5.0, with its parameters and its stopping criteria. New programs use `fastcrf.CRF`; this
package is for programs that cannot be changed, and for pickles. docs/how-to/from-crfsuite.md lists the differences.
"""

from __future__ import annotations

from fastcrf.compat.sklearn_crfsuite.estimator import CRF

__all__ = ["CRF"]
