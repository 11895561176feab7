"""After a time in which nobody could beat, everybody's lease has run out, and nobody is to blame."""

import asyncio
from dataclasses import replace
from datetime import timedelta

import pytest

from tests.contracts.stores import Hands, worker_row
from tests.engine.working import on_sqlite
from towpath.engine.tending.process import this_process
from towpath.engine.tending.rescuing import Rescuer
from towpath.engine.tending.vigil import Vigil
from towpath.testing import FakeClock

LEASE = 30.0
STEP = 5.0  # as often as a janitor looks at such leases


class Stage:
    """A worker with a job, and a janitor elsewhere, whose clocks the test moves."""

    def __init__(self, app, clock: FakeClock | None):
        self.app, self.hands, self._clock = app, Hands(app.services.store), clock
        self._heart = app.services.store.heart()
        self._ours = 1000.0
        self.rescuer = self.fresh_rescuer()

    def fresh_rescuer(self) -> Rescuer:
        return Rescuer(self.app.services, Vigil(LEASE, lambda: self._ours))

    async def begin(self, process: str | None = None, lease: float = LEASE):
        await self.hands.enqueue()
        [self.job] = await self.hands.claim(1, lease=lease)
        self.process, self.lease = process, lease
        await self.beat()

    async def beat(self) -> None:
        row = replace(worker_row(), process=self.process)
        beat = await asyncio.to_thread(self._heart.beat, row, [(self.job.id, self.job.attempt)], self.lease)
        assert beat.lost == {}

    async def look_on(self, seconds: float, *, beating: bool = False) -> None:
        """The janitor's rounds for so long."""
        for _ in range(int(seconds / STEP)):
            self._ours += STEP
            if self._clock is not None:
                self._clock.advance(STEP)
            if beating:
                await self.beat()
            await self.rescuer.turn()

    async def attempt_goes_on(self) -> bool:
        row = await self.hands.job(self.job.id)
        return (row.state, row.attempt, row.failures) == ("running", 1, 0)

    def close(self) -> None:
        self._heart.close()


@pytest.fixture
async def stage(opened):
    """On both databases; time passes by the janitor's own clock."""
    made = Stage(await opened(lease_seconds=LEASE), None)
    yield made
    await asyncio.to_thread(made.close)


@pytest.fixture
async def timed(opened):
    """On SQLite, whose clock is the test's too."""
    clock = FakeClock()
    made = Stage(await opened(lease_seconds=LEASE, clock=clock), clock)
    made.clock = clock
    yield made
    await asyncio.to_thread(made.close)


async def test_who_has_just_come_takes_no_job_before_its_worker_had_a_whole_lease_to_beat(stage):
    await stage.begin()
    await stage.hands.run_out(stage.job.id)
    await stage.rescuer.turn()
    await stage.look_on(LEASE - STEP)
    assert await stage.attempt_goes_on()
    await stage.look_on(STEP)
    assert (await stage.hands.job(stage.job.id)).state == "queued"


async def test_a_worker_with_longer_leases_is_waited_for_as_long_as_those(stage):
    await stage.begin(lease=2 * LEASE)
    await stage.hands.run_out(stage.job.id)
    await stage.rescuer.turn()
    await stage.look_on(2 * LEASE - STEP)
    assert await stage.attempt_goes_on()
    await stage.look_on(STEP)
    assert not await stage.attempt_goes_on()


async def test_a_beat_after_the_lease_has_run_out_keeps_the_job(stage):
    await stage.begin()
    await stage.hands.run_out(stage.job.id)
    await stage.rescuer.turn()
    await stage.beat()
    await stage.look_on(3 * LEASE, beating=True)
    assert await stage.attempt_goes_on()


@pytest.mark.skipif(this_process() is None, reason="the kernel of this machine does not say")
async def test_the_job_of_a_process_that_the_kernel_no_longer_knows_is_not_waited_for(stage):
    place, pid, start = str(this_process()).rsplit(" ", 2)
    await stage.begin(process=f"{place} {pid} {int(start) - 1}")
    await stage.rescuer.turn()
    assert await stage.attempt_goes_on()  # until its lease has run out
    await stage.hands.run_out(stage.job.id)
    await stage.rescuer.turn()
    assert (await stage.hands.job(stage.job.id)).state == "queued"


@pytest.mark.skipif(this_process() is None, reason="the kernel of this machine does not say")
async def test_the_job_of_a_process_that_is_only_frozen_is_waited_for(stage):
    await stage.begin(process=this_process())
    await stage.hands.run_out(stage.job.id)
    await stage.rescuer.turn()
    assert await stage.attempt_goes_on()


async def test_a_worker_that_said_goodbye_is_not_waited_for(stage):
    await stage.begin()
    await stage.app.services.store.run(lambda tx: tx.execute("stop_worker", id="w", now=tx.now))
    await stage.hands.run_out(stage.job.id)
    await stage.rescuer.turn()
    assert (await stage.hands.job(stage.job.id)).state == "queued"


async def test_the_next_round_comes_when_the_next_lease_ends(stage):
    await stage.begin()
    await stage.hands.shift("lease_until", 4.5 - LEASE, stage.job.id)
    assert 0 < await stage.rescuer.turn() <= 4.5
    await stage.beat()
    assert await stage.rescuer.turn() == STEP


@on_sqlite
@pytest.mark.parametrize("moved", [timedelta(hours=1), -timedelta(hours=1)], ids=["ahead", "back"])
async def test_nobody_is_rescued_because_the_clock_was_moved(timed, moved):
    await timed.begin()
    await timed.rescuer.turn()
    await timed.look_on(2 * LEASE, beating=True)
    timed.clock._seconds += moved.total_seconds()
    await timed.rescuer.turn()
    assert await timed.attempt_goes_on()
    await timed.look_on(2 * STEP)  # its next beat comes within a third of a lease
    assert await timed.attempt_goes_on()
    await timed.look_on(2 * LEASE, beating=True)
    assert await timed.attempt_goes_on()


@on_sqlite
@pytest.mark.parametrize("moved", [timedelta(hours=1), -timedelta(hours=1)], ids=["ahead", "back"])
async def test_the_job_of_a_dead_worker_is_rescued_although_the_clock_was_moved(timed, moved):
    await timed.begin()
    await timed.rescuer.turn()
    await timed.look_on(STEP)
    timed.clock._seconds += moved.total_seconds()
    await timed.look_on(LEASE)
    assert await timed.attempt_goes_on()
    await timed.look_on(STEP)
    assert (await timed.hands.job(timed.job.id)).state == "queued"


@on_sqlite
async def test_who_dies_some_time_after_the_clock_was_moved_back_is_rescued_when_its_lease_ends(timed):
    """Its list of leases is from before, and seems to have an hour left."""
    await timed.begin()
    timed.clock._seconds -= 3600
    await timed.beat()
    await timed.rescuer.turn()
    await timed.look_on(LEASE, beating=True)
    await timed.look_on(LEASE)
    assert await timed.attempt_goes_on()
    await timed.look_on(STEP)
    assert not await timed.attempt_goes_on()
