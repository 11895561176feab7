"""No statement on the hot path reads a whole table, whatever the planner believes about its size."""

import asyncio

import asyncpg
import psycopg
import pytest

from tests.contracts.plans import fill, generic_plan, sequential_scans, unanalysed_server, whole_reads
from tests.contracts.stores import new_job, opened
from tests.engine.working import AT_ONCE, eventually, working
from towpath import App, Fatal, Transient
from towpath.store.postgres.connecting import connect
from towpath.store.postgres.tx import _update

HOT = [
    "turn", "insert_one", "insert_jobs", "place", "insert_events", "event_of", "advance", "renew",
    "states", "lock_jobs", "jobs_by_id", "ancestors", "descendants", "job_by_key", "due_jobs", "due_ids", "next_due",
    "ending_leases", "expired_waits", "leased_in_queue", "leased_by", "child_states", "lock_group", "children_page",
    "lane_slots_used", "lane_roots_open", "parked_jobs", "parked_children", "lane_ready_last", "stray_ready",
    "stray_leased", "unbegun_ready_roots", "drop_leases", "put_lease",
    "keep_starts", "stream_now", "stream_end", "stream_stragglers", "stream_delta", "streamed_jobs",
    "job_events", "job_events_of_levels", "steps", "steps_done", "put_step", "step_by_name", "next_signal", "consume_signal",
    "drop_steps", "drop_timeouts", "list_of_subject",
]  # fmt: skip
SORT = '[{"queue": "q", "operation": "op", "tenant": "t", "lane": "t", "priority": 1, "cost": 1, "max_attempts": 3}]'
ENDING = ("state", "leased", "lease_until", "worker_id", "finished_at", "seq")


@pytest.fixture(scope="module", params=["newest", "15"])
def server(request):
    with unanalysed_server(request.param) as own:
        yield own


@pytest.fixture
def fresh_url(server, request):
    name = f"plans_{abs(hash(request.node.name))}"
    yield server.create_database(name)
    server.drop_database(name)


async def plans(url, queries):
    connection = await connect(url)
    try:
        texts = {name: queries[name].text for name in HOT} | {"write_jobs": _update(ENDING)}
        return {name: await generic_plan(connection, name, text) for name, text in texts.items()}
    finally:
        await connection.close()


class TestPlansOfTheEngine:
    @pytest.mark.parametrize("rows", [0, 10_000, 100_000, "analysed while empty"])
    async def test_no_hot_statement_reads_a_whole_table(self, fresh_url, rows):
        async with opened(fresh_url) as hands:
            queries = hands.store.queries
        connection = await asyncpg.connect(fresh_url)
        await (connection.execute("ANALYZE") if isinstance(rows, str) else fill(connection, rows))
        await connection.close()
        found = await plans(fresh_url, queries)

        assert {name: reads for name, plan in found.items() if (reads := whole_reads(plan))} == {}
        indexes = {node.get("Index Name") for node in found["turn"]}
        assert "job_ready" in indexes
        assert "job_lane" not in indexes

    async def test_a_run_on_a_new_database_never_scans_the_large_tables(self, fresh_url):
        async with App(fresh_url) as app:
            await app.queues.lane("default", "capped", max_slots=1)  # looks at all jobs, of which there are none
        before = sequential_scans(fresh_url)
        async with App(fresh_url) as app:
            await _run_of_everything(app)

        assert sequential_scans(fresh_url) == before

    async def test_the_sql_functions_do_not_either_on_a_connection_with_its_own_settings(self, fresh_url):
        async with opened(fresh_url):
            pass
        before = sequential_scans(fresh_url)
        with psycopg.connect(fresh_url, autocommit=True) as caller:
            for number in range(12):  # more than the few times that a plan is made anew
                caller.execute("SELECT towpath.enqueue('op', key => %s)", [str(number % 5)])
            for keys in (None, ["k"]) * 6:
                caller.execute(
                    "SELECT towpath.insert_jobs('{}', ARRAY[towpath.uuid7()], ARRAY['1'::json], %s, ARRAY[1], "
                    "ARRAY[1.0], %s)",
                    [SORT, keys],
                )

        assert sequential_scans(fresh_url) == before


