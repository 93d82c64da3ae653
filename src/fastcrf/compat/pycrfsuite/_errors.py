"""The exception of training."""

from __future__ import annotations

from typing import ClassVar


class CRFSuiteError(Exception):
    """Training failed; `code` is one of CRFsuite's numbers."""

    MESSAGES: ClassVar[dict[int, str]] = {
        -2147483648: "Unknown error occurred",
        -2147483647: "Insufficient memory",
        -2147483646: "Unsupported operation",
        -2147483645: "Incompatible data",
        -2147483644: "Internal error",
        -2147483643: "Overflow",
        -2147483642: "Not implemented",
    }

    def __init__(self, code: int) -> None:
        self.code = code
        super().__init__(self.MESSAGES.get(code, "Unexpected error"))
