"""What development versions saved under other names: options and state entries of today."""

from __future__ import annotations

import pytest

from fastcrf.exceptions import OptionError
from fastcrf.solvers import registry
from fastcrf.solvers.renamed import OPTIONS, OPTIONS_OF, REMOVED_OPTIONS, STATE, renamed_options, renamed_state
from fastcrf.training.checkpoint import describes


def test_renamed_options_exist_and_old_names_are_gone():
    known = {name: set(registry.options_of(name)) for name in registry.names()}
    everywhere = set().union(*known.values())
    assert set(OPTIONS.values()) <= everywhere
    assert not set(OPTIONS) & everywhere
    for (name, old), new in OPTIONS_OF.items():
        assert new in known[name]
        assert old not in known[name]
    assert not any(option in known[name] for name, option in REMOVED_OPTIONS)


def test_renamed_state_entries_exist_and_old_names_are_gone():
    entries = set().union(*(registry.solver_class(name).state_fields for name in registry.names()))
    assert set(STATE.values()) <= entries
    assert not set(STATE) & entries


def test_saved_options_make_the_same_solver():
    saved = {"batch": 4, "caution": 2.0, "seed": 0}
    assert registry.make("saga", **renamed_options("saga", saved)) == registry.make(
        "saga", batch_size=4, step_divisor=2.0, seed=0
    )
    assert renamed_options("bcd", {"caution": 1.5}) == {"kappa": 1.5}


def test_a_removed_option_is_dropped_only_where_the_solver_still_does_that():
    assert renamed_options("rprop", {"sparse": "orthant", "backtrack": True}) == {"backtrack": True}
    with pytest.raises(OptionError, match="rprop has no option 'sparse'"):
        registry.make("rprop", **renamed_options("rprop", {"sparse": "wapiti"}))


def test_a_fingerprint_of_old_names_describes_the_solver_of_today():
    solver = registry.make("saga", batch_size=4, seed=0)
    saved = '["saga", {"batch": 4, "seed": 0, "caution": 3.0, "first_lipschitz": 1.0}]'
    assert describes(saved, solver)
    for other in (saved.replace("4", "5"), saved.replace('"saga"', '"sag"'), "no JSON", "[3]", None):
        assert not describes(other, solver)


def test_saved_state_entries_are_renamed():
    assert renamed_state("sag", {"drawn": 3, "weights": 1}) == {"sampled": 3, "weights": 1}
    assert renamed_state("newton-l1", {"on_face": 0, "weights": 1}) == {"weights": 1}
