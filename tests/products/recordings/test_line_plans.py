"""What is before a recording is found by indexes, whatever the backlog: no plan walks through the jobs."""

import re
from uuid import uuid4

import pytest

from tests.products.recordings.studio import Studio
from towpath.store.contract import Tx

ONE = str(uuid4())
BY_INDEX = {
    "recording_line_roots": ({"queue": "transcription", "limit": 10}, "recordings_waiting"),
    "recording_line_parts": ({"queue": "transcription", "limit": 10}, "job_ready"),
    "recording_line_parked": ({"queue": "transcription", "lanes": ["a", "b"], "limit": 10}, "job_gated"),
    "recording_own_speed": ({"ids": [ONE]}, "job_family"),
}


async def _plan(tx: Tx, name: str, params: dict) -> str:
    query = tx._queries[name]
    if tx.dialect == "sqlite":
        text = re.sub(
            r":(\w+)", lambda match: "'[\"a\"]'" if match[1] in ("lanes", "ids") else _said(params[match[1]]), query.text
        )
        return "\n".join(str(row["detail"]) for row in await tx.fetch_sql(f"EXPLAIN QUERY PLAN {text}"))
    await tx.execute_sql("SET LOCAL enable_seqscan = off")  # on a small table it would be the best plan
    rows = await tx.fetch_sql(f"EXPLAIN {query.text}", *[params[one] for one in query.names])
    return "\n".join(row["QUERY PLAN"] for row in rows)


def _said(value: object) -> str:
    return f"'{value}'" if isinstance(value, str) else str(value)


@pytest.mark.parametrize("name", BY_INDEX)
async def test_the_line_is_read_by_indexes(studio: Studio, name: str):
    params, index = BY_INDEX[name]

    async def unit(tx: Tx) -> str:
        return await _plan(tx, name, params)

    plan = await studio.app.services.store.run(unit)
    assert index in plan, plan
    assert not re.search(r"SCAN (one|part|towpath_job)(?! USING)|Seq Scan on job", plan), plan
