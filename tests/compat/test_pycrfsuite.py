"""`fastcrf.compat.pycrfsuite` beside python-crfsuite: the same files, answers, messages and exceptions."""

from __future__ import annotations

import re

import pycrfsuite as theirs
import pytest

from fastcrf.compat import pycrfsuite as ours
from reference.toy_sequences import toy_sequences

X, Y = toy_sequences(40)
NEW = toy_sequences(15, seed=1)[0]
TIGHT = {"delta": 1e-12, "period": 20, "epsilon": 1e-9, "max_iterations": 2000}


def trained(module, path, params=TIGHT, algorithm="lbfgs", holdout=-1, **options):
    trainer = module.Trainer(algorithm, params, **{"verbose": False, **options})
    for i, (items, labels) in enumerate(zip(X, Y, strict=True)):
        trainer.append(items, labels, i % 4)
    trainer.train(str(path), holdout)
    return trainer


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """Models of the same data by CRFsuite and by us."""
    folder = tmp_path_factory.mktemp("models")
    trained(theirs, folder / "theirs.crfsuite")
    trained(ours, folder / "ours.crfsuite")
    return folder


def taggers(path):
    for module in (theirs, ours):
        tagger = module.Tagger()
        tagger.open(str(path))
        yield tagger


@pytest.mark.parametrize("name", ["theirs.crfsuite", "ours.crfsuite"])
def test_taggers_agree_on_labels_probabilities_and_marginals(files, name):
    peer, tagger = taggers(files / name)
    assert tagger.labels() == peer.labels()
    for sequence in NEW:
        labels = tagger.tag(sequence)
        assert labels == peer.tag(sequence)
        assert tagger.probability(labels) == pytest.approx(peer.probability(labels), rel=1e-10)
        for t, label in enumerate(labels):
            assert tagger.marginal(label, t) == pytest.approx(peer.marginal(label, t), rel=1e-10)


@pytest.mark.parametrize("name", ["theirs.crfsuite", "ours.crfsuite"])
def test_dump_and_info_are_those_of_crfsuite(files, name, tmp_path, capfd):
    peer, tagger = taggers(files / name)
    for each, path in ((peer, tmp_path / "theirs.txt"), (tagger, tmp_path / "ours.txt")):
        each.dump(str(path))
    assert (tmp_path / "ours.txt").read_text() == (tmp_path / "theirs.txt").read_text()
    tagger.dump()
    assert capfd.readouterr().out == (tmp_path / "ours.txt").read_text()
    expected, found = peer.info(), tagger.info()
    assert (found.header, found.labels, found.attributes) == (expected.header, expected.labels, expected.attributes)
    assert found.transitions == pytest.approx(expected.transitions, abs=1e-6)
    assert found.state_features == pytest.approx(expected.state_features, abs=1e-6)


@pytest.mark.parametrize("params", [{}, {"c1": 0.3, "c2": 0.1}, {"feature.minfreq": 2, "feature.possible_states": 1}])
def test_trained_models_are_the_same_but_for_the_last_digits(params, tmp_path):
    for module in (theirs, ours):
        trained(module, tmp_path / f"{module.__name__}", {**TIGHT, **params})
    peer, tagger = (next(iter(taggers(tmp_path / module.__name__))) for module in (theirs, ours))
    assert tagger.info().labels == peer.info().labels
    assert [tagger.tag(sequence) for sequence in NEW] == [peer.tag(sequence) for sequence in NEW]
    if "c1" not in params:  # with an L1 penalty CRFsuite stops farther from the optimum
        assert tagger.info().state_features == pytest.approx(peer.info().state_features, abs=1e-3)


@pytest.mark.parametrize("algorithm", ["lbfgs", "l2sgd", "ap", "pa", "arow", "Averaged-Perceptron"])
def test_parameters_have_the_same_names_and_defaults(algorithm):
    peer, trainer = theirs.Trainer(algorithm), ours.Trainer(algorithm)
    assert trainer.params() == peer.params()
    assert trainer.get_params() == peer.get_params()
    for name in trainer.params():
        assert trainer.help(name)
        value = 3 if name != "linesearch" else "Backtracking"
        peer.set(name, value)
        trainer.set(name, str(value))
        assert trainer.get(name) == peer.get(name)
    trainer.select("lbfgs")
    assert trainer.get("feature.minfreq") == 0.0


