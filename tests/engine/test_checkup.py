"""What doctor says of workers that were killed, and of what live ones have yet to see to."""

import asyncio

import pytest

from tests.contracts.stores import Hands, worker_row

LEASE = 30.0


@pytest.fixture
async def hands(app):
    @app.operation("work", queue="q")
    async def work(ctx, payload): ...

    return Hands(app.services.store)


async def beat(app):
    heart = app.services.store.heart()
    await asyncio.to_thread(heart.beat, worker_row(), [], LEASE)
    await asyncio.to_thread(heart.close)


async def found(app, topic):
    return [(one.level, one.remedy or "") for one in await app.checkup() if one.topic == topic]


async def test_a_worker_that_was_killed_serves_nothing_and_is_not_among_the_living(app, hands):
    await app.enqueue("work")
    await beat(app)
    assert await found(app, "workers") == [("ok", "")]
    assert await found(app, "queues") == [("ok", "")]

    for column in ("seen_at", "alive_until"):
        by = f"{column} - 31" if hands.store.dialect == "sqlite" else f"{column} - interval '31 seconds'"
        await hands.sql(f"UPDATE {hands.table('worker')} SET {column} = {by} RETURNING 1 AS done")
    assert [level for level, _ in await found(app, "workers")] == ["note", "note"]  # none is alive, and which fell silent
    assert [level for level, _ in await found(app, "queues")] == ["problem"]


async def test_a_lease_that_has_run_out_is_nobodys_fault_before_a_live_worker_had_to_rescue_it(app, hands):
    """A worker that has just come looks on for a whole lease first, and then its janitor has some seconds."""
    job = await hands.start()
    await beat(app)
    await hands.shift("lease_until", -LEASE - 40.0, job.id)  # 40 s ago
    assert await found(app, "leases") == [("ok", "")]
    await hands.shift("lease_until", -20.0, job.id)
    [(level, remedy)] = await found(app, "leases")
    assert level == "problem"
    assert "a live worker should have seen to it" in remedy
