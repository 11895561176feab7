"""What PostgreSQL would do with a statement, and databases that it knows too little about to decide well."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import psycopg
import pytest

from tests.services.missing import lacking
from tests.services.postgres import PostgresServer, wait_until
from tests.services.postgres_programs import PostgresMissing

_FIFTEEN = Path("/usr/lib/postgresql/15/bin")
_BY_INDEX = ("Index Scan", "Index Only Scan", "Bitmap Index Scan")
# They list a few of the jobs, and only those.
_SMALL = ("job_due", "job_deadline")
LARGE = ("job", "event", "event_batch", "owned", "step", "signal", "tombstone", "notice")

# Half of the jobs wait, in the order of one lane; the others have ended.
_JOBS = """
INSERT INTO towpath.job (id, queue, operation, tenant, lane, priority, pass, root_id, ready, state, payload, seq,
                         created_xid)
SELECT towpath.uuid7(), 'q', 'op', 'default', 'default', 1, n, gen_random_uuid(), n % 2 = 0,
       CASE WHEN n % 2 = 0 THEN 'queued' ELSE 'succeeded' END, 'null', 1, '3' FROM generate_series(1, $1::int) AS n
"""
_REST = """
INSERT INTO towpath.event (job_id, seq, attempt, name) SELECT id, 1, 0, 'x' FROM towpath.job;
INSERT INTO towpath.owned (tenant, id) SELECT tenant, id FROM towpath.job;
INSERT INTO towpath.step (job_id, name, kind, ord, done, attempt) SELECT id, 'x', 'x', 1, true, 1 FROM towpath.job;
INSERT INTO towpath.event_batch (seq, jobs) SELECT 1, ARRAY[id] FROM towpath.job;
INSERT INTO towpath.lease (job_id, queue) SELECT id, 'q' FROM towpath.job LIMIT 500;
"""


@contextmanager
def unanalysed_server(version: str) -> Iterator[PostgresServer]:
    """One on which nothing is ever analysed. "15" is PostgreSQL 15, if it is installed."""
    if version == "15" and not _FIFTEEN.exists():
        lacking("PostgreSQL 15", "apt-get install postgresql-15", in_ci=False)
    try:
        server = PostgresServer(settings={"autovacuum": "off"}, programs=_FIFTEEN if version == "15" else None)
    except PostgresMissing as missing:
        pytest.skip(str(missing))
    with server:
        yield server


async def fill(connection: Any, jobs: int) -> None:
    if jobs:
        await connection.execute(_JOBS, jobs)
        await connection.execute(_REST)


async def generic_plan(connection: Any, name: str, text: str) -> list[dict[str, Any]]:
    """The nodes of the plan that is kept for a prepared statement, whatever its parameters."""
    prepared = await connection.prepare(text, name=f"test_{name}")
    nothing = ", ".join(["NULL"] * len(prepared.get_parameters()))
    call = f"test_{name}({nothing})" if nothing else f"test_{name}"
    explained = json.loads(await connection.fetchval(f"EXPLAIN (FORMAT JSON) EXECUTE {call}"))
    return list(_nodes(explained[0]["Plan"]))


def _nodes(node: dict[str, Any]) -> Iterator[dict[str, Any]]:
    yield node
    for child in node.get("Plans", ()):
        yield from _nodes(child)


def whole_reads(nodes: list[dict[str, Any]]) -> list[str]:
    """Which large tables are read from one end to the other, through an index or not."""
    found = [f"all of {node['Relation Name']}" for node in nodes if node["Node Type"] == "Seq Scan"]
    walks = [node["Index Name"] for node in nodes if node["Node Type"] in _BY_INDEX and "Index Cond" not in node]
    found += [f"all of {index}" for index in walks if index not in _SMALL]
    return [read for read in found if read.removeprefix("all of ").split("_")[0] in LARGE]


def sequential_scans(url: str) -> dict[str, int]:
    """How often each large table was read from one end to the other so far, once all others have hung up and said so."""
    with psycopg.connect(url, autocommit=True) as connection:
        others = "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()"
        wait_until(lambda: connection.execute(others).fetchone() == (0,), 20)
        rows = connection.execute(
            "SELECT relname, seq_scan FROM pg_stat_user_tables WHERE schemaname = 'towpath' AND relname = ANY (%s)",
            [list(LARGE)],
        )
        return dict(rows.fetchall())
