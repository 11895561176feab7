"""A slice's rows and new jobs in one commit, and from a running operation only while its attempt holds the job."""

import asyncio
from contextlib import suppress

import pytest

from tests.engine.working import Gate, ended, eventually, in_form, working
from towpath import App, Context, LeaseLost, Settings, Slice, Transaction, new_id
from towpath.core import transitions
from towpath.store.contract import Claim

MIGRATION = "CREATE TABLE shop_order (id text PRIMARY KEY, owner text NOT NULL)"
QUERIES = """
-- name: shop_order_add
INSERT INTO shop_order (id, owner) VALUES (:id, :owner)

-- name: shop_orders
SELECT id, owner FROM shop_order ORDER BY id
"""
LONG = "x" * 500


@pytest.fixture
async def shop(database_url, tmp_path):
    for name, text in {"migrations/0001_orders.sql": MIGRATION, "queries/orders.sql": QUERIES}.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    settings = Settings(blobs_url=(tmp_path / "blobs").as_uri(), poll_seconds=0.2, drain_seconds=0.2, inline_bytes=100)
    app = App(database_url, settings=settings)
    app.add_slice(Slice("shop", tmp_path / "migrations", tmp_path / "queries"))

    @app.operation("ship")
    async def ship(ctx: Context, payload: str):
        return len(payload)

    async with app:
        yield app


async def orders(app: App) -> list[tuple[str, str]]:
    return [(row["id"], row["owner"]) for row in await app.query("shop_orders")]


def an_order(number: str, *, payload: str = "soon"):
    async def unit(tx: Transaction) -> str:
        assert await tx.change("shop_order_add", id=number, owner="alice") == 1
        return await tx.enqueue("ship", payload)

    return unit


async def test_a_unit_commits_its_rows_and_its_job_together(shop):
    job_id = await shop.transact(an_order("A1"))
    assert await orders(shop) == [("A1", "alice")]
    assert (await shop.get(job_id)).operation == "ship"


async def test_a_unit_that_fails_leaves_neither(shop):
    async def unit(tx: Transaction) -> None:
        await an_order("A1")(tx)
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        await shop.transact(unit)
    assert await orders(shop) == []
    assert await shop.list() == []


async def test_a_units_large_payloads_become_blobs_and_none_is_left_over(shop):
    async def unit(tx: Transaction) -> list[str]:
        return [
            await tx.enqueue("ship", LONG),
            await tx.enqueue("ship", LONG, key="k"),
            await tx.enqueue("ship", LONG, key="k"),
        ]

    first, second, third = await shop.transact(unit)
    assert second == third != first
    async with working(shop):
        assert [await shop.result(job_id, timeout=20) for job_id in (first, second)] == [500, 500]
    kept = {info.key async for info in shop.blobs.list("jobs")}
    assert kept == {f"jobs/{first}/payload", f"jobs/{second}/payload"}


async def test_what_is_read_together_is_of_one_moment(shop):
    async def unit(now) -> tuple[int, bool]:
        return len(await now.query("shop_orders")), now.now is not None

    assert await shop.read(unit) == (0, True)


@pytest.mark.parametrize("form", ["block", "unit"])
async def test_a_running_operation_commits_its_rows_and_jobs_with_what_it_inherits(shop, form):
    @shop.operation("order")
    async def order(ctx: Context, number: str):
        return await in_form(ctx, form, an_order(number))

    job = await shop.enqueue("order", "A1", tenant="alice", lane="alice/phone", priority=2)
    async with working(shop):
        made = await shop.get(await shop.result(job.id, timeout=20))
    assert await orders(shop) == [("A1", "alice")]
    assert (made.tenant, made.lane, made.priority) == ("alice", "alice/phone", 2)


async def taken(app: App) -> Context:
    """A running attempt that no worker looks after: if it loses its job, nothing but the database can tell it."""
    [claimed] = await app.services.store.claim(Claim("default", 1, new_id(), 60.0))
    return Context(claimed, app.services, 60.0)


