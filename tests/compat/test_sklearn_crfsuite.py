"""`fastcrf.compat.sklearn_crfsuite` beside sklearn-crfsuite: return values, attributes, files and pickles."""

from __future__ import annotations

import inspect
import os
import pickle

import numpy as np
import pytest
import sklearn_crfsuite as theirs
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn_crfsuite import utils as their_utils

from fastcrf.compat import sklearn_crfsuite as ours
from fastcrf.compat.pycrfsuite import Trainer
from fastcrf.compat.sklearn_crfsuite import metrics, scorers, utils
from reference.toy_sequences import toy_sequences

X, Y = toy_sequences(40)
NEW, GOLD = toy_sequences(15, seed=1)
TIGHT = {"delta": 1e-12, "period": 20, "epsilon": 1e-9, "max_iterations": 2000}


@pytest.fixture(scope="module")
def both():
    return [module.CRF(**TIGHT).fit(X, Y, NEW, GOLD) for module in (theirs, ours)]


class Unpickler(pickle.Unpickler):
    """Finds our classes where a pickle names theirs, as the switch does."""

    def find_class(self, module, name):
        known = module.partition(".")[0] in ("pycrfsuite", "sklearn_crfsuite")
        return super().find_class(f"fastcrf.compat.{module}" if known else module, name)


def test_the_constructor_is_theirs():
    assert inspect.signature(ours.CRF).parameters.keys() == inspect.signature(theirs.CRF).parameters.keys()
    assert ours.CRF().get_params() == theirs.CRF().get_params()
    assert repr(ours.CRF("l2sgd", c2=0.5)) == repr(theirs.CRF("l2sgd", c2=0.5))
    assert clone(ours.CRF(c1=0.5)).get_params() == ours.CRF(c1=0.5).get_params()


@pytest.mark.parametrize(
    "some", [NEW, NEW[:1], [NEW[0], NEW[0]], [[]], []], ids=["many", "one", "same", "empty", "none"]
)
def test_predictions_are_arrays_of_the_same_shape(both, some):
    peer, crf = both
    for method in ("predict", "predict_marginals"):
        expected, found = getattr(peer, method)(some), getattr(crf, method)(some)
        assert (found.shape, found.dtype) == (expected.shape, expected.dtype)
    assert crf.predict(some).tolist() == peer.predict(some).tolist()


def test_single_predictions_and_the_score_agree(both):
    peer, crf = both
    assert crf.predict_single(NEW[0]) == peer.predict_single(NEW[0])
    for found, expected in zip(
        crf.predict_marginals_single(NEW[0]), peer.predict_marginals_single(NEW[0]), strict=True
    ):
        assert found == pytest.approx(expected, abs=1e-4)
    assert crf.score(NEW, GOLD) == peer.score(NEW, GOLD)


def test_attributes_agree(both):
    peer, crf = both
    for name in ("classes_", "attributes_", "num_attributes_", "size_"):
        assert getattr(crf, name) == getattr(peer, name)
    for name in ("state_features_", "transition_features_"):
        assert getattr(crf, name) == pytest.approx(getattr(peer, name), abs=1e-3)
    assert crf.tagger_.tag(NEW[0]) == peer.tagger_.tag(NEW[0])
    assert crf.training_log_.last_iteration["scores"] == peer.training_log_.last_iteration["scores"]
    assert crf.state_features_ is crf.state_features_


def test_before_fit_attributes_are_none_and_predictions_an_error():
    crf = ours.CRF()
    for name in ("tagger_", "classes_", "attributes_", "num_attributes_", "size_", "state_features_", "training_log_"):
        assert getattr(crf, name) is None
    with pytest.raises(NotFittedError, match="call fit, or let model_filename be"):
        crf.predict(NEW)


def test_a_model_file_is_one_of_crfsuite(tmp_path):
    path = str(tmp_path / "model.crfsuite")
    crf = ours.CRF(model_filename=path).fit(X, Y)
    assert theirs.CRF(model_filename=path).predict(NEW).tolist() == crf.predict(NEW).tolist()
    assert ours.CRF(model_filename=path).predict(NEW).tolist() == crf.predict(NEW).tolist()
    assert pickle.loads(pickle.dumps(crf)).score(X, Y) == crf.score(X, Y)
    with pytest.raises(FileNotFoundError):
        ours.CRF(model_filename=path + ".none").predict(NEW)


