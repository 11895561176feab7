"""A dump restored into another cluster: its events carry transaction numbers that mean nothing there."""

from tests.contracts.streams import stream_start
from tests.docs.pages import DOCS, blocks
from tests.upgrade.fixture_files import kept, load_postgres, read
from tests.upgrade.population import make_app
from towpath.testing import drain

AFTER_A_RESTORE = next(block.text for block in blocks(DOCS / "operations.md", "sql") if "after_restore" in block.text)
NUMBERED = [("event", "xid"), ("event_batch", "xid"), ("job", "created_xid"), ("job", "started_xid")]


async def restored(app) -> int:
    async with app.transaction() as tx:
        [row] = await tx.fetch(AFTER_A_RESTORE.rstrip().rstrip(";"))
        return int(row["after_restore"])


async def test_after_the_documented_statement_streams_tell_new_events_only(postgres_url, tmp_path):
    load_postgres(read(kept("postgres")[-1]), postgres_url)
    async with make_app(postgres_url, tmp_path / "blobs") as app:
        job = await app.enqueue("work", {"say": "old"})
        await drain(app)
        await app.delete(job.id)
        async with app.transaction() as tx:
            for table, column in NUMBERED:
                moved = f"({column}::text::bigint + 1000000000)::text::xid8"
                assert await tx.execute(f"UPDATE towpath.{table} SET {column} = {moved} WHERE {column} IS NOT NULL") > 0
        assert await restored(app) > 30
        cursor = await stream_start(app.services.store)
        job = await app.enqueue("work", {"say": "new"})
        told = [event async for event in app.events(after=cursor)]
        assert [(event.job_id, event.name) for event in told] == [(job.id, "job.created")]
        assert await restored(app) == 0
