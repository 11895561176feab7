"""What is before a job is found by indexes, whatever the backlog: no plan walks through the jobs."""

import asyncpg
import pytest

from tests.contracts.plans import fill, generic_plan, unanalysed_server, whole_reads
from tests.contracts.stores import opened
from towpath.store.postgres.connecting import connect

BY_INDEX = {
    "line_asked": "job_subject",
    "line_subjects": "job_in_line",
    "line_plain": "job_ready",
    "line_parts": "job_ready",
    "line_horizon": "job_ready",
    "line_parked": "job_gated",
    "line_families": "job_family",
    "line_begun": "job_pkey",
    "line_held": "job_pkey",
    "line_busy_elsewhere": "job_pkey",
    "line_lanes": "lane_pkey",
    "run_durations": "histogram_pkey",
}
"""PostgreSQL's names; SQLite's begin with `towpath_`, and those of primary keys are its own."""


@pytest.fixture(scope="module", params=["newest", "15"])
def server(request):
    with unanalysed_server(request.param) as own:
        yield own


@pytest.mark.parametrize("rows", [0, 10_000, 100_000, "analysed while empty"])
async def test_postgres_reads_the_line_by_the_index_that_is_made_for_it(server, rows):
    url = server.create_database("line")
    try:
        async with opened(url) as hands:
            queries = hands.store.queries
        filling = await asyncpg.connect(url)
        await (filling.execute("ANALYZE") if isinstance(rows, str) else fill(filling, rows))
        await filling.close()
        connection = await connect(url)
        found = {name: await generic_plan(connection, name, queries[name].text) for name in BY_INDEX}
        await connection.close()
    finally:
        server.drop_database("line")

    assert {name: reads for name, plan in found.items() if (reads := whole_reads(plan))} == {}
    used = {name: {node.get("Index Name") for node in plan} for name, plan in found.items()}
    assert {name: used[name] for name, index in BY_INDEX.items() if index not in used[name]} == {}


async def test_sqlite_reads_the_line_by_the_index_that_is_made_for_it(sqlite_url):
    async with opened(sqlite_url) as hands:
        plans = {name: await _sqlite_plan(hands, name) for name in BY_INDEX}

    for name, plan in plans.items():
        walked = [step for step in plan if step.startswith("SCAN") and "towpath_job" in step and "USING" not in step]
        assert not walked, (name, plan)
        index = BY_INDEX[name]
        if not index.endswith("_pkey"):
            assert any(f"towpath_{index} " in step for step in plan), (name, plan)


async def _sqlite_plan(hands, name):
    query = hands.store.queries[name]
    lists = {"ids", "lanes", "operations", "workers"}
    text = query.text
    for parameter in query.names:
        value = "'[\"a\"]'" if parameter in lists else "10" if parameter == "limit" else "'a'"
        text = text.replace(f":{parameter}", value)
    rows = await hands.store.read(lambda tx: tx.fetch_sql(f"EXPLAIN QUERY PLAN {text}"))
    return [str(row["detail"]) for row in rows]
