"""The switch: their names, our modules, in programs that know nothing of it."""

from __future__ import annotations

import pickle
import subprocess
import sys

import pytest
import sklearn_crfsuite

from fastcrf import compat

PROGRAM = """
import pickle, sys
import pycrfsuite, sklearn_crfsuite
from pycrfsuite._logparser import TrainLogParser
from sklearn_crfsuite.estimator import CRF
from sklearn_crfsuite import metrics, scorers, utils
assert sys.argv == ["program.py", "pickled", "--flag"] and __name__ == "__main__", sys.argv
assert pycrfsuite.Trainer.__module__.startswith("fastcrf."), pycrfsuite
assert sys.modules["sklearn_crfsuite"].CRF is CRF and pycrfsuite._logparser.TrainLogParser is TrainLogParser
crf = pickle.load(open("pickled", "rb"))
assert isinstance(crf, CRF) and crf.c2 == 0.5 and isinstance(crf.training_log_, TrainLogParser)
print(crf.predict([[["a"], ["b"], ["b"]]]).tolist(), len(crf.training_log_.iterations))
try:
    import sklearn_crfsuite.nothing
except ModuleNotFoundError as error:
    print(error)
"""


def run(*command, folder):
    return subprocess.run([sys.executable, *command], cwd=folder, capture_output=True, text=True)


def test_a_program_and_a_pickle_of_theirs_run_unchanged(tmp_path):
    crf = sklearn_crfsuite.CRF(c2=0.5).fit([[["a"], ["b"]]] * 3, [["x", "y"]] * 3)
    (tmp_path / "pickled").write_bytes(pickle.dumps(crf))
    (tmp_path / "program.py").write_text(PROGRAM)
    found = run("-m", "fastcrf.compat", "program.py", "pickled", "--flag", folder=tmp_path)
    assert found.returncode == 0, found.stderr
    predicted, missing = found.stdout.splitlines()
    assert predicted == f"{crf.predict([[['a'], ['b'], ['b']]]).tolist()} {len(crf.training_log_.iterations)}"
    assert missing == "fastcrf has no stand-in for the module 'sklearn_crfsuite.nothing'."


def test_a_module_can_be_run_and_a_wrong_command_says_what_is_right(tmp_path):
    (tmp_path / "some.py").write_text("import pycrfsuite, sys; print(pycrfsuite.__name__, sys.argv[1:])")
    assert run("-m", "fastcrf.compat", "-m", "some", "x", folder=tmp_path).stdout == "fastcrf.compat.pycrfsuite ['x']\n"
    assert run("-m", "fastcrf.compat", folder=tmp_path).stderr.startswith(
        "usage: python -m fastcrf.compat [option ...] program.py"
    )
    assert "there is no program none.py" in run("-m", "fastcrf.compat", "none.py", folder=tmp_path).stderr


def test_where_the_original_is_loaded_the_switch_says_so():
    with pytest.raises(RuntimeError, match="pycrfsuite has been imported already"):
        compat.install()
    assert sys.modules["sklearn_crfsuite"] is sklearn_crfsuite


def test_the_switch_can_be_turned_back(monkeypatch):
    for name in [name for name in sys.modules if name.partition(".")[0] in ("pycrfsuite", "sklearn_crfsuite")]:
        monkeypatch.delitem(sys.modules, name)
    compat.install()
    compat.install()
    import pycrfsuite as ours

    assert ours.__name__ == "fastcrf.compat.pycrfsuite"
    compat.uninstall()
    import pycrfsuite as theirs

    assert theirs.__name__ == "pycrfsuite"
    for name in [name for name in sys.modules if name.partition(".")[0] == "pycrfsuite"]:
        del sys.modules[name]  # monkeypatch puts back those that were there


def test_a_tagger_loads_neither_the_compiler_nor_scikit_learn(tmp_path):
    theirs = sklearn_crfsuite.CRF(model_filename=str(tmp_path / "m.crfsuite")).fit([[["a"], ["b"]]], [["x", "y"]])
    assert theirs.predict_single([["a"], ["b"]]) == ["x", "y"]
    (tmp_path / "program.py").write_text(
        "import pycrfsuite, sys; t = pycrfsuite.Tagger(); t.open('m.crfsuite'); print(t.tag([['a'], ['b']]));"
        "print({'numba', 'scipy', 'sklearn'} & set(sys.modules))"
    )
    found = run("-m", "fastcrf.compat", "program.py", folder=tmp_path)
    assert found.stdout == "['x', 'y']\nset()\n", found.stderr
