"""The functions of lanes.py in NumPy: their specification, and their implementation without a compiler."""

from __future__ import annotations

import numpy as np

from fastcrf.simd.widths import panel_width


def load(array, row, column, lanes):
    return array[row, column : column + len(lanes)].astype(number_of(lanes))


def number_of(lanes):
    return np.float32 if isinstance(lanes[0], np.float32) else np.float64


def store(array, row, column, value):
    array[row, column : column + len(value)] = value


def add_to(array, row, column, value):
    array[row, column : column + len(value)] += value


def flat_rows(matrix, first, last):
    return matrix[first:last].reshape(-1)


def zeros(lanes):
    return np.zeros(len(lanes), number_of(lanes))


def panel_of(lanes):
    return lanes[: panel_width(len(lanes), number_of(lanes)().itemsize)]


def size_of(lanes):
    return len(lanes) * number_of(lanes)().itemsize


def add(x, y):
    return x + y


multiply, larger = np.multiply, np.maximum


def scale(number, x):
    return x.dtype.type(number) * x


def shift(x, number):
    return x + x.dtype.type(number)


def add_scaled(number, x, y):
    return scale(number, x) + y


def keep(bits, x):
    return np.where([int(bits) >> k & 1 for k in range(len(x))], x, 0.0)


def total(x):
    return float(np.sum(x))


def largest(x):
    return float(np.max(x))
