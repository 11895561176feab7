"""The designs that were tried and failed, each as a small variant of the real one: it breaks the bound that ours keeps.

They are kept so that nobody has to try them again, and so that the bounds are known to mean something.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import count

import pytest

from tests.fairness.line import Line
from towpath.core import fairness
from towpath.core.fairness import Model
from towpath.engine.running.claims import QueueClaims
from towpath.store.contract import Claimed

BACKLOG = 2000


class Queue:
    """A model and the ids it is fed with."""

    def __init__(self, model: Model) -> None:
        self.model = model
        self._numbers = count()

    def add(self, lane: str, times: int = 1, priority: int = 1) -> list[str]:
        ids = [f"{next(self._numbers):06}" for _ in range(times)]
        for job_id in ids:
            self.model.enqueue(job_id, lane, priority)
        return ids

    def turns(self, times: int) -> list[str]:
        return [self.model._begun[job_id][1] for _ in range(times) if (job_id := self.model.claim()) is not None]


# -- start tags instead of finish tags


def turns_of_a_closed_loop(queue: Queue) -> int:
    queue.add("backlog", 300)
    queue.turns(5)
    served, waiting = 0, False
    for _ in range(200):
        if not waiting:
            queue.add("client")
        [lane] = queue.turns(1)
        waiting = lane != "client"
        served += not waiting
    return served


def test_start_tags_would_give_a_one_at_a_time_client_every_turn(monkeypatch: pytest.MonkeyPatch) -> None:
    assert turns_of_a_closed_loop(Queue(Model())) == 100

    def start_tag(floor: float, tail: float | None, cost: float, weight: float = 1.0) -> float:
        return floor if tail is None or tail < floor else tail + cost / weight

    monkeypatch.setattr(fairness, "stamp", start_tag)
    assert turns_of_a_closed_loop(Queue(Model())) >= 199


# -- one clock for all bands


class OneClock(Model):
    """One floor and one tail per lane, whatever the priority."""

    def enqueue(self, job_id: str, lane: str, priority: int = 1, cost: float = 1.0) -> float:
        floor = max(self.floors.values(), default=0.0)
        tail = max((value for _, name, value in self._jobs.values() if name == lane), default=None)
        value = fairness.stamp(floor, tail, cost, self.weights.get(lane, 1.0))
        self._place(job_id, lane, priority, value)
        return value


def wait_of_a_bystander(queue: Queue) -> int:
    queue.add("backlog", BACKLOG)
    queue.turns(10)
    queue.add("backlog", 1, priority=0)
    queue.turns(1)
    [job_id] = queue.add("bystander")
    return queue.model.order().index(job_id)


def test_one_clock_for_all_bands_would_make_a_bystander_pay_for_an_urgent_job() -> None:
    assert wait_of_a_bystander(Queue(Model())) <= 1
    assert wait_of_a_bystander(Queue(OneClock())) >= BACKLOG - 11


# -- a row per lane that remembers its last pass


class LaneRows(Model):
    """The lane's last pass is kept in a row, and goes on from there although the jobs are gone."""

    last: dict[str, float] | None = None

    def enqueue(self, job_id: str, lane: str, priority: int = 1, cost: float = 1.0) -> float:
        self.last = self.last or {}
        value = fairness.stamp(self.floors.get(priority, 0.0), self.last.get(lane), cost)
        self.last[lane] = value
        self._place(job_id, lane, priority, value)
        return value


def wait_after_cancelling(queue: Queue) -> int:
    queue.add("backlog", BACKLOG)
    for job_id in queue.add("fickle", 500):
        queue.model.cancel(job_id)
    [again] = queue.add("fickle")
    return queue.model.order().index(again)


def test_rows_that_remember_a_lanes_last_pass_would_punish_a_tenant_that_cancels() -> None:
    assert wait_after_cancelling(Queue(Model())) <= 1
    assert wait_after_cancelling(Queue(LaneRows())) >= 500


# -- scheduled jobs stamped when they are enqueued, or all alike when they fall due


def wait_beside_a_burst(place: Callable[[Queue, list[str]], None]) -> int:
    """300 jobs of one tenant fall due at once, beside a bystander who comes a moment later."""
    queue = Queue(Model())
    queue.add("other", 400)
    queue.turns(350)
    place(queue, [f"!{number:03}" for number in range(300)])  # older than every other id
    [job_id] = queue.add("bystander")
    return queue.model.order().index(job_id)


def ranked_when_due(queue: Queue, ids: list[str]) -> None:
    for job_id in ids:
        queue.model.enqueue(job_id, "burst")


def stamped_long_ago(queue: Queue, ids: list[str]) -> None:
    for number, job_id in enumerate(ids, 1):
        queue.model._place(job_id, "burst", 1, float(number))


def stamped_alike(queue: Queue, ids: list[str]) -> None:
    for job_id in ids:
        queue.model._place(job_id, "burst", 1, queue.model.floors[1] + 1.0)


def test_stamping_scheduled_jobs_too_early_or_all_alike_would_make_a_burst_harm_a_bystander() -> None:
    assert wait_beside_a_burst(ranked_when_due) <= 2
    assert wait_beside_a_burst(stamped_long_ago) >= 300
    assert wait_beside_a_burst(stamped_alike) >= 300


# -- a cursor that runs ahead of the floor


class NewestPassCursor(QueueClaims):
    """Looks upwards from the newest pass it has claimed, which nobody who enqueues knows about yet."""

    async def claim(self, limit: int, worker_id: str, lease_seconds: float) -> list[Claimed]:
        jobs = await super().claim(limit, worker_id, lease_seconds)
        self._cursors |= {band: pass_ for band, (pass_, _) in self._highest.items()}
        return jobs


async def newcomers_turns(line: Line) -> int:
    line.seconds_per_claim = 0.0  # no time passes: the floor is not written, and no sweep is due
    await line.add("backlog", 60)
    await line.turns(20)
    await line.add("newcomer", 5)
    return (await line.turns(20)).count("newcomer")


async def test_the_cursor_finds_whatever_was_stamped_against_the_floor_as_written(line: Line) -> None:
    assert await newcomers_turns(line) == 5


async def test_a_cursor_at_the_newest_pass_would_overlook_a_newcomer(line: Line) -> None:
    line.claims = NewestPassCursor(line.store, line.queue, clock=lambda: 0.0)
    assert await newcomers_turns(line) == 0
