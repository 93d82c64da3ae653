"""The rules by which step sizes are chosen, rows kept, and claims decided, on made-up rows."""

from __future__ import annotations

import math

import pytest

from fastcrf.lab.experiment import Penalty
from fastcrf.papers import runs
from fastcrf.papers.catalog import ITEMS, studies_of
from fastcrf.papers.choose import Choice
from fastcrf.papers.claims import compared, decide, ends, spends
from fastcrf.papers.experiment import Curve, Study
from fastcrf.papers.item import Quantity
from fastcrf.papers.page import judged_claim
from fastcrf.papers.records import Book, key_of
from fastcrf.papers.runs import Session, first_seed
from fastcrf.papers.substitutes import SETS, few_letters, substrings
from fastcrf.papers.view import View
from fastcrf.solvers.registry import make

POWERS = (0.001, 0.01, 0.1, 1.0, 10.0)
C2 = Penalty(0.0, 0.5)


def record(curve, objectives, options=None, seed=0, status="stopped", **more):
    rows = [{"step": k, "passes": float(k), "cpu_seconds": 0.1 * k, "objective": value, **more}
            for k, value in enumerate(objectives)]  # fmt: skip
    return {"study": "s", "set": "ocr", "c1": 0.0, "c2": 0.5, "curve": curve, "solver": "sg", "options": options or {},
            "seed": seed, "status": status, "version": "old", "facts": {"sequences": 10}, "rows": rows}  # fmt: skip


def searched(curve, score):
    """The options that a search tries, in their order, if a run with these options ends with this score."""
    newest, order = {}, []
    choice = Choice(curve, "ocr", C2, 0)
    while True:
        wanted = [each for each in choice.trials(newest) if choice.end(each, newest) is None]
        if not wanted:
            return order, choice.ranked(newest)
        made = record(curve.label, [100.0, score(wanted[0])], wanted[0])
        newest[key_of(made)] = made
        order.append(wanted[0])


def test_step_sizes_are_tried_outwards_until_the_best_has_worse_neighbors():
    curve = Curve("SG", "sg", {"batch_size": 2}, POWERS, first=0.1)
    order, ranked = searched(curve, lambda options: abs(math.log10(options["eta"]) - 0.2))
    assert [options["eta"] for options in order] == [0.1, 0.01, 1.0, 10.0]
    assert [options["eta"] for options in ranked[:2]] == [1.0, 10.0]
    assert all(options["batch_size"] == 2 for options in order)


def test_other_options_are_tried_with_the_best_step_size():
    curve = Curve("SMD", "smd", {"decay": 1.0}, POWERS, 0.1, ({"decay": 0.9}, {"decay": 0.8}))
    order, ranked = searched(curve, lambda options: abs(math.log10(options["eta"])) + abs(options["decay"] - 0.9))
    assert order[-2:] == [{"decay": 0.9, "eta": 1.0}, {"decay": 0.8, "eta": 1.0}]
    assert ranked[0] == {"decay": 0.9, "eta": 1.0}


def test_a_run_that_diverged_is_never_the_best():
    newest = {key_of(made): made for made in (record("SG", [9.0, 1.0], {"eta": 1.0}, status="diverged"),
                                              record("SG", [9.0, 5.0], {"eta": 0.1}))}  # fmt: skip
    assert Choice(Curve("SG", "sg", {}, POWERS), "ocr", C2, 0).ranked(newest)[0] == {"eta": 0.1}


def test_runs_of_a_curve_that_was_declared_anew_do_not_count():
    old = record("SG", [9.0, 1.0], {"batch_size": 1, "eta": 0.1})
    newest = {key_of(old): old}
    assert Choice(Curve("SG", "sg", {"batch_size": 5}, POWERS), "ocr", C2, 0).ranked(newest) == []
    assert Choice(Curve("SG", "sg", {}, POWERS), "ocr", C2, 0).ranked(newest) == []
    own = Choice(Curve("SG", "sg", {"batch_size": 1}, POWERS), "ocr", C2, 0)
    assert own.ranked(newest) == [old["options"]]


