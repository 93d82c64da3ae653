"""Items to attribute ids in compiled code: `marshal.dumps(items, 4)` writes the bytes that these kernels read.

The stream is version 4 of the format, which Python 3.4 and later write: a byte for the type, then the content. A type
with FLAG set is the next object that a REF may name. `items.flatten` defines what an item means; an item that these
kernels do not understand is ODD and left to it.

    read_items   one item after another, from where `state` stands
    read_item    where the outer key, key and value of each attribute are; a dict or list in a dict opens one level
    spell        the names of up to BLOCK attributes, outer:key:value, each from a word of `scratch` on
    find_names   their ids (`name_table.py`)

They keep the GIL: a sequence takes microseconds, and a thread that releases the GIL while another is busy waits
milliseconds to get it back.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from fastcrf.core.types import Floats, Ints, Longs
from fastcrf.data.encoding.name_table import BLOCK, LOW, ROW, SPARE, Table, U, find_names, has_room
from fastcrf.jit.kernel import gil_kernel, inlined_kernel
from fastcrf.simd.words import double_of_word, load_byte, load_word, store_word

FLAG, REF, END = 0x80, ord("r"), ord("0")
LIST, TUPLE, SMALL_TUPLE, DICT = map(ord, "[(){")
SHORT, SHORT_INTERNED, ASCII, ASCII_INTERNED, UTF8, UTF8_INTERNED = map(ord, "zZaAut")
TRUE, FALSE, FLOAT, INT, LONG = map(ord, "TFgil")

# Why a kernel stops: all is read, the item is odd, something is full, a value is not 1, the stream is damaged.
DONE, ODD, OUTPUT_FULL, NAMES_FULL, SCRATCH_FULL, REFS_FULL, VALUES_MISSING, BROKEN = range(8)
ITEM, AT, N_REFS, PLACE, POSITION, LEFT = range(6)  # places in `state`
OUTER, KEY, VALUE = 0, 16, 32  # (begin, length) of each part in a row of `parts`; a length of -1: none
NO_LENGTH = U(0xFFFFFFFFFFFFFFFF)


class Work(NamedTuple):
    """The work space of kernels."""

    refs: Longs  # where the objects that a REF may name are in the stream
    parts: NDArray[np.uint64]  # BLOCK rows
    scratch: NDArray[np.uint64]  # names


class Output(NamedTuple):
    """The arrays of a corpus, with space to grow."""

    attributes: Ints
    values: Floats  # length 0 while every value is 1, else as long as `attributes`
    offsets: Longs


@inlined_kernel
def text_at(stream, at):
    """Return (begin, length, position after it) of a string; length -1: it is not a string."""
    kind = load_byte(stream, at) & 0x7F
    if kind in (SHORT, SHORT_INTERNED):
        n = load_byte(stream, at + 1)
        return at + 2, n, at + 2 + n
    if kind in (UTF8, ASCII, UTF8_INTERNED, ASCII_INTERNED):
        n = np.int64(load_word(stream, at + 1) & LOW)
        return at + 5, n, at + 5 + n
    return at, np.int64(-1), at


@inlined_kernel
def number_at(stream, at):
    """Return (number, position after it); NaN: it is not a number, or an integer of more than 45 bits."""
    kind = load_byte(stream, at) & 0x7F
    if kind == TRUE:
        return 1.0, at + 1
    if kind == FALSE:
        return 0.0, at + 1
    if kind == FLOAT:
        return double_of_word(load_word(stream, at + 1)), at + 9
    if kind == INT:
        return np.float64(np.int32(np.uint32(load_word(stream, at + 1) & LOW))), at + 5
    if kind == LONG:  # digits of 15 bits in two bytes each
        n, digits = np.int64(np.int32(np.uint32(load_word(stream, at + 1) & LOW))), load_word(stream, at + 5)
        if n == 3 or n == -3:
            second, third = (digits >> U(1)) & U(0x3FFF8000), (digits >> U(2)) & U(0x1FFFC0000000)
            size = np.int64(digits & U(0x7FFF) | second | third)
            return np.float64(size if n > 0 else -size), at + 11
    return np.nan, at


@inlined_kernel
def head_at(stream, at):
    """Return (number of elements, -1 for a dict, -2 for neither; position after it)."""
    kind = load_byte(stream, at) & 0x7F
    if kind == DICT:
        return np.int64(-1), at + 1
    if kind in (LIST, TUPLE):
        return np.int64(load_word(stream, at + 1) & LOW), at + 5
    if kind == SMALL_TUPLE:
        return load_byte(stream, at + 1), at + 2
    return np.int64(-2), at


@inlined_kernel
def copy_text(stream, begin, n, scratch, to):
    """Copy n bytes, and write at least 16: most texts are not longer."""
    store_word(scratch, to, load_word(stream, begin))
    store_word(scratch, to + 8, load_word(stream, begin + 8))
    for j in range(16, n, 8):
        store_word(scratch, to + j, load_word(stream, begin + j))
    return to + n


@gil_kernel
def spell(stream, parts, m, scratch):
    """Write the names of m rows of parts; a row becomes (begin, length). Returns the bytes used, -1 if they do not fit.
    Writes: parts, scratch."""
    s = np.int64(0)
    for row in range(0, ROW * m, ROW):
        outer_n = np.int64(load_word(parts, row + OUTER + 8))
        key_n = np.int64(load_word(parts, row + KEY + 8))
        value_n = np.int64(load_word(parts, row + VALUE + 8))
        if key_n < 0:
            store_word(parts, row + 8, NO_LENGTH)
            continue
        if s + outer_n + key_n + value_n + SPARE > 8 * len(scratch):
            return np.int64(-1)
        first = s
        if outer_n >= 0:
            s = copy_text(stream, np.int64(load_word(parts, row + OUTER)), outer_n, scratch, s)
            store_word(scratch, s, U(ord(":")))
            s += 1
        s = copy_text(stream, np.int64(load_word(parts, row + KEY)), key_n, scratch, s)
        if value_n >= 0:
            store_word(scratch, s, U(ord(":")))
            s = copy_text(stream, np.int64(load_word(parts, row + VALUE)), value_n, scratch, s + 1)
        store_word(scratch, s, U(0))
        store_word(parts, row, U(first))
        store_word(parts, row + 8, U(s - first))
        s = (s + 7) & ~7
    return s


@gil_kernel
def look_up(stream, table, work, m, learning, ids, place):
    """Spell and find the names of m rows of parts; do nothing if memory is missing. Writes: table, work, ids."""
    size = spell(stream, work.parts, m, work.scratch)
    if size < 0:
        return SCRATCH_FULL
    if learning and not has_room(table, m, (size >> 3) + m):
        return NAMES_FULL
    find_names(table, work.parts, m, work.scratch, learning, ids, place)
    return DONE


@inlined_kernel
def write_part(parts, at, begin, n):
    store_word(parts, at, U(begin))
    store_word(parts, at + 8, U(n))


@inlined_kernel
def object_at(stream, at, refs, n_refs, is_new):
    """Return (where the object at a byte was written, number of references); -1: a reference to nothing.

    Writes: refs.
    """
    kind = load_byte(stream, at)
    if kind == REF:
        index = np.int64(load_word(stream, at + 1) & LOW)
        return (refs[index] if index < n_refs else np.int64(-1)), n_refs
    if kind & FLAG and is_new:
        refs[n_refs] = at
        n_refs += 1
    return at, n_refs


@gil_kernel
def read_item(stream, at, n_refs, table, work, output, learning, place):
    """Read the item at a byte: (why it stopped, what follows, number of references, end of its attributes).
    Writes: table, work, output."""
    end, refs, parts = len(stream) - SPARE, work.refs, work.parts
    top, m = place, np.int64(0)
    back = inner_back = np.int64(-1)  # where to continue after a container that was written before
    where, n_refs = object_at(stream, at, refs, n_refs, back < 0)
    if where < 0:
        return BROKEN, at, n_refs, place
    if where != at:
        back = at + 5
    left, at = head_at(stream, where)
    if left == -2:
        return ODD, at, n_refs, place
    outer, outer_n, left_outside = np.int64(0), np.int64(-1), np.int64(0)
    while True:
        if left == 0 or (left < 0 and load_byte(stream, at) == END):  # the end of a dict or list
            at += left < 0
            if outer_n < 0:
                break
            if inner_back >= 0:
                at, inner_back = inner_back, np.int64(-1)
            left, outer_n = left_outside, np.int64(-1)
            continue
        if at >= end:
            return BROKEN, at, n_refs, place
        if m == BLOCK:
            why = look_up(stream, table, work, m, learning, output.attributes, top)
            if why != DONE:
                return why, at, n_refs, place
            top, m = top + m, np.int64(0)
            if top + BLOCK > len(output.attributes):
                return OUTPUT_FULL, at, n_refs, place
        if n_refs + 4 > len(refs):
            return REFS_FULL, at, n_refs, place
        where, n_refs = object_at(stream, at, refs, n_refs, back < 0 and inner_back < 0)
        if where < 0:
            return BROKEN, at, n_refs, place
        begin, n, after = text_at(stream, where)
        if n < 0:
            return ODD, at, n_refs, place
        at = after if where == at else at + 5
        if at > end:
            return BROKEN, at, n_refs, place
        x, value, value_n = 1.0, np.int64(0), np.int64(-1)
        if left > 0:
            left -= 1
        else:
            where, n_refs = object_at(stream, at, refs, n_refs, back < 0 and inner_back < 0)
            if where < 0:
                return BROKEN, at, n_refs, place
            value, value_n, after = text_at(stream, where)
            if value_n < 0:
                x, after = number_at(stream, where)
                if not np.isfinite(x):
                    shape = load_byte(stream, where) & 0x7F
                    if outer_n >= 0 or (shape != DICT and shape != LIST):  # deeper, or only `flatten` knows
                        return ODD, at, n_refs, place
                    outer, outer_n, left_outside = begin, n, left
                    if where != at:
                        inner_back = at + 5
                    left, at = head_at(stream, where)
                    continue
            at = after if where == at else at + 5
        if at > end:
            return BROKEN, at, n_refs, place
        if x != 1.0:
            if x == 0.0 and not learning:
                x, n = 1.0, np.int64(-1)  # adds nothing: as if it were not known
            elif len(output.values) == 0:
                return VALUES_MISSING, at, n_refs, place
        write_part(parts, ROW * m + OUTER, outer, outer_n)
        write_part(parts, ROW * m + KEY, begin, n)
        write_part(parts, ROW * m + VALUE, value, value_n)
        if len(output.values) > 0:
            output.values[top + m] = x
        m += 1
    why = look_up(stream, table, work, m, learning, output.attributes, top)
    if why != DONE:
        return why, at, n_refs, place
    return DONE, (back if back >= 0 else at), n_refs, top + m


@gil_kernel
def read_arrays(
    stream, state, slots, arena, counts, seeds, refs, parts, scratch, attributes, values, offsets, learning
):  # fmt: skip
    """Call `read_items` from Python, where a NamedTuple costs microseconds."""
    table, work = Table(slots, arena, counts, seeds), Work(refs, parts, scratch)
    return read_items(stream, state, table, work, Output(attributes, values, offsets), learning)


@gil_kernel
def read_items(stream, state, table, work, output, learning):
    """Read the items of a stream from where `state` stands. Returns why it stops; the item where it does so counts for
    nothing. Writes: state, table, work, output."""
    if state[ITEM] == 0:
        work.refs[0], state[N_REFS] = 0, load_byte(stream, np.int64(0)) >> 7
        state[LEFT], state[AT] = head_at(stream, np.int64(0))
    while state[LEFT] > 0:
        if state[POSITION] + 1 >= len(output.offsets) or state[PLACE] + BLOCK > len(output.attributes):
            return OUTPUT_FULL
        if state[N_REFS] + 4 > len(work.refs):
            return REFS_FULL
        why, at, n_refs, place = read_item(
            stream, state[AT], state[N_REFS], table, work, output, learning, state[PLACE]
        )
        if why != DONE:
            return why
        state[AT], state[N_REFS], state[PLACE] = at, n_refs, place
        state[POSITION] += 1
        output.offsets[state[POSITION]] = place
        state[ITEM] += 1
        state[LEFT] -= 1
    return DONE if state[LEFT] == 0 else BROKEN
