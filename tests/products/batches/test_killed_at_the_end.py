"""Workers are killed while they fetch, merge and clean up what a provider has answered; the next one ends the batch, and
nothing is ordered again."""

import asyncio
import json
import signal
import sys
from pathlib import Path

from tests.engine.working import on_sqlite, working
from tests.products.batches.finalizing import make_app
from towpath.batches import intake, names, stored
from towpath.batches.intake import Owner, Wanted
from towpath.providers.simulator import served
from towpath.providers.simulator.openai import OpenAISimulator

POINTS = ("answers-0-0.jsonl", "results.jsonl", "work")
"""The answers are fetched, they are merged, and what was only needed for that is removed."""


async def killed_after(name: str, *where: str) -> None:
    command = ["-m", "tests.products.batches.finalizing", *where, name]
    process = await asyncio.create_subprocess_exec(sys.executable, *command, cwd=Path(__file__).parents[3])
    try:
        assert await asyncio.wait_for(process.wait(), 90) == -signal.SIGKILL
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()


@on_sqlite
async def test_a_worker_killed_while_it_ends_a_batch_leaves_it_to_the_next(database_url: str, tmp_path: Path):
    simulator = OpenAISimulator()
    with served(simulator) as address:
        where = (database_url, (tmp_path / "blobs").as_uri(), address)
        async with make_app(*where) as app:
            body = {"messages": [{"role": "user", "content": "who sang of the miller?"}]}
            asked = [{"custom_id": name, "body": body} for name in ("a", "b", "c")]
            wanted = Wanted("OPENAI", ["m1"], lines=intake.as_lines([*asked, asked[0]]))
            batch_id, job_id = await intake.create(app, wanted, Owner("default"))
            for name in POINTS:
                await killed_after(name, *where)
            async with working(app, "batches"):
                await app.result(job_id, timeout=60)
            batch = await stored.find(app, batch_id)
            lines = [json.loads(line) for line in (await app.blobs.get(names.results_key(batch_id))).splitlines()]
            left = [info.key async for info in app.blobs.list(names.work_prefix(batch_id))]
    assert (batch.count, batch.ok, batch.invalid, batch.failed) == (4, 3, 1, 0)
    assert [line["custom_id"] for line in lines] == ["a", "b", "c", "a"]
    assert [line["error"] is None for line in lines] == [True, True, True, False]
    assert (len(simulator.ledger.paid), left) == (1, [])
