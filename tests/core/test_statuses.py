"""One table says how states are called elsewhere."""

import pytest

from towpath.core.lifecycle import LIVE, TERMINAL, State
from towpath.core.naming import folded, spelt
from towpath.core.statuses import STATUS, states_of, status_of


def test_every_state_has_a_status_and_the_table_is_this_one():
    assert {state.value: status for state, status in STATUS.items()} == {
        "queued": "QUEUED",
        "running": "RUNNING",
        "waiting": "RUNNING",
        "succeeded": "SUCCEEDED",
        "partial": "PARTIAL",
        "failed": "FAILED",
        "cancelled": "CANCELLED",
    }
    assert STATUS.keys() == set(State)


def test_no_status_is_both_under_way_and_over():
    assert not {status_of(state) for state in LIVE} & {status_of(state) for state in TERMINAL}


def test_a_status_stands_for_all_states_that_are_called_so():
    assert states_of(["RUNNING"]) == [State.RUNNING, State.WAITING]
    assert states_of(["FAILED", "QUEUED"]) == [State.QUEUED, State.FAILED]
    assert sorted(states_of(STATUS.values())) == sorted(State)


@pytest.mark.parametrize("written", ["in_progress", "IN_PROGRESS", "In-Progress", " in progress "])
def test_a_name_is_the_same_however_it_is_written(written):
    assert folded(written) == "in_progress"
    assert spelt(written, ["PENDING", "IN-PROGRESS"]) == "IN-PROGRESS"
    assert spelt("elsewhere", ["PENDING"]) == "elsewhere"
