"""Make Numba's type inference choose the implementation of a generic function, without a wrapper to compile."""

from __future__ import annotations

from typing import Any

from numba import types
from numba.core.registry import cpu_target
from numba.core.typing.templates import AbstractTemplate

from fastcrf.jit.implementations import implementation_for


def register_choice(function: Any, implementations: dict[type, Any]) -> None:
    """Compile a call of `function` as a call of the kernel that is registered for the type of the data."""

    class Choice(AbstractTemplate):  # type: ignore[misc]
        key = function

        def generic(self, args: Any, kws: Any) -> Any:
            self.implementation = types.Dispatcher(implementation_for(function, implementations, args[0]))
            return self.implementation.get_call_type(self.context, args, kws)

        def get_impl_key(self, sig: Any) -> Any:
            return self.implementation.get_impl_key(sig)

    cpu_target.typing_context.insert_global(function, types.Function(Choice))
