"""What scikit-learn expects of an estimator: warnings of convergence."""

from __future__ import annotations

import warnings

from sklearn.exceptions import ConvergenceWarning

from fastcrf.fitting.fit import Fit


def warn_early_end(fit: Fit) -> None:
    """Issue a ConvergenceWarning that says why training ended and what to do."""
    result = fit.result
    if result.status == "stopped":
        sentence = f"Training did not converge. {result.reason} Increase the limit or tol."
    else:
        certificate = str(result.certificate)
        sentence = f"Training ended early. {result.reason} {certificate[:1].upper()}{certificate[1:]}."
    warnings.warn(sentence, ConvergenceWarning, stacklevel=3)
