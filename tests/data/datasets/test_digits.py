from __future__ import annotations

import itertools
import subprocess
import sys

import numpy as np

from fastcrf.data.datasets.digits import make_digits


def images_of(logs):
    return {tuple(sorted(item.items())) for log in logs for item in log}


def test_the_same_seed_gives_the_same_logs_and_another_seed_others():
    assert make_digits(5, 5, random_state=1) == make_digits(5, 5, random_state=1)
    assert make_digits(5, 5, random_state=1) != make_digits(5, 5, random_state=2)


def test_no_image_is_in_both_train_and_test():
    X_train, X_test, _, _ = make_digits(300, 150)
    assert images_of(X_train)
    assert images_of(X_train).isdisjoint(images_of(X_test))


def test_items_are_the_grey_pixels_and_each_digit_has_its_label():
    X_train, X_test, y_train, y_test = make_digits(20, 10)
    for X, y, n in ((X_train, y_train, 20), (X_test, y_test, 10)):
        assert len(X) == len(y) == n
        assert all(len(log) == len(labels) for log, labels in zip(X, y, strict=True))
    names = {f"pixel{row}{column}" for row in range(8) for column in range(8)}
    assert all(set(item) - {"bias"} <= names for log in X_train for item in log)
    assert all(0 < grey <= 1 for log in X_train for item in log for grey in item.values())


def test_the_meter_stays_or_advances_by_one_or_two():
    _, _, y_train, _ = make_digits(200, 1)
    advances = [(int(b) - int(a)) % 10 for log in y_train for a, b in itertools.pairwise(log)]
    shares = np.bincount(advances, minlength=10) / len(advances)
    np.testing.assert_allclose(shares[:3], [0.45, 0.45, 0.1], atol=0.06)
    assert shares[3:].sum() == 0
    assert {label for log in y_train for label in log} == set("0123456789")


def test_importing_the_module_does_not_import_scikit_learn():
    code = "import sys, fastcrf.data.datasets.digits; sys.exit('sklearn' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
