"""A column of `job` that a claim answers takes four edits, as CONTRIBUTING.md says. They are made here, on a copy."""

import asyncio
import os
import sys
from pathlib import Path

from tests.upgrade.fixture_files import copy_source

ROOT = Path(__file__).parents[2]
STORE, RECORDS = "towpath/store/migrations", "towpath/core/records.py"

TRY_IT = """
import asyncio, sys
from tests.contracts.stores import new_job, opened

async def main(url):
    async with opened(url) as hands:
        plain, painted = await hands.enqueue(), await hands.enqueue()
        await hands.sql(f"UPDATE {hands.table('job')} SET colour = 'red' WHERE CAST(id AS text) = '{painted}' RETURNING id")
        print(sorted((job.id == painted, job.colour) for job in await hands.claim()))
        print(sorted((job.id == painted, job.colour) for job in await hands.jobs(plain, painted)))

asyncio.run(main(sys.argv[1]))
"""


def edit(file: Path, before: str, line: str) -> None:
    text = file.read_text("utf-8")
    assert text.count(before) == 1, f"{before!r} is not once in {file}"
    file.write_text(text.replace(before, f"{line}\n{before}"), "utf-8")


async def test_a_column_and_its_use_in_the_claim_are_four_edits(database_url, tmp_path):
    source = copy_source(tmp_path / "source")
    (source / STORE / "0002_colour.postgres.sql").write_text("ALTER TABLE towpath.job ADD COLUMN colour text;")
    (source / STORE / "0002_colour.sqlite.sql").write_text("ALTER TABLE towpath_job ADD COLUMN colour text;")
    edit(source / RECORDS, "    def derive(self)", "    colour: str | None = None\n")
    edit(source / RECORDS, "    @property\n    def solo(self)", "    colour: str | None = None\n")

    process = await asyncio.create_subprocess_exec(
        sys.executable, "-c", TRY_IT, database_url, cwd=ROOT, env=os.environ | {"PYTHONPATH": str(source)},
        stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE,
    )  # fmt: skip
    async with asyncio.timeout(60):
        said, complained = await process.communicate()
    assert complained.decode() == ""
    assert said.decode().splitlines() == ["[(False, None), (True, 'red')]"] * 2
