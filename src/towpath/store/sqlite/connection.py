"""Opening a SQLite file the one way Towpath uses it, or refusing it with a reason."""

from __future__ import annotations

import json
from datetime import datetime
from functools import cache
from pathlib import Path
from typing import Any

import apsw

from towpath.core.errors import ConfigurationError, StoreUnavailable
from towpath.store import private

# The WAL-reset bug (two connections checkpointing at once can corrupt the file) is in every release before 3.51.3
# except the maintenance releases 3.50.7 and 3.44.6.
_FIXED = (3, 51, 3)
_BACKPORTS = {(3, 50): 7, (3, 44): 6}


def check_version(version: str) -> None:
    parts = tuple(int(part) for part in version.split(".")[:3])
    backport = _BACKPORTS.get((parts[0], parts[1]))
    if parts >= _FIXED or (backport is not None and parts[2] >= backport):
        return
    raise ConfigurationError(
        f"SQLite {version} has the WAL-reset bug, which can corrupt a database that several connections write; "
        f"install an apsw wheel that bundles SQLite 3.51.3 or later: pip install --upgrade apsw"
    )


@cache
def check_numbers() -> None:
    """A job's place in the fair order comes back as JSON; older releases round it."""
    exact = 2 / 3
    written = apsw.Connection(":memory:").execute("SELECT json_array(?)", (exact,)).get
    if json.loads(written) != [exact]:
        raise ConfigurationError(
            f"SQLite {apsw.sqlite_lib_version()} rounds numbers in JSON; install a newer one: pip install --upgrade apsw"
        )


def connect(path: Path) -> apsw.Connection:
    check_version(apsw.sqlite_lib_version())
    check_numbers()
    try:
        private.make_file(path)
        connection = apsw.Connection(str(path))
        connection.set_busy_timeout(10_000)
        # Plans do not depend on the values that are bound. Without this, a statement with a range is planned anew whenever
        # its bound changes, which is most of what a claim of one job costs.
        connection.config(apsw.SQLITE_DBCONFIG_ENABLE_QPSG, 1)
        connection.pragma("journal_mode", "wal")
        connection.pragma("synchronous", "full")
        connection.pragma("temp_store", "memory")
        connection.pragma("cache_size", -64_000)
        connection.pragma("journal_size_limit", 64 * 1024 * 1024)
    except apsw.CantOpenError as error:
        raise StoreUnavailable(f"cannot open {path}: {error}; check that the directory exists and is writable") from None
    except (apsw.NotADBError, apsw.CorruptError) as error:
        raise ConfigurationError(
            f"{path} is not a healthy SQLite database ({error}); restore a backup, or move it away to start anew"
        ) from None
    connection.convert_binding = _bind
    return connection


def forget_statistics(connection: apsw.Connection) -> None:
    """What ANALYZE found when the tables were small would stay in the file as they grow, and tell the planner to walk
    through them. The statements are written so that the right plan is taken without."""
    stale = "FROM sqlite_stat1 WHERE tbl LIKE 'towpath$_%' ESCAPE '$'"
    if connection.table_exists("main", "sqlite_stat1") and connection.execute(f"SELECT count(*) {stale}").get:
        connection.execute(f"DELETE {stale}; ANALYZE sqlite_schema")


def check_health(connection: apsw.Connection, path: Path) -> None:
    """Refuses a damaged file loudly at start rather than quietly later."""
    try:
        verdict = "; ".join(str(row[0]) for row in connection.execute("PRAGMA quick_check(5)"))
    except apsw.CorruptError as error:
        verdict = str(error)
    if verdict != "ok":
        raise ConfigurationError(
            f"{path} is damaged ({verdict}); stop every process that uses it and restore a backup, "
            f"or recover it with the sqlite3 shell's .recover command"
        )


def _bind(_cursor: apsw.Cursor, _number: int, value: Any) -> Any:
    if isinstance(value, datetime):
        return value.timestamp()
    raise TypeError(f"a {type(value).__name__} cannot be stored in SQLite")
