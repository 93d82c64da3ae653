"""Checkpoints that were damaged, forged or cannot be written: a sentence, no crash, no wrong model, no lost run."""

from __future__ import annotations

import errno
import logging
import math
from contextlib import suppress

import numpy as np
import pytest

from fastcrf.exceptions import CheckpointError
from fastcrf.objective.problem import Problem
from fastcrf.solvers.registry import make
from fastcrf.stopping import MaxIterations
from fastcrf.training import checkpoint, checkpoint_file
from fastcrf.training import checkpoint_signature as signature
from fastcrf.training.checkpoint import Checkpoint
from fastcrf.training.driver import minimize
from reference.random_corpora import random_corpus, random_features

CORPUS, FEATURES = random_corpus(0, lengths=[3, 1, 5, 2, 4]), random_features(0)


def run(path, solver="lbfgs", resume=True, steps=6):
    problem = Problem(CORPUS, FEATURES, c1=float(solver == "owlqn"), c2=0.5)
    return minimize(problem, make(solver), stop=[MaxIterations(steps)], checkpoint=Checkpoint(path, 0.0, resume))


@pytest.fixture(params=["lbfgs", "owlqn"])
def solver(request):
    return request.param


@pytest.fixture
def state(tmp_path, solver):
    run(tmp_path / "run.state", solver, resume=False, steps=4)
    return tmp_path / "run.state"


def forge(path, change):
    """Change arrays and header, and sign them again as somebody would who knows the format."""
    arrays, header = checkpoint_file.read(path)
    change(arrays, header)
    path.write_bytes(checkpoint_file.to_bytes(arrays, header))


def test_every_flipped_byte_is_noticed(state, solver):
    content = bytearray(state.read_bytes())
    whole = run(state, solver).weights  # this replaces the file
    rng, accepted = np.random.default_rng(0), 0
    for place in {*range(0, 40), *rng.integers(0, len(content), 60).tolist(), len(content) - 1}:
        damaged = bytearray(content)
        damaged[place] ^= 1 << int(rng.integers(8))
        state.write_bytes(damaged)
        with suppress(CheckpointError):
            np.testing.assert_array_equal(run(state, solver).weights, whole)  # padding of the header, say
            accepted += 1
    assert accepted < 5


LONG = ["weights", "gradient", "basis", "gram"]  # an order may be shorter: then there are fewer pairs
CHANGES = [(name, change) for name in LONG for change in ("cut to one", "cut by one")]
CHANGES += [(name, change) for name in (*LONG, "order") for change in ("one more", "float32", "nan", "missing", "flat")]


@pytest.mark.parametrize(("name", "change"), CHANGES)
def test_arrays_of_wrong_shape_type_or_content_end_in_an_error(state, solver, name, change):
    def forged(arrays, header):
        array = arrays.pop(f"m:{name}")
        if change != "missing":
            arrays[f"m:{name}"] = {
                "cut to one": lambda: array.reshape(-1)[:1],
                "cut by one": lambda: array[:-1],
                "one more": lambda: np.concatenate([array, array[:1]]),
                "float32": lambda: array.astype(np.float32),
                "nan": lambda: array * np.nan,
                "flat": lambda: array.reshape(1, -1) if array.ndim == 1 else array.reshape(-1),
            }[change]()

    forge(state, forged)
    names = "basis|gram|curvature pairs" if name in ("basis", "gram") else name  # either may be the wrong one
    with pytest.raises(CheckpointError, match=f"cannot be resumed: .*({names}).*; start over without it"):
        run(state, solver)


@pytest.mark.parametrize("slots", [[0, 99], [-1, 0], [0, 0], [2**40]])
def test_an_order_of_slots_that_are_not_there_raises_an_error(state, solver, slots):
    forge(state, lambda arrays, header: arrays.update({"m:order": np.array(slots)}))
    with pytest.raises(CheckpointError, match="'order'"):
        run(state, solver)


