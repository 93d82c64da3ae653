"""Tables say what the rows say: medians over seeds, who was first, and nothing that the optimum does not allow."""

from __future__ import annotations

import json

from fastcrf.lab.summary import as_json, compare
from fastcrf.lab.tables import in_words, verdict
from reference.lab_rows import lab_rows, run, skipped


def test_runs_are_grouped_by_problem_and_solver():
    one, two = compare(lab_rows())
    assert [(r.solver, r.seed) for r in one.runs] == [("quick", 0), ("quick", 1), ("steady", None), ("picky", None)]
    assert list(one.by_solver()) == ["quick", "steady", "picky"]
    assert (two.problem["dataset"], two.problem["accuracy"]) == ("two", 0.01)


def test_one_run_under_two_names_stays_two():
    rows = run("one", "sgd", 0, [1.0, 0.5])
    again = [row | {"solver": "sgd:batch_size=1"} for row in rows]
    assert [r.solver for r in compare([*rows, *again])[0].runs] == ["sgd", "sgd:batch_size=1"]


def test_a_gap_is_reached_at_the_first_row_within_it():
    steady = compare(lab_rows())[0].by_solver()["steady"][0]
    assert steady.reached[0.1]["passes"] == 2
    assert steady.reached[0.01]["passes"] == 3
    assert steady.reached[1e-6]["passes"] == 5


def test_a_gap_smaller_than_the_optimum_is_known_is_not_claimed():
    two = compare(lab_rows())[1]
    assert set(two.runs[0].reached) == {0.1, 0.01}


def test_first_is_the_least_median_over_the_seeds():
    one = compare(lab_rows())[0]
    assert one.first_to(0.1, "passes") == "quick"  # 1 and 2 passes; steady needs 2
    assert one.first_to(0.1, "seconds") == "steady"
    assert one.first_to(1e-6, "passes") == "steady"
    assert one.first_to(1e-12, "passes") is None


def test_a_gap_that_half_of_the_seeds_miss_is_not_reached():
    rows = [*run("one", "lucky", 0, [1.0, 0.0]), *run("one", "lucky", 1, [1.0, 0.9])]
    assert compare(rows)[0].first_to(0.01, "passes") is None


def test_the_table_names_every_solver_and_why_one_was_skipped():
    text = in_words(compare(lab_rows())[0])
    assert "optimum 10.000000 (certified to 1e-7)" in text
    assert "picky skipped: picky </script> ended." in text
    lines = {line.split()[0]: line for line in text.splitlines() if line}
    assert lines["quick"].split() == ["quick", "0.20", "(2.0)", "0.30", "(3.0)", "0.30", "(3.0)", "-", "-", "-"]
    assert "*0.05 (5.0)" in lines["steady"]


def test_a_run_that_waited_for_a_core_is_reported():
    rows = [*run("one", "starved", 0, [1.0, 0.5], cpu_share=0.3), *run("one", "fed", 0, [1.0, 0.5], cpu_share=1.8)]
    text = in_words(compare(rows)[0])
    assert "rely on passes, not on seconds. Share of a core: 30%, for starved." in text


def test_the_verdict_names_the_first_the_next_and_the_slowest():
    gaps = [1.0, 0.5, 9e-4]
    costs = {"fast": 0.1, "slow": 0.8, "next": 0.2}
    rows = [row for name, cost in costs.items() for row in run("one", name, None, gaps, cost)]
    (sentence,) = verdict(compare([*rows, *run("one", "stuck", None, [1.0, 0.5])])[0])
    assert sentence == (
        "fast reaches a relative gap of 1e-3 in 0.2 s, 2 times sooner than next, 8 times sooner than slow. "
        "stuck did not reach it."
    )
    assert verdict(compare(run("one", "stuck", None, [1.0, 0.5]))[0]) == []


def test_a_table_of_skipped_runs_alone_has_no_race():
    text = in_words(compare(skipped("one", "picky"))[0])
    assert "relative gap of" not in text


def test_the_comparison_is_json():
    one, _ = json.loads(json.dumps(as_json(compare(lab_rows())), allow_nan=False))
    assert one["first"]["seconds"]["0.1"] == "steady"
    assert one["runs"][0]["reached"]["0.01"] == {"passes": 2.0, "seconds": 0.2}
    assert one["runs"][3]["status"] == "skipped"
