from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest
from typer.testing import CliRunner

import fastcrf
from fastcrf.cli.main import app
from fastcrf.solvers.registry import names

COMMANDS = ["demo", "train", "tag", "evaluate", "solvers"]


def run(*arguments: str):
    return CliRunner().invoke(app, list(arguments), prog_name="fastcrf")


def test_the_version_is_printed():
    assert run("--version").stdout == f"fastcrf {fastcrf.__version__}\n"


def test_without_arguments_the_help_is_shown():
    result = run()
    assert result.exit_code == 0
    assert all(command in result.stdout for command in COMMANDS)


@pytest.mark.parametrize("command", COMMANDS)
def test_each_command_shows_an_example_of_itself(command):
    result = run(command, "--help")
    assert result.exit_code == 0
    assert f"\n  fastcrf {command}" in result.stdout


def test_solvers_are_listed_with_paper_penalties_and_options():
    result = run("solvers")
    assert all(f"\n{name}\n" in f"\n{result.stdout}" for name in names())
    assert "Liu & Nocedal (1989)" in result.stdout
    core, laboratory = result.stdout.split("LABORATORY: ")
    assert core.startswith("CORE: for training models\n\nauto\n")
    assert "\nsag-nus-star\n" in core
    assert "\nemgd\n" in laboratory
    assert "pairs=6" in result.stdout


def test_auto_uses_single_precision_if_training_is_long():
    (auto,) = (each for each in json.loads(run("solvers", "--json").stdout) if each["name"] == "auto")
    assert auto["options"]["single_precision"] == "if long"


def test_solvers_as_json_hold_the_same():
    solvers = json.loads(run("solvers", "--json").stdout)
    assert [solver["name"] for solver in solvers] == list(names())
    assert all(
        set(solver) == {"name", "tier", "paper", "penalties", "needs", "guarantee", "options"} for solver in solvers
    )


def test_asking_for_help_imports_nothing_heavy():
    code = (
        "import sys; from typer.testing import CliRunner; from fastcrf.cli.main import app\n"
        "assert CliRunner().invoke(app, ['--help']).exit_code == 0\n"
        "sys.exit(', '.join({'numba', 'numpy', 'sklearn', 'rich'} & set(sys.modules)) or 0)"
    )
    result = subprocess.run([sys.executable, "-c", code], check=False, capture_output=True, text=True)
    assert (result.returncode, result.stderr) == (0, "")


def test_completion_offers_the_core_first_and_loads_no_numba():
    code = (
        "import sys; from fastcrf.cli.options.solver_options import complete_solver\n"
        "print(*complete_solver('sa'), sep=';')\n"
        "sys.exit(', '.join({'numba', 'sklearn'} & set(sys.modules)) or 0)"
    )
    result = subprocess.run([sys.executable, "-c", code], check=False, capture_output=True, text=True)
    assert (result.returncode, result.stderr) == (0, "")
    offered = result.stdout.strip().split(";")
    assert offered[0] == "('sag-nus-star', 'core')"
    assert "('sag', 'laboratory')" in offered[1:]


def test_the_shell_is_offered_the_names_of_solvers():
    environment = {
        **os.environ,
        "_FASTCRF_COMPLETE": "complete_bash",
        "COMP_WORDS": "fastcrf train -a prox-l",
        "COMP_CWORD": "3",
    }
    command = [sys.executable, "-c", "from fastcrf.cli.main import app; app(prog_name='fastcrf')"]
    result = subprocess.run(command, env=environment, check=False, capture_output=True, text=True)
    assert result.stdout.split() == ["prox-lbfgs"]
