"""What only SQLite has: a file that several processes share, and versions and damage that are refused."""

import asyncio
import json
import sqlite3
import sys
import threading
from pathlib import Path

import apsw
import pytest

from tests.contracts.stores import PATIENCE, Hands, new_job, opened
from towpath.config import Settings, sqlite_path
from towpath.core import transitions
from towpath.core.errors import ConfigurationError, StoreUnavailable
from towpath.core.lifecycle import State
from towpath.store.contract import Claim
from towpath.store.migrating import ENGINE, migrate
from towpath.store.sqlite import hot
from towpath.store.sqlite.connection import check_version, connect
from towpath.wiring import make_store


@pytest.mark.parametrize("version", ["3.51.3", "3.51.4", "3.52.0", "4.0.0", "3.50.7", "3.50.9", "3.44.6"])
def test_a_version_without_the_wal_reset_bug_is_taken(version):
    check_version(version)


@pytest.mark.parametrize("version", ["3.51.2", "3.51.0", "3.50.6", "3.49.1", "3.45.0", "3.44.5", "3.7.0"])
def test_a_version_with_the_wal_reset_bug_is_refused_with_the_remedy(version):
    with pytest.raises(ConfigurationError, match=rf"SQLite {version} has the WAL-reset bug.*pip install --upgrade apsw"):
        check_version(version)


async def filled(url: str) -> Path:
    async with opened(url) as hands:
        await hands.enqueue_many(300, payload_json=json.dumps("x" * 200))
    return sqlite_path(url)


async def refused(url: str) -> str:
    store = make_store(url, Settings())
    async with asyncio.timeout(PATIENCE):
        with pytest.raises(ConfigurationError) as caught:
            await store.open()
        await store.close()
    return str(caught.value)


async def test_a_file_that_is_no_database_is_refused_by_name(sqlite_url):
    sqlite_path(sqlite_url).write_bytes(b"this is a shopping list\n" * 100)
    message = await refused(sqlite_url)
    assert str(sqlite_path(sqlite_url)) in message
    assert "restore a backup" in message


async def test_flipped_bytes_are_noticed_at_the_start(sqlite_url):
    path = await filled(sqlite_url)
    content = bytearray(path.read_bytes())
    middle = len(content) // 4096 // 2 * 4096
    content[middle : middle + 64] = bytes(byte ^ 0xFF for byte in content[middle : middle + 64])
    path.write_bytes(content)
    message = await refused(sqlite_url)
    assert str(path) in message
    assert "restore a backup" in message


async def test_a_file_that_was_cut_off_is_noticed_at_the_start(sqlite_url):
    path = await filled(sqlite_url)
    path.write_bytes(path.read_bytes()[: 4096 * 6 + 100])
    assert "restore a backup" in await refused(sqlite_url)


async def test_a_directory_that_does_not_exist_yet_is_made(tmp_path):
    async with opened(f"sqlite:///{tmp_path}/new/folder/jobs.db") as hands:
        assert await hands.enqueue() is not None


async def test_a_place_that_cannot_hold_a_file_is_named_in_the_error(tmp_path):
    (tmp_path / "jobs.db").mkdir()
    with pytest.raises(StoreUnavailable, match=r"cannot open .*jobs\.db"):
        await make_store(f"sqlite:///{tmp_path}/jobs.db", Settings()).open()


async def test_what_goes_wrong_before_the_tables_exist_does_not_end_the_writer(sqlite_url):
    store = make_store(sqlite_url, Settings())
    await store.open()
    try:
        async with asyncio.timeout(PATIENCE):
            with pytest.raises(Exception, match="no such table"):
                await Hands(store).claim()
            await migrate(store, [ENGINE])
            assert await Hands(store).enqueue() is not None
    finally:
        await store.close()


