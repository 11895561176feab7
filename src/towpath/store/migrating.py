"""Numbered migrations, applied once, in order, under a lock, by whoever starts first.

A slice is a name and a folder with `0001_what.sql` (or `0001_what.postgres.sql` and `0001_what.sqlite.sql`). The engine
is a slice like any other. A release only ever adds what the previous release can live with; what nobody needs any more is
removed one release later, so old and new workers run side by side.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from importlib.resources import files
from importlib.resources.abc import Traversable
from typing import Any

from towpath.store.contract import Store, Tx

log = logging.getLogger("towpath.migrate")
_FILE = re.compile(r"^(\d{4})_([a-z0-9_]+?)(?:\.(postgres|sqlite))?\.sql$")


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
    slice: str
    number: int
    name: str
    sql: str


ENGINE = Slice("engine", files("towpath.store") / "migrations", blobs={"jobs": "jobs_known"})


def migrations_of(part: Slice, dialect: str) -> list[Migration]:
    found: dict[int, Migration] = {}
    for item in part.migrations.iterdir():
        match = _FILE.match(item.name)
        if match and match[3] in (None, dialect):
            number = int(match[1])
            if number in found:
                raise ValueError(f"slice {part.name} has two migrations numbered {number:04} for {dialect}")
            found[number] = Migration(part.name, number, match[2], item.read_text("utf-8"))
    return [found[number] for number in sorted(found)]


async def migrate(store: Store, slices: Sequence[Slice]) -> list[Migration]:
    """Applies what is missing, all in one transaction; answers what it applied."""
    wanted = [migration for part in slices for migration in migrations_of(part, store.dialect)]

    async def unit(tx: Tx) -> list[Migration]:
        done = await _done(tx, lock=True)
        missing = [m for m in wanted if (m.slice, m.number) not in done]
        for migration in missing:
            others = await _others(tx) if migration.slice == ENGINE.name else {}
            for statement in statements(migration.sql):
                await tx.execute_sql(statement)
            for name in others.keys() - (await _others(tx)).keys():  # went with a table that was made anew
                await tx.execute_sql(others[name])
            await _record(tx, migration)
        return missing

    if not await pending(store, slices):
        return []
    applied = await store.run(unit)
    for migration in applied:
        log.info("applied migration %s %04d %s", migration.slice, migration.number, migration.name)
    return applied


async def pending(store: Store, slices: Sequence[Slice]) -> list[Migration]:
    """What `migrate` would apply. Takes no lock, so that starting a worker costs the others nothing."""

    async def unit(tx: Tx) -> set[tuple[str, int]]:
        return await _done(tx, lock=False)

    done = await store.read(unit)
    return [m for part in slices for m in migrations_of(part, store.dialect) if (m.slice, m.number) not in done]


async def _done(tx: Tx, *, lock: bool) -> set[tuple[str, int]]:
    sqlite = tx.dialect == "sqlite"
    table = "towpath_migration" if sqlite else "towpath.migration"
    if lock:
        if not sqlite:
            await tx.execute_sql("SELECT pg_advisory_xact_lock(7270951)")
            await tx.execute_sql("CREATE SCHEMA IF NOT EXISTS towpath")
        moment = "REAL" if sqlite else "timestamptz"
        await tx.execute_sql(
            f"CREATE TABLE IF NOT EXISTS {table} (slice text NOT NULL, number integer NOT NULL, name text NOT NULL, "
            f"applied_at {moment} NOT NULL, PRIMARY KEY (slice, number))"
        )
    elif not await _exists(tx, table):
        return set()
    return {(row["slice"], row["number"]) for row in await tx.fetch_sql(f"SELECT slice, number FROM {table}")}


async def _others(tx: Tx) -> dict[str, str]:
    """Indexes and triggers that somebody else has put on our tables, with their statements. To change a table SQLite often
    has to make it anew; PostgreSQL does not."""
    if tx.dialect != "sqlite":
        return {}
    rows = await tx.fetch_sql(
        "SELECT name, sql FROM sqlite_schema WHERE type IN ('index', 'trigger') AND sql IS NOT NULL "
        "AND substr(tbl_name, 1, 8) = 'towpath_' AND substr(name, 1, 8) <> 'towpath_'"
    )
    return {row["name"]: row["sql"] for row in rows}


async def _exists(tx: Tx, table: str) -> bool:
    if tx.dialect == "sqlite":
        return bool(await tx.fetch_sql("SELECT 1 AS found FROM sqlite_schema WHERE name = ?", table))
    rows = await tx.fetch_sql("SELECT to_regclass($1) IS NOT NULL AS found", table)
    return bool(rows[0]["found"])


async def _record(tx: Tx, migration: Migration) -> None:
    values: tuple[Any, ...] = (migration.slice, migration.number, migration.name, tx.now)
    if tx.dialect == "sqlite":
        await tx.execute_sql("INSERT INTO towpath_migration (slice, number, name, applied_at) VALUES (?, ?, ?, ?)", *values)
    else:
        await tx.execute_sql(
            "INSERT INTO towpath.migration (slice, number, name, applied_at) VALUES ($1, $2, $3, $4)", *values
        )


_ENDS = re.compile(
    r"""
      '(?:[^']|'')*' | "(?:[^"]|"")*"                                           # literals and quoted names
    | --[^\n]* | /\*.*?\*/                                                      # comments
    | (?P<tag>\$\w*\$).*?(?P=tag)                                               # the body of a PostgreSQL function
    | \bCREATE\s+(?:TEMP\w*\s+)?TRIGGER\b[^;]*?\bBEGIN\b.*?;\s*END\b             # the body of a SQLite trigger
    | (?P<end>;)
    """,
    re.VERBOSE | re.DOTALL | re.IGNORECASE,
)
_LEADING_COMMENTS = re.compile(r"(?:\s*(?:--[^\n]*(?:\n|$)|/\*.*?\*/))*\s*", re.DOTALL)


def statements(sql: str) -> list[str]:
    """The statements of a file: cut at semicolons, but not at those inside literals, comments and bodies."""
    cuts = [match.start() for match in _ENDS.finditer(sql) if match["end"]]
    pieces = [sql[start:end] for start, end in zip([0, *(cut + 1 for cut in cuts)], [*cuts, len(sql)], strict=True)]
    bare = [piece[_LEADING_COMMENTS.match(piece).end() :].strip() for piece in pieces]  # type: ignore[union-attr]  # it matches ""
    return [piece for piece in bare if piece]
