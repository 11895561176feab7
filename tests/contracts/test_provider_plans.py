"""What is due at providers is found by its index, and so is everything else about it, however much waits."""

import asyncpg
import pytest

from tests.contracts.plans import generic_plan, unanalysed_server
from tests.contracts.stores import opened
from towpath.store.postgres.connecting import connect

BY_INDEX = {
    "due_provider_jobs": "provider_job_due",
    "next_provider_poll": "provider_job_due",
    "take_provider_jobs": "provider_job_pkey",
    "provider_jobs_by_id": "provider_job_pkey",
    "note_poll": "provider_job_pkey",
    "open_provider_jobs": "provider_job_part",
    "provider_jobs_of_step": "provider_job_part",
    "provider_jobs_of_jobs": "provider_job_job",
    "provider_jobs_left_behind": "provider_job_job",
    "poll_now": "provider_job_external",
    "poll_soon": "provider_job_external",
    "unknown_provider_jobs": "provider_job_unknown",
    "forsaken_by_providers": "provider_job_part",
}
"""PostgreSQL's names; SQLite's begin with `towpath_`, and those of primary keys are its own."""
SIMILAR = {"provider_job_part", "provider_job_job"}
"""Both begin with the job, which has few orders: either will do."""
ORDERS = """
INSERT INTO towpath.provider_job (id, job_id, name, part, tenant, provider, model, key, ordered, state, external_id,
                                  next_poll_at)
SELECT towpath.uuid7(), towpath.uuid7(), 'submit', 0, 't', 'P', 'm', 'key' || n, '{}',
       CASE WHEN n % 2 = 0 THEN 'submitted' ELSE 'completed' END, 'ext' || n,
       CASE WHEN n % 2 = 0 THEN now() + n * interval '1 second' END
FROM generate_series(1, $1::int) AS n
"""


@pytest.fixture(scope="module", params=["newest", "15"])
def server(request):
    with unanalysed_server(request.param) as own:
        yield own


@pytest.mark.parametrize("rows", [0, 20_000, "analysed while empty"])
async def test_postgres_finds_it_by_the_index_that_is_made_for_it(server, rows):
    url = server.create_database("orders")
    try:
        async with opened(url) as hands:
            queries = hands.store.queries
        filling = await asyncpg.connect(url)
        await (filling.execute("ANALYZE") if isinstance(rows, str) else filling.execute(ORDERS, rows))
        await filling.close()
        connection = await connect(url)
        found = {name: await generic_plan(connection, name, queries[name].text) for name in BY_INDEX}
        await connection.close()
    finally:
        server.drop_database("orders")

    for name, plan in found.items():
        assert not [node for node in plan if node["Node Type"] == "Seq Scan"], (name, plan)
        assert {node.get("Index Name") for node in plan} & as_good_as(BY_INDEX[name]), (name, plan)


async def test_sqlite_finds_it_by_the_index_that_is_made_for_it(sqlite_url):
    async with opened(sqlite_url) as hands:
        plans = {name: await _sqlite_plan(hands, name) for name in BY_INDEX}

    for name, plan in plans.items():
        walked = [step for step in plan if step.startswith("SCAN") and "json_each" not in step and "USING" not in step]
        assert not walked, (name, plan)
        if not BY_INDEX[name].endswith("_pkey"):
            named = as_good_as(BY_INDEX[name])
            assert any(f"towpath_{index} " in f"{step} " for step in plan for index in named), (name, plan)


def as_good_as(index: str) -> set[str]:
    return SIMILAR if index in SIMILAR else {index}


async def _sqlite_plan(hands, name):
    query = hands.store.queries[name]
    lists = {"ids", "job_ids", "providers", "states"}
    text = query.text
    for parameter in sorted(query.names, key=len, reverse=True):
        value = "'[\"a\"]'" if parameter in lists else "10" if parameter == "limit" else "'a'"
        text = text.replace(f":{parameter}", value)
    rows = await hands.store.read(lambda tx: tx.fetch_sql(f"EXPLAIN QUERY PLAN {text}"))
    return [str(row["detail"]) for row in rows]
