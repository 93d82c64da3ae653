"""A vector type for kernels: W numbers that live in registers, with W known at compile time.

Numba vectorizes simple loops by itself, but not the pattern that a CRF needs: short rows (as wide as the label set),
summed into an accumulator that stays in registers. In a prototype of the batch gradient, explicit lanes were 1.6 times
as fast as the same layout with plain loops.

W is the length of the dummy tuple `lanes`, which every kernel passes on. A new width is a new compilation, and so is
another precision: lanes are doubles, or singles if the tuple is one of singles. A value is an LLVM array of W/8 vectors
of 8 numbers (W/4 of 4 if W is not a multiple of 8); the target splits or joins these as its registers require. Arrays
in memory may have either precision: `load` and `store` convert. Scalars are always doubles. With NUMBA_DISABLE_JIT=1
the same names are plain NumPy (plain_lanes.py), which is also their specification.

This module uses only documented API of Numba and llvmlite. Lanes are read and written by address, so Numba does not
check their bounds: with NUMBA_BOUNDSCHECK=1, `check_bounds` does.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numba
from llvmlite import ir
from numba import types
from numba.core.cgutils import create_struct_proxy
from numba.extending import intrinsic, models, register_model

from fastcrf.jit.kernel import FASTMATH
from fastcrf.simd.widths import panel_width

DOUBLE = ir.DoubleType()
SINGLE = ir.FloatType()
INT32 = ir.IntType(32)
INT64 = ir.IntType(64)
FLAGS = sorted(FASTMATH)
CHECKED = bool(numba.config.BOUNDSCHECK)  # type: ignore[attr-defined]


class Lanes(types.Type):
    """Numba's type of W numbers in registers."""

    def __init__(self, width: int, number: ir.Type) -> None:
        self.width, self.number = width, number
        super().__init__(name=f"Lanes({width}, {number})")

    @property
    def part(self) -> ir.VectorType:
        return part_type(self.width, self.number)


def lanes_type(lanes: Any) -> Lanes:
    """Return the lanes type that the dummy tuple `lanes` stands for."""
    return Lanes(len(lanes), SINGLE if lanes.dtype == types.float32 else DOUBLE)


def item_size(lanes: Any) -> int:
    """Return the bytes of one lane of the dummy tuple."""
    return 4 if lanes.dtype == types.float32 else 8


def part_type(width: int, number: ir.Type) -> ir.VectorType:
    return ir.VectorType(number, 8 if width % 8 == 0 else 4)


