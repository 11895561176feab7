"""Whatever is in the table, a list looks at no more than some thousand rows. Measured by PostgreSQL's own counters."""

import asyncio
from datetime import UTC, datetime, timedelta

import pytest

from tests.services.postgres import PostgresServer
from towpath import App, Settings
from towpath.core.ids import first_at
from towpath.engine.asking import causes, counting, listing
from towpath.engine.asking.listing import Wanted
from towpath.server import attach

ROWS = 30_000
BOUND = 4 * listing.MOST_EXAMINED
STATES = ("queued", "running", "waiting", "succeeded", "partial", "failed", "cancelled")

_FILL = f"""
INSERT INTO towpath.job (id, queue, operation, tenant, lane, root_id, parent_id, child_group, key, state, ready, leased,
                         lease_until, deadline, reason, run_at, finished_at, error, error_kind, error_group, payload,
                         created_at, pass, rare_state, live_key)
SELECT id, 'q', 'op' || n % 3, tenant, tenant, CASE WHEN n BETWEEN 100 AND 20000 THEN first ELSE id END,
       CASE WHEN n BETWEEN 100 AND 20000 THEN first END, CASE WHEN n BETWEEN 100 AND 20000 THEN 'g' || n % 2 END,
       'key ' || n, state, state = 'queued' AND n % 2 = 0, state = 'running', CASE WHEN state = 'running' THEN now() END,
       CASE WHEN state = 'waiting' THEN now() END, NULL,
       CASE WHEN state = 'queued' AND n % 2 = 1 THEN now() + interval '1 hour' END,
       CASE WHEN state IN ('succeeded', 'partial', 'failed', 'cancelled') THEN now() END,
       CASE WHEN state = 'failed' THEN '{{"message": "it broke"}}'::json END, CASE WHEN state = 'failed' THEN 'fatal' END,
       CASE WHEN state = 'failed' THEN 'it broke' END, 'null', now() - make_interval(secs => {ROWS} - n), n,
       CASE WHEN state IN ('waiting', 'partial', 'failed', 'cancelled') THEN state END,
       CASE WHEN state IN ('queued', 'running', 'waiting') THEN 'key ' || n END
FROM (SELECT n, 'tenant' || (CASE WHEN n % 1000 = 0 THEN 9 ELSE n % 2 END) AS tenant, $1::uuid AS first,
             (lpad(to_hex($2::bigint + n * 1000), 12, '0') || '7000' || '8000' || lpad(to_hex(n), 12, '0'))::uuid AS id,
             CASE WHEN n % 5000 = 7 THEN 'running' WHEN n % 50 = 3 THEN 'queued' WHEN n % 20 = 1 THEN 'failed'
                  WHEN n % 2000 = 4 THEN 'partial' WHEN n % 3000 = 5 THEN 'waiting' WHEN n % 4000 = 6 THEN 'cancelled'
                  ELSE 'succeeded' END AS state
      FROM generate_series(1, {ROWS}) AS n) AS made
"""


@pytest.fixture(scope="module")
def large(postgres_server: PostgresServer, server_template: str, tmp_path_factory: pytest.TempPathFactory):
    """A database with many jobs of every state, two large tenants and a small one, and a parent of 20,000."""
    url = postgres_server.create_database("server_large", template=server_template)
    asyncio.run(_fill(url, tmp_path_factory.mktemp("blobs").as_uri()))
    yield url, tmp_path_factory.mktemp("blobs").as_uri()
    postgres_server.drop_database("server_large")


async def _fill(url: str, blobs: str) -> None:
    start = datetime.now(UTC) - timedelta(seconds=ROWS)
    async with attach(App(url, settings=Settings(blobs_url=blobs))) as app, app.transaction() as tx:
        await tx.execute(_FILL, PARENT, int(start.timestamp() * 1000))
        await tx.execute(
            "INSERT INTO towpath.job (id, queue, operation, tenant, lane, root_id, payload, children_total, state) "
            "VALUES ($1, 'q', 'op1', 'tenant1', 'tenant1', $1, 'null', 19901, 'succeeded')",
            PARENT,
        )
        await tx.execute("INSERT INTO towpath.lease (job_id, queue) SELECT id, queue FROM towpath.job WHERE leased")
        await tx.execute("INSERT INTO towpath.owned (tenant, id) SELECT tenant, id FROM towpath.job")
        await tx.execute("ANALYZE towpath.job")
        await tx.execute("ANALYZE towpath.owned")


