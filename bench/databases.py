"""Fresh databases to measure in, one per measurement, so that no run inherits another's dead rows or statistics."""

import shutil
import tempfile
from abc import ABC, abstractmethod
from itertools import count
from pathlib import Path
from typing import Any, Self

import apsw
import psycopg

from bench.contender import DatabaseKind, Installable
from bench.processes import call
from tests.services.postgres import PostgresServer


class Databases(ABC):
    kind: DatabaseKind

    def __init__(self) -> None:
        self._number = count(1)

    @abstractmethod
    def __enter__(self) -> Self: ...

    @abstractmethod
    def __exit__(self, *_: object) -> None: ...

    @abstractmethod
    def fresh(self, contender: Installable) -> str:
        """The URL of a new database with the contender's tables in it."""

    @abstractmethod
    def drop(self, url: str) -> None: ...

    @abstractmethod
    def loaded(self, url: str) -> None:
        """Called after a backlog was loaded: brings statistics and disk to rest before the clock starts."""

    @abstractmethod
    def reader(self, url: str) -> "Reader": ...

    @abstractmethod
    def version(self) -> str: ...


class Reader(ABC):
    """A connection beside the workers, for asking whether they are done."""

    @abstractmethod
    def value(self, query: str) -> Any: ...

    @abstractmethod
    def pin(self) -> None:
        """Open a transaction that keeps seeing the database as it is now, until `close`."""

    @abstractmethod
    def close(self) -> None: ...


class PostgresDatabases(Databases):
    """A server of our own on loopback with PostgreSQL's default durability."""

    kind: DatabaseKind = "postgres"

    def __enter__(self) -> Self:
        self._server = PostgresServer(durable=True)
        self._server.start()
        self._templates: set[str] = set()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.close()

    def fresh(self, contender: Installable) -> str:
        template = f"template_{contender.name}"
        if template not in self._templates:
            call(contender.event_loop, contender.install, self._server.create_database(template))
            self._templates.add(template)
        return self._server.create_database(f"run_{next(self._number)}", template)

    def drop(self, url: str) -> None:
        self._server.drop_database(url.rpartition("/")[2])

    def loaded(self, url: str) -> None:
        with psycopg.connect(url, autocommit=True) as connection:
            connection.execute("VACUUM ANALYZE")
            connection.execute("CHECKPOINT")

    def reader(self, url: str) -> Reader:
        return _PostgresReader(url)

    def version(self) -> str:
        with psycopg.connect(self._server.dsn()) as connection:
            row = connection.execute("SHOW server_version").fetchone()
        assert row is not None
        return f"PostgreSQL {row[0]}"


class SqliteDatabases(Databases):
    """Files in a temporary directory."""

    kind: DatabaseKind = "sqlite"

    def __enter__(self) -> Self:
        self._home = tempfile.TemporaryDirectory(prefix="towpath-bench-")
        return self

    def __exit__(self, *_: object) -> None:
        self._home.cleanup()

    def fresh(self, contender: Installable) -> str:
        url = f"sqlite:///{self._home.name}/run_{next(self._number)}.db"
        call(contender.event_loop, contender.install, url)
        return url

    def drop(self, url: str) -> None:
        path = sqlite_path(url)
        for found in path.parent.glob(f"{path.name}*"):
            if found.is_dir():
                shutil.rmtree(found)
            else:
                found.unlink()

    def loaded(self, url: str) -> None:
        connection = apsw.Connection(str(sqlite_path(url)))
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        connection.close()

    def reader(self, url: str) -> Reader:
        return _SqliteReader(url)

    def version(self) -> str:
        return f"SQLite {apsw.sqlite_lib_version()}"


class _PostgresReader(Reader):
    def __init__(self, url: str) -> None:
        self._connection = psycopg.connect(url, autocommit=True)

    def value(self, query: str) -> Any:
        row = self._connection.execute(query).fetchone()
        return row[0] if row else None

    def pin(self) -> None:
        self._connection.execute("BEGIN ISOLATION LEVEL REPEATABLE READ")
        self._connection.execute("SELECT pg_current_snapshot()")

    def close(self) -> None:
        self._connection.close()


class _SqliteReader(Reader):
    def __init__(self, url: str) -> None:
        self._connection = apsw.Connection(str(sqlite_path(url)), flags=apsw.SQLITE_OPEN_READWRITE)

    def value(self, query: str) -> Any:
        return self._connection.execute(query).get

    def pin(self) -> None:
        self._connection.execute("BEGIN")
        self.value("SELECT count(*) FROM sqlite_schema")

    def close(self) -> None:
        self._connection.close()


def sqlite_path(url: str) -> Path:
    return Path(url.removeprefix("sqlite:///"))
