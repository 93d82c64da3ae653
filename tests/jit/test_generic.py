"""Generic functions: one name, a meaning for each type of data, chosen by the compiler."""

from __future__ import annotations

import importlib
import pkgutil
from collections import defaultdict
from typing import NamedTuple

import numba
import numpy as np
import pytest

import fastcrf
from fastcrf.jit.generic import generic
from fastcrf.jit.implementations import IMPLEMENTATIONS
from fastcrf.jit.kernel import kernel


class Metres(NamedTuple):
    length: float


class Yards(NamedTuple):
    length: float


class Feet(NamedTuple):
    feet: float
    inches: float


@generic
def in_metres(length):
    """A length in metres."""


@in_metres.register(Metres)
def metres_in_metres(length):
    return length.length


@in_metres.register(Feet)
def feet_in_metres(length):
    return (length.feet + length.inches / 12.0) * 0.3048


@kernel
def twice_in_metres(length):
    return 2.0 * in_metres(length)


@pytest.mark.parametrize("function", [twice_in_metres, twice_in_metres.py_func])
def test_a_generic_function_means_what_the_type_of_its_data_says_compiled_or_not(function):
    assert function(Metres(3.0)) == 6.0
    assert function(Feet(10.0, 6.0)) == pytest.approx(2 * 3.2004)
    with pytest.raises((numba.TypingError, TypeError), match="in_metres has no implementation for Yards"):
        function(Yards(1.0))


@generic
def bits_of_each(numbers):
    """How many bits a number of an array has."""


@bits_of_each.register(np.float32)
def bits_of_singles(numbers):
    return 32


@bits_of_each.register(np.float64)
def bits_of_doubles(numbers):
    return 64


@kernel
def bits_of_all(numbers):
    return len(numbers) * bits_of_each(numbers)


@pytest.mark.parametrize("function", [bits_of_all, bits_of_all.py_func])
def test_of_an_array_the_type_of_its_numbers_decides(function):
    assert function(np.zeros(3, np.float32)) == 96
    assert function(np.zeros(3)) == 192
    with pytest.raises((numba.TypingError, TypeError), match="bits_of_each has no implementation for int64"):
        function(np.zeros(3, np.int64))


def test_every_type_has_every_meaning():
    """Generic functions of one file belong together: a type with a meaning for one has a meaning for all."""
    for module in pkgutil.walk_packages(fastcrf.__path__, "fastcrf."):
        if not module.name.endswith("__main__"):
            importlib.import_module(module.name)
    families = defaultdict(list)
    for function in IMPLEMENTATIONS:
        if function.__module__.startswith("fastcrf."):
            families[function.__module__].append(function)
    assert families
    for functions in families.values():
        types = set().union(*(IMPLEMENTATIONS[function] for function in functions))
        missing = {(f.__name__, cls.__name__) for f in functions for cls in types if cls not in IMPLEMENTATIONS[f]}
        assert not missing


def test_the_declaration_of_a_generic_function_names_the_files_that_implement_it():
    for module in pkgutil.walk_packages(fastcrf.__path__, "fastcrf."):
        if not module.name.endswith("__main__"):
            importlib.import_module(module.name)
    elsewhere = 0
    for function, implementations in IMPLEMENTATIONS.items():
        if function.__module__.startswith("fastcrf."):
            modules = {getattr(kernel, "py_func", kernel).__module__ for kernel in implementations.values()}
            for module in modules - {function.__module__}:
                elsewhere += 1
                assert f"{module.rpartition('.')[2]}.py" in function.__doc__, f"{function.__name__}: {module}"
    assert elsewhere
