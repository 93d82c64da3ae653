"""How machine code is made of a kernel: what is only ever copied into its callers is not translated by itself.

Numba optimizes every function, translates it to machine code, and then copies what it has optimized into the callers.
Kernels are small and many, and most of them are only ever copied: they have no address and need no machine code. What
is copied, and how it is optimized, is as Numba has it.
"""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from llvmlite import binding
from numba.core import compiler
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import CompileResult
from numba.core.dispatcher import _FunctionCompiler  # type: ignore[attr-defined]


class CopiedLibrary(JITCodeLibrary):  # type: ignore[misc]
    """Code that is linked into its callers, and has no address."""

    def finalize(self) -> None:
        """Link in what it calls and optimize, as for code that runs; that is all."""
        for library in dict.fromkeys(self._linking_libraries):
            self._final_module.link_in(library._get_module_for_linking(), preserve=True)
        self._optimize_final_module()
        self._finalize_dynamic_globals()
        self._finalized = True

    def serialize_using_object_code(self) -> tuple[str, str, bytes]:
        """There is no object code: what callers copy is all there is to keep."""
        return self.name, "copied", self._get_module_for_linking().as_bitcode()

    @classmethod
    def from_bitcode(cls, codegen: Any, name: str, bitcode: bytes) -> CopiedLibrary:
        library = cls(codegen, name)
        library._final_module = library._shared_module = binding.parse_bitcode(bitcode)
        library._finalize_dynamic_globals()
        library._finalized = True
        return library


class KernelCompiler(_FunctionCompiler):  # type: ignore[misc]
    """Numba's compiler of a function, which knows whether its code is only to be copied."""

    copied = False

    def _compile_core(self, args: Any, return_type: Any) -> Any:
        flags = compiler.Flags()
        self.targetdescr.options.parse_as_flags(flags, self.targetoptions)
        typing, target = self.targetdescr.typing_context, self.targetdescr.target_context
        flags.no_compile = self.copied
        library = None  # Numba's own
        if self.copied:
            library = CopiedLibrary(target.codegen(), self.py_func.__qualname__)
        with no_collector():
            result = compiler.compile_extra(
                typing, target, self.py_func, args, return_type, flags, self.locals, library, self.pipeline_class
            )
        return with_a_key(result, target) if self.copied else result


@contextmanager
def no_collector() -> Iterator[None]:
    """Without Python's collector of cycles, which goes through all that the compiler holds again and again."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()


def with_a_key(result: Any, target: Any) -> Any:
    """The result of copied code. Callers find it by its entry point: there is none, so a new object stands for it."""
    result = result._replace(entry_point=object())
    target.insert_user_function(result.entry_point, result.fndesc, [result.library])
    return result


def rebuilt(target: Any, payload: Any) -> Any:
    """What a cache holds of copied code, as a result of compiling."""
    library, fndesc, environment, signature, objectmode, lifted, annotation, reload_init, environments = payload
    return CompileResult(
        target_context=target,
        typing_context=target.typing_context,
        library=CopiedLibrary.from_bitcode(target.codegen(), library[0], library[2]),
        environment=environment,
        entry_point=object(),
        fndesc=fndesc,
        type_annotation=annotation,
        signature=signature,
        objectmode=objectmode,
        lifted=lifted,
        typing_error=None,
        call_helper=None,
        metadata=None,
        reload_init=reload_init,
        referenced_envs=environments,
    )