def test_curves_without_a_step_size_are_run_as_they_are():
    assert searched(Curve("SAG", "sag"), lambda options: 1.0)[0] == [{}]
    assert first_seed(Curve("SAG", "sag")) == 0
    assert first_seed(Curve("L-BFGS", "lbfgs")) is None


def test_older_rows_are_kept_and_the_newest_counts(tmp_path):
    book, other = Book(tmp_path, "s"), Book(tmp_path, "s")
    book.add(record("SG", [2.0]))
    other.add(record("ASG", [3.0]))
    book.add(record("SG", [1.0]))
    again = Book(tmp_path, "s")
    assert len(again.records) == 3
    assert again.newest[key_of(record("SG", []))]["rows"][0]["objective"] == 1.0


@pytest.mark.parametrize(("stale", "expected"), [(False, 0), (True, 2)])
def test_edited_code_repeats_a_run_only_if_it_is_asked_for(tmp_path, monkeypatch, stale, expected):
    study = Study("s", ("ocr",), (Curve("SAG", "sag"), Curve("L-BFGS", "lbfgs")), (C2,), seeds=1).toy()
    Session(tmp_path, tmp_path / "state", toy=True).run(study)
    monkeypatch.setattr(runs, "code_version", lambda solver: "edited")
    session = Session(tmp_path, tmp_path / "state", toy=True, stale=stale)
    session.run(study)
    assert session.done == expected
    assert len(Book(tmp_path, "s").records) == 2 + expected


def test_no_run_begins_when_the_hours_are_over(tmp_path):
    said = []
    session = Session(tmp_path, tmp_path / "state", toy=True, until=0.0, say=said.append)
    session.run(Study("s", ("ocr",), (Curve("SAG", "sag"),), (C2,)).toy())
    assert session.done == 0
    assert "continues" in said[0]


def test_a_missing_set_gives_a_sentence_and_no_row(tmp_path, monkeypatch):
    monkeypatch.setenv("FASTCRF_DATA", str(tmp_path / "nothing"))
    said = []
    Session(tmp_path, tmp_path / "state", say=said.append).run(Study("s", ("dutch",), (Curve("SAG", "sag"),), (C2,)))
    assert [line for line in said if line.startswith("Skipped: conll2002-ned is not in")]
    assert not Book(tmp_path, "s").records


def view_of(*records):
    study = Study(
        "s", ("ocr",), tuple(Curve(label, "sg") for label in dict.fromkeys(r["curve"] for r in records)), (C2,)
    )
    book = Book.__new__(Book)
    book.records, book.newest = list(records), {key_of(each): each for each in records}
    return View((study,), {"s": book})


def test_distances_are_taken_from_the_lowest_objective_and_medians_over_seeds():
    view = view_of(
        record("A", [20.0, 11.0, 10.0]), record("A", [20.0, 15.0, 10.5], seed=1), record("A", [20.0, 10.1], seed=2)
    )
    assert view.optimum("ocr") == 10.0
    assert view.spent("ocr", "A", 0.1) == [1.0, 2.0, 1.0]
    assert view.spent("ocr", "A", 0.001) == [2.0, math.inf, math.inf]
    assert view.values("ocr", "A", "excess", at=1.0) == pytest.approx([0.1, 0.5, 0.01])
    assert view.values("ocr", "A", "excess", at=0.996) == pytest.approx([0.1, 0.5, 0.01])  # a mark that was met late
    assert view.values("ocr", "A", "excess", at=0.9) == pytest.approx([1.0, 1.0, 1.0])


def test_a_claim_is_confirmed_refuted_undecided_or_not_run():
    fast, slow = record("fast", [20.0, 10.0, 10.0]), record("slow", [20.0, 15.0, 10.0])
    view = view_of(fast, slow)
    assert spends("", "fast", "slow", ("ocr",), gaps=(0.1,)).judge(view).word == "confirmed"
    assert spends("", "slow", "fast", ("ocr",), gaps=(0.1,)).judge(view).word == "refuted"
    assert ends("", "fast", "slow", ("ocr",), "objective", at=(1.0, 2.0), most=0.9).judge(view).word == "undecided"
    assert spends("", "fast", "nobody", ("ocr",)).judge(view).word == "not run"
    partly = decide([("a", True), ("b", None)])
    assert "1 could not be made" in partly.why
    assert str(partly) == "confirmed (partly run)"


