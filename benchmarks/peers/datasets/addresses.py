"""Generated postal addresses: needs no download."""

from benchmark_utils.tables import with_neighbors
from benchopt import BaseDataset

from fastcrf.data.datasets.addresses import make_addresses


class Dataset(BaseDataset):
    """Tokens of addresses with their suffixes and shapes, and those of their neighbors."""

    name = "addresses"
    parameters = {"n": [1000]}
    test_parameters = {"n": [60]}

    def get_data(self):
        tokens, labels = make_addresses(self.n, random_state=0)
        return {"rows": with_neighbors(tokens, described), "labels": [list(map(str, own)) for own in labels]}


def described(word):
    return [word.lower(), word[-3:], "".join("9" if c.isdigit() else "X" if c.isupper() else "x" for c in word)]
