"""What stored gradients take in each mode, against the n p numbers of the naive one: the table of schmidt2015.

    python benchmarks/memory.py [--data DIR] [--sets ocr-letters,conll2000,conll2002-ned,ud-ewt-xpos] [--all-states]

Bytes are those that a run reports as `memory_bytes`, padding included; below them is their share of 8 n p. The paper's
models have a weight for each attribute with each label: --all-states. It counts numbers without padding and finds

    OCR          sparse 0.78      marginals 1.1       mixed 0.21
    CoNLL-2000   sparse 0.0048    marginals 0.0070    mixed 0.00061
    CoNLL-2002   sparse 0.00064   marginals 0.00038   mixed 0.000070
"""

from __future__ import annotations

import argparse
import os

import corpora
import numpy as np

from fastcrf.lab.named_datasets import from_literature
from fastcrf.stochastic.gradient_storage import FORMS, bytes_by_form, choose_form

SETS = "ocr-letters,conll2000,conll2002-ned,ud-ewt-xpos"
MEGABYTE = 1e6


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", help="folder of the corpora (default: $FASTCRF_DATA)")
    parser.add_argument("--sets", default=SETS, help="names, with commas between")
    parser.add_argument("--all-states", action="store_true", help="a weight for each attribute with each label")
    arguments = parser.parse_args()
    os.environ["FASTCRF_DATA"] = str(corpora.data_folder(arguments.data))
    print(f"{'':14}{'n':>8}{'p':>11}{'8 n p':>12}", *(f"{form:>13}" for form in FORMS), "  auto")
    for name in arguments.sets.split(","):
        problem = from_literature(name, all_states=arguments.all_states).problem(0.0, 0.5, n_jobs=1)
        blocks = problem.part(np.zeros(problem.n_weights)).blocks
        n, p, sizes = problem.n_sequences, problem.n_weights, bytes_by_form(blocks)
        megabytes = (f"{sizes[form] / MEGABYTE:>10.1f} MB" for form in FORMS)
        print(f"{name:14}{n:>8}{p:>11}{8 * n * p / MEGABYTE:>9.0f} MB", *megabytes, f"  {choose_form(blocks)}")
        print(" " * 45, *(f"{sizes[form] / (8 * n * p):>13.2g}" for form in FORMS))


if __name__ == "__main__":
    main()
