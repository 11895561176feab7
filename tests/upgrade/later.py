"""A later release, made of this one by a few edits on a copy of its source."""

import asyncio
import os
import sys
from dataclasses import dataclass
from pathlib import Path

from tests.upgrade.fixture_files import copy_source

ROOT = Path(__file__).parents[2]
STORE, RECORDS = "towpath/store/migrations", "towpath/core/records.py"
SERVICES = "towpath/engine/services.py"


@dataclass(frozen=True)
class Column:
    """How it is declared, a value that is not its default, and what Python makes of both."""

    postgres: str
    sqlite: str
    field: str
    painted: str
    shown: tuple[str, str]


def edit(file: Path, before: str, line: str) -> None:
    text = file.read_text("utf-8")
    assert text.count(before) == 1, f"{before!r} is not once in {file}"
    file.write_text(text.replace(before, f"{line}\n{before}"), "utf-8")


def with_column(folder: Path, column: Column) -> Path:
    """A column `colour` of `job`: the first three edits of CONTRIBUTING.md."""
    source = copy_source(folder)
    (source / STORE / "0002_colour.postgres.sql").write_text(f"ALTER TABLE towpath.job ADD COLUMN colour {column.postgres};")
    (source / STORE / "0002_colour.sqlite.sql").write_text(f"ALTER TABLE towpath_job ADD COLUMN colour {column.sqlite};")
    edit(source / RECORDS, "    def derive(self)", f"    colour: {column.field}\n")
    return source


def with_option(folder: Path, column: Column) -> Path:
    """The same, and it comes with new jobs: a field of `NewJob`, and an option."""
    source = with_column(folder, column)
    edit(source / RECORDS, "    mould: dict", f"    colour: {column.field}")
    edit(source / SERVICES, "        subject: Subject | None = None,\n    ) -> Mould:", f"        colour: {column.field},")
    edit(source / SERVICES, "                subject_kind=kind,", "                colour=colour,")
    return source


async def said_by(source: Path, script: str, *arguments: str) -> list[str]:
    """What a script says that runs with that source."""
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-c", script, *arguments, cwd=ROOT, env=os.environ | {"PYTHONPATH": str(source)},
        stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE,
    )  # fmt: skip
    async with asyncio.timeout(60):
        said, complained = await process.communicate()
    assert complained.decode() == ""
    return said.decode().splitlines()
