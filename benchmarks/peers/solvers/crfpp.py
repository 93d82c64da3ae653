"""CRF++, built from source: crf_learn in PATH, or named by the variable CRFPP."""

import tempfile
from pathlib import Path

from benchmark_utils.programs import CRFPP
from benchmark_utils.tables import write_files
from benchopt import BaseSolver

from fastcrf import Model


class Solver(BaseSolver):
    """Its time includes reading the data and writing the model: it is a program."""

    name = "crfpp"

    def skip(self, rows, labels, c2):
        return (CRFPP.path() is None), (CRFPP.missing() if CRFPP.path() is None else None)

    def set_objective(self, rows, labels, c2):
        self.folder, self.c2 = tempfile.TemporaryDirectory(), c2
        write_files(rows, labels, Path(self.folder.name))

    def run(self, n_iter):
        CRFPP.train(Path(self.folder.name), self.c2, max(1, n_iter))

    def get_result(self):
        return {"model": Model.load(Path(self.folder.name, CRFPP.model))}
