"""A dump restored into another cluster: its events carry transaction numbers that mean nothing there."""

from tests.docs.pages import DOCS, blocks
from tests.upgrade.keeping import kept, load_postgres, read
from tests.upgrade.population import make_app

AFTER_A_RESTORE = next(block.text for block in blocks(DOCS / "operations.md", "sql") if "SET xid" in block.text)


async def test_after_the_documented_statement_streams_tell_new_events_only(postgres_url, tmp_path):
    load_postgres(read(kept("postgres")[-1]), postgres_url)
    async with make_app(postgres_url, tmp_path / "blobs") as app:
        async with app.transaction() as tx:
            await tx.execute("UPDATE towpath.event SET xid = (xid::text::bigint + 1000000000)::text::xid8")
        async with app.transaction() as tx:
            assert await tx.execute(AFTER_A_RESTORE.rstrip().rstrip(";")) > 30
        cursor = await app.services.store.stream_start()
        job = await app.enqueue("work", {"say": "new"})
        told = [event async for event in app.events(after=cursor)]
        assert [(event.job_id, event.name) for event in told] == [(job.id, "job.created")]
        async with app.transaction() as tx:
            assert await tx.execute(AFTER_A_RESTORE.rstrip().rstrip(";")) == 0
