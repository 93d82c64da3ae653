"""ap, pa and arow are CRFsuite's: with its random orders, epoch by epoch and weight by weight; with ours, as good."""

from __future__ import annotations

import json
import math
import re

import numpy as np
import pytest

from fastcrf import CRF
from fastcrf.certificates.certificate import NOT_APPLICABLE
from fastcrf.compat.sklearn_crfsuite import CRF as DropIn
from fastcrf.data.datasets.addresses import address_items, make_addresses
from fastcrf.solvers.margin import run
from fastcrf.solvers.margin.arow import AROW
from fastcrf.solvers.margin.passive_aggressive import PassiveAggressive
from reference import crfsuite_model, crfsuite_shuffles
from reference.toy_sequences import toy_sequences

SEED = 5
N = 150


@pytest.fixture(scope="module")
def toy():
    """Numbers in eighths: sums of the perceptron's weights are then exact, and ties are ties in any order."""
    X, y = toy_sequences(N, seed=3)
    return [[item | {"length": round(8 * item["length"]) / 8} for item in sequence] for sequence in X], y


def crfsuite(toy, folder, algorithm, **params):
    if not crfsuite_shuffles.AVAILABLE:
        pytest.skip("needs the C library's rand()")
    crfsuite_shuffles.seed(SEED)
    their_names = {"pa_type": "type"}
    params = {their_names.get(name, name): int(v) if isinstance(v, bool) else v for name, v in params.items()}
    return crfsuite_model.train(*toy, folder, algorithm=algorithm, **params)


@pytest.fixture
def same_orders(monkeypatch):
    """Our epochs take CRFsuite's random orders."""
    if crfsuite_shuffles.AVAILABLE:
        orders = crfsuite_shuffles.orders(SEED, N, 40)

        def order(seed, epoch, n):
            return orders[epoch] if n == N else np.arange(n)  # the warm-up is smaller

        monkeypatch.setattr(run, "epoch_permutation", order)


def assert_same_weights(crf, peer):
    """CRFsuite writes no weight that is 0."""
    for ours, theirs in ((crf.state_features_, peer.states), (crf.transition_features_, peer.transitions)):
        found = {name: weight for name, weight in ours.items() if abs(weight) > 1e-12}
        assert found == pytest.approx({n: w for n, w in theirs.items() if abs(w) > 1e-12}, rel=1e-9, abs=1e-12)


def losses(log):
    return [iteration["loss"] for iteration in log.iterations]


VARIANTS = [
    ("ap", {}),
    *[("pa", {"pa_type": kind, "c": 0.2}) for kind in (0, 1, 2)],
    ("pa", {}),
    ("pa", {"error_sensitive": False, "averaging": False}),
    ("arow", {}),
    ("arow", {"variance": 0.3, "gamma": 2.0}),
]


@pytest.mark.parametrize(("algorithm", "options"), VARIANTS, ids=str)
def test_it_equals_crfsuite_for_the_same_random_orders(toy, tmp_path, same_orders, algorithm, options):
    peer = crfsuite(toy, tmp_path, algorithm, max_iterations=5, **options)
    crf = DropIn(algorithm, max_iterations=5, **options).fit(*toy)
    ours = losses(crf.training_log_)
    assert ours == pytest.approx(losses(peer), abs=2e-6)  # six decimals
    assert min(ours) > 0.0
    assert_same_weights(crf, peer)


@pytest.mark.parametrize(("algorithm", "epsilon"), [("ap", 0.11), ("pa", 0.5), ("arow", 0.33)])
def test_it_stops_when_crfsuite_stops(toy, tmp_path, same_orders, algorithm, epsilon):
    peer = crfsuite(toy, tmp_path, algorithm, epsilon=epsilon, max_iterations=39)
    crf = DropIn(algorithm, epsilon=epsilon, max_iterations=39).fit(*toy)
    assert 0 < len(peer.iterations) < 39
    assert len(crf.training_log_.iterations) == len(peer.iterations)
    assert "Terminated with the stopping criterion" in "".join(crf.training_log_.log)
    assert_same_weights(crf, peer)


