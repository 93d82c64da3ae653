"""Parameters such as `algorithm__pairs`: the options of an estimator's Solver object, by scikit-learn's convention."""

from __future__ import annotations

from dataclasses import fields, is_dataclass
from typing import Any, Self

from sklearn.base import BaseEstimator

from fastcrf.solvers.registry import as_solver, changed

PREFIX = "algorithm__"


class WithSolverParameters(BaseEstimator):
    """An estimator whose parameter `algorithm` is the name of a solver or a Solver object."""

    algorithm: Any

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Return the parameters by name.

        Parameters
        ----------
        deep : bool, default=True
            Whether to include the options of a Solver object, as `algorithm__pairs`.

        Returns
        -------
        dict
            The parameters.
        """
        params: dict[str, Any] = super().get_params(deep)
        if deep and is_dataclass(self.algorithm) and not isinstance(self.algorithm, type):
            params |= {f"{PREFIX}{field.name}": getattr(self.algorithm, field.name) for field in fields(self.algorithm)}
        return params

    def set_params(self, **params: Any) -> Self:
        """Set parameters by name.

        Parameters
        ----------
        **params : objects
            The new values. `algorithm__pairs=20` changes an option of the solver; a name becomes a Solver object.

        Returns
        -------
        CRF
            The estimator.

        Raises
        ------
        OptionError
            If the solver has no such option, or the value is out of range.
        """
        options = {name.removeprefix(PREFIX): params.pop(name) for name in list(params) if name.startswith(PREFIX)}
        super().set_params(**params)  # `algorithm` first, then its options
        if options:
            self.algorithm = changed(as_solver(self.algorithm), **options)
        return self
