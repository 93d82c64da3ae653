"""A toy corpus with real-valued attributes: a meter's log in handwriting, composed from scikit-learn's digits.

Somebody reads a meter at intervals and writes down its last digit each time: it mostly stays or moves on by one, seldom
by two, and 9 goes over into 0. Each digit is one of the 1,797 images of 8 x 8 pixels that scikit-learn ships. An image
alone can be hard to read; the digits next to it help, and that is what the transitions of a chain learn. The images are
divided before anything is composed, so none is in both train and test.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Logs = list[list[dict[str, float]]]  # per log, per digit: {pixel: grey}
Labels = list[list[str]]

SIDE = 8  # pixels
DARKEST = 16.0
ADVANCES = (0, 1, 2)
CHANCES = (0.45, 0.45, 0.1)


def make_digits(n_train: int = 600, n_test: int = 300, random_state: int = 0) -> tuple[Logs, Logs, Labels, Labels]:
    """Compose handwritten logs: X_train, X_test, y_train, y_test. The same seed gives the same logs."""
    from sklearn.datasets import load_digits

    rng = np.random.default_rng(random_state)
    images, digits = load_digits(return_X_y=True)
    order = rng.permutation(len(images))
    test, train = np.split(order, [len(order) // 3])
    X_train, y_train = compose(n_train, images[train], digits[train], rng)
    X_test, y_test = compose(n_test, images[test], digits[test], rng)
    return X_train, X_test, y_train, y_test


def compose(n: int, images: NDArray, digits: NDArray, rng: np.random.Generator) -> tuple[Logs, Labels]:
    """Write `n` logs with the given images."""
    items = [pixel_items(image) for image in images]
    writings = {str(digit): np.flatnonzero(digits == digit) for digit in range(10)}
    logs = [meter_log(rng) for _ in range(n)]
    return [[items[rng.choice(writings[digit])] for digit in log] for log in logs], [list(log) for log in logs]


def pixel_items(image: NDArray) -> dict[str, float]:
    """Return the gray of each pixel that is not blank, from 0 to 1, by row and column, and a bias."""
    greys = {f"pixel{p // SIDE}{p % SIDE}": float(grey) / DARKEST for p, grey in enumerate(image) if grey}
    return {"bias": 1.0, **greys}


def meter_log(rng: np.random.Generator) -> str:
    """Generate 6 to 14 readings, the first of them arbitrary."""
    advances = rng.choice(ADVANCES, size=rng.integers(5, 14), p=CHANCES)
    readings = (rng.integers(10) + np.cumsum([0, *advances])) % 10
    return "".join(map(str, readings))
