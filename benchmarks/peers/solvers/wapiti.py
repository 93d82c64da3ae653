"""Wapiti, built from source: wapiti in PATH, or named by the variable WAPITI."""

import tempfile
from pathlib import Path

from benchmark_utils.programs import WAPITI
from benchmark_utils.tables import write_files
from benchopt import BaseSolver

from fastcrf import Model


class Solver(BaseSolver):
    """Its time includes reading the data and writing the model: it is a program."""

    name = "wapiti"

    def skip(self, rows, labels, c2):
        return (WAPITI.path() is None), (WAPITI.missing() if WAPITI.path() is None else None)

    def set_objective(self, rows, labels, c2):
        self.folder, self.c2 = tempfile.TemporaryDirectory(), c2
        write_files(rows, labels, Path(self.folder.name))

    def run(self, n_iter):
        WAPITI.train(Path(self.folder.name), self.c2, max(1, n_iter))

    def get_result(self):
        return {"model": Model.load(Path(self.folder.name, WAPITI.model))}