PARENT = first_at(datetime.now(UTC) - timedelta(days=30))
MIDDLE = first_at(datetime.now(UTC) - timedelta(seconds=ROWS // 2))
SEARCHES = {
    "everything": Wanted(),
    "a large tenant": Wanted(tenant="tenant1"),
    "a small tenant": Wanted(tenant="tenant9"),
    **{f"{state}": Wanted(states=[state]) for state in STATES},
    **{f"{state} of a tenant": Wanted(states=[state], tenant="tenant1") for state in STATES},
    **{f"{state} of a small tenant": Wanted(states=[state], tenant="tenant9") for state in STATES},
    "several states": Wanted(states=["failed", "queued", "running"]),
    "all states of a tenant": Wanted(states=STATES, tenant="tenant1"),
    "an operation": Wanted(operation="op1"),
    "an operation that is not there": Wanted(operation="nothing"),
    "failures of an operation": Wanted(states=["failed"], operation="op2"),
    "a queue that is not there": Wanted(queue="nothing", tenant="tenant1"),
    "text": Wanted(text="broke"),
    "text that is not there": Wanted(text="nothing at all", tenant="tenant1"),
    "a key": Wanted(text=f"key {ROWS // 2}"),
    "the beginning of an id": Wanted(text=MIDDLE[:11]),
    "an id": Wanted(text=MIDDLE),
    "children": Wanted(parent=PARENT),
    "failed children": Wanted(parent=PARENT, states=["failed"]),
    "cancelled children of a small tenant": Wanted(parent=PARENT, states=["cancelled"], tenant="tenant9"),
    "a large tree": Wanted(root=PARENT, tenant="tenant1"),
    "a cause": Wanted(states=["failed"], kind="fatal", message="it broke", leaves=True),
    "a cause that is not there": Wanted(states=["failed"], kind="none", leaves=True),
    "a time": Wanted(created_before=datetime.now(UTC) - timedelta(seconds=ROWS // 2)),
    "a time in which there is nothing": Wanted(created_after=datetime.now(UTC) + timedelta(days=1)),
}


async def rows_looked_at(app: App, work) -> tuple[int, int]:
    """(rows read one after the other, rows found by an index) while `work` ran, by one connection of its own."""
    store = app.services.store
    found = []

    async def read(unit):
        async def measured(tx):
            before = await tx.fetch_sql(_COUNTERS)
            answer = await unit(tx)
            after = await tx.fetch_sql(_COUNTERS)
            found.append((after[0]["seq"] - before[0]["seq"], after[0]["idx"] - before[0]["idx"]))
            return answer

        return await type(store).read(store, measured)

    store.read = read
    try:
        await work(store)
    finally:
        del store.read
    return sum(seq for seq, _ in found), sum(idx for _, idx in found)


_COUNTERS = """
SELECT coalesce(sum(seq_tup_read), 0)::bigint AS seq, coalesce(sum(idx_tup_fetch), 0)::bigint AS idx
FROM pg_stat_xact_user_tables WHERE schemaname = 'towpath' AND relname IN ('job', 'owned', 'event', 'event_batch')
"""


async def test_no_search_looks_at_more_rows_than_it_may(large):
    url, blobs = large
    too_much = {}
    async with attach(App(url, settings=Settings(blobs_url=blobs))) as app:
        for name, wanted in SEARCHES.items():
            for after in (None, MIDDLE):
                seq, idx = await rows_looked_at(app, lambda store, w=wanted, a=after: listing.search(store, w, after=a))
                if seq or idx > BOUND:
                    too_much[name, after] = (seq, idx)
    assert too_much == {}


async def test_neither_do_counts_nor_the_inbox(large):
    url, blobs = large
    async with attach(App(url, settings=Settings(blobs_url=blobs))) as app:
        for work, most in (
            (lambda store: counting.count_tenant(store, "tenant1"), 4 * counting.MOST_COUNTED),
            (lambda store: causes.causes(store, "tenant1"), 3 * causes.MOST_GROUPED),
            (lambda store: causes.causes(store, None), 3 * causes.MOST_GROUPED),
        ):
            seq, idx = await rows_looked_at(app, work)
            assert seq == 0
            assert idx <= most


async def test_sqlite_goes_by_an_index_too(sqlite_url, tmp_path):
    async with attach(App(sqlite_url, settings=Settings(blobs_url=(tmp_path / "b").as_uri()))) as app:
        queries = app.services.store.queries
        for name in _LISTS:
            query = queries[name]
            plan = await app.services.store.read(lambda tx, q=query: _plan(tx, q))
            scanned = [step for step in plan if step.startswith("SCAN towpath_") and "USING" not in step]
            scanned = [step for step in scanned if step != "SCAN towpath_lease"]  # no more rows than there are slots
            assert [step for step in scanned if step != "SCAN towpath_job_event"] == [], name  # what its parts have found
            assert [step for step in plan if "TEMP B-TREE FOR ORDER BY" in step and name.startswith("ids_")] == [], name


_LISTS = (
    "ids_newest", "ids_owned", "ids_in_state", "ids_in_state_owned", "ids_failed_operation", "ids_of_children",
    "some_children", "child_groups", "running_pool", "queued_pool", "listed_jobs", "owned_among", "job_events_of_levels",
    "job_events", "stream_delta",
    "states_of", "failures_of", "ready_in_lane", "leased_lanes",
)  # fmt: skip


async def _plan(tx, query) -> list[str]:
    bindings = {name: "[]" if name in ("ids", "states", "levels") else "x" for name in query.names}
    rows = tx.connection.execute(f"EXPLAIN QUERY PLAN {query.text}", bindings)
    return [row[3] for row in rows]


async def test_pages_of_a_large_table_find_everything(large):
    url, blobs = large
    async with attach(App(url, settings=Settings(blobs_url=blobs))) as app:
        store, after, found, pages = app.services.store, None, 0, 0
        while True:
            page = await listing.search(store, Wanted(parent=PARENT, states=["partial"]), after=after, limit=100)
            found, pages, after = found + len(page.jobs), pages + 1, page.next
            if after is None:
                break
        assert found == 9
        assert pages <= 20_000 // listing.MOST_EXAMINED + 1
