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


class CalledLibrary(JITCodeLibrary):  # type: ignore[misc]
    """Code that Python calls. What takes Python's objects apart runs once a call and may be longer than the kernel, so
    it joins the kernel after that has been optimized, and is translated as it stands."""

    wrapper: Any = None

    def add_ir_module(self, ir_module: Any) -> None:
        if ir_module.name != "wrapper":
            super().add_ir_module(ir_module)
            return
        for function in (each for each in ir_module.functions if not each.is_declaration):
            function.attributes.add("noinline")
            function.attributes.add("optnone")
        self.wrapper = binding.parse_assembly(str(ir_module))

    def _optimize_final_module(self) -> None:
        super()._optimize_final_module()
        if self.wrapper is not None:
            self.wrapper.data_layout = self._codegen._data_layout
            self._final_module.link_in(self.wrapper)
            self.wrapper = None


class KernelFlags(compiler.Flags):  # type: ignore[misc]
    """Flags that are quickly compared: Numba does so some hundred times a function, while it looks for overloads, and
    has each of two dozen options looked up by name. What becomes of the caller's own code makes no difference there."""

    __slots__ = ()
    HASH = hash(compiler.Flags())  # it is that of the options' names: the same for all
    OF_CALLER = frozenset({"no_compile", "no_cpython_wrapper", "no_cfunc_wrapper"})

    def __hash__(self) -> int:
        return self.HASH

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, KernelFlags):
            return bool(super().__eq__(other))
        return self.shared() == other.shared()

    def shared(self) -> dict[str, Any]:
        return {name: value for name, value in self._values.items() if name not in self.OF_CALLER}


class KernelCompiler(_FunctionCompiler):  # type: ignore[misc]
    """Numba's compiler of a function, which knows whether its code is only to be copied."""

    copied = False

    def _compile_core(self, args: Any, return_type: Any) -> Any:
        flags = KernelFlags()
        self.targetdescr.options.parse_as_flags(flags, self.targetoptions)
        typing, target = self.targetdescr.typing_context, self.targetdescr.target_context
        flags.no_compile = self.copied
        library = self.library(target.codegen(), flags)
        with no_collector():
            result = compiler.compile_extra(
                typing, target, self.py_func, args, return_type, flags, self.locals, library, self.pipeline_class
            )
        return with_a_key(result, target) if self.copied else result

    def library(self, codegen: Any, flags: compiler.Flags) -> Any:
        """Where its code goes; None for Numba's way."""
        if self.copied:
            return CopiedLibrary(codegen, self.py_func.__qualname__)
        if flags.nrt or flags.no_cpython_wrapper:  # what counts references calls what only the optimized kernel holds
            return None
        library = CalledLibrary(codegen, self.py_func.__qualname__)
        library.enable_object_caching()
        return library


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
