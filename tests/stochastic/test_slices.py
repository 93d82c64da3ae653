"""Work in slices: nothing is left out or done twice, Steps are due where they were asked for, and one may break off."""

from types import SimpleNamespace

from hypothesis import given
from hypothesis import strategies as st

from fastcrf.stochastic.slices import Slices


def never():
    """A problem that nobody asks to stop."""
    return SimpleNamespace(asked_to_stop=lambda: False)


def always():
    return SimpleNamespace(asked_to_stop=lambda: True)


@given(n=st.integers(1, 60), size=st.integers(1, 70), stops=st.integers(1, 8), unit=st.integers(1, 7))
def test_going_through_all_slices_does_every_piece_once_in_order(n, size, stops, unit):
    work, done, steps = Slices(never(), n, size, stops, unit), [], 0
    while not work.finished:
        for some in work:
            assert some.stop - some.start <= max(size, unit)
            assert some.start % unit == 0
            done += range(n)[some]
        steps += 1
    assert done == list(range(n))
    assert steps <= stops
    assert list(work) == []


@given(n=st.integers(1, 60), size=st.integers(1, 70), stops=st.integers(1, 8))
def test_told_to_stop_it_ends_after_one_slice_and_goes_on_from_there(n, size, stops):
    work, done = Slices(always(), n, size, stops), []
    while not work.finished:
        slices = list(work)
        assert len(slices) == 1
        done += range(n)[slices[0]]
        work = Slices(always(), n, size, stops, done=work.done)
    assert done == list(range(n))


def test_as_many_steps_are_due_as_were_asked_for():
    work, ends = Slices(never(), 10, 100, stops=3), []
    while not work.finished:
        list(work)
        ends.append(work.done)
    assert ends == [4, 8, 10]
    work.start_again()
    assert not work.finished