def separable(n=30):
    return [[{"w": k % 3}, {"w": (k + 1) % 3}] for k in range(n)], [[str(k % 3), str((k + 1) % 3)] for k in range(n)]


@pytest.mark.parametrize("algorithm", ["ap", "pa", "arow"])
def test_without_mistakes_arow_stops_and_the_others_average_on_as_in_crfsuite(tmp_path, algorithm):
    peer = crfsuite_model.train(*separable(), tmp_path, algorithm=algorithm, max_iterations=12)
    log = DropIn(algorithm, max_iterations=12).fit(*separable()).training_log_
    assert losses(log)[-1] == 0.0
    assert (len(log.iterations) < 12) == (len(peer.iterations) < 12) == (algorithm == "arow")


def test_with_our_own_random_orders_it_is_as_good_as_crfsuite(tmp_path):
    tokens, labels = make_addresses(400)
    items = [address_items(sequence) for sequence in tokens]
    train, test = (items[:300], labels[:300]), (items[300:], labels[300:])
    for algorithm in ("ap", "pa", "arow"):
        peer = crfsuite_model.train(*train, tmp_path, algorithm=algorithm, max_iterations=10)
        crf = DropIn(algorithm, max_iterations=10).fit(*train)
        tagged = [peer.tagger.tag(sequence) for sequence in test[0]]
        right = sum(a == b for ours, gold in zip(tagged, test[1], strict=True) for a, b in zip(ours, gold, strict=True))
        assert crf.score(*test) == pytest.approx(right / sum(map(len, test[1])), abs=0.02)


def test_objective_and_certificate_are_not_applicable(toy):
    crf = CRF("pa", c2=0.0, tol=None, max_iterations=3).fit(*toy)  # a warning would be an error here
    assert all(row[name] is None for row in crf.history_ for name in ("objective", "gap", "relative_gap"))
    assert crf.certificate_ is NOT_APPLICABLE
    assert str(crf.certificate_) == "not applicable: this algorithm does not minimize the objective"
    assert math.isinf(crf.certificate_.relative_gap)
    assert crf.stop_reason_ == "Reached max_iterations=3."
    assert not crf.converged_


def test_the_command_line_says_so_as_well(tmp_path):
    from typer.testing import CliRunner

    from fastcrf.cli.main import app

    data, model = tmp_path / "data.txt", str(tmp_path / "model")
    data.write_text("a\tx\nb\ty\n\nb\ty\na\tx\n\n" * 5)
    arguments = ["train", str(data), "-m", model, "-a", "ap", "--c2", "0", "--max-iterations", "2"]
    told = CliRunner().invoke(app, [*arguments, "--force"])
    assert told.exit_code == 0, told.output
    assert re.search(r"certificate\s+not applicable: this algorithm does not minimize the objective", told.output)
    assert "objective  " not in told.output
    outcome = json.loads(CliRunner().invoke(app, [*arguments, "--force", "--json", "--quiet"]).stdout)
    assert outcome["objective"] is outcome["gap"] is outcome["relative_gap"] is None


def test_training_ends_when_the_loss_of_an_epoch_falls_no_more(toy):
    crf = CRF("perceptron", c2=0.0).fit(*toy)
    assert crf.converged_
    assert crf.stop_reason_.startswith("The training loss")
    assert crf.n_iter_ < 1000


@pytest.mark.parametrize(
    ("make", "sentence"),
    [
        (lambda: PassiveAggressive(pa_type=3), "pa: pa_type must be 0, 1 or 2; got pa_type=3."),
        (lambda: PassiveAggressive(c=0.0), "pa: c must be a number above 0; got c=0.0."),
        (lambda: PassiveAggressive(averaging=1), "pa: averaging must be true or false; got averaging=1."),
        (lambda: AROW(gamma=0), "arow: gamma must be a number above 0; got gamma=0."),
    ],
)
def test_what_cannot_be_is_one_sentence(make, sentence):
    with pytest.raises(ValueError, match=re.escape(sentence)):
        make()
