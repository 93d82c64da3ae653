"""What hashed names cost: accuracy, attributes and bytes of a model, by the bits of the hash.

    python benchmarks/hashing.py --train train.txt --test test.txt

The files have columns, the label last. The attributes are those of `fastcrf.features.columns`.
"""

from __future__ import annotations

import argparse

from fastcrf import CRF, features
from fastcrf.data.files.conll import read_columns
from fastcrf.metrics import flat_accuracy_score, segment_f1_score

BITS = (None, 18, 16, 14, 12)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--train", required=True)
    parser.add_argument("--test", required=True)
    parser.add_argument("--sentences", type=int, help="of the training set (default: all)")
    options = parser.parse_args()
    train, test = rows_of(options.train)[: options.sentences], rows_of(options.test)
    print(f"{'bits':>6}{'attributes':>12}{'bytes':>12}{'accuracy':>10}{'F1':>8}")
    for bits in BITS:
        make = features.columns(len(train[0][0]) - 1)
        make = make if bits is None else make.hashed(bits)
        crf = CRF().fit(*encoded(make, train))
        X, y = encoded(make, test)
        found = crf.predict(X)
        scores = f"{flat_accuracy_score(y, found):>10.4f}{segment_f1_score(y, found):>8.4f}"
        print(f"{bits or '-':>6}{len(crf.attributes_):>12,}{len(crf.to_bytes()):>12,}{scores}", flush=True)


def rows_of(path: str) -> list[list[list[str]]]:
    return [sentence.rows for sentence in read_columns(path)]


def encoded(make: features.Features, sentences: list[list[list[str]]]) -> tuple[list[list[list[str]]], list[list[str]]]:
    """Return the attributes and the labels of sentences."""
    X = make.transform([[row[:-1] for row in rows] for rows in sentences])
    return X, [[row[-1] for row in rows] for rows in sentences]


if __name__ == "__main__":
    main()
