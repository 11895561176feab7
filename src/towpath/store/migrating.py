"""Numbered migrations, applied once, in order, under a lock, by whoever starts first; and functions, applied on change.

A slice is a name and a folder with `0001_what.sql` (or `0001_what.postgres.sql` and `0001_what.sqlite.sql`). The engine
is a slice like any other. A release only ever adds what the previous release can live with; what nobody needs any more is
removed one release later, so old and new workers run side by side.

What a database can replace without touching a row, such as SQL functions and triggers, is in the same folder in one file,
`functions.sql` (or one per dialect), made of statements that may be run again. It is applied after the migrations, whenever
its text is new to the database. A text that was there before is not brought back: a process of the older release that
starts late must not undo what the newer one has made.
"""

from __future__ import annotations

import hashlib
import logging
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from importlib.resources import files
from importlib.resources.abc import Traversable

from towpath.core.errors import ConfigurationError
from towpath.store.columns import filled, fragments
from towpath.store.contract import Store, Tx
from towpath.store.sql import engine_queries
from towpath.store.statements import statements

log = logging.getLogger("towpath.migrate")
_FILE = re.compile(r"^(\d{4})_([a-z0-9_]+?)(?:\.(postgres|sqlite))?\.sql$")
_FUNCTIONS = "functions"


@dataclass(frozen=True, slots=True)
class Slice:
    """What a product brings to the database: its migrations, and its named queries.

    `blobs` are folders of the blob store that it keeps, each with the query that says which of `:ids` there are: what lies
    below `folder/<id>/` and belongs to none of them is swept when it is a day old."""

    name: str
    migrations: Traversable
    queries: Traversable | None = None
    blobs: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Migration:
    """One file. Functions have the number 0 and are told apart by their checksum; migrations by their number."""

    slice: str
    number: int
    name: str
    sql: str
    checksum: str = ""

    @property
    def mark(self) -> tuple[str, int, str]:
        """What is written down when it has been applied."""
        return self.slice, self.number, self.checksum

    def __str__(self) -> str:
        return f"{self.slice} {self.number:04} {self.name}" if self.number else f"{self.slice} {self.name}"


ENGINE = Slice("engine", files("towpath.store") / "migrations", blobs={"jobs": "jobs_known"})


def migrations_of(part: Slice, dialect: str) -> list[Migration]:
    """All files of a slice in the order in which they are applied; its functions come last."""
    found: dict[int, Migration] = {}
    for item in part.migrations.iterdir():
        match = _FILE.match(item.name)
        if match and match[3] in (None, dialect):
            number = int(match[1])
            if number in found:
                raise ValueError(f"slice {part.name} has two migrations numbered {number:04} for {dialect}")
            found[number] = Migration(part.name, number, match[2], _text_of(item, dialect))
    return [found[number] for number in sorted(found)] + _functions_of(part, dialect)


def _text_of(item: Traversable, dialect: str) -> str:
    """The engine's tables have the same names as in queries, see `sql.py`."""
    text = item.read_text("utf-8")
    return text.replace("towpath.", "towpath_") if dialect == "sqlite" else text


def _functions_of(part: Slice, dialect: str) -> list[Migration]:
    names = {f"{_FUNCTIONS}.sql", f"{_FUNCTIONS}.{dialect}.sql"}
    texts = [_text_of(item, dialect) for item in sorted(part.migrations.iterdir(), key=str) if item.name in names]
    if part.name == ENGINE.name:
        texts = [filled(text, fragments(dialect) | engine_queries(dialect).fragments) for text in texts]
    return [Migration(part.name, 0, _FUNCTIONS, text, hashlib.sha256(text.encode()).hexdigest()) for text in texts]


async def migrate(store: Store, slices: Sequence[Slice]) -> list[Migration]:
    """Applies what is missing, all in one transaction; answers what it applied."""
    wanted = [migration for part in slices for migration in migrations_of(part, store.dialect)]

    async def unit(tx: Tx) -> list[Migration]:
        done = await _done(tx, lock=True)
        missing = [migration for migration in wanted if migration.mark not in done]
        for migration in missing:
            foreign = await _foreign(tx) if migration.slice == ENGINE.name else {}
            for statement in statements(migration.sql):
                await tx.execute_sql(statement)
            for name in foreign.keys() - (await _foreign(tx)).keys():  # went with a table that was made anew
                await tx.execute_sql(foreign[name])
            part, number, checksum = migration.mark
            await tx.execute(
                "record_migration", slice=part, number=number, checksum=checksum, name=migration.name, now=tx.now
            )  # fmt: skip
        return missing

    if not await pending(store, slices):
        return []
    applied = await store.run(unit)
    for migration in applied:
        log.info("applied migration %s", migration)
    return applied


async def pending(store: Store, slices: Sequence[Slice]) -> list[Migration]:
    """What `migrate` would apply. Takes no lock, so that starting a worker costs the others nothing."""

    async def unit(tx: Tx) -> set[tuple[str, int, str]]:
        return await _done(tx, lock=False)

    done = await store.read(unit)
    return [m for part in slices for m in migrations_of(part, store.dialect) if m.mark not in done]


async def _done(tx: Tx, *, lock: bool) -> set[tuple[str, int, str]]:
    """What has been applied. With `lock`, for whoever is about to apply the rest: alone, and on a table that is there."""
    if lock:
        for query in ("lock_migrations", "make_schema", "make_migration_table"):
            await tx.fetch(query)
    elif not await tx.fetch("migration_table"):
        return set()
    if not await tx.fetch("migration_checksums"):
        raise ConfigurationError(
            "this database was made by a Towpath from before its first release, and cannot be upgraded; "
            "start with a new one, and enqueue again what you need"
        )
    rows = await tx.fetch("applied_migrations")
    return {(row["slice"], row["number"], row["checksum"]) for row in rows}


async def _foreign(tx: Tx) -> dict[str, str]:
    """Indexes and triggers that others have put on our tables, and that a migration may take away, with their statements."""
    return {row["name"]: row["sql"] for row in await tx.fetch("foreign_indexes_and_triggers")}
