"""Exceptions of fastcrf. Each one is a `ValueError`; its message says what is wrong, the value, and what to do."""

from __future__ import annotations

from typing import Any

__all__ = ["CheckpointError", "ConstraintError", "DataError", "ModelFileError", "OptionError", "PenaltyError"]


class DataError(ValueError):
    """Raise for input data that cannot be used; the message says where the fault is."""


class ConstraintError(DataError):
    """Raise for constraints that no label sequence, or not the given one, satisfies.

    Parameters
    ----------
    message : str
        What is wrong.
    sequence : int
        Index of the sequence in X.
    position : int
        Position of the token, counted from 0.
    """

    def __init__(self, message: str, sequence: int, position: int) -> None:
        super().__init__(message, sequence, position)
        self.sequence, self.position = sequence, position

    def __str__(self) -> str:
        return str(self.args[0])


class ModelFileError(ValueError):
    """Raise for a model file that cannot be used, or a model that cannot be saved."""


class CheckpointError(ValueError):
    """Raise for a checkpoint or a saved stream that cannot be resumed."""


class OptionError(ValueError):
    """Raise for a solver's option that does not exist or whose value is out of range.

    Parameters
    ----------
    message : str
        What is wrong.
    solver : str
        Name of the solver.
    option : str
        Name of the option.
    value : object
        The value given for it.
    """

    def __init__(self, message: str, solver: str, option: str, value: Any) -> None:
        super().__init__(message, solver, option, value)
        self.solver, self.option, self.value = solver, option, value

    def __str__(self) -> str:
        return str(self.args[0])


class PenaltyError(ValueError):
    """Raise for a penalty that a solver cannot handle.

    Parameters
    ----------
    message : str
        What is wrong.
    solver : str
        Name of the solver.
    c1, c2 : float
        The weights of the L1 and the L2 penalty.
    """

    def __init__(self, message: str, solver: str, c1: float, c2: float) -> None:
        super().__init__(message, solver, c1, c2)
        self.solver, self.c1, self.c2 = solver, c1, c2

    def __str__(self) -> str:
        return str(self.args[0])
