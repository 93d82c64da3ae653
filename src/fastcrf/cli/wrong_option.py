"""The error of a wrong command line, as whole sentences."""

from __future__ import annotations

import typer


class WrongOption(typer.BadParameter):
    """Raise for options that do not fit together; the message begins with the option."""

    def format_message(self) -> str:
        return str(self.message)