async def cancelled(app: App, ctx: Context) -> None:
    assert await app.cancel(ctx.id)


async def handed_back(app: App, ctx: Context) -> None:
    assert await app.services.store.settle([transitions.release(ctx.id, ctx.fence)]) == [None]


async def taken_by_another(app: App, ctx: Context) -> None:
    await handed_back(app, ctx)
    other = await taken(app)
    assert (other.id, other.fence) == (ctx.id, ctx.fence + 1)


async def requeued(app: App, ctx: Context) -> None:
    await handed_back(app, ctx)
    await app.cancel(ctx.id)
    await app.requeue(ctx.id)


async def gone(app: App, ctx: Context) -> None:
    await handed_back(app, ctx)
    assert (await app.remove([ctx.id])).jobs == 1


@pytest.mark.parametrize("lost", [cancelled, handed_back, taken_by_another, requeued, gone])
@pytest.mark.parametrize("form", ["block", "unit"])
async def test_an_attempt_that_has_not_heard_that_it_lost_its_job_writes_nothing(shop, form, lost):
    await shop.enqueue("ship", "soon")
    ctx = await taken(shop)
    await lost(shop, ctx)
    ctx.check()  # it believes to have it: only the fence can say otherwise
    before = [job.id for job in await shop.list()]
    with pytest.raises(LeaseLost):
        await in_form(ctx, form, an_order("A1"))
    assert await orders(shop) == []
    assert [job.id for job in await shop.list()] == before
    with pytest.raises(LeaseLost):
        ctx.check()


@pytest.mark.parametrize("form", ["block", "unit"])
async def test_an_attempt_that_has_its_job_writes(shop, form):
    await shop.enqueue("ship", "soon")
    await in_form(await taken(shop), form, an_order("A1"))
    assert await orders(shop) == [("A1", "alice")]


async def test_a_unit_that_is_run_again_is_fenced_again(shop, monkeypatch):
    """Its large payload is put between two runs, and in that time the job is lost."""
    await shop.enqueue("ship", "soon")
    ctx, put = await taken(shop), shop.blobs.put

    async def putting(*what):
        await handed_back(shop, ctx)
        return await put(*what)

    monkeypatch.setattr(shop.blobs, "put", putting)
    with pytest.raises(LeaseLost):
        await ctx.transact(an_order("A1", payload=LONG))
    assert await orders(shop) == []
    assert len(await shop.list()) == 1


@pytest.mark.parametrize("form", ["block", "unit"])
async def test_an_operation_whose_job_was_cancelled_under_it_writes_nothing(shop, form):
    gate, seen = Gate(), []

    @shop.operation("order")
    async def order(ctx: Context, number: str):
        with suppress(asyncio.CancelledError):  # it goes on all the same, as a thread would
            await gate.wait()
        try:
            await in_form(ctx, form, an_order(number))
        except LeaseLost as error:
            seen.append(error)
            raise

    job = await shop.enqueue("order", "A1")
    async with working(shop):
        await gate.until_reached()
        await shop.cancel(job.id)
        await ended(shop, job)
        await eventually(lambda: seen)
    assert await orders(shop) == []
    assert [one.operation for one in await shop.list()] == ["order"]


async def test_nobody_takes_a_job_away_in_the_middle_of_its_transaction(shop):
    """A cancel that comes while the transaction is open waits for it: what it committed was the running attempt's."""
    gate = Gate()

    @shop.operation("order")
    async def order(ctx: Context, number: str):
        async with ctx.transaction() as tx:
            await tx.change("shop_order_add", id=number, owner="alice")
            await gate.wait()

    job = await shop.enqueue("order", "A1")
    async with working(shop):
        await gate.until_reached()
        cancelling = asyncio.create_task(shop.cancel(job.id))
        done, _ = await asyncio.wait({cancelling}, timeout=0.2)
        assert not done
        gate.open()
        await cancelling
    assert await orders(shop) == [("A1", "alice")]