@register_model(Lanes)
class LanesModel(models.PrimitiveModel):
    def __init__(self, manager: Any, lanes: Lanes) -> None:
        super().__init__(manager, lanes, ir.ArrayType(lanes.part, lanes.width // lanes.part.count))


def converted(builder: Any, value: Any, wanted: ir.Type) -> Any:
    """Convert a number, or a part, to the precision of `wanted`."""
    if value.type == wanted:
        return value
    number = getattr(wanted, "element", wanted)
    return builder.fpext(value, wanted) if number == DOUBLE else builder.fptrunc(value, wanted)


def unpack(builder: Any, value: Any) -> list[Any]:
    return [builder.extract_value(value, k) for k in range(value.type.count)]


def pack(builder: Any, parts: list[Any]) -> Any:
    value = ir.Constant(ir.ArrayType(parts[0].type, len(parts)), ir.Undefined)
    for k, part in enumerate(parts):
        value = builder.insert_value(value, part, k)
    return value


def splat(builder: Any, number: Any, part: ir.VectorType) -> Any:
    undefined = ir.Constant(part, ir.Undefined)
    first = builder.insert_element(undefined, number, INT32(0))
    return builder.shuffle_vector(first, undefined, ir.Constant(ir.VectorType(INT32, part.count), [0] * part.count))


def array_at(context: Any, builder: Any, array_type: Any, value: Any = None) -> Any:
    """Return the fields of an array by name; without a value, those of a new array to fill in."""
    return create_struct_proxy(array_type)(context, builder, value=value)


def number_type(array_type: Any) -> ir.Type:
    return SINGLE if array_type.dtype == types.float32 else DOUBLE


def pointers(context: Any, builder: Any, array_type: Any, args: Any, width: int) -> list[Any]:
    """Return the addresses of the parts of array[row, column : column + width]."""
    array, row, column = array_at(context, builder, array_type, args[0]), args[1], args[2]
    rows, columns = unpack(builder, array.shape)
    check_bounds(context, builder, row, builder.add(row, INT64(1)), rows)
    check_bounds(context, builder, column, builder.add(column, INT64(width)), columns)
    offset = builder.add(builder.mul(row, columns), column)
    part = part_type(width, number_type(array_type))
    places = [builder.add(offset, INT64(k)) for k in range(0, width, part.count)]
    return [builder.bitcast(builder.gep(array.data, [place]), part.as_pointer()) for place in places]


def check_bounds(context: Any, builder: Any, first: Any, last: Any, size: Any) -> None:
    """With NUMBA_BOUNDSCHECK=1, raise IndexError unless 0 <= first <= last <= size."""
    if CHECKED:
        low = builder.or_(builder.icmp_signed("<", first, INT64(0)), builder.icmp_signed(">", first, last))
        with builder.if_then(builder.or_(low, builder.icmp_signed(">", last, size)), likely=False):
            context.call_conv.return_user_exc(builder, IndexError, ("lanes are out of bounds",))


def larger_of(builder: Any, a: Any, b: Any) -> Any:
    return builder.select(builder.fcmp_ordered(">", a, b, flags=FLAGS), a, b)


def reduce_parts(builder: Any, value: Any, operation: Any) -> Any:
    """Fold all lanes into one number: parts first, then halves."""
    parts = unpack(builder, value)
    whole = parts[0]
    for part in parts[1:]:
        whole = operation(whole, part)
    width = whole.type.count
    while width > 1:
        half = width // 2
        undefined = ir.Constant(ir.VectorType(whole.type.element, width), ir.Undefined)
        index = ir.VectorType(INT32, half)
        low = builder.shuffle_vector(whole, undefined, ir.Constant(index, list(range(half))))
        high = builder.shuffle_vector(whole, undefined, ir.Constant(index, list(range(half, width))))
        whole, width = operation(low, high), half
    return converted(builder, builder.extract_element(whole, INT32(0)), DOUBLE)


def instruction(define: Callable[..., Any]) -> Callable[..., Any]:
    """Define a function that Numba compiles to the instructions of `define`; its first argument is Numba's own."""
    return intrinsic(define)


@instruction
def load(typing_context, array, row, column, lanes):
    """Load array[row, column : column + W] of a C-contiguous matrix."""

    def generate(context, builder, signature, args):
        places = pointers(context, builder, array, args, len(lanes))
        parts = [builder.load(place, align=array.dtype.bitwidth // 8) for place in places]
        return pack(builder, [converted(builder, part, kind.part) for part in parts])

    kind = lanes_type(lanes)
    return kind(array, types.int64, types.int64, lanes), generate


@instruction
def store(typing_context, array, row, column, value):
    """Store array[row, column : column + W] = value."""

    def generate(context, builder, signature, args):
        places, wanted = (
            pointers(context, builder, array, args, value.width),
            part_type(value.width, number_type(array)),
        )
        for part, place in zip(unpack(builder, args[3]), places, strict=True):
            builder.store(converted(builder, part, wanted), place, align=array.dtype.bitwidth // 8)
        return context.get_dummy_value()

    return types.void(array, types.int64, types.int64, value), generate


@instruction
def add_to(typing_context, array, row, column, value):
    """Add array[row, column : column + W] += value, in the precision of the array."""

    def generate(context, builder, signature, args):
        places, align = pointers(context, builder, array, args, value.width), array.dtype.bitwidth // 8
        for part, place in zip(unpack(builder, args[3]), places, strict=True):
            there = builder.load(place, align=align)
            builder.store(builder.fadd(there, converted(builder, part, there.type), flags=FLAGS), place, align=align)
        return context.get_dummy_value()

    return types.void(array, types.int64, types.int64, value), generate


@instruction
def flat_rows(typing_context, matrix, first, last):
    """Return matrix[first:last] of a C-contiguous matrix as one row of numbers. (Slices and reshape are slow to
    compile.)
    """

    def generate(context, builder, signature, args):
        array = array_at(context, builder, signature.args[0], args[0])
        rows, width = unpack(builder, array.shape)
        check_bounds(context, builder, args[1], args[2], rows)
        flat, size = (
            array_at(context, builder, signature.return_type),
            builder.mul(builder.sub(args[2], args[1]), width),
        )
        flat.data, flat.nitems = builder.gep(array.data, [builder.mul(args[1], width)]), size
        flat.shape, flat.strides = pack(builder, [size]), pack(builder, [array.itemsize])
        flat.itemsize, flat.meminfo, flat.parent = array.itemsize, array.meminfo, array.parent
        if context.enable_nrt:  # the caller counts references
            context.nrt.incref(builder, signature.return_type, flat._getvalue())
        return flat._getvalue()

    return matrix.copy(ndim=1)(matrix, types.int64, types.int64), generate


@instruction
def zeros(typing_context, lanes):
    """Return W times 0.0."""

    def generate(context, builder, signature, args):
        part = kind.part
        return pack(builder, [ir.Constant(part, [0.0] * part.count)] * (len(lanes) // part.count))

    kind = lanes_type(lanes)
    return kind(lanes), generate


@instruction
def panel_of(typing_context, lanes):
    """Return the lanes, or as few of them as let four accumulators fit into registers."""
    panel = types.UniTuple(lanes.dtype, panel_width(len(lanes), item_size(lanes)))

    def generate(context, builder, signature, args):
        return context.get_constant_null(panel)

    return panel(lanes), generate


@instruction
def size_of(typing_context, lanes):
    """Return the bytes that lanes take, known to the compiler."""

    def generate(context, builder, signature, args):
        return INT64(len(lanes) * item_size(lanes))

    return types.int64(lanes), generate


@instruction
def add(typing_context, x, y):
    """Return x + y."""

    def generate(context, builder, signature, args):
        pairs = zip(unpack(builder, args[0]), unpack(builder, args[1]), strict=True)
        return pack(builder, [builder.fadd(a, b, flags=FLAGS) for a, b in pairs])

    return x(x, y), generate


@instruction
def multiply(typing_context, x, y):
    """Return x * y, lane by lane."""

    def generate(context, builder, signature, args):
        pairs = zip(unpack(builder, args[0]), unpack(builder, args[1]), strict=True)
        return pack(builder, [builder.fmul(a, b, flags=FLAGS) for a, b in pairs])

    return x(x, y), generate


@instruction
def scale(typing_context, number, x):
    """Return number * x."""

    def generate(context, builder, signature, args):
        factor = splat(builder, converted(builder, args[0], x.number), x.part)
        return pack(builder, [builder.fmul(factor, a, flags=FLAGS) for a in unpack(builder, args[1])])

    return x(types.float64, x), generate


@instruction
def shift(typing_context, x, number):
    """Return x + number."""

    def generate(context, builder, signature, args):
        amount = splat(builder, converted(builder, args[1], x.number), x.part)
        return pack(builder, [builder.fadd(a, amount, flags=FLAGS) for a in unpack(builder, args[0])])

    return x(x, types.float64), generate


@instruction
def add_scaled(typing_context, number, x, y):
    """Return number * x + y, fused if the machine supports it."""

    def generate(context, builder, signature, args):
        factor = splat(builder, converted(builder, args[0], x.number), x.part)
        pairs = zip(unpack(builder, args[1]), unpack(builder, args[2]), strict=True)
        products = [(builder.fmul(factor, a, flags=FLAGS), b) for a, b in pairs]
        return pack(builder, [builder.fadd(a, b, flags=FLAGS) for a, b in products])

    return x(types.float64, x, y), generate


@instruction
def larger(typing_context, x, y):
    """Return max(x, y), lane by lane."""

    def generate(context, builder, signature, args):
        pairs = zip(unpack(builder, args[0]), unpack(builder, args[1]), strict=True)
        return pack(builder, [larger_of(builder, a, b) for a, b in pairs])

    return x(x, y), generate


@instruction
def keep(typing_context, bits, x):
    """Return x where the bit of the lane is set (lane 0 is the lowest bit of the uint64), 0 elsewhere."""

    def generate(context, builder, signature, args):
        part = x.part
        nothing = ir.Constant(part, [0.0] * part.count)
        kept = []
        for k, values in enumerate(unpack(builder, args[1])):
            of_part = builder.trunc(builder.lshr(args[0], INT64(k * part.count)), ir.IntType(part.count))
            mask = builder.bitcast(of_part, ir.VectorType(ir.IntType(1), part.count))
            kept.append(builder.select(mask, values, nothing))
        return pack(builder, kept)

    return x(types.uint64, x), generate


@instruction
def total(typing_context, x):
    """Return the sum of the lanes."""

    def generate(context, builder, signature, args):
        return reduce_parts(builder, args[0], lambda a, b: builder.fadd(a, b, flags=FLAGS))

    return types.float64(x), generate


@instruction
def largest(typing_context, x):
    """Return the maximum of the lanes."""

    def generate(context, builder, signature, args):
        return reduce_parts(builder, args[0], lambda a, b: larger_of(builder, a, b))

    return types.float64(x), generate


if numba.config.DISABLE_JIT:  # type: ignore[attr-defined]
    from fastcrf.simd.plain_lanes import *  # noqa: F403
