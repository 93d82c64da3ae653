"""Training on a cluster, from files and from Python: the model is that of one process."""

from __future__ import annotations

import pytest
from sklearn.base import clone
from typer.testing import CliRunner

from fastcrf import CRF
from fastcrf.cli.data_files import training_files
from fastcrf.cli.main import app
from fastcrf.cluster.placement import from_files
from fastcrf.cluster.training import fit_on_cluster
from fastcrf.data.encoding.encoder import NO_ITEMS
from fastcrf.exceptions import DataError
from fastcrf.fitting.fit import fit_model
from fastcrf.fitting.plan import make_plan

pytestmark = pytest.mark.filterwarnings("ignore")

COLUMNS = [
    "the D B\ndog N I\nsees V O\na D B\n\ncat N I\n\n",
    "a D B\ncat N I\n\nsees V O\nthe D B\n\nbird N I\nbites V O\n",
]
ITEMS = ["B\tw=the\tb\nI\tw=dog:0.5\n\n", "@weight:2.5\nO\tw=sees\n\nI\tw=dog\tw=the\n"]
TEMPLATE = "U00:%x[-1,0]\nU01:%x[0,0]/%x[1,1]\nB\n"
PLAN = {"algorithm": "lbfgs", "c2": 0.3, "tol": 1e-9}


@pytest.mark.parametrize("kind", ["columns", "items", "template"])
@pytest.mark.parametrize("n_shards", [2, 3])
def test_files_that_workers_read_give_the_model_of_one_process(client, tmp_path, kind, n_shards):
    paths = []
    for i, text in enumerate(ITEMS if kind == "items" else COLUMNS):
        paths.append(str(tmp_path / f"{i}.txt"))
        (tmp_path / f"{i}.txt").write_text(text)
    (tmp_path / "template").write_text(TEMPLATE)
    inputs = training_files(str(tmp_path / "template") if kind == "template" else None, None, kind == "items")
    place = from_files(paths, inputs.files.labeled, inputs.attributes)
    dev = paths[:1], inputs.files.labeled
    there = fit_on_cluster("dask", place, make_plan(**PLAN), n_shards=n_shards, dev=dev, features={"min_freq": 0.0})
    X, y, weights = [], [], []
    for path in paths:
        part = inputs.files.labeled(path)
        for items, gold in zip(part.X, part.y, strict=True):
            X.append(items)
            y.append(gold)
        weights += part.weights or []
    here = fit_model(X, y, make_plan(**PLAN), attributes=inputs.attributes, sample_weight=weights or None)
    assert there.model.state_features_ == pytest.approx(here.model.state_features_, abs=1e-5)
    assert there.model.transition_features_ == pytest.approx(here.model.transition_features_, abs=1e-5)
    assert there.model.predict(X) == here.model.predict(X)
    assert 0.5 < there.result.trace[-1]["dev_accuracy"] <= 1.0


def test_the_estimator_takes_the_name_of_an_engine(client):
    X = [[["a", "b"], ["b"]], [["c"]], [["a"], ["b"], ["c"]], [["b"]]]
    y = [["P", "Q"], ["Q"], ["P", "P", "R"], ["Q"]]
    crf = clone(CRF(engine="dask", n_jobs=2, tol=1e-8))
    crf.fit(X, y, X_dev=X, y_dev=y)
    here = CRF("lbfgs", n_jobs=1, tol=1e-8).fit(X, y, X_dev=X, y_dev=y)
    assert crf.state_features_ == pytest.approx(here.state_features_, abs=1e-5)
    assert crf.history_[-1]["dev_accuracy"] == here.history_[-1]["dev_accuracy"]
    assert CRF.from_bytes(crf.to_bytes()).engine is None
    with pytest.raises(ValueError, match="provides gradient, hessian on a cluster; use lbfgs"):
        CRF("sag", engine="dask").fit(X, y)
    with pytest.raises(ValueError, match="is not an engine"):
        CRF(engine="spark").fit(X, y)


def test_what_workers_cannot_read_is_a_sentence(client, tmp_path):
    files = training_files(None, None, False).files
    with pytest.raises(DataError, match="Workers cannot read this process' standard input"):
        from_files(["-"], files.labeled, NO_ITEMS)
    place = from_files([str(tmp_path / "missing.txt")], files.labeled, NO_ITEMS)
    with pytest.raises(DataError, match=r"Cannot read .*missing.txt: No such file"):
        fit_on_cluster("dask", place, make_plan(**PLAN), n_shards=2)


def test_files_are_tagged_by_workers_in_their_order(client, tmp_path):
    paths = [tmp_path / f"{i}.txt" for i in range(2)]
    for path, text in zip(paths, COLUMNS, strict=True):
        path.write_text(text)
    model, runner = tmp_path / "model.crf", CliRunner()
    words = [str(path) for path in paths]
    train = ["train", *words, "-m", str(model), "-q", "--engine", "dask", "--n-jobs", "2", "--max-iterations", "5"]
    assert runner.invoke(app, train).exit_code == 0
    tagged = runner.invoke(
        app, ["tag", *words, "-m", str(model), "--folder", str(tmp_path / "out"), "--engine", "dask"]
    )
    assert tagged.stderr.split() == [str(tmp_path / "out" / path.name) for path in paths]
    for path in paths:
        expected = runner.invoke(app, ["tag", str(path), "-m", str(model)]).stdout
        assert (tmp_path / "out" / path.name).read_text() == expected != ""
