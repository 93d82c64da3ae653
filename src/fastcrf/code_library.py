"""How machine code is made of a kernel: each piece of code is optimised once, where it runs.

Numba optimises every function three times (by itself, cheaply as a module to find references that cancel, in full),
translates it to machine code, and then copies it into its callers, where all of this happens again. Kernels are small
and many, and most of them are only ever copied. So there are two kinds of code here:

* *copied* code is linked into its callers as it was lowered. It is neither optimised nor translated by itself: the
  caller's one optimisation sees it all at once;
* *running* code, which has an address, is optimised in full, once. (What Numba does before helps its counting of
  references, which few kernels do: where they do, it is left as it is.)
"""

from __future__ import annotations

from typing import Any

from llvmlite import binding
from numba.core import compiler
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import CompileResult
from numba.core.dispatcher import _FunctionCompiler  # type: ignore[attr-defined]


class RunningLibrary(JITCodeLibrary):  # type: ignore[misc]
    """Code that is optimised once, with all that was copied into it."""

    def _optimize_functions(self, ll_module: Any) -> None:
        ll_module.data_layout = self._codegen._data_layout

    def _optimize_final_module(self) -> None:
        passes, builder = self._codegen._module_pass_manager()
        passes.run(self._final_module, builder)


class CopiedLibrary(JITCodeLibrary):  # type: ignore[misc]
    """Code that is linked into its callers, and has no address."""

    def _optimize_functions(self, ll_module: Any) -> None:
        ll_module.data_layout = self._codegen._data_layout

    def finalize(self) -> None:
        """Link in what it calls, and leave out what nobody uses, such as the addresses of Python's objects."""
        for library in dict.fromkeys(self._linking_libraries):
            self._reload_init.update(library._reload_init)
            self._final_module.link_in(library._get_module_for_linking(), preserve=True)
        passes = binding.create_new_module_pass_manager()
        passes.add_aggressive_dce_pass()
        passes.add_global_dead_code_eliminate_pass()
        passes.run(self._final_module, self._codegen._pass_builder())
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


class KernelFlags(compiler.Flags):  # type: ignore[misc]
    """Flags that are quickly compared: Numba does so some thousand times a function, while it looks for overloads, and
    has each of two dozen options looked up by name."""

    __slots__ = ()
    HASH = hash(compiler.Flags())  # it is that of the options' names: the same for all

    def __hash__(self) -> int:
        return self.HASH

    def __eq__(self, other: object) -> bool:
        return (isinstance(other, KernelFlags) and self._values == other._values) or bool(super().__eq__(other))


class KernelCompiler(_FunctionCompiler):  # type: ignore[misc]
    """Numba's compiler of a function, with the kind of code that it is to become."""

    copied = False

    def _compile_core(self, args: Any, return_type: Any) -> Any:
        flags = KernelFlags()
        self.targetdescr.options.parse_as_flags(flags, self.targetoptions)
        typing, target = self.targetdescr.typing_context, self.targetdescr.target_context
        flags.no_compile = self.copied
        library = None
        if self.copied or not flags.nrt:
            library = (CopiedLibrary if self.copied else RunningLibrary)(target.codegen(), self.py_func.__qualname__)
            library.enable_object_caching()
        result = compiler.compile_extra(
            typing, target, self.py_func, args, return_type, flags, self.locals, library, self.pipeline_class
        )
        return with_a_key(result, target) if self.copied else result


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