def recorded(module, path, **options):
    """The messages of training, without what differs in any two runs."""

    class Recorder(module.Trainer):
        def __init__(self, *args, **kwargs):
            super().__init__(*args, **kwargs)
            self.messages = []

        def message(self, message):
            self.messages.append(re.sub(r"\d+\.\d{3}\n|\d+\.\d{6}", "#", message))
            super().message(message)

    original, module.Trainer = module.Trainer, Recorder
    try:
        return trained(module, path, **options)
    finally:
        module.Trainer = original


@pytest.mark.parametrize("algorithm", ["ap", "passive-aggressive", "arow"])
@pytest.mark.parametrize("epsilon", [0.0, 100.0])
def test_messages_of_the_trainers_that_learn_from_mistakes_are_those_of_crfsuite(tmp_path, algorithm, epsilon):
    """With epsilon=100 they end after an iteration, and say so."""
    params = {"max_iterations": 3, "epsilon": epsilon}
    options = {"params": params, "algorithm": algorithm, "holdout": 2}
    peer, trainer = (recorded(m, tmp_path / "m", **options) for m in (theirs, ours))
    words = [[re.sub(r"\(.*|\d.*", "", message) for message in each.messages] for each in (peer, trainer)]
    assert words[0] == words[1]
    assert trainer.logparser.events == peer.logparser.events
    assert len(trainer.logparser.iterations) == (1 if epsilon else 3)
    assert trainer.logparser.last_iteration.keys() == peer.logparser.last_iteration.keys()
    assert tagger_labels(tmp_path / "m")


def tagger_labels(path):
    tagger = ours.Tagger()
    tagger.open(str(path))
    return tagger.labels()


@pytest.mark.parametrize("holdout", [-1, 2])
def test_messages_are_those_of_crfsuite(tmp_path, holdout):
    params = {"max_iterations": 4, "c2": 0.5}
    peer, trainer = (recorded(m, tmp_path / "m", params=params, holdout=holdout) for m in (theirs, ours))
    n_before = peer.messages.index("***** Iteration #1 *****\n")
    assert trainer.messages[:n_before] == peer.messages[:n_before]
    words = [[re.sub(r"\(.*|\d.*", "", message) for message in each.messages] for each in (peer, trainer)]
    assert words[0] == words[1]
    expected, found = peer.logparser, trainer.logparser
    assert found.events == expected.events
    assert found.featgen_num_features == expected.featgen_num_features
    assert [each.keys() for each in found.iterations] == [each.keys() for each in expected.iterations]
    assert found.last_iteration["num"] == 4
    assert found.last_iteration["scores"].keys() == expected.last_iteration["scores"].keys()
    assert found.training_seconds is not None
    if holdout >= 0:
        assert found.last_iteration["item_accuracy"].denominator == expected.last_iteration["item_accuracy"].denominator


def test_scores_on_the_held_out_group_are_those_of_crfsuite(tmp_path):
    last = [trained(m, tmp_path / "m", holdout=1).logparser.last_iteration for m in (theirs, ours)]
    for name in ("scores", "avg_precision", "avg_recall", "avg_f1", "item_accuracy", "instance_accuracy_float"):
        assert last[1][name] == last[0][name]
    assert last[1]["loss"] == pytest.approx(last[0]["loss"], rel=1e-6)


def test_l2sgd_tells_its_epochs(tmp_path):
    trainer = trained(ours, tmp_path / "m", {"max_iterations": 3}, "l2sgd")
    assert [each["num"] for each in trainer.logparser.iterations] == [1, 2, 3]
    assert all(each["loss"] > 0 for each in trainer.logparser.iterations)


def test_an_exception_in_a_hook_ends_training_and_writes_nothing(tmp_path):
    class Enough(Exception):
        pass

    class Impatient(ours.Trainer):
        def on_iteration(self, log, info):
            if info["num"] == 2:
                raise Enough

    trainer = Impatient(verbose=True)
    trainer.append(X[0], Y[0])
    with pytest.raises(Enough):
        trainer.train(str(tmp_path / "m.crfsuite"))
    assert not list(tmp_path.iterdir())


def test_a_trainer_can_be_used_again(tmp_path):
    trainer = trained(ours, tmp_path / "a", TIGHT)
    trainer.append(X[0], Y[0])
    trainer.train(str(tmp_path / "b"))
    assert (tmp_path / "a").read_bytes() != (tmp_path / "b").read_bytes()
    trainer.clear()
    for items, labels in zip(X, Y, strict=True):
        trainer.append(iter(items), iter(labels))
    trainer.train(str(tmp_path / "b"))
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()


