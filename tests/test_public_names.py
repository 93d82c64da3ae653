"""The public names: few, listed, lazily imported."""

from __future__ import annotations

import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

import fastcrf

PUBLIC = [
    "CRF",
    "CRFCV",
    "Constraints",
    "Model",
    "__version__",
    "displays",
    "exceptions",
    "features",
    "load",
    "metrics",
    "open_corpus",
    "readers",
    "regularization_path",
    "scorers",
    "solvers",
    "stopping",
]


def run(code: str) -> str:
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout


def test_public_names_are_exactly_these_and_sorted():
    assert fastcrf.__all__ == PUBLIC == sorted(PUBLIC)
    assert dir(fastcrf) == PUBLIC


@pytest.mark.parametrize("name", PUBLIC)
def test_every_public_name_can_be_imported(name):
    assert getattr(fastcrf, name) is not None


def test_an_unknown_name_is_an_attribute_error():
    with pytest.raises(AttributeError, match="no attribute 'crf'"):
        _ = fastcrf.crf


def test_every_file_has_the_same_version():
    root = Path(__file__).parents[1]
    assert fastcrf.__version__ == tomllib.loads((root / "pyproject.toml").read_text())["project"]["version"]
    for name in ("CITATION.cff", "packaging/conda/recipe.yaml"):
        (found,) = re.findall(r'^ *version: "?([\w.]+)"?$', (root / name).read_text(), re.MULTILINE)
        assert found == fastcrf.__version__, name


def test_the_conda_recipe_has_the_dependencies_of_the_distribution():
    root = Path(__file__).parents[1]
    project = tomllib.loads((root / "pyproject.toml").read_text())["project"]
    recipe = (root / "packaging/conda/recipe.yaml").read_text()
    listed = re.search(r"  run:\n((?:    - .*\n)+)", recipe)[1].replace("    - ", "").splitlines()
    assert [line.replace(" ", "") for line in listed if "python" not in line] == project["dependencies"]
    assert f'python_min: "{project["requires-python"].removeprefix(">=")}"' in recipe


def test_importing_the_package_imports_neither_numba_nor_scikit_learn_nor_numpy():
    loaded = run("import sys, fastcrf; print(*sys.modules)").split()
    assert not {"numba", "sklearn", "numpy", "rich", "safetensors"} & set(loaded)


def test_tagging_imports_neither_scikit_learn_nor_the_training_code():
    loaded = set(run("import sys, fastcrf; fastcrf.Model; print(*sys.modules)").split())
    assert "fastcrf.model.model" in loaded
    assert not {"sklearn", "joblib", "fastcrf.training.driver", "fastcrf.solvers.registry"} & loaded


def test_star_import_brings_the_public_names():
    names = run("from fastcrf import *; print(*sorted(n for n in dir() if n == '__version__' or n[0] != '_'))").split()
    assert names == PUBLIC


CRFSUITES = re.compile(r"num_memories|crfsuite_compat|trainer_cls|keep_tempfiles|model_filename|feature\.minfreq")


def test_crfsuites_parameters_are_known_to_compat_alone():
    package = Path(fastcrf.__file__).parent
    for path in package.rglob("*.py"):
        if path.relative_to(package).parts[0] not in ("compat", "interchange"):
            assert not CRFSUITES.search(path.read_text()), path


def test_no_module_reads_its_callers_stack_frame():
    for path in Path(fastcrf.__file__).parent.rglob("*.py"):
        assert not re.search(r"_getframe|currentframe|inspect\.stack|f_back", path.read_text()), path
