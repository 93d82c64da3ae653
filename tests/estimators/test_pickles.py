"""Pickles of fitted estimators: which names they hold, so that a move in the code does not break them unseen."""

from __future__ import annotations

import io
import pickle

import pytest

from fastcrf import CRF, CRFCV
from fastcrf.solvers import LBFGS
from fastcrf.stopping import RelativeDecrease
from reference.toy_sequences import toy_sequences

X, Y = toy_sequences(20)
MODEL = {
    "fastcrf.model.model.Model",
    "fastcrf.data.encoding.attributes.ItemAttributes",
    "fastcrf.data.encoding.names.Names",
    "fastcrf.core.types.FeatureMap",
}
OUTCOME = {
    "fastcrf.estimators.crf.CRF",
    "fastcrf.estimators.history.History",
    "fastcrf.certificates.certificate.Certificate",
}


class Names(pickle.Unpickler):
    """An unpickler that lists the names it looks up in this package."""

    def __init__(self, data):
        super().__init__(io.BytesIO(data))
        self.found = set()

    def find_class(self, module, name):
        if module.startswith("fastcrf"):
            self.found.add(f"{module}.{name}")
        return super().find_class(module, name)


def names_in(thing):
    reader = Names(pickle.dumps(thing))
    assert reader.load().predict(X) == thing.predict(X)
    return reader.found


@pytest.mark.parametrize(
    ("estimator", "own"),
    [
        (CRF(n_jobs=1), set()),
        (CRF(LBFGS(pairs=4), n_jobs=1), {"fastcrf.solvers.quasi_newton.lbfgs.LBFGS"}),
        (CRF(stopping=[RelativeDecrease(1e-3)], n_jobs=1), {"fastcrf.stopping.RelativeDecrease"}),
        (CRF(boundaries=True, n_jobs=1), {"fastcrf.data.encoding.boundaries.BoundedAttributes"}),
        (CRFCV(c2_values=[1.0], cv=2), {"fastcrf.estimators.cross_validation.CRFCV"}),
    ],
    ids=["by name", "solver object", "rule", "boundaries", "CRFCV"],
)
def test_a_pickle_of_a_fitted_estimator_holds_these_names(estimator, own):
    fitted = estimator.fit(X, Y)
    fitted.predict(X), fitted.state_features_
    assert names_in(fitted) == OUTCOME | MODEL | own


def test_a_pickle_of_a_model_holds_these_names():
    assert names_in(CRF(n_jobs=1).fit(X, Y).model_) == MODEL
