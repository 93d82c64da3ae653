"""What each trick of the tuned mode saves at the first fit: seconds of the processor with it turned off, and with all.

    python benchmarks/compiler_tricks.py [--solvers auto,sag-nus-star] [--labels 22] [--repeats 3] [--only faces,lazy]

Each figure is the least of so many first fits (first_fit.py), each in a process and a cache of its own; the figures are
taken in turns, so that what else the machine does disturbs them alike. `none` turns nothing off, `all` is the plain
mode.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import sys
import tempfile
from collections import defaultdict
from pathlib import Path
from typing import Any

import first_fit


def turn_off(trick: str) -> None:
    """Before kernels are made, replace a trick by Numba's own way."""
    if trick not in ("none", "all"):
        globals()[f"without_{trick}"]()


def without_collector() -> None:
    """Python's collector of cycles runs while the compiler works."""
    from fastcrf.jit import dispatcher

    dispatcher.no_collector = contextlib.nullcontext  # type: ignore[assignment]


def without_faces() -> None:
    """Each kernel has one face, with what takes Python's objects apart."""
    import numba
    from numba.core.registry import CPUDispatcher

    from fastcrf.jit import tuned
    from fastcrf.jit.cache import with_cache
    from fastcrf.jit.dispatcher import Kernel

    class OneFace(Kernel):
        __call__ = CPUDispatcher.__call__

        def add_overload(self, cres: Any) -> None:
            super().add_overload(cres)
            CPUDispatcher.add_overload(self, cres)

    def make_kernel(
        function: Any, outlined: bool = False, counted: bool = False, inlined: bool = False, **flags: Any
    ) -> Any:
        options = {"_nrt": counted, "forceinline": inlined, **flags}
        dispatcher = numba.njit(no_cfunc_wrapper=True, **options)(function)
        dispatcher.__class__ = OneFace
        dispatcher.options, dispatcher.outlined = options, outlined
        return with_cache(dispatcher, "for kernels")

    tuned.make_kernel = make_kernel


def without_outlined() -> None:
    """All that is called is copied."""
    from fastcrf.jit import tuned

    make = tuned.make_kernel
    tuned.make_kernel = lambda function, outlined=False, **options: make(function, **options)


def without_noalloc() -> None:
    """All kernels count references."""
    from fastcrf.jit import tuned

    make = tuned.make_kernel
    tuned.make_kernel = lambda function, counted=True, **options: make(function, counted=True, **options)


def without_lazy() -> None:
    """Kernels for rare data are compiled with their callers."""
    from fastcrf.jit import tuned

    make = tuned.make_kernel
    tuned.make_lazy_kernel = lambda function, _returns, **options: make(function, outlined=True, **options)


def without_choice() -> None:
    """A generic function is an overload: a function that calls the implementation."""
    from numba.extending import overload

    from fastcrf.jit import tuned
    from fastcrf.jit.implementations import implementation_for

    def register_choice(function: Any, implementations: dict[type, Any]) -> None:
        @overload(function, jit_options={"_nrt": False})
        def choose(data, *others):  # type: ignore[no-untyped-def]
            kernel = implementation_for(function, implementations, data)
            return lambda data, *others: kernel(data, *others)

    tuned.register_choice = register_choice


TRICKS = [name.removeprefix("without_") for name in list(globals()) if name.startswith("without_")]


def first_fit_without(trick: str, case: first_fit.Case) -> float:
    """Seconds of the processor of a first fit with the trick turned off."""
    paths = os.pathsep.join([str(Path(__file__).parent), os.environ.get("PYTHONPATH", "")])
    environment = {"PYTHONPATH": paths, "FASTCRF_PLAIN_JIT": str(int(trick == "all"))}
    with tempfile.TemporaryDirectory() as cache:
        before = f"import compiler_tricks; compiler_tricks.turn_off({trick!r})\n"
        return first_fit.first_fit(case, cache, before, environment)["processor"]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--solvers", default="auto,sag-nus-star")
    parser.add_argument("--labels", type=int, default=22)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--only", default=",".join(TRICKS))
    asked = parser.parse_args()
    cases = [first_fit.Case(solver, asked.labels, {}) for solver in asked.solvers.split(",")]
    seconds: dict[tuple[str, str], list[float]] = defaultdict(list)
    for _ in range(asked.repeats):
        for trick in ["none", *asked.only.split(","), "all"]:
            for case in cases:
                seconds[trick, case.solver].append(first_fit_without(trick, case))
                print(trick, case.solver, seconds[trick, case.solver][-1], file=sys.stderr, flush=True)
    print("| off |", " | ".join(case.solver for case in cases), "|")
    print("|---|" + "--:|" * len(cases))
    for trick in ["none", *asked.only.split(","), "all"]:
        print(f"| {trick} |", " | ".join(f"{min(seconds[trick, case.solver]):.2f}" for case in cases), "|")


if __name__ == "__main__":
    main()
