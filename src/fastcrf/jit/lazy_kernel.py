"""Kernels that are compiled when they first run, not when their callers are compiled.

Code for rare data (log_domain.py) would add seconds of compile time for every user. For its callers a *lazy* kernel is
a few instructions: jump to an address; if there is none yet, ask Python for it. Only then is the kernel compiled, or
loaded from the cache. The compiler of the callers does not see the kernel, so the decorator declares its return type.
The call of Python uses its C API, so an exception (Ctrl-C) propagates through the callers.
"""

from __future__ import annotations

import ctypes
from typing import Any

from llvmlite import ir
from numba.core import typing
from numba.core.compiler import CR_FIELDS, CompileResult
from numba.core.compiler_lock import global_compiler_lock
from numba.core.funcdesc import FunctionDescriptor

from fastcrf.jit.dispatcher import Kernel, make_kernel

POINTER, INT = ir.IntType(8).as_pointer(), ir.IntType(32)
RAISED = -1  # Numba's code for a raised Python exception
WAITING: list[tuple[Kernel, tuple[Any, ...], str]] = []  # (kernel, signature, where its address goes), as find_kernel


class LazyKernel(Kernel):
    """The jump, as callers see it. `kernel` is the target of the jump."""

    kernel: Kernel
    returns: Any

    def compile(self, sig: Any) -> Any:
        arguments = tuple(sig)
        with global_compiler_lock:  # Numba's lock: a thread that compiles a caller already holds it
            if arguments not in self.overloads:
                result = jump_to(self.kernel, arguments, self.returns)
                self.targetctx.insert_user_function(result.entry_point, result.fndesc, [result.library])
                self.add_overload(result)
            return self.overloads[arguments].entry_point


def make_lazy_kernel(function: Any, returns: Any, **options: Any) -> Any:
    """Return the lazy kernel of a function with this return type."""
    jump = make_kernel(function, outlined=True, **options)
    jump.__class__ = LazyKernel
    jump.kernel, jump.returns = make_kernel(function, outlined=True, **options), returns
    return jump


def jump_to(kernel: Kernel, arguments: tuple[Any, ...], returns: Any) -> Any:
    """Return a function that passes its arguments on to the kernel, as a result of compiling."""
    target, function = kernel.targetctx, kernel.py_func
    names = function.__code__.co_varnames[: len(arguments)]
    described = FunctionDescriptor(
        native=True,
        modname=function.__module__,
        qualname=f"{function.__qualname__}.jump",
        unique_name=f"{function.__qualname__}.jump",
        doc=None,
        typemap=None,
        restype=returns,
        calltypes=None,
        args=names,
        kws=(),
        argtypes=arguments,
    )
    library = target.codegen().create_library(described.qualname)
    address = f"{described.mangled_name}.address"
    WAITING.append((kernel, arguments, address))  # forever: machine code holds the tuple's address
    kind = target.call_conv.get_function_type(returns, arguments)
    library.add_ir_module(jump(library, kind, described.mangled_name, address, WAITING[-1]))
    library.get_pointer_to_function(described.mangled_name)
    unknown = dict.fromkeys(CR_FIELDS)
    return CompileResult(
        **unknown
        | {
            "target_context": target,
            "typing_context": target.typing_context,
            "library": library,
            "entry_point": object(),
            "fndesc": described,
            "signature": typing.signature(returns, *arguments),
            "objectmode": False,
        }
    )


def jump(library: Any, kind: ir.FunctionType, name: str, address: str, wanted: tuple[Any, ...]) -> ir.Module:
    """Write the code of the function: it jumps to the address in `address`, after calling `find_kernel(*wanted)` if
    needed.
    """
    module = library.create_ir_module(name)
    place = ir.GlobalVariable(module, POINTER, address)
    place.initializer = ir.Constant(POINTER, None)
    function = ir.Function(module, kind, name)
    builder = ir.IRBuilder(function.append_basic_block())
    with builder.if_then(builder.icmp_unsigned("==", builder.load(place), place.initializer), likely=False):
        state = call_python(builder, "PyGILState_Ensure", INT)
        answer = call_python(builder, "PyObject_CallObject", POINTER, object_at(find_kernel), object_at(wanted))
        call_python(builder, "Py_DecRef", ir.VoidType(), answer)  # which may be NULL
        call_python(builder, "PyGILState_Release", ir.VoidType(), state)
    found = builder.load(place)
    with builder.if_then(builder.icmp_unsigned("==", found, place.initializer), likely=False):
        builder.ret(ir.Constant(kind.return_type, RAISED))
    builder.ret(builder.call(builder.bitcast(found, kind.as_pointer()), function.args))
    return module


def call_python(builder: ir.IRBuilder, name: str, returns: ir.Type, *args: Any) -> Any:
    """Call a function of Python's C API."""
    at = ctypes.cast(getattr(ctypes.pythonapi, name), ctypes.c_void_p).value
    kind = ir.FunctionType(returns, [each.type for each in args])
    return builder.call(builder.inttoptr(ir.Constant(ir.IntType(64), at), kind.as_pointer()), args)


def object_at(thing: object) -> ir.Constant:
    """Return the address of a Python object, which must live as long as the code."""
    return ir.Constant(ir.IntType(64), id(thing)).inttoptr(POINTER)


def find_kernel(kernel: Kernel, arguments: tuple[Any, ...], address: str) -> None:
    """Compile a kernel that is about to run for the first time, or load it."""
    with global_compiler_lock:
        kernel.compile(arguments)
        result = kernel.overloads[arguments]
        engine = result.library.codegen._engine
        place = ctypes.c_void_p.from_address(engine.get_global_value_address(address))
        place.value = engine.get_function_address(result.fndesc.mangled_name)