def test_a_sequence_that_raises_an_error_leaves_nothing_behind(tmp_path):
    trainer = trained(ours, tmp_path / "a")
    for items, labels in (([["new"], ["b"]], ["x"]), ([["new"], {"v": None}], ["x", "y"]), ([{"v": 0.5}], [None])):
        with pytest.raises((ValueError, TypeError)):
            trainer.append(items, labels)
    trainer.train(str(tmp_path / "b"))
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()


def calls(module, path):
    """(what is called, on a tagger that is open and on one that is not)."""
    opened, closed, trainer = module.Tagger(), module.Tagger(), module.Trainer(verbose=False)
    opened.open(str(path))
    opened.tag(NEW[0])
    return {
        "lengths": lambda: trainer.append([["a"]], ["x", "y"]),
        "label": lambda: trainer.append([["a"]], [1]),
        "set": lambda: trainer.set("nonsense", 1),
        "get": lambda: trainer.get("nonsense"),
        "help": lambda: trainer.help("nonsense"),
        "algorithm": lambda: module.Trainer("nonsense"),
        "closed labels": closed.labels,
        "closed set": lambda: closed.set([["a"]]),
        "closed info": closed.info,
        "closed probability": lambda: closed.probability([]),
        "no file": lambda: closed.open(str(path) + ".none"),
        "no model": lambda: closed.open(__file__),
        "short": lambda: closed.open_inmemory(b"lCRFabc"),
        "no bytes": lambda: closed.open_inmemory(b""),
        "text": lambda: closed.open_inmemory("text"),
        "probability": lambda: opened.probability(["B"]),
        "unknown label": lambda: opened.marginal("nobody", 0),
        "unknown path": lambda: opened.probability(["nobody"] * len(NEW[0])),
        "position": lambda: opened.marginal("B", 99),
    }


NAMES = ["lengths", "label", "set", "get", "help", "algorithm", "closed labels", "closed set", "closed info",
         "closed probability", "no file", "no model", "short", "no bytes", "text", "probability", "unknown label",
         "unknown path", "position"]  # fmt: skip
OTHER_WORDS = ("label", "position")  # theirs are "expected bytes, int found", and a blank is missing


@pytest.mark.parametrize("name", NAMES)
def test_exceptions_are_of_the_same_kind_and_say_the_same(files, name):
    raised = []
    for module in (theirs, ours):
        with pytest.raises(Exception, match=r".") as caught:
            calls(module, files / "theirs.crfsuite")[name]()
        raised.append(caught)
    peer, found = raised
    assert found.type is peer.type
    assert name in OTHER_WORDS or str(found.value) == str(peer.value)


def test_an_empty_sequence_has_no_labels_and_no_probability(files):
    for tagger in taggers(files / "theirs.crfsuite"):
        assert (tagger.tag([]), tagger.probability([]), tagger.marginal("B", 0)) == ([], 0.0, 0.0)


def test_a_damaged_model_is_a_sentence(files):
    data = bytearray((files / "theirs.crfsuite").read_bytes())
    data[60] = 255
    with pytest.raises(ValueError, match="Error opening model: Cannot load the model"):
        ours.Tagger().open_inmemory(bytes(data))


@pytest.mark.parametrize(
    "items", [[], [["a", "b"], {"c": 2, "d": {"e": True, "f": ["g"]}}], ["ab", {"k": b"v"}]], ids=str
)
def test_item_sequences_hold_the_same(items):
    expected, found = theirs.ItemSequence(items), ours.ItemSequence(items)
    assert found.items() == expected.items()
    assert (len(found), repr(found)) == (len(expected), repr(expected))
    assert ours.ItemSequence(found).items() == expected.items()


def test_an_item_sequence_serves_in_place_of_its_items(files, tmp_path):
    _, tagger = taggers(files / "ours.crfsuite")
    assert [tagger.tag(ours.ItemSequence(x)) for x in NEW] == [tagger.tag(x) for x in NEW]
    trainer = ours.Trainer(params=TIGHT, verbose=False)
    for items, labels in zip(X, Y, strict=True):
        trainer.append(ours.ItemSequence(items), labels)
    trainer.train(str(tmp_path / "m"))
    assert (tmp_path / "m").read_bytes() == (files / "ours.crfsuite").read_bytes()


def test_every_name_of_theirs_is_there():
    leaked = {"contextlib", "os", "sys", "tempfile", "_pycrfsuite"}
    assert {name for name in dir(theirs) if not name.startswith("__")} - leaked <= set(dir(ours))
    public = {name for name in dir(theirs.Trainer) + dir(theirs.Tagger) if not name.startswith("_")}
    assert public <= set(dir(ours.Trainer) + dir(ours.Tagger))
    assert str(ours.CRFSuiteError(-2147483643)) == "Overflow"