def test_a_temporary_file_goes_with_its_model():
    crf = ours.CRF(c2=0.5).fit(X, Y)
    path = crf.modelfile.name
    assert path.endswith(".crfsuite")
    assert os.path.exists(path)
    crf.fit(X[:5], Y[:5])
    assert not os.path.exists(path)
    path = crf.modelfile.name
    del crf
    assert not os.path.exists(path)


def test_pickles_of_theirs_and_of_ours_are_loaded(both, tmp_path):
    peer, crf = both
    (tmp_path / "theirs.pkl").write_bytes(pickle.dumps(peer))
    with open(tmp_path / "theirs.pkl", "rb") as file:
        loaded = Unpickler(file).load()
    again = pickle.loads(pickle.dumps(crf))
    for each in (loaded, again):
        assert isinstance(each, ours.CRF)
        assert each.modelfile._path is None  # no temporary file where nobody asks for one
        assert each.get_params() == peer.get_params()
        assert each.predict(NEW).tolist() == peer.predict(NEW).tolist()
        assert each.training_log_.last_iteration["scores"] == peer.training_log_.last_iteration["scores"]
    with open(loaded.modelfile.name, "rb") as file:
        assert file.read(4) == b"lCRF"


def test_pickles_of_older_versions_lack_parameters():
    state = ours.CRF(c2=0.25).fit(X, Y).__getstate__()
    for name in ("keep_tempfiles", "trainer_cls", "training_log_"):
        del state[name]
    crf = ours.CRF.__new__(ours.CRF)
    crf.__setstate__(state)
    assert "c2=0.25" in repr(crf)
    assert len(crf.predict(NEW)) == len(NEW)


def test_a_trainer_class_of_the_user_is_used(capsys):
    class Loud(Trainer):
        def on_iteration(self, log, info):
            print("LOUD", info["num"])

    ours.CRF(trainer_cls=Loud, verbose=True, max_iterations=2).fit(X, Y)
    assert "LOUD 2" in capsys.readouterr().out


def test_verbose_tells_a_line_for_each_iteration_and_the_labels_at_the_end(capsys):
    ours.CRF(verbose=True, max_iterations=3).fit(X, Y, NEW, GOLD)
    told = capsys.readouterr().out
    lines = [line for line in told.splitlines() if line.startswith("Iter ")]
    assert len(lines) == 3
    assert all("loss=" in line and "F1=" in line for line in lines)
    assert "Label  Precision  Recall     F1  Support" in told
    ours.CRF().fit(X, Y)
    assert capsys.readouterr().out == ""


@pytest.mark.parametrize(
    "wrong", [{"algorithm": "ap", "c1": 0.1}, {"algorithm": "foo"}, {"pa_type": 1}, {"calibration_eta": 0.5}], ids=str
)
def test_wrong_parameters_raise_an_error_at_fit_in_the_same_words(wrong):
    sentences = []
    for module in (theirs, ours):
        with pytest.raises(ValueError, match=r".") as caught:
            module.CRF(**wrong).fit(X, Y)
        sentences.append(str(caught.value))
    assert sentences[0] == sentences[1]


def test_lengths_that_differ_raise_an_error():
    with pytest.raises(ValueError, match="X has 40 sequences and y has 1"):
        ours.CRF().fit(X, Y[:1])
    with pytest.raises(ValueError, match="Pass both X_dev and y_dev to use the holdout data"):
        ours.CRF().fit(X, Y, NEW)
    with pytest.raises(TypeError, match="a label is an int"):
        ours.CRF().fit([[["a"]]], [[1]])


def test_metrics_scorers_and_utils_are_there(both):
    from sklearn_crfsuite import metrics as their_metrics
    from sklearn_crfsuite import scorers as their_scorers

    peer, crf = both
    functions = {name for name in dir(their_metrics) if name.startswith(("flat", "sequence"))}
    assert functions <= set(dir(metrics))
    for name in ("flat_accuracy", "sequence_accuracy"):
        assert getattr(scorers, name)(crf, NEW, GOLD) == getattr(their_scorers, name)(peer, NEW, GOLD)
    assert utils.flatten([[1, 2], [3]]) == their_utils.flatten([[1, 2], [3]])
    options = {"average": "weighted", "labels": ["B", "I"]}
    assert metrics.flat_f1_score(GOLD, crf.predict(NEW), **options) == pytest.approx(
        their_metrics.flat_f1_score(GOLD, peer.predict(NEW), **options)
    )
    assert np.isclose(metrics.flat_accuracy_score(GOLD, crf.predict(NEW)), crf.score(NEW, GOLD))
