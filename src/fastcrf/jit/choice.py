"""Make Numba's type inference choose the implementation of a generic function, without a wrapper to compile."""

from __future__ import annotations

from typing import Any

from numba import types
from numba.core.registry import cpu_target
from numba.core.typing.templates import AbstractTemplate

from fastcrf.jit.meanings import meaning_for


def register_choice(function: Any, meanings: dict[type, Any]) -> None:
    """Compile a call of `function` as a call of the kernel that is registered for the type of the data."""

    class Choice(AbstractTemplate):  # type: ignore[misc]
        key = function

        def generic(self, args: Any, kws: Any) -> Any:
            self.meaning = types.Dispatcher(meaning_for(function, meanings, args[0]))
            return self.meaning.get_call_type(self.context, args, kws)

        def get_impl_key(self, sig: Any) -> Any:
            return self.meaning.get_impl_key(sig)

    cpu_target.typing_context.insert_global(function, types.Function(Choice))
