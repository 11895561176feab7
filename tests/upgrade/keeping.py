"""Databases as compressed SQL text: writing them down and bringing them back."""

import gzip
import sqlite3
import subprocess
from contextlib import closing
from pathlib import Path

import psycopg

from tests.services.postgres import PostgresServer

FIXTURES = Path(__file__).parent / "fixtures"


def kept(dialect: str) -> list[Path]:
    return sorted(FIXTURES.glob(f"*.{dialect}.sql.gz"))


def version_of(fixture: Path) -> str:
    return fixture.name.removesuffix(".sql.gz").rpartition(".")[0]


def keep(version: str, dialect: str, text: str) -> Path:
    FIXTURES.mkdir(exist_ok=True)
    path = FIXTURES / f"{version}.{dialect}.sql.gz"
    path.write_bytes(gzip.compress(text.encode(), mtime=0))
    return path


def read(fixture: Path) -> str:
    return gzip.decompress(fixture.read_bytes()).decode()


def dump_sqlite(path: Path) -> str:
    with closing(sqlite3.connect(path)) as connection:
        return "\n".join(connection.iterdump()) + "\n"


def load_sqlite(text: str, path: Path) -> None:
    with closing(sqlite3.connect(path)) as connection:
        connection.executescript(text)


def dump_postgres(server: PostgresServer, url: str) -> str:
    """The schema and its rows as plain statements, without what only one version of the programs understands."""
    command = [server._bin / "pg_dump", "--schema=towpath", "--no-owner", "--column-inserts", "--rows-per-insert=100", url]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    lines = [line for line in done.stdout.splitlines() if not line.startswith(("--", "\\", "SET ", "SELECT pg_catalog."))]
    return "\n".join(line for line in lines if line) + "\n"


def load_postgres(text: str, url: str) -> None:
    with psycopg.connect(url) as connection:
        connection.execute(text)
