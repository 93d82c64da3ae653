"""What a person sees of a run."""

from __future__ import annotations

import io

import pytest
from rich.console import Console

from fastcrf.solvers.quasi_newton.lbfgs import LBFGS
from fastcrf.stopping import MaxIterations
from fastcrf.training.driver import minimize
from fastcrf.training.progress import Progress, line
from fastcrf.training.trace import COLUMNS
from reference.toy_problem import ToyProblem


def shown(terminal, **options):
    console = Console(file=io.StringIO(), force_terminal=terminal, width=200)
    result = minimize(ToyProblem(), LBFGS(), stop=[MaxIterations(4)], progress=Progress(console, **options))
    return console.file.getvalue(), result


def test_a_row_in_one_line_has_objective_gap_passes_and_seconds():
    row = {"step": 7, "objective": 13139.271, "relative_gap": 3.2e-4, "passes": 9.0, "seconds": 1.25, "wall": 2.0}
    text = line(row | {"gap": 4.2, "gradient_norm": 1.0, "f1": 0.93612, "trials": 1})
    assert text == "step 7  objective 13,139.27  gap 3.2e-04  f1 0.9361  trials 1  1.2 s  passes 9"


def test_a_line_has_as_much_as_there_is_space_for_and_what_matters_first():
    row = {"step": 7, "objective": 13139.271, "relative_gap": 3.2e-4, "passes": 9.0, "seconds": 1.25, "f1": 0.93612}
    assert line(row, 50) == "step 7  objective 13,139.27  gap 3.2e-04"
    assert line(row, 51) == "step 7  objective 13,139.27  gap 3.2e-04  f1 0.9361"
    assert line(row, 3) == "step 7"


def test_a_bound_that_proves_nothing_is_not_shown():
    row = {"step": 0, "objective": 7.0, "relative_gap": 4e6, "passes": 1.0, "seconds": 0.0}
    assert line(row) == "step 0  objective 7.00  0.0 s  passes 1"


@pytest.mark.parametrize("width", [40, 72, 200])
def test_a_bar_stays_on_one_line_and_says_nothing_of_the_solver(monkeypatch, width):
    monkeypatch.setattr("fastcrf.training.progress.REFRESH", 0.0)
    console = Console(file=io.StringIO(), force_terminal=True, width=width, height=20)
    lines = []

    class Watching(Progress):
        def update(self, row):
            super().update(row)
            lines.append(
                ["".join(part.text for part in each) for each in console.render_lines(self._bar.get_renderable())]
            )

    rules = [MaxIterations(4)]
    minimize(ToyProblem(), LBFGS(), stop=rules, watch={"f1": lambda w: 0.5}, progress=Watching(console))
    assert all(len(each) == 1 for each in lines)
    assert "100%" in lines[-1][0]
    assert "step 4" in lines[-1][0] or width == 40
    assert "f1 0.5" in lines[-1][0] or width < 200
    assert not any(word in each[0] for each in lines for word in ("trials", "pairs", "step_size"))


def test_what_was_not_evaluated_is_not_shown():
    row = {"step": 0, "objective": None, "relative_gap": None, "passes": 0.0, "seconds": 0.0}
    assert line(row) == "step 0  0.0 s  passes 0"


def test_an_estimate_of_the_objective_is_shown_where_it_was_not_evaluated():
    row = {"step": 3, "objective": None, "objective_estimate": 8.0, "relative_gap": None, "passes": 4.0, "seconds": 0.0}
    assert line(row) == "step 3  objective 8.00  0.0 s  passes 4"
    assert line(row | {"objective": 7.0}) == "step 3  objective 7.00  0.0 s  passes 4"


def test_elsewhere_than_on_a_terminal_lines_are_plain_and_come_now_and_then():
    text, result = shown(terminal=False, interval=1e9)
    last = {name: result.trace[-1][name] for name in COLUMNS}
    assert text.splitlines() == [f"lbfgs  {line(last)}", f"lbfgs  {result.reason}"]
    assert shown(terminal=False, interval=1e9, reason=False)[0].splitlines() == [f"lbfgs  {line(last)}"]
    text, _ = shown(terminal=False, interval=0.0)
    assert [text.count(f"step {k} ") for k in range(5)] == [1, 1, 1, 1, 2]


def test_on_a_terminal_a_live_line_gives_way_to_the_last_row_and_the_reason():
    text, result = shown(terminal=True)
    assert text.rstrip().endswith(result.reason)
    assert "\x1b[?25h" in text  # the cursor is back


def test_in_a_pipe_a_short_run_prints_its_last_row_alone():
    text, result = shown(terminal=False)
    assert len(text.splitlines()) == 2
    assert text.splitlines()[1] == f"lbfgs  {result.reason}"


def test_the_display_is_finished_when_the_run_breaks():
    class Recorder:
        calls = ()

        def start(self, title, stop=()):
            self.calls += (f"start {title}",)

        def update(self, row):
            self.calls += (f"step {row['step']}",)

        def finish(self, row, reason):
            self.calls += (reason,)

    def broken(row):
        raise RuntimeError("broken")

    recorder = Recorder()
    with pytest.raises(RuntimeError, match="broken"):
        minimize(ToyProblem(), LBFGS(), progress=recorder, callbacks=[broken])
    assert recorder.calls == ("start lbfgs", "step 0", "The run was interrupted.")


def test_a_run_is_silent_by_default(capfd):
    minimize(ToyProblem(), LBFGS(), stop=[MaxIterations(4)])
    assert capfd.readouterr() == ("", "")
