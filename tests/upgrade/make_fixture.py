"""Keeps a database of this release's schema, and the source of its engine, for the upgrade tests of all later ones.

    python -m tests.upgrade.make_fixture 0.1.0

It writes VERSION.sqlite.sql.gz, VERSION.postgres.sql.gz and VERSION.source.tar.xz into fixtures/. Run it when a release is
made; never for a version that has been released already, because its fixture is what was released.
"""

import asyncio
import sys
import tempfile
from pathlib import Path

from tests.services.postgres import PostgresServer
from tests.upgrade.fixture_files import dump_postgres, dump_sqlite, keep, keep_source
from tests.upgrade.population import EXPECTED, make_app, populate, states


async def fill(url: str, folder: Path) -> None:
    async with make_app(url, folder / "blobs", knows_all=False, fails=True) as app:
        await populate(app)
        found = await states(app)
        wrong = {key: found.get(key) for key, (state, _) in EXPECTED.items() if found.get(key) is not state}
        assert not wrong, f"not in the state they should be kept in: {wrong}"


def main(version: str) -> None:
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        database = folder / "jobs.db"
        asyncio.run(fill(f"sqlite:///{database}", folder))
        print(keep(version, "sqlite", dump_sqlite(database)))
        with PostgresServer() as server:
            url = server.create_database("kept")
            asyncio.run(fill(url, folder))
            print(keep(version, "postgres", dump_postgres(server, url)))
    print(keep_source(version))


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("usage: python -m tests.upgrade.make_fixture VERSION")
    main(sys.argv[1])