async def test_a_backup_is_a_whole_database_while_everything_goes_on(sqlite_url, tmp_path):
    async with opened(sqlite_url) as hands:
        await hands.enqueue_many(50)
        await asyncio.gather(hands.store.backup(tmp_path / "copy.db"), hands.enqueue_many(50))
    with sqlite3.connect(tmp_path / "copy.db") as copy:
        assert copy.execute("PRAGMA integrity_check").fetchone() == ("ok",)
        assert copy.execute("SELECT count(*) FROM towpath_job").fetchone()[0] in (50, 100)
    copy.close()


WRITER = """
import asyncio, sys
from tests.contracts.stores import opened
from towpath.core import transitions

async def main(url, name, count):
    async with opened(url) as hands:
        print("ready", flush=True)
        sys.stdin.readline()
        for n in range(count):
            await hands.enqueue(tenant=name)
            for job in await hands.claim(1, worker=name):
                assert await hands.settle(transitions.succeed(job.id, job.attempt, None, solo=n % 2 == 0)) == [None]

asyncio.run(main(sys.argv[1], sys.argv[2], int(sys.argv[3])))
"""


async def test_several_processes_write_to_one_file_and_nothing_is_lost(sqlite_url):
    processes, writes = 4, 75  # each round is three commits
    async with opened(sqlite_url) as hands:
        started = [
            await asyncio.create_subprocess_exec(
                sys.executable, "-c", WRITER, sqlite_url, f"p{n}", str(writes),
                stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE,
            )
            for n in range(processes)
        ]  # fmt: skip
        try:
            async with asyncio.timeout(120):
                for process in started:
                    assert await process.stdout.readline() == b"ready\n"
                for process in started:
                    process.stdin.write(b"go\n")
                answers = await asyncio.gather(*(process.communicate() for process in started))
        finally:
            for process in started:
                if process.returncode is None:
                    process.kill()
                    await process.wait()
        assert [(process.returncode, errors.decode()) for process, (_, errors) in zip(started, answers, strict=True)] == [
            (0, "")
        ] * processes
        assert await hands.count("job") == processes * writes
        assert await hands.count("job", "state = 'succeeded'") == processes * writes
        assert len(await hands.batched_events()) == processes * writes * 3
        rows = await hands.sql("SELECT tenant, count(*) AS n FROM towpath_job GROUP BY tenant ORDER BY tenant")
        assert [(row["tenant"], row["n"]) for row in rows] == [(f"p{n}", writes) for n in range(processes)]
        assert (await hands.sql("PRAGMA integrity_check"))[0] == {"integrity_check": "ok"}


async def test_a_plan_does_not_depend_on_the_values_that_are_bound(sqlite_url):
    """Otherwise SQLite plans a claim anew for every cursor, which costs more than the claim."""
    async with opened(sqlite_url) as hands:
        path = Path(sqlite_url.removeprefix("sqlite:///"))
        connection = connect(path)
        assert connection.config(apsw.SQLITE_DBCONFIG_ENABLE_QPSG, -1) == 1
        connection.close()
        await hands.enqueue()


async def test_a_claim_that_is_rolled_back_takes_its_procedures_with_it_and_the_next_makes_them_again(sqlite_url):
    async with opened(sqlite_url) as hands:
        wanted = await hands.enqueue()

        async def claim_and_fail(tx):
            assert len(await hot.claim(Claim("q", 1, "w", 30.0))(tx)) == 1
            raise RuntimeError("after the claim")

        for _ in range(2):
            with pytest.raises(RuntimeError, match="after the claim"):
                await hands.store.run(claim_and_fail)
        [claimed] = await hands.claim()
        assert (claimed.id, claimed.attempt) == (wanted, 1)
        assert await hands.settle(transitions.succeed(claimed.id, 1, None, solo=True)) == [None]


