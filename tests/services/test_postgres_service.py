"""The PostgreSQL that other tests stand on: it answers, survives what they do to it, and leaves nothing behind."""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import asyncpg
import psutil
import pytest

from tests.services.postgres import PostgresServer, alive, wait_until


@pytest.fixture
def own_server(postgres_server: PostgresServer) -> Iterator[PostgresServer]:
    """A server that only this test uses; asks for the shared one so that a missing PostgreSQL is told in one place."""
    with PostgresServer() as server:
        yield server


async def answer(url: str) -> int:
    connection = await asyncpg.connect(url)
    try:
        return await connection.fetchval("SELECT 41 + 1")
    finally:
        await connection.close()


def family(server: PostgresServer) -> list[psutil.Process]:
    postmaster = psutil.Process(server.pid)
    return [postmaster, *postmaster.children(recursive=True)]


async def test_each_test_gets_an_empty_database(postgres_url: str) -> None:
    connection = await asyncpg.connect(postgres_url)
    try:
        assert await connection.fetchval("SELECT count(*) FROM pg_tables WHERE schemaname = 'public'") == 0
        await connection.execute("CREATE TABLE left_behind (id int)")
    finally:
        await connection.close()


async def test_a_database_can_start_as_a_copy_of_another(postgres_server: PostgresServer) -> None:
    template = await asyncpg.connect(postgres_server.create_database("original"))
    await template.execute("CREATE TABLE boat (name text)")
    await template.close()
    copy = await asyncpg.connect(postgres_server.create_database("copy", template="original"))
    assert await copy.fetch("SELECT name FROM boat") == []
    postgres_server.drop_database("copy")  # with a session still open
    postgres_server.drop_database("original")
    copy.terminate()


@pytest.mark.parametrize("mode", ["fast", "immediate"])
async def test_it_answers_at_the_same_address_after_a_restart(own_server: PostgresServer, mode: str) -> None:
    url = own_server.create_database("boats")
    assert await answer(url) == 42
    own_server.restart(mode)
    assert await answer(url) == 42


async def test_it_recovers_when_every_process_was_killed(own_server: PostgresServer) -> None:
    url = own_server.create_database("boats")
    processes = family(own_server)
    own_server.kill()
    assert not any(map(alive, processes))
    with pytest.raises(OSError, match="Connect call failed"):
        await answer(url)
    own_server.start()
    assert await answer(url) == 42


async def test_a_closed_server_leaves_neither_processes_nor_files(own_server: PostgresServer) -> None:
    processes = family(own_server)
    home = Path(processes[0].cwd()).parent
    assert home.name.startswith("towpath-postgres-")
    own_server.close()
    own_server.close()
    assert not any(map(alive, processes))
    assert not home.exists()


def test_the_server_dies_with_an_owner_that_was_killed(postgres_server: PostgresServer) -> None:
    script = (
        "from tests.services.postgres import PostgresServer\n"
        "server = PostgresServer()\n"
        "server.start()\n"
        "print(server.pid, flush=True)\n"
        "input()\n"
    )
    with subprocess.Popen(
        [sys.executable, "-c", script], stdin=subprocess.PIPE, stdout=subprocess.PIPE, cwd=Path(__file__).parents[2]
    ) as owner:
        assert owner.stdout is not None
        postmaster = psutil.Process(int(owner.stdout.readline()))
        home = Path(postmaster.cwd()).parent
        os.kill(owner.pid, signal.SIGKILL)
    wait_until(lambda: not alive(postmaster) and not home.exists(), 10)
    assert not alive(postmaster)
    assert not home.exists()
