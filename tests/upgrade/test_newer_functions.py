"""Two releases on one database, and the later one has a column that comes with new jobs: the functions that insert them are
those of the later one, whoever is first to start, and the older one goes on calling them."""

import asyncio
import os
import sys
from contextlib import asynccontextmanager

import pytest

from tests.upgrade.fixture_files import kept_sources, load_source, version_of
from tests.upgrade.later import ROOT, Column, said_by, with_option

COLOUR = Column(*["integer NOT NULL DEFAULT 7"] * 2, "int = 7", "9", ("7", "9"))

# In every way there is: alone, in bulk, with keys, in a transaction, and by the function for other languages.
OLDER = """
import asyncio, sys
from towpath import App

async def main(url):
    app = App(url)
    app.operation("work", queue="work")(lambda ctx, payload: None)
    async with app:
        for number in range(3):
            await asyncio.to_thread(sys.stdin.readline)
            told = {"operation": "work", "payload": number}
            await app.enqueue("work", number)
            await app.enqueue_many([told | {"tenant": f"t{n % 2}"} for n in range(4)])
            await app.enqueue_many([told | {"key": f"{number} {n}"} for n in range(3)])
            async with app.transaction() as tx:
                await tx.enqueue("work", number)
                if url.startswith("postgres"):
                    await tx.fetch("SELECT towpath.enqueue('work', 'null', queue => 'work') AS id")
            print("done", flush=True)

asyncio.run(main(sys.argv[1]))
"""

NEWER = """
import asyncio, sys
from towpath import App

async def main(url):
    app = App(url)
    app.operation("work", queue="work")(lambda ctx, payload: None)
    async with app:
        told = {"operation": "work", "payload": None, "colour": 9}
        made = [await app.enqueue("work", colour=9), *await app.enqueue_many([told | {"tenant": t} for t in "abab"])]
        assert [job.colour for job in made] == [9] * 5
        print(sorted({(await app.get(job.id)).colour for job in made}))
        others = [job for job in await app.list(limit=1000) if job.colour != 9]
        print(len(others), sorted({job.colour for job in others}))

asyncio.run(main(sys.argv[1]))
"""


@pytest.fixture(params=kept_sources(), ids=version_of)
def older(request, tmp_path):
    return load_source(request.param, tmp_path / "older")


@asynccontextmanager
async def running(source, url):
    """A process that enqueues in every way whenever it is told to."""
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-c", OLDER, url, cwd=ROOT, env=os.environ | {"PYTHONPATH": str(source)},
        stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE,
    )  # fmt: skip

    async def go() -> None:
        process.stdin.write(b"go\n")
        async with asyncio.timeout(60):
            if await process.stdout.readline() != b"done\n":
                raise AssertionError((await process.stderr.read()).decode())

    try:
        yield go
    finally:
        if process.returncode is None:
            process.kill()
        await process.wait()


async def test_the_older_one_runs_beside_the_newer_one_that_came_later(older, database_url, tmp_path):
    each = 9 if database_url.startswith("sqlite") else 10
    newer = with_option(tmp_path / "newer", COLOUR)
    async with running(older, database_url) as enqueue:
        await enqueue()
        assert await said_by(newer, NEWER, database_url) == ["[9]", f"{each} [7]"]
        await enqueue()
        assert await said_by(newer, NEWER, database_url) == ["[9]", f"{2 * each} [7]"]


async def test_the_older_one_may_be_the_second_to_start(older, database_url, tmp_path):
    each = 9 if database_url.startswith("sqlite") else 10
    newer = with_option(tmp_path / "newer", COLOUR)
    assert await said_by(newer, NEWER, database_url) == ["[9]", "0 []"]
    async with running(older, database_url) as enqueue:
        await enqueue()
    assert await said_by(newer, NEWER, database_url) == ["[9]", f"{each} [7]"]