@pytest.mark.parametrize("name", ["weights", "best_weights"])
def test_the_weights_of_the_run_must_be_finite_and_of_the_right_length(state, solver, name):
    for wrong in (np.zeros(1), np.full(FEATURES.n_weights, np.inf), np.zeros(FEATURES.n_weights, np.float32)):
        forge(state, lambda arrays, header, wrong=wrong: arrays.update({f"d:{name}": wrong}))
        with pytest.raises(CheckpointError, match=f"'{name}'"):
            run(state, solver)


def test_the_weights_of_a_solver_that_draws_are_checked_as_well(tmp_path):
    run(tmp_path / "run.state", "sag", resume=False, steps=2)
    forge(tmp_path / "run.state", lambda arrays, header: arrays.update({"m:weights": np.zeros(1)}))
    with pytest.raises(CheckpointError, match=r"'weights' has the shape \(1,\), but the model has"):
        run(tmp_path / "run.state", "sag")


@pytest.mark.parametrize("value", [1e308, 0.0, -5.0, math.nan, "one", None])
def test_a_value_that_is_not_the_objective_raises_an_error(state, solver, value):
    forge(state, lambda arrays, header: header["memory"].update(value=value))
    with pytest.raises(CheckpointError, match=r"its objective is|'value' has the type|'value' holds"):
        run(state, solver)


def test_numbers_must_agree_with_one_evaluation(state, solver):
    forge(state, lambda arrays, header: arrays["m:gradient"].__imul__(1.01))
    with pytest.raises(CheckpointError, match="its gradient differs"):
        run(state, solver)
    run(state, solver, resume=False, steps=4)
    forge(state, lambda arrays, header: arrays["m:weights"].__iadd__(0.01))
    with pytest.raises(CheckpointError, match="its weights are not those"):
        run(state, solver)
    run(state, solver, resume=False, steps=4)
    forge(state, lambda arrays, header: header["driver"]["trace"][-1].update(objective=1.0))
    with pytest.raises(CheckpointError, match=r"its objective is 1, but evaluating its weights gives"):
        run(state, solver)


@pytest.mark.parametrize("bound", [1e6, math.inf, math.nan, "high"])
def test_a_bound_that_no_run_can_have_proved_raises_an_error(state, solver, bound):
    forge(state, lambda arrays, header: header["driver"]["certifier"].update(lower_bound=bound))
    with pytest.raises(CheckpointError, match=r"its lower bound is|'lower_bound'"):
        run(state, solver)


@pytest.mark.parametrize("name", ["bundle_rows", "bundle_figures", "bundle_rest"])
def test_planes_of_wrong_shape_or_type_raise_an_error(state, solver, name):
    for wrong in (np.zeros(1), np.zeros((40, 3), np.float32), np.full((2, 2), np.nan)):
        run(state, solver, resume=False, steps=4)
        forge(state, lambda arrays, header, wrong=wrong: arrays.update({f"d:{name}": wrong}))
        with pytest.raises(CheckpointError, match=r"'(bundle_)?(rows|figures|rest)'"):
            run(state, solver)


def lacking(part, name=None):
    def change(arrays, header):
        del (header[part] if name else header)[name or part]

    return change


def odd_rows(rows):
    return lambda arrays, header: header["driver"].update(trace=rows)


@pytest.mark.parametrize(
    "change",
    [
        *(lacking(part) for part in ("fingerprint", "memory", "driver")),
        *(lacking("driver", name) for name in ("trace", "passes", "seconds", "wall", "best_step", "best_score")),
        lacking("memory", "value"),
        *(odd_rows(rows) for rows in ([], None, [1], [{}], [{"step": 5}], {"0": 1})),
        lambda arrays, header: header["driver"].update(best_step=99),
        lambda arrays, header: header["driver"].update(passes=-1),
        lambda arrays, header: header["driver"].update(wall="long"),
        lambda arrays, header: header["memory"].update(extra=1),
        lambda arrays, header: header.update(fingerprint=[]),
    ],
)
def test_a_checkpoint_that_lacks_something_raises_an_error(tmp_path, change):
    path = tmp_path / "run.state"
    run(path, resume=False, steps=3)
    forge(path, change)
    with pytest.raises(CheckpointError, match=r"start over|a different") as refusal:
        run(path)
    assert str(refusal.value).count(". ") == 0


