"""How often predicted labels are right, against their probabilities, on test data.

    python benchmarks/calibration.py [--data DIR] [--sets conll2000,conll2002-ned] [--c2 1] [--picture FILE]

For each corpus, a CRF is trained on the training data and predicts the test data. Prints the expected calibration error
of 10 bins, the accuracy and the mean probability of the predicted labels; --picture draws the curves.
"""

from __future__ import annotations

import argparse
from typing import Any

import corpora

from fastcrf import CRF
from fastcrf.data.datasets.loaders import load
from fastcrf.displays import CalibrationDisplay

SETS = "conll2000,conll2002-ned"
TEST = {"conll2002-ned": "testb"}  # the part that is not for development


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data")
    parser.add_argument("--sets", default=SETS)
    parser.add_argument("--c2", type=float, default=1.0)
    parser.add_argument("--picture")
    asked = parser.parse_args()
    import matplotlib

    matplotlib.use("svg")
    from matplotlib.figure import Figure

    figure = Figure(figsize=(4.8, 4.2), layout="constrained")
    ax = figure.subplots()
    folder = corpora.data_folder(asked.data)
    print("| corpus | labels | accuracy | mean probability | expected calibration error |\n|---|--:|--:|--:|--:|")
    for name in asked.sets.split(","):
        of_set: dict[str, Any] = {"data_home": folder, "items": True, "return_X_y": True, "download_if_missing": False}
        crf = CRF(c2=asked.c2).fit(*load(name, **of_set))
        X, y = load(name, subset=TEST.get(name, "test"), **of_set)
        shown = CalibrationDisplay.from_estimator(crf, X, y, name=name, ax=ax)
        total = shown.counts.sum()
        accuracy, mean = (values @ shown.counts / total for values in (shown.accuracy, shown.confidence))
        print(f"| {name} | {total:,.0f} | {accuracy:.2%} | {mean:.2%} | {shown.error:.2%} |", flush=True)
    if asked.picture:
        figure.savefig(asked.picture, dpi=150)


if __name__ == "__main__":
    main()