def test_what_was_never_reached_is_infinite_and_two_of_them_cannot_be_compared():
    assert compared("", (1.0, math.inf), 0.0, 1.0)[1]
    assert not compared("", (math.inf, 1.0), 0.0, 1.0)[1]
    assert compared("", (math.inf, math.inf), 0.0, 1.0)[1] is None


def test_a_printed_figure_is_confirmed_within_its_tolerance():
    quantity = Quantity("L/N", -1.6, lambda view: [], near=0.01)
    assert quantity.judge([-1.61, -1.60]).word == "confirmed"
    assert quantity.judge([-1.7]).word == "refuted"
    assert quantity.judge([]).word == "not run"
    assert quantity._replace(near=None).judge([-1.6]).word == "not comparable"
    assert quantity._replace(near=0.2, absolute=True).judge([-1.75]).word == "confirmed"


@pytest.mark.parametrize("study", studies_of(list(ITEMS.values())), ids=lambda study: study.name)
def test_every_solver_takes_its_options_and_every_set_is_known(study):
    assert set(study.sets) <= set(SETS)
    for curve in study.curves:
        make(curve.solver, **curve.options)
        for more in curve.others:
            make(curve.solver, **{**curve.options, **more})
        assert set(curve.sets) <= set(study.sets)
        assert list(curve.etas) == sorted(curve.etas)


def test_labels_are_unique_within_an_item():
    for item in ITEMS.values():
        for name in {name for study in item.studies for name in study.sets}:
            labels = [curve.label for study in item.studies if name in study.sets for curve in study.on(name)]
            assert len(labels) == len(set(labels)), item.name


def test_substrings_are_all_those_shorter_than_ten():
    assert substrings("IL-2") == {"I", "L", "-", "2", "IL", "L-", "-2", "IL-", "L-2", "IL-2"}
    assert max(map(len, substrings("a" * 20))) == 9


def test_the_first_sequences_of_a_set_are_a_set_of_their_own_until_the_whole_has_as_many_curves():
    part = record("A", [20.0, 11.0]) | {"set": "ocr[:50]"}
    other = record("B", [20.0, 10.0]) | {"set": "ocr[:50]"}
    view = view_of(part, other, record("A", [30.0, 12.0]))
    assert view.reduced() == {"ocr": 50}
    assert view.values("ocr", "A", "objective") == [11.0]
    assert view.optimum("ocr") == 10.0
    view = view_of(part, record("A", [30.0, 12.0]))
    assert view.reduced() == {}
    assert view.values("ocr", "A", "objective") == [12.0]
    assert Quantity("L/N", -1.6, lambda view: [], near=0.01).judge([-1.6], reduced=True).word == "not comparable"


def test_only_claims_on_a_reduced_set_say_so():
    part = record("A", [20.0, 10.0]) | {"set": "ocr[:50]"}
    view = view_of(part, record("B", [20.0, 11.0]) | {"set": "ocr[:50]"})
    own = judged_claim(ends("", "A", "B", ("ocr",), "objective"), view)
    assert str(own) == "confirmed (reduced)"
    assert not judged_claim(ends("", "A", "B", ("dutch",), "objective"), view).reduced
    assert judged_claim(ends("", "A", "B", ("ocr",), "objective")._replace(whole=True), view).word == "not comparable"


def test_a_reduced_run_trains_on_the_first_sequences(tmp_path, monkeypatch):
    monkeypatch.setitem(SETS, "ocr", SETS["ocr"]._replace(load=lambda first=None: few_letters().sample()))
    study = Study("s", ("ocr",), (Curve("SAG", "sag"),), (C2,), seeds=1).toy()
    Session(tmp_path, tmp_path / "state", first=8).run(study)
    (made,) = Book(tmp_path, "s").records
    assert (made["set"], made["facts"]["sequences"]) == ("ocr[:8]", 8)
