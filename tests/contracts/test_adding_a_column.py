"""A column of `job` and its use in the claim take four edits, as CONTRIBUTING.md says. They are made here, on a copy."""

import pytest

from tests.upgrade.later import RECORDS, Column, edit, said_by, with_column

CLAIMING = "towpath/store/queries/claiming.sql"

COLUMNS = {
    "a text that may be missing": Column("text", "text", "str | None = None", "'red'", ("None", "'red'")),
    "a text": Column(*["text NOT NULL DEFAULT 'plain'"] * 2, "str = 'plain'", "'red'", ("'plain'", "'red'")),
    "a text with an apostrophe": Column(
        *["text NOT NULL DEFAULT 'painter''s'"] * 2, 'str = "painter\'s"', "'red'", ('"painter\'s"', "'red'")
    ),
    "a text that is there, but may be taken away": Column(
        *["text DEFAULT 'plain'"] * 2, "str | None = 'plain'", "NULL", ("'plain'", "None")
    ),
    "a number": Column(*["integer NOT NULL DEFAULT 7"] * 2, "int = 7", "9", ("7", "9")),
    "a share": Column("float8 NOT NULL DEFAULT 0.5", "REAL NOT NULL DEFAULT 0.5", "float = 0.5", "0.25", ("0.5", "0.25")),
    "a flag": Column(*["boolean NOT NULL DEFAULT false"] * 2, "bool = False", "true", ("False", "True")),
    "a flag that is up": Column(*["boolean NOT NULL DEFAULT true"] * 2, "bool = True", "false", ("True", "False")),
    "a moment": Column(
        "timestamptz", "REAL", "datetime | None = None", "{moment}",
        ("None", "datetime.datetime(1970, 1, 1, 0, 0, 1, 500000, tzinfo=datetime.timezone.utc)"),
    ),
}  # fmt: skip

TRY_IT = """
import asyncio, sys
from tests.contracts.stores import opened

async def main(url, value):
    async with opened(url) as hands:
        value = value.format(moment="1.5" if hands.store.dialect == "sqlite" else "to_timestamp(1.5)")
        plain, painted = await hands.enqueue(), await hands.enqueue()
        await hands.sql(f"UPDATE {hands.table('job')} SET colour = {value} WHERE id = '{painted}' RETURNING id")
        for jobs in (await hands.claim(), await hands.jobs(plain, painted)):
            for job in sorted(jobs, key=lambda job: job.id == painted):
                print(repr(job.colour))

asyncio.run(main(*sys.argv[1:]))
"""

TRY_TO_CLAIM_IT = """
import asyncio, sys
from tests.contracts.stores import opened
from towpath.core import transitions
from towpath.store.contract import Claim

async def main(url):
    async with opened(url) as hands:
        ids = [await hands.enqueue() for _ in range(4)]
        await hands.sql(f"UPDATE {hands.table('job')} SET colour = 'red' WHERE id IN ('{ids[0]}', '{ids[2]}') RETURNING id")
        [first] = await hands.claim(1)
        done = transitions.succeed(first.id, first.attempt, None, solo=True)
        verdicts, then = await hands.store.turn([done], Claim("q", 1, "w", 30.0))
        print([ids.index(job.id) for job in [first, *then.jobs, *await hands.claim()]], verdicts)
        await hands.sql(f"UPDATE {hands.table('job')} SET colour = NULL WHERE id = '{ids[2]}' RETURNING id")
        print([ids.index(job.id) for job in await hands.claim()])

asyncio.run(main(sys.argv[1]))
"""


@pytest.mark.parametrize("column", COLUMNS.values(), ids=COLUMNS.keys())
async def test_a_column_that_the_claim_answers_is_four_edits(database_url, tmp_path, column):
    source = with_column(tmp_path / "source", column)
    edit(source / RECORDS, "    @property\n    def solo(self)", f"    colour: {column.field}\n")
    assert await said_by(source, TRY_IT, database_url, column.painted) == [*column.shown, *column.shown]


async def test_a_column_that_the_claim_goes_by_is_four_edits(database_url, tmp_path):
    source = with_column(tmp_path / "source", COLUMNS["a text that may be missing"])
    text = (source / CLAIMING).read_text("utf-8")
    (source / CLAIMING).write_text(f"{text.rstrip()} AND colour IS NULL\n", "utf-8")
    assert await said_by(source, TRY_TO_CLAIM_IT, database_url) == ["[1, 3] [None]", "[2]"]
