"""CoNLL-2000, chunks of English: words and parts of speech of three tokens; in the folder that FASTCRF_DATA names."""

from benchmark_utils.tables import with_neighbors
from benchopt import BaseDataset

from fastcrf.data.datasets.loaders import load
from fastcrf.exceptions import DataError


class Dataset(BaseDataset):
    """The first sentences of the training part."""

    name = "conll2000"
    parameters = {"first": [2000]}

    def skip(self):
        try:
            load("conll2000", subset="train")
        except (DataError, OSError) as error:
            return True, str(error)
        return False, None

    def get_data(self):
        data = load("conll2000", subset="train")
        sentences = [["\t".join(columns[:2]) for columns in rows] for rows in data.data[: self.first]]
        labels = [list(map(str, own)) for own in data.target[: self.first]]
        return {"rows": with_neighbors(sentences, lambda token: token.split("\t")), "labels": labels}