def test_a_disk_that_is_full_costs_the_checkpoint_and_one_warning_but_not_the_run(tmp_path, monkeypatch, caplog):
    path, tries, write = tmp_path / "run.state", [], checkpoint.replace_file

    def full_for_a_while(path, content):
        tries.append(len(content))
        if len(tries) < 4:
            raise OSError(errno.ENOSPC, "No space left on device", path)
        write(path, content)

    monkeypatch.setattr(checkpoint, "replace_file", full_for_a_while)
    with caplog.at_level(logging.WARNING, "fastcrf"):
        result = run(path, resume=False, steps=6)
    assert result.n_steps == 6
    assert [record.getMessage() for record in caplog.records] == [
        f"The checkpoint {path} cannot be written (No space left on device); training continues and tries again later."
    ]
    assert len(tries) == 7
    assert len(run(path).trace) == 7


@pytest.mark.parametrize("every", [math.nan, -1.0, math.inf, "often", None])
def test_the_time_between_checkpoints_is_a_number(every, tmp_path):
    with pytest.raises(ValueError, match="checkpoint_every must be a finite number of at least 0"):
        Checkpoint(tmp_path / "run.state", every)


def by_a_stranger(path, change):
    """Change a checkpoint as somebody does who knows the format, but not our secret."""
    arrays, header = checkpoint_file.read(path)
    change(arrays, header)
    with pytest.MonkeyPatch.context() as elsewhere:
        elsewhere.setattr(signature, "secret", lambda: b"?" * signature.SIZE)
        path.write_bytes(checkpoint_file.to_bytes(arrays, header))


def claiming(bound):
    """Say that no objective is below `bound`, in every way in which a state can say so."""

    def change(arrays, header):
        header["driver"]["certifier"].update(lower_bound=bound)
        if "d:bundle_figures" in arrays:
            arrays["d:bundle_figures"][:] = bound
        if "m:entropies" in arrays:
            arrays["m:entropies"][:] *= 1.001
        if "m:figures" in arrays:
            arrays["m:figures"][:, 1] *= 1.001

    return change


@pytest.mark.parametrize("name", ["lbfgs", "owlqn", "sag", "svrg", "sdca"])
def test_what_a_strangers_checkpoint_claims_to_have_proved_is_proved_again(tmp_path, name, caplog):
    path = tmp_path / "run.state"
    optimum = run(tmp_path / "long.state", name, steps=60).certificate.objective
    run(path, name, resume=False, steps=2)
    by_a_stranger(path, claiming(1.0001 * optimum))
    for steps in (2, 4, 6):  # the second time, the checkpoint is ours, and still holds what the stranger wrote
        with caplog.at_level(logging.WARNING, "fastcrf"):
            found = run(path, name, steps=steps).certificate
        assert found.lower_bound <= optimum
    assert ["not signed by this user" in record.getMessage() for record in caplog.records] == [True]


def test_our_own_checkpoint_keeps_what_it_proved(tmp_path, caplog):
    whole = run(tmp_path / "whole.state", resume=False, steps=6)
    run(tmp_path / "run.state", resume=False, steps=4)
    assert run(tmp_path / "run.state").certificate == whole.certificate
    assert not caplog.records


def test_without_a_place_for_the_secret_a_checkpoint_is_a_strangers(tmp_path, caplog, monkeypatch):
    monkeypatch.setattr("fastcrf.system.cache_folder.CACHE_FOLDER", None)
    run(tmp_path / "run.state", resume=False, steps=4)
    assert run(tmp_path / "run.state").n_steps == 6
    assert "not signed by this user" in caplog.text


def test_the_secret_is_made_once_and_is_ours_alone(tmp_path, monkeypatch):
    monkeypatch.setattr("fastcrf.system.cache_folder.CACHE_FOLDER", tmp_path)
    first = signature.secret()
    assert len(first) == signature.SIZE
    assert signature.secret() == first
    (file,) = tmp_path.iterdir()
    assert file.stat().st_mode & 0o777 == 0o600
    assert signature.is_ours("text", signature.signature_of("text"))
    assert not signature.is_ours("other", signature.signature_of("text"))
    file.write_bytes(b"short")
    assert signature.secret() is None
    assert not signature.is_ours("text", "")