async def test_the_names_of_the_procedures_do_not_hide_tables_of_the_user(sqlite_url):
    async with opened(sqlite_url) as hands:
        await hands.start()
        async with hands.store.transaction() as tx:
            for name in ("claim", "settle", "begun", "ended"):
                await tx.execute_sql(f"CREATE TABLE {name} (a)")
                await tx.execute_sql(f"INSERT INTO {name} VALUES (1)")
        rows = await hands.sql("SELECT count(*) AS n FROM claim, settle, begun, ended")
        assert rows[0]["n"] == 1


async def steps_of_a_turn(hands) -> int:
    counted = 0

    async def unit(tx):
        def tick() -> bool:
            nonlocal counted
            counted += 1
            return False

        tx.connection.set_progress_handler(tick, 1)
        try:
            turn = hot.turn_alone([transitions.succeed(running.id, 1, "1", solo=True)], Claim("q", 1, "w", 30.0))
            turn(tx.connection, tx.now.timestamp())
        finally:
            tx.connection.set_progress_handler(None)

    running = await hands.start()
    await hands.store.run(unit)
    return counted


async def test_a_turn_looks_at_its_own_rows_only(sqlite_url):
    """Written in another way, its statements would read the whole table; so the number of steps is looked at."""
    async with opened(sqlite_url) as hands:
        await hands.enqueue_many(50)
        few = await steps_of_a_turn(hands)
        await hands.enqueue_many(2000)
        assert await steps_of_a_turn(hands) < 2 * few


async def test_a_turn_that_is_alone_is_one_statement_and_one_question(sqlite_url):
    """Between two calls the writer may have to wait for the interpreter's lock; and its commit should not."""
    async with opened(sqlite_url) as hands:
        running = await hands.start()
        await hands.enqueue_many(3)
        claim = Claim("q", 2, "w", 30.0)
        await hands.store.turn([transitions.succeed(running.id, 1, None, solo=True)], claim)
        said, looked = [], threading.Event()

        def trace(cursor, statement, bindings):
            if statement == "PRAGMA data_version":
                looked.set()  # the thread watches the file between turns, whenever it has nothing to do
            else:
                said.append(statement.split()[0])
            return True

        connection = hands.store._writer._connection
        connection.exec_trace = trace
        done = [transitions.succeed(job.id, job.attempt, None, solo=True) for job in await running_jobs(hands)]
        assert await asyncio.to_thread(looked.wait, PATIENCE)
        said.clear()
        verdicts, batch = await hands.store.turn(done, Claim("q", 2, "w", 30.0))
        connection.exec_trace = None
        assert (verdicts, len(batch), said) == ([None, None], 1, ["INSERT", "SELECT"])


async def test_turns_that_share_a_commit_with_others_do_the_same(sqlite_url):
    async with opened(sqlite_url) as hands:
        await hands.enqueue_many(40)
        for _ in range(10):
            jobs = await running_jobs(hands)
            done = [transitions.succeed(job.id, job.attempt, None, solo=True) for job in jobs]
            answers = await asyncio.gather(
                hands.store.turn(done, Claim("q", 4, "w", 30.0)),
                hands.store.enqueue([new_job()]),
                hands.store.enqueue([new_job()]),
            )
            assert (answers[0][0], len(answers[0][1])) == ([None] * len(jobs), 4)
        await hands.assert_truthful()


async def running_jobs(hands):
    return [job for job in await hands.all_jobs() if job.state is State.RUNNING]


async def test_statistics_of_a_small_table_do_not_decide_about_a_large_one(sqlite_url):
    async with opened(sqlite_url) as hands:
        await hands.enqueue_many(30)
        few = await steps_of_a_turn(hands)
    apsw.Connection(str(sqlite_path(sqlite_url))).execute("CREATE TABLE own (a); INSERT INTO own VALUES (1); ANALYZE")
    async with opened(sqlite_url) as hands:
        await hands.enqueue_many(2000)
        assert await steps_of_a_turn(hands) < 2 * few
        [kept] = await hands.sql("SELECT tbl FROM sqlite_stat1")
        assert kept["tbl"] == "own"