async def _run_of_everything(app: App) -> None:
    """Enqueues every way, retries, fails, spawns, takes turns at a cap, follows the stream; all with one worker."""

    @app.operation("op", retry=AT_ONCE)
    async def op(ctx, n=0):
        await ctx.progress(1, 2)
        if n < 0 and ctx.attempt == 1:
            raise Transient("again")
        if n > 1000:
            raise Fatal("too large")

    @app.operation("parent")
    async def parent(ctx):
        await ctx.step("one", lambda: 1)
        return await (await ctx.gather("op", range(5))).results()

    stream = app.events(follow=True)
    first = asyncio.ensure_future(anext(stream))
    await asyncio.sleep(0)
    for n in (*range(-3, 10), 2000):
        await app.enqueue("op", n)
    await app.enqueue_many([{"operation": "op", "payload": n} for n in range(20)])
    await app.enqueue_many([{"operation": "op", "payload": n, "key": f"k{n}", "delay": 0.01} for n in range(5)])
    await app.enqueue_many([{"operation": "op", "payload": n, "lane": "capped"} for n in range(5)])
    async with app.transaction() as tx:
        await tx.enqueue("op", 1)
        await tx.enqueue("op", 1, key="k0")
    last = await app.enqueue("parent", priority=3)
    async with working(app):
        await app.result(last.id, timeout=30)
        await eventually(lambda: _nothing_left(app))
    assert await asyncio.wait_for(first, 20)
    await stream.aclose()
    assert [event async for event in app.events(job_id=last.id)]


async def _nothing_left(app: App) -> bool:
    return not await app.list(state="queued") and not await app.list(state="running")


class TestPlansOfOthers:
    """Slices and callers share the connections; their statements are planned as anywhere else."""

    @pytest.fixture
    async def hands(self, postgres_url):
        async with opened(postgres_url, pool_size=1) as own:
            own.store.queries.add("-- name: shop_setting\nSHOW enable_seqscan")
            own.store.queries.add("-- name: own_setting\nSHOW enable_seqscan", own=True)
            yield own

    async def test_each_statement_has_the_settings_it_was_made_for(self, hands):
        async def unit(tx):
            names = ["own_setting", "shop_setting", "shop_setting", "own_setting"]
            named = [(await tx.fetch(name))[0][0] for name in names]
            return [*named, (await tx.fetch_sql("SHOW enable_seqscan"))[0][0], (await tx.fetch("own_setting"))[0][0]]

        for asked in (hands.store.run, hands.store.read):
            assert await asked(unit) == ["off", "on", "on", "off", "on", "off"]

    async def test_a_caller_has_its_own_settings_also_after_an_enqueue_and_a_savepoint(self, hands):
        async def seen(tx):
            return (await tx.fetch_sql("SHOW enable_seqscan"))[0][0]

        async with hands.store.transaction() as tx:
            found = [await seen(tx)]
            await tx.execute_sql("SAVEPOINT here")
            await tx.insert_jobs([new_job()])
            await tx.execute_sql("ROLLBACK TO here")
            found.append((await tx.fetch("own_setting"))[0][0])
            found.append(await seen(tx))

        assert found == ["on", "off", "on"]
        async with hands.store._connection() as connection:
            assert await connection.fetchval("SHOW enable_seqscan") == "off"

    async def test_a_caller_can_go_back_to_a_savepoint_after_a_statement_of_ours_has_failed(self, hands):
        async with hands.store.transaction() as tx:
            await tx.execute_sql("SAVEPOINT here")
            with pytest.raises(asyncpg.PostgresError, match="uuid"):
                await tx.fetch("jobs_by_id", ids=["no id"])
            await tx.execute_sql("ROLLBACK TO here")
            assert (await tx.fetch_sql("SHOW enable_seqscan"))[0][0] == "on"
            await tx.insert_jobs([new_job()])
        assert await hands.count("job") == 1
