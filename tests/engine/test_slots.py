"""What a worker holds, and how much more it asks for. Pure: no database and no event loop."""

import time

import pytest

from towpath.engine.running.pace import Pace
from towpath.engine.running.slots import Ahead, Slots
from towpath.store.contract import Claimed


def job(name: str, *, priority: int = 1, attempt: int = 1) -> Claimed:
    return Claimed("q", name, "work", "t", priority, 1.0, attempt, 3, "null", "t", name)


class Running:
    """As much of an entry as slots look at."""

    def __init__(self, ahead: Ahead, ago: float) -> None:
        self.job, self.began = ahead.job, time.monotonic() - ago


def admit(slots: Slots, *jobs: Claimed) -> None:
    for each in jobs:
        slots.admit(each)


def begin(slots: Slots, ago: float = 0.0) -> list[str]:
    """All that fit; answers which, in order."""
    begun = []
    while (ahead := slots.next()) is not None:
        slots.running[ahead.job.id, ahead.job.attempt] = Running(ahead, ago)  # type: ignore[assignment]  # enough of one
        begun.append(ahead.job.id)
    return begun


def quick(slots: int) -> Pace:
    """Of jobs that are over long before a turn is."""
    pace = Pace(slots)
    pace.turned(10.0)
    for _ in range(100):
        pace.ended(0.001)
    return pace


def room(slots: Slots, pace: Pace, coming: int = 0) -> int:
    return slots.room(coming, slots.ending_soon(coming, pace))


def test_without_a_measure_it_asks_for_what_is_free():
    slots = Slots(4)
    assert room(slots, Pace(4)) == 4
    admit(slots, job("a"), job("b"), job("c"))
    begin(slots)
    assert room(slots, Pace(4)) == 1
    assert room(slots, Pace(4), coming=1) == 0


def test_with_short_jobs_it_asks_for_one_further_batch_and_no_more():
    slots, pace = Slots(4), quick(4)
    assert room(slots, pace) == 4
    assert room(slots, pace, coming=4) == 4
    admit(slots, *(job(name) for name in "abcd"))
    begin(slots)
    assert room(slots, pace) == 4
    assert room(slots, pace, coming=4) == 0
    admit(slots, *(job(name) for name in "efgh"))
    assert (len(slots.running), slots.waiting, room(slots, pace)) == (4, 4, 0)


def test_a_job_that_has_run_for_longer_than_short_ones_do_is_not_expected_to_end():
    slots, pace = Slots(4), quick(4)
    admit(slots, *(job(name) for name in "abcd"))
    begin(slots, ago=41.0)
    assert room(slots, pace) == 0


def test_how_much_is_still_to_be_settled_is_bounded():
    slots, pace = Slots(4), quick(4)
    slots.settling = 9
    assert room(slots, pace) == 3
    slots.settling = 12
    assert room(slots, pace) == 0


def test_many_slots_are_claimed_half_at_a_time():
    assert room(Slots(63), Pace(63)) == 63
    assert room(Slots(100), Pace(100)) == 50


def test_it_never_begins_more_than_it_has_slots():
    slots = Slots(2)
    admit(slots, *(job(name) for name in "abcd"))
    assert begin(slots) == ["a", "b"]
    assert slots.waiting == 2
    del slots.running["a", 1]
    assert begin(slots) == ["c"]


def test_a_later_urgent_job_is_begun_before_all_that_wait():
    slots = Slots(1)
    admit(slots, job("a"), job("b"), job("last", priority=3))
    assert begin(slots) == ["a"]
    admit(slots, job("urgent", priority=0), job("c"))
    order = []
    for _ in range(4):
        slots.running.clear()
        order += begin(slots)
    assert order == ["urgent", "b", "c", "last"]


def test_what_waits_can_be_withdrawn_by_attempt():
    slots = Slots(1)
    admit(slots, job("a"), job("b", attempt=2))
    assert slots.withdraw(("b", 1)) is None
    ahead = slots.withdraw(("b", 2))
    assert ahead is not None
    assert ahead.job.id == "b"
    assert slots.waiting == 1
    assert [ahead.job.id for ahead in slots.withdraw_all()] == ["a"]
    assert slots.empty


def test_who_was_seen_waiting_too_often_is_taken_out():
    slots = Slots(1)
    admit(slots, job("a"))
    assert slots.seen_waiting(2) == []
    admit(slots, job("b"))
    assert slots.seen_waiting(2) == []
    assert [ahead.job.id for ahead in slots.seen_waiting(2)] == ["a"]
    assert [ahead.job.id for ahead in slots.seen_waiting(2)] == ["b"]
    assert slots.waiting == 0


@pytest.mark.parametrize("waiting", [True, False])
def test_it_knows_which_attempts_of_a_job_it_holds(waiting):
    slots = Slots(0 if waiting else 1)
    admit(slots, job("a", attempt=3))
    begin(slots)
    assert slots.attempts_of("a") == [("a", 3)]
    assert slots.attempts_of("b") == []


def test_when_it_is_closed_nothing_is_begun_or_asked_for():
    slots = Slots(4)
    admit(slots, job("a"))
    slots.close()
    assert begin(slots) == []
    assert not slots.can_begin
    assert room(slots, quick(4)) <= 0
