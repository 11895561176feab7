"""Databases as compressed SQL text, and the engine's source as it was: writing them down and bringing them back."""

import gzip
import io
import re
import subprocess
import tarfile
from contextlib import closing
from pathlib import Path

import apsw
import apsw.shell
import psycopg

from tests.services.postgres import PostgresServer
from towpath.store.statements import statements

FIXTURES = Path(__file__).parent / "fixtures"
SOURCE = Path(__file__).parents[2] / "src"
# What a worker consists of. The rooms above bring tables of their own, and weigh three times as much.
_ROW = re.compile(r'INSERT INTO "?(?:towpath[._])?(\w+)')
_ROOMS = ("blobs", "core", "engine", "store", "testing", "transports", "providers")


def kept(dialect: str, *, server: bool = False) -> list[Path]:
    """Databases of an engine alone, or of a server with all its slices."""
    return sorted(_folder(server).glob(f"*.{dialect}.sql.gz"))


def _folder(server: bool) -> Path:
    return FIXTURES / "server" if server else FIXTURES


def version_of(fixture: Path) -> str:
    return fixture.name.removesuffix(".sql.gz").removesuffix(".tar.xz").rpartition(".")[0]


def keep(version: str, dialect: str, text: str, *, server: bool = False) -> Path:
    _folder(server).mkdir(exist_ok=True)
    path = _folder(server) / f"{version}.{dialect}.sql.gz"
    path.write_bytes(gzip.compress(text.encode(), mtime=0))
    return path


def copy_source(folder: Path) -> Path:
    """The rooms of the engine as they are, to be changed."""
    for file in _source_files():
        copy = folder / file.relative_to(SOURCE)
        copy.parent.mkdir(parents=True, exist_ok=True)
        copy.write_bytes(file.read_bytes())
    return folder


def _source_files() -> list[Path]:
    rooms = [file for room in _ROOMS for file in (SOURCE / "towpath" / room).rglob("*")]
    return sorted(file for file in [*(SOURCE / "towpath").glob("*.py"), *rooms] if file.suffix in (".py", ".sql"))


def keep_source(version: str) -> Path:
    """The rooms of the engine, as files that an interpreter can import."""
    path = FIXTURES / f"{version}.source.tar.xz"
    with tarfile.open(path, "w:xz") as archive:
        for file in _source_files():
            text = file.read_bytes()
            item = tarfile.TarInfo(str(file.relative_to(SOURCE)))
            item.size = len(text)
            archive.addfile(item, io.BytesIO(text))
    return path


def kept_sources() -> list[Path]:
    return sorted(FIXTURES.glob("*.source.tar.xz"))


def load_source(fixture: Path, folder: Path) -> Path:
    with tarfile.open(fixture) as archive:
        archive.extractall(folder, filter="data")
    return folder


def read(fixture: Path) -> str:
    return gzip.decompress(fixture.read_bytes()).decode()


def shape_of(text: str) -> tuple[list[str], set[str]]:
    """A dump's schema, statement by statement, and which tables have rows."""
    schema, tables = [], set()
    for statement in statements(text):
        if row := _ROW.match(statement):
            tables.add(row[1])
        else:
            schema.append(statement)
    return sorted(schema), tables


def dump_sqlite(path: Path) -> str:
    """By the library that the store has, too: Python's own may be too old for the index of words."""
    told = io.StringIO()
    with closing(apsw.Connection(str(path))) as connection:
        shell = apsw.shell.Shell(stdout=told, db=connection)
        shell.process_command(".dump")
    return "".join(line for line in told.getvalue().splitlines(keepends=True) if not line.startswith("-- "))


def load_sqlite(text: str, path: Path) -> None:
    with closing(apsw.Connection(str(path))) as connection:
        connection.execute(text)


def dump_postgres(server: PostgresServer, url: str) -> str:
    """The schema and its rows as plain statements, without what only one version of the programs understands."""
    command = [server._bin / "pg_dump", "--schema=towpath", "--no-owner", "--column-inserts", "--rows-per-insert=100", url]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    lines = [line for line in done.stdout.splitlines() if not line.startswith(("--", "\\", "SET ", "SELECT pg_catalog."))]
    return "\n".join(line for line in lines if line) + "\n"


def load_postgres(text: str, url: str) -> None:
    with psycopg.connect(url) as connection:
        connection.execute("SET LOCAL check_function_bodies = off")  # functions come before their tables
        connection.execute("CREATE EXTENSION IF NOT EXISTS vector")  # it is not in the schema that is kept
        connection.execute(text)
