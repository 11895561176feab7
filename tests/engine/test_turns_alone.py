"""A worker's turns as a unit: what goes along, what is told, what is left to the group_commit. No database."""

import asyncio

import pytest

from tests.engine.working import eventually
from towpath.core import transitions
from towpath.core.records import WorkerRow
from towpath.engine.running.pace import Pace
from towpath.engine.running.turns import Turns
from towpath.store.contract import UNDECIDED, ClaimedBatch


class Database:
    """Answers turns as it was told to, and remembers what it was asked."""

    def __init__(self):
        self.turns, self.verdicts, self.jobs, self.error = [], {}, [], None
        self.go = asyncio.Event()
        self.go.set()

    async def turn(self, settles, claim):
        self.turns.append(([settle.job_id for settle in settles], claim.queue, claim.limit))
        await self.go.wait()
        if self.error is not None:
            raise self.error
        claimed, self.jobs = self.jobs[: claim.limit], self.jobs[claim.limit :]
        return [self.verdicts.get(settle.job_id) for settle in settles], ClaimedBatch(
            claim.queue, [row(name) for name in claimed]
        )

    async def claim(self, claim):
        return (await self.turn([], claim))[1]

    async def advance(self, queue, floors):
        return floors


class Notes:
    """As much of a group_commit as turns use."""

    def __init__(self):
        self.noting, self.settled = False, []

    def settle_all(self, settles):
        self.settled += [transition.job_id for transition, _ in settles]


def row(name):
    return (name, "work", "t", 1, 1.0, 1, 3, "null", None)


class Stage:
    def __init__(self, *queues):
        self.database, self.group_commit, self.arrived, self.told = Database(), Notes(), [], {}
        worker = WorkerRow("w", "w", list(queues) or ["q"])
        self.pace = Pace(4)
        self.turns = Turns(self.database, self.group_commit, worker, 30.0, self.pace, self._arrive)

    def _arrive(self, jobs):
        self.arrived += [job.id for job in jobs]

    def end(self, *names):
        for name in names:
            self.turns.settle(transitions.succeed(name, 1, None), lambda *news, name=name: self.told.update({name: news}))


@pytest.fixture
async def stage():
    return Stage()


async def test_what_has_ended_goes_along_with_the_next_claim(stage):
    stage.end("a", "b")
    stage.database.jobs = ["c"]
    assert await stage.turns.take(3) == 1
    assert stage.database.turns == [(["a", "b"], "q", 3)]
    assert stage.group_commit.settled == []


async def test_jobs_and_verdicts_are_told_after_the_next_turn_could_leave(stage):
    stage.end("a")
    stage.database.jobs = ["b"]
    await stage.turns.take(1)
    assert (stage.arrived, stage.told, stage.turns.coming) == ([], {}, 1)
    await asyncio.sleep(0)
    assert (stage.arrived, stage.told, stage.turns.coming) == (["b"], {"a": (None, None)}, 0)


async def test_what_a_turn_could_not_decide_is_left_to_the_group_commit_and_a_refusal_is_told(stage):
    stage.database.verdicts = {"a": UNDECIDED, "b": "it was cancelled"}
    stage.end("a", "b", "c")
    await stage.turns.take(1)
    await asyncio.sleep(0)
    assert stage.group_commit.settled == ["a"]
    assert stage.told == {"b": ("it was cancelled", None), "c": (None, None)}


async def test_a_turn_that_fails_leaves_its_settles_to_the_group_commit(stage, monkeypatch):
    monkeypatch.setattr("towpath.engine.running.turns._AFTER_A_FAILURE", 0.0)
    stage.database.error = RuntimeError("not now")
    stage.end("a")
    assert await stage.turns.take(1) == 0
    assert stage.group_commit.settled == ["a"]
    assert not stage.turns.under_way


async def test_a_turn_that_is_cancelled_leaves_its_settles_to_the_group_commit(stage):
    stage.database.go.clear()
    stage.end("a")
    taking = asyncio.create_task(stage.turns.take(1))
    await asyncio.sleep(0)
    assert stage.turns.under_way
    taking.cancel()
    with pytest.raises(asyncio.CancelledError):
        await taking
    assert stage.group_commit.settled == ["a"]


async def test_what_ends_while_a_turn_is_on_its_way_waits_for_the_next(stage):
    stage.database.go.clear()
    stage.end("a")
    taking = asyncio.create_task(stage.turns.take(1))
    await asyncio.sleep(0)
    stage.end("b")
    stage.database.go.set()
    await taking
    await stage.turns.take(1)
    assert [settled for settled, *_ in stage.database.turns] == [["a"], ["b"]]


async def test_while_notes_are_on_their_way_settles_go_behind_them(stage):
    stage.group_commit.noting = True
    stage.end("a")
    await stage.turns.take(1)
    assert stage.group_commit.settled == ["a"]
    assert stage.database.turns == [([], "q", 1)]


async def test_what_no_turn_takes_along_is_flushed_in_time(stage):
    stage.end("a")
    stage.turns.flush_within(0.0)
    assert stage.group_commit.settled == []
    await eventually(lambda: stage.group_commit.settled)
    assert stage.group_commit.settled == ["a"]


async def test_a_turn_that_leaves_in_time_spares_the_flush(stage):
    stage.end("a")
    stage.turns.flush_within(0.0)
    await stage.turns.take(1)
    await asyncio.sleep(0.01)
    assert stage.group_commit.settled == []
    assert stage.told == {"a": (None, None)}


async def test_after_the_last_turn_everything_is_written_at_once(stage):
    stage.end("a")
    stage.turns.finish()
    stage.end("b")
    assert stage.group_commit.settled == ["a", "b"]


async def test_the_queues_take_turns_and_share_the_room():
    stage = Stage("a", "b")
    stage.database.jobs = ["1", "2", "3"]
    assert await stage.turns.take(2) == 2
    assert await stage.turns.take(2) == 1
    assert stage.database.turns == [([], "a", 2), ([], "b", 2), ([], "a", 1)]


async def test_only_turns_that_bring_jobs_are_measured(stage):
    await stage.turns.take(1)
    assert stage.pace.turn == 0.0
    stage.database.jobs = ["a"]
    await stage.turns.take(1)
    assert stage.pace.turn > 0.0
