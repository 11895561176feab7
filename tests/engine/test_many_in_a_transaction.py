"""Many rows and many jobs in one transaction, without a round trip for each."""

import pytest

from tests.engine.working import in_form, working
from towpath import App, Context, SchemaInvalid, Settings, Slice, Transaction

MIGRATION = "CREATE TABLE shop_line (id integer PRIMARY KEY, what text)"
QUERIES = """
-- name: shop_line_add
INSERT INTO shop_line (id, what) VALUES (:id, :what)

-- name: shop_lines
SELECT id, what FROM shop_line ORDER BY id
"""
MANY = 250
FORMS = pytest.mark.parametrize("form", ["block", "unit"])


@pytest.fixture
async def shop(database_url, tmp_path):
    for name, text in {"migrations/0001_lines.sql": MIGRATION, "queries/lines.sql": QUERIES}.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    settings = Settings(blobs_url=(tmp_path / "blobs").as_uri(), poll_seconds=0.2, inline_bytes=100)
    app = App(database_url, settings=settings)
    app.add_slice(Slice("shop", tmp_path / "migrations", tmp_path / "queries"))

    @app.operation("pack")
    async def pack(ctx: Context, payload: object):
        return payload

    async with app:
        yield app


async def lines(app: App) -> list[tuple[int, str | None]]:
    return [(row["id"], row["what"]) for row in await app.query("shop_lines")]


@FORMS
async def test_many_rows_and_many_jobs_commit_together(shop, form):
    async def unit(tx: Transaction) -> list[str]:
        await tx.change_many("shop_line_add", ({"id": number, "what": None} for number in range(MANY)))
        return await tx.enqueue_many({"operation": "pack", "payload": number} for number in range(MANY))

    ids = await in_form(shop, form, unit)
    assert await lines(shop) == [(number, None) for number in range(MANY)]
    assert [(await shop.get(job_id)).id for job_id in ids] == ids
    assert [await shop.payload(job_id) for job_id in ids[::50]] == list(range(0, MANY, 50))
    assert len(await shop.list(limit=MANY + 1)) == MANY


@FORMS
async def test_one_row_that_does_not_fit_takes_all_of_it_back(shop, form):
    async def unit(tx: Transaction) -> None:
        await tx.enqueue_many([{"operation": "pack"}])
        await tx.change_many("shop_line_add", [{"id": number, "what": "twice"} for number in (1, 2, 1)])

    with pytest.raises(Exception, match=r"(?i)unique"):
        await in_form(shop, form, unit)
    assert (await lines(shop), await shop.list()) == ([], [])


@FORMS
async def test_keys_options_and_large_payloads_hold_for_each_of_them(shop, form):
    held = await shop.enqueue("pack", "here", key="k")

    async def unit(tx: Transaction) -> list[str]:
        long = "x" * 500
        return await tx.enqueue_many(
            [
                {"operation": "pack", "payload": [1, long], "tenant": "anna", "subject": ("box", "1")},
                {"operation": "pack", "payload": [2, long], "key": "k"},
                {"operation": "pack", "payload": [3, long], "priority": 2},
            ]
        )

    first, second, third = await in_form(shop, form, unit)
    assert second == held.id
    one, other = await shop.get(first), await shop.get(third)
    assert (one.tenant, one.subject, other.priority) == ("anna", ("box", "1"), 2)
    assert [(await shop.payload(job_id))[0] for job_id in (first, third)] == [1, 3]
    assert {info.key async for info in shop.blobs.list("jobs")} == {f"jobs/{job_id}/payload" for job_id in (first, third)}


@FORMS
async def test_of_a_running_job_each_inherits_what_it_is_not_told(shop, form):
    @shop.operation("order")
    async def order(ctx: Context):
        items = [{"operation": "pack"}, {"operation": "pack", "subject": ("box", "2"), "tenant": "bert"}]
        return await in_form(ctx, form, lambda tx: tx.enqueue_many(items))

    job = await shop.enqueue("order", tenant="anna", lane="anna/phone", subject=("order", "A1"))
    async with working(shop):
        first, second = await shop.result(job.id, timeout=20)
    one, other = await shop.get(first), await shop.get(second)
    assert (one.tenant, one.lane, one.subject) == ("anna", "anna/phone", ("order", "A1"))
    assert (other.tenant, other.lane, other.subject) == ("bert", "anna/phone", ("box", "2"))


async def test_none_are_none_and_what_is_no_job_is_refused(shop):
    assert await shop.transact(lambda tx: tx.enqueue_many([])) == []
    await shop.transact(lambda tx: tx.change_many("shop_line_add", []))
    with pytest.raises(SchemaInvalid, match="every job is a dict"):
        await shop.transact(lambda tx: tx.enqueue_many(["pack"]))
    with pytest.raises(SchemaInvalid, match="operation"):
        await shop.transact(lambda tx: tx.enqueue_many([{"payload": 1}]))
