"""Every release that was kept still works on the schema of this one, and on one that has been expanded further."""

import asyncio
import os
import sys
from pathlib import Path

import pytest

from tests.upgrade.fixture_files import kept_sources, load_source, version_of
from tests.upgrade.population import make_app
from tests.upgrade.schema import schema_of
from tests.upgrade.test_newer_schema import expand
from towpath import State
from towpath.testing import drain

ROOT = Path(__file__).parents[2]


@pytest.fixture(params=kept_sources(), ids=version_of)
def source(request, tmp_path):
    return load_source(request.param, tmp_path / "source")


async def run_older(source: Path, url: str, blobs: Path) -> None:
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "tests.upgrade.older", str(source), url, str(blobs),
        cwd=ROOT, env=os.environ | {"PYTHONPATH": str(source)},
        stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.STDOUT,
    )  # fmt: skip
    try:
        async with asyncio.timeout(120):
            said, _ = await process.communicate()
    finally:
        if process.returncode is None:
            process.kill()
    assert process.returncode == 0, said.decode()


def test_the_first_release_is_among_them():
    assert "0.1.0" in {version_of(path) for path in kept_sources()}


@pytest.mark.parametrize("expanded", [False, True], ids=["this schema", "the next one"])
async def test_an_older_release_works_on_a_newer_schema_beside_a_newer_process(source, database_url, tmp_path, expanded):
    async with make_app(database_url, tmp_path / "blobs") as app:
        if expanded:
            await expand(app)
        before = await schema_of(app)
        job = await app.enqueue("work", {"say": "from the newer one"})
        await run_older(source, database_url, tmp_path / "blobs")

        assert (await app.get(job.id)).state is State.SUCCEEDED
        [theirs] = [job for job in await app.list(state="queued") if job.key == "from the older one"]
        await drain(app)
        assert (await app.get(theirs.id)).state is State.SUCCEEDED
        assert await schema_of(app) == before  # a process that is older has put nothing back
