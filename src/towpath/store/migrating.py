"""Numbered migrations, applied once, in order, under a lock, by whoever starts first; and functions, applied on change.

A slice is a name and a folder with `0001_what.sql` (or `0001_what.postgres.sql` and `0001_what.sqlite.sql`). The engine
is a slice like any other. A release only ever adds what the previous release can live with; what nobody needs any more is
removed one release later, so old and new workers run side by side.

What a database can replace without touching a row, such as SQL functions and triggers, is in the same folder in one file,
`functions.sql` (or one per dialect), made of statements that may be run again. It is applied after the migrations, when it
is newer than what the database has: a process of the older release must not undo what the newer one has made, whichever of
them is first to start. Newer is what belongs to a later migration, or says `-- revision: 2` where the other says 1.
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
_REVISION = re.compile(r"^-- revision: *(\d+) *$", re.MULTILINE)
Mark = tuple[str, int, int]


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
    """One file. A migration has the revision 0; functions have the number of the last migration beside them, and a revision
    from 1 on, so that both together say which of two are newer."""

    slice: str
    number: int
    name: str
    sql: str
    revision: int = 0
    checksum: str = ""

    @property
    def mark(self) -> Mark:
        """What is written down when it has been applied."""
        return self.slice, self.number, self.revision

    def __str__(self) -> str:
        return f"{self.slice} {self.name}" if self.revision else f"{self.slice} {self.number:04} {self.name}"


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
    return [found[number] for number in sorted(found)] + _functions_of(part, dialect, max(found, default=0))


def _text_of(item: Traversable, dialect: str) -> str:
    """The engine's tables have the same names as in queries, see `sql.py`."""
    text = item.read_text("utf-8")
    return text.replace("towpath.", "towpath_") if dialect == "sqlite" else text


def _functions_of(part: Slice, dialect: str, number: int) -> list[Migration]:
    names = {f"{_FUNCTIONS}.sql", f"{_FUNCTIONS}.{dialect}.sql"}
    texts = [_text_of(item, dialect) for item in part.migrations.iterdir() if item.name in names]
    if len(texts) > 1:
        raise ValueError(f"slice {part.name} has two files of functions for {dialect}")
    if part.name == ENGINE.name:
        texts = [filled(text, fragments(dialect) | engine_queries(dialect).fragments) for text in texts]
    return [Migration(part.name, number, _FUNCTIONS, text, _revision(text), _checksum(text)) for text in texts]


def _revision(text: str) -> int:
    found = _REVISION.search(text)
    return int(found[1]) if found else 1


def _checksum(text: str) -> str:
    """Of what is run: a comment before a statement does not count."""
    return hashlib.sha256(";\n".join(statements(text)).encode()).hexdigest()


async def migrate(store: Store, slices: Sequence[Slice]) -> list[Migration]:
    """Applies what is missing, all in one transaction; answers what it applied."""

    async def unit(tx: Tx) -> list[Migration]:
        missing = _missing(slices, store.dialect, await _done(tx, lock=True))
        for migration in missing:
            foreign = await _foreign(tx) if migration.slice == ENGINE.name else {}
            for statement in statements(migration.sql):
                await tx.execute_sql(statement)
            for name in foreign.keys() - (await _foreign(tx)).keys():  # went with a table that was made anew
                await tx.execute_sql(foreign[name])
            part, number, revision = migration.mark
            await tx.execute(
                "record_migration", slice=part, number=number, revision=revision, checksum=migration.checksum,
                name=migration.name, now=tx.now,
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

    async def unit(tx: Tx) -> dict[Mark, str]:
        return await _done(tx, lock=False)

    return _missing(slices, store.dialect, await store.read(unit))


def _missing(slices: Sequence[Slice], dialect: str, done: Mapping[Mark, str]) -> list[Migration]:
    wanted = [migration for part in slices for migration in migrations_of(part, dialect)]
    return [one for one in wanted if (_is_newer(one, done) if one.revision else one.mark not in done)]


def _is_newer(functions: Migration, done: Mapping[Mark, str]) -> bool:
    """Than what the database has of that slice. Of two texts with one revision nobody could tell which is the newer."""
    there = max((mark for mark in done if mark[0] == functions.slice and mark[2] > 0), default=None)
    if there == functions.mark and done[there] != functions.checksum:
        raise ConfigurationError(
            f"the functions of slice {functions.slice} are not those that the database has, and claim to be of the same "
            f"revision; raise `-- revision: {functions.revision}` at the top of their file with every change"
        )
    return there is None or functions.mark > there


async def _done(tx: Tx, *, lock: bool) -> dict[Mark, str]:
    """What has been applied, with its checksum. With `lock`, for whoever is about to apply the rest: alone, and on a table
    that is there."""
    if lock:
        for query in ("lock_migrations", "make_schema", "make_migration_table"):
            await tx.fetch(query)
    elif not await tx.fetch("migration_table"):
        return {}
    if not await tx.fetch("migration_revisions"):
        raise ConfigurationError(
            "this database was made by a Towpath from before its first release, and cannot be upgraded; "
            "start with a new one, and enqueue again what you need"
        )
    rows = await tx.fetch("applied_migrations")
    return {(row["slice"], row["number"], row["revision"]): row["checksum"] for row in rows}


async def _foreign(tx: Tx) -> dict[str, str]:
    """Indexes and triggers that others have put on our tables, and that a migration may take away, with their statements."""
    return {row["name"]: row["sql"] for row in await tx.fetch("foreign_indexes_and_triggers")}
