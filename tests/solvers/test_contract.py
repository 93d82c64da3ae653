"""Every registered solver keeps `fastcrf.solvers.contract`. A new solver joins by its registry line.

Names that share a class (presets and other names for it) differ in options alone, so that one of them stands for all;
each name has the tests of its listing and its guarantee. test_contract_controls.py shows that each check can fail.
"""

from __future__ import annotations

import pytest

from fastcrf.objective.capabilities import CAPABILITIES, Objective
from fastcrf.solvers import registry
from fastcrf.solvers.contract import GUARANTEES, Solver
from reference import contract_checks as checks
from reference.contract_checks import small_problem

SOLVERS = {registry.solver_class(name): name for name in reversed(registry.names())}.values()  # the first name of each


def handled(names):
    """(name, penalty) for each penalty that a solver handles."""
    return [
        (name, kind) for name in names for kind in registry.PENALTIES if kind in registry.solver_class(name).handles
    ]


CASES, ALL_NAMES = handled(SOLVERS), handled(registry.names())


def cases(of=CASES, **wanted):
    """The cases whose class attributes are among those that are wanted."""

    def fits(name):
        return all(getattr(registry.solver_class(name), key, None) in values for key, values in wanted.items())

    return pytest.mark.parametrize(("name", "kind"), [case for case in of if fits(case[0])])


PENALIZED = [case for case in ALL_NAMES if case[1] != "none"]
GUARANTEED = {guarantee for guarantee in GUARANTEES if guarantee != "no objective"}
OWN_START, GIVEN_START = {"own"}, {"given", None}
BATCH_CASES = [case for case in CASES if "sequences" not in registry.solver_class(case[0]).needs]
ALL_AT_ONCE = "eg"  # a step is one update from all sequences: it has no steps within
WITHIN_EPOCHS = [
    case for case in CASES if "sampled" in registry.solver_class(case[0]).state_fields and case[0] != ALL_AT_ONCE
]
OF_A_STEP = (
    checks.assert_objective_and_gradient_are_those_of_the_weights,
    checks.assert_info_has_numbers_under_names_of_its_own,
    checks.assert_the_state_is_as_declared,
)


@pytest.mark.parametrize("name", registry.names())
def test_it_is_a_solver_with_options_that_work_as_they_are(name):
    solver = registry.make(name)
    assert isinstance(solver, Solver)
    assert solver.handles <= set(registry.PENALTIES)
    assert solver.needs <= set(CAPABILITIES)
    assert solver.guarantee in GUARANTEES
    assert registry.solver_class(name)(**registry.options_of(name)) == solver
    assert any(word.strip("(),.:").isdigit() for word in registry.describe(name)["paper"].split()), "a paper has a year"


def test_a_word_is_no_truth_value():
    """On the command line, `-o skipping=no` is a word; as a truth value it would be True."""
    options = [(name, option, value) for name in SOLVERS for option, value in registry.options_of(name).items()]
    switches = [(name, option) for name, option, value in options if isinstance(value, bool)]
    assert switches
    for name, option in switches:
        with pytest.raises(ValueError, match=f"{name}: {option} must be true or false; got {option}='no'"):
            registry.make(name, **{option: "no"})


@cases(starts=GIVEN_START)
def test_the_first_step_is_the_start(name, kind):
    checks.assert_the_first_step_is_the_start(registry.make(name), kind)


@cases(starts=OWN_START)
def test_a_start_of_its_own_is_that_of_a_dual_point_whose_value_reaches_the_optimum(name, kind):
    checks.assert_starts_at_a_dual_point(registry.make(name), kind)
    checks.assert_the_dual_value_reaches_the_optimum(registry.make(name), kind)


@cases(of=PENALIZED, guarantee=GUARANTEED)
def test_it_comes_as_close_to_the_optimum_as_it_guarantees(name, kind):
    checks.assert_it_keeps_its_guarantee(registry.make(name), kind)
    checks.assert_bounds_are_below_the_optimum(registry.make(name), kind)


@cases()
def test_steps_are_what_they_say(name, kind):
    for check in OF_A_STEP:
        check(registry.make(name), kind)


@cases(of=BATCH_CASES)
def test_passes_count_every_evaluation(name, kind):
    checks.assert_passes_count_every_evaluation(registry.make(name), kind)


@cases()
def test_a_run_can_be_repeated_and_read(name, kind):
    checks.assert_a_run_can_be_repeated(registry.make(name), kind)
    checks.assert_reading_a_step_changes_nothing(registry.make(name), kind)


@cases()
def test_the_state_of_a_step_gives_the_rest_of_the_run_bit_for_bit(name, kind):
    checks.assert_the_state_of_a_step_gives_the_rest_of_the_run(registry.make(name), kind)


@pytest.mark.parametrize("name", SOLVERS)
def test_it_may_be_closed(name):
    checks.assert_it_may_be_closed(registry.make(name), next(kind for other, kind in CASES if other == name))


@cases(of=[case for case in PENALIZED if case in CASES], guarantee={"optimum", "optimum, slowly"}, starts=GIVEN_START)
def test_started_at_the_optimum_it_stays_there_from_the_first_step_on(name, kind):
    checks.assert_it_stays_at_the_optimum(registry.make(name), kind)


@cases()
def test_data_that_lead_to_infinity_end_the_run_as_diverged(name, kind):
    checks.assert_it_notices_divergence(registry.make(name), kind)


@cases()
def test_a_spoilt_state_raises(name, kind):
    checks.assert_a_spoilt_state_raises(registry.make(name), kind)


@cases(of=WITHIN_EPOCHS)
def test_steps_within_an_epoch_are_points_of_the_same_run(name, kind):
    solver, often = registry.make(name), registry.make(name, steps_per_epoch=3)
    checks.assert_steps_within_an_epoch_are_points_of_the_same_run(solver, often, kind)


@cases()
def test_steps_do_not_pile_up_memory(name, kind):
    checks.assert_steps_do_not_pile_up_memory(registry.make(name), kind)


@cases()
def test_one_weight_and_one_sequence_will_do(name, kind):
    checks.assert_one_weight_and_one_sequence_will_do(registry.make(name), kind)


def test_problems_provide_what_they_say():
    problem = small_problem("l2").problem
    assert problem.provides == set(CAPABILITIES)
    for capability in problem.provides:
        assert isinstance(problem, CAPABILITIES[capability])
    assert isinstance(problem, Objective)
