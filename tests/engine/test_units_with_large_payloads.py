"""A unit whose payloads are too large for their rows: they become blobs outside of it, and it is run again. Not for ever."""

import pytest

from towpath import Fatal, Transaction, new_id

LONG = "x" * 500


@pytest.fixture
async def app(opened):
    app = await opened(inline_bytes=100)

    @app.operation("ship")
    async def ship(ctx, payload):
        return len(payload)

    return app


async def kept(app) -> set[str]:
    return {info.key async for info in app.blobs.list("jobs")}


async def test_a_payload_that_is_another_one_every_time_is_refused_and_leaves_nothing(app):
    runs = []

    async def unit(tx: Transaction) -> str:
        runs.append(1)
        return await tx.enqueue("ship", {"id": new_id(), "big": LONG})

    with pytest.raises(Fatal, match="ship") as refused:
        await app.transact(unit)
    assert "before app.transact" in refused.value.remedy
    assert len(runs) == 3
    assert await app.list() == []
    assert await kept(app) == set()


async def test_a_payload_that_changed_once_because_the_rows_did_is_placed_anew(app):
    runs = []

    async def unit(tx: Transaction) -> str:
        runs.append(1)
        return await tx.enqueue("ship", [min(len(runs), 2), LONG])

    job_id = await app.transact(unit)
    assert await app.payload(job_id) == [2, LONG]
    assert await kept(app) == {f"jobs/{job_id}/payload"}


async def test_however_many_large_payloads_there_are_the_unit_is_run_twice(app):
    runs = []

    async def unit(tx: Transaction) -> list[str]:
        runs.append(1)
        return [await tx.enqueue("ship", [number, LONG]) for number in range(5)]

    ids = await app.transact(unit)
    assert len(runs) == 2
    assert [await app.payload(job_id) for job_id in ids] == [[number, LONG] for number in range(5)]
    assert await kept(app) == {f"jobs/{job_id}/payload" for job_id in ids}


async def test_a_unit_that_catches_every_exception_has_its_jobs_all_the_same(app):
    async def unit(tx: Transaction) -> str | None:
        try:
            return await tx.enqueue("ship", LONG)
        except Exception:
            return None

    job_id = await app.transact(unit)
    assert job_id is not None
    assert await app.payload(job_id) == LONG


async def test_a_payload_of_a_job_that_is_there_already_becomes_no_blob(app):
    held = await app.enqueue("ship", LONG, key="k")

    async def unit(tx: Transaction) -> str:
        return await tx.enqueue("ship", LONG + "y", key="k")

    assert await app.transact(unit) == held.id
    assert await kept(app) == {f"jobs/{held.id}/payload"}
