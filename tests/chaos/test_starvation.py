"""One row, or ten thousand, that cannot be dealt with must not keep the janitor from the ones that can."""

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from tests.chaos.run import Run
from towpath.core.errors import ConfigurationError
from towpath.core.lifecycle import State
from towpath.engine import schedules
from towpath.engine.tending import janitor

_REFUSE = {
    "sqlite": [
        "CREATE TRIGGER refuse BEFORE UPDATE ON towpath_job WHEN OLD.operation = 'doomed'"
        " BEGIN SELECT RAISE(ABORT, 'this row is cursed'); END"
    ],
    "postgres": [
        "CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'this row is cursed'; END $$",
        "CREATE TRIGGER refuse BEFORE UPDATE ON towpath.job FOR EACH ROW WHEN (OLD.operation = 'doomed')"
        " EXECUTE FUNCTION refuse()",
    ],
}


async def _curse(run: Run) -> None:
    """From now on every change of a `doomed` row fails, as a broken constraint or a damaged page would make it."""
    async with run.app.transaction() as tx:
        for statement in _REFUSE[run.app.services.store.dialect]:
            await tx.execute(statement)


async def _set(run: Run, where: str, **columns: object) -> None:
    """Puts rows into a condition that would take long to reach by ordinary means."""
    sqlite = run.app.services.store.dialect == "sqlite"
    marks = ", ".join(f"{name} = {'?' if sqlite else f'${number}'}" for number, name in enumerate(columns, 1))
    values = [value.timestamp() if sqlite and isinstance(value, datetime) else value for value in columns.values()]
    async with run.app.transaction() as tx:
        await tx.execute(f"UPDATE {'towpath_job' if sqlite else 'towpath.job'} SET {marks} WHERE {where}", *values)
        if columns.get("leased"):
            lease, job = ("towpath_lease", "towpath_job") if sqlite else ("towpath.lease", "towpath.job")
            await tx.execute(f"INSERT INTO {lease} (job_id, queue) SELECT id, queue FROM {job} WHERE {where}")


def _ago(seconds: float) -> datetime:
    return datetime.now(UTC) - timedelta(seconds=seconds)


async def test_one_expired_lease_is_found_among_ten_thousand_that_are_not(database_url: str, tmp_path: Path) -> None:
    async with Run(database_url, tmp_path) as run:
        await run.client.enqueue_many([("doomed", {}, {})] * 10_000)
        lost = await run.client.enqueue("plain")
        leased = {"state": "running", "ready": False, "attempt": 1, "leased": True, "worker_id": "gone"}
        await _set(run, "operation = 'doomed'", **leased, lease_until=_ago(-3600))
        await _set(run, "operation = 'plain'", **leased, lease_until=_ago(5))
        assert await janitor.rescue(run.app.services) == 1
        assert (await run.app.get(lost)).state is State.QUEUED


async def test_a_rescue_gets_past_hundreds_of_rows_that_cannot_be_changed(database_url: str, tmp_path: Path) -> None:
    async with Run(database_url, tmp_path) as run:
        await run.client.enqueue_many([("doomed", {}, {})] * 450)  # more than two pages
        lost = await run.client.enqueue("plain")
        leased = {"state": "running", "ready": False, "attempt": 1, "leased": True, "worker_id": "gone"}
        await _set(run, "operation IN ('doomed', 'plain')", **leased, lease_until=_ago(5))
        await _curse(run)
        assert await janitor.rescue(run.app.services) == 1
        assert (await run.app.get(lost)).state is State.QUEUED


async def test_a_due_job_gets_past_hundreds_of_rows_that_cannot_be_changed(database_url: str, tmp_path: Path) -> None:
    async with Run(database_url, tmp_path) as run:
        await run.client.enqueue_many([("doomed", {}, {"delay": 60})] * 450)
        due = await run.client.enqueue("plain", delay=60)
        await _set(run, "operation = 'doomed'", run_at=_ago(10))
        await _set(run, "operation = 'plain'", run_at=_ago(5))
        await _curse(run)
        assert await janitor.promote_due(run.app.services) == 1
        assert (await run.app.get(due)).ready


async def test_an_expired_wait_gets_past_hundreds_of_rows_that_cannot_be_changed(database_url: str, tmp_path: Path) -> None:
    async with Run(database_url, tmp_path) as run:
        await run.client.enqueue_many([("doomed", {}, {})] * 450)
        late = await run.client.enqueue("plain")
        waiting = {"state": "waiting", "ready": False, "attempt": 1, "reason": "sleep"}
        await _set(run, "operation = 'doomed'", **waiting, deadline=_ago(10))
        await _set(run, "operation = 'plain'", **waiting, deadline=_ago(5))
        await _curse(run)
        assert await janitor.expire(run.app.services) == 1
        assert (await run.app.get(late)).state is State.QUEUED


async def test_a_gate_gets_past_another_that_cannot_be_opened(database_url: str, tmp_path: Path) -> None:
    async with Run(database_url, tmp_path) as run:
        await run.app.queues.lane("main", "before", max_slots=0)
        await run.app.queues.lane("main", "later", max_slots=0)
        await run.client.enqueue("doomed", lane="before")
        held = await run.client.enqueue("plain", lane="later")
        await _curse(run)
        table = "towpath_lane" if database_url.startswith("sqlite") else "towpath.lane"
        async with run.app.transaction() as tx:  # as if the gates had been missed: they are the janitor's now
            await tx.execute(f"UPDATE {table} SET max_slots = 1 WHERE lane IN ('before', 'later')")
        await janitor.gate_all(run.app.services)
        assert (await run.app.get(held)).ready


async def test_a_schedule_gets_past_another_that_cannot_be_read(database_url: str, tmp_path: Path) -> None:
    async with Run(database_url, tmp_path) as run:
        table = "towpath_schedule" if database_url.startswith("sqlite") else "towpath.schedule"
        async with run.app.transaction() as tx:
            await tx.execute(f"UPDATE {table} SET timezone = 'Atlantis/Capital' WHERE name = 'tick-1'")
        await run.make_due("tick-1", _ago(10))
        await run.make_due("tick-2", _ago(5))
        with pytest.raises(ConfigurationError, match="tick-1"):
            await schedules.fire_due(run.app.services)
        assert [job.payload for job in await run.app.list()] == [{"schedule": "tick-2"}]
