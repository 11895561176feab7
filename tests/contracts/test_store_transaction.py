"""The caller's own transaction: their rows and our jobs together, or neither."""

import asyncio

import pytest

from tests.contracts.stores import PATIENCE, new_job, opened, until
from towpath.config import sqlite_path
from towpath.core.errors import StoreUnavailable
from towpath.core.lifecycle import State
from towpath.store.sqlite import session, writer
from towpath.store.sqlite.turnstile import Turnstile

SLOW = {
    "sqlite": "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 3000000) SELECT max(i) AS i FROM n",
    "postgres": "SELECT pg_sleep(600)",
}


@pytest.fixture
async def shop(hands):
    await hands.store.run(lambda tx: tx.execute_sql("CREATE TABLE invoice (id integer PRIMARY KEY)"))
    return hands


async def invoices(hands) -> int:
    return (await hands.sql("SELECT count(*) AS n FROM invoice"))[0]["n"]


async def test_rows_and_jobs_commit_together(shop):
    job = new_job()
    async with shop.store.transaction() as tx:
        assert await tx.execute_sql("INSERT INTO invoice VALUES (1)") == 1
        [made] = await tx.insert_jobs([job])
        assert made.created
        assert [row["id"] for row in await tx.fetch_sql("SELECT id FROM invoice")] == [1]
    assert await invoices(shop) == 1
    assert (await shop.job(job.id)).state is State.QUEUED
    assert await shop.names(job.id) == ["job.created"]


async def test_an_exception_leaves_neither(shop):
    job = new_job()

    async def fail():
        async with shop.store.transaction() as tx:
            await tx.execute_sql("INSERT INTO invoice VALUES (1)")
            await tx.insert_jobs([job])
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        await fail()
    assert await invoices(shop) == 0
    assert await shop.jobs(job.id) == []
    assert await shop.enqueue() is not None


async def test_nobody_sees_a_job_before_its_transaction_commits(shop):
    job = new_job()
    async with shop.store.transaction() as tx:
        await tx.insert_jobs([job])
        assert await shop.jobs(job.id) == []
    assert len(await shop.jobs(job.id)) == 1


async def test_a_commit_rings_the_bell_and_a_rollback_does_not(shop):
    heard: list[str] = []
    shop.store.ring = heard.extend

    async def fail():
        async with shop.store.transaction() as tx:
            await tx.insert_jobs([new_job(queue="never")])
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        await fail()
    async with shop.store.transaction() as tx:
        await tx.insert_jobs([new_job(queue="rung")])
    await until(lambda: "rung" in heard, "the bell rang for the committed job")
    assert "never" not in heard


async def test_transactions_and_units_of_the_engine_do_not_disturb_each_other(shop):
    async def own(number: int) -> None:
        async with shop.store.transaction() as tx:
            await tx.execute_sql(f"INSERT INTO invoice VALUES ({number})")
            await tx.insert_jobs([new_job()])

    async with asyncio.timeout(PATIENCE):
        await asyncio.gather(*(own(n) for n in range(8)), *(shop.enqueue() for _ in range(8)))
    assert await invoices(shop) == 8
    assert await shop.count("job") == 16


async def test_a_statement_that_fails_fails_the_transaction(shop):
    await shop.store.run(lambda tx: tx.execute_sql("INSERT INTO invoice VALUES (1)"))

    async def insert_it_twice():
        async with shop.store.transaction() as tx:
            await tx.insert_jobs([new_job()])
            await tx.execute_sql("INSERT INTO invoice VALUES (1)")

    with pytest.raises(Exception, match=r"(?i)unique"):
        await insert_it_twice()
    assert await shop.count("job") == 0


async def test_a_caller_that_gives_up_in_the_middle_of_a_statement_leaves_nothing_and_blocks_nobody(shop):
    async def patient():
        async with shop.store.transaction() as tx:
            await tx.execute_sql("INSERT INTO invoice VALUES (1)")
            await tx.fetch_sql(SLOW[shop.store.dialect])

    asking = asyncio.create_task(patient())
    await asyncio.sleep(0.2)  # into the slow statement; if it is not there yet, the test is only easier to pass
    asking.cancel()
    await asyncio.wait({asking}, timeout=PATIENCE)
    assert asking.done(), "giving up took for ever"
    assert asking.cancelled()
    assert await shop.enqueue() is not None
    assert await invoices(shop) == 0


async def test_a_caller_that_gives_up_while_waiting_for_its_turn_blocks_nobody(shop):
    async def ask():
        async with shop.store.transaction():
            pass

    async with asyncio.timeout(PATIENCE):
        async with shop.store.transaction() as tx:
            await tx.insert_jobs([new_job()])
            waiting = [asyncio.create_task(ask()) for _ in range(3)]
            await asyncio.sleep(0.05)
            for one in waiting:
                one.cancel()
            await asyncio.gather(*waiting, return_exceptions=True)
        await shop.enqueue()
    assert await shop.count("job") == 2


class TestTooLongOnSqlite:
    """It holds the write lock that everybody shares, so it may not hold it for long."""

    @pytest.fixture
    async def shop(self, sqlite_url, monkeypatch):
        monkeypatch.setattr(writer, "_SESSION_SECONDS", 0.2)
        async with opened(sqlite_url) as hands:
            await hands.store.run(lambda tx: tx.execute_sql("CREATE TABLE invoice (id integer PRIMARY KEY)"))
            yield hands

    async def test_it_is_rolled_back_with_a_clear_error(self, shop):
        async def dawdle():
            async with shop.store.transaction() as tx:
                await tx.execute_sql("INSERT INTO invoice VALUES (1)")
                await shop.enqueue()  # gets its turn only when the transaction has lost it
                await tx.execute_sql("INSERT INTO invoice VALUES (2)")

        with pytest.raises(StoreUnavailable, match="was rolled back, because on SQLite it holds the write lock"):
            await dawdle()
        assert await invoices(shop) == 0
        assert await shop.count("job") == 1

    async def test_its_commit_is_refused_too(self, shop):
        async def dawdle():
            async with shop.store.transaction() as tx:
                await tx.execute_sql("INSERT INTO invoice VALUES (1)")
                await shop.enqueue()

        with pytest.raises(StoreUnavailable, match="rolled back"):
            await dawdle()
        assert await invoices(shop) == 0

    async def test_an_exception_of_the_callers_own_is_not_hidden_by_it(self, shop):
        async def dawdle_and_fail():
            async with shop.store.transaction():
                await shop.enqueue()
                raise ZeroDivisionError

        with pytest.raises(ZeroDivisionError):
            await dawdle_and_fail()


class TestWaitingForTheLockOnSqlite:
    """Another process may hold it, for as long as a transaction of its own takes."""

    @pytest.fixture
    async def shop(self, sqlite_url, monkeypatch):
        monkeypatch.setattr(writer, "_SESSION_SECONDS", 2.0)  # enough for a small one on a busy machine
        async with opened(sqlite_url) as hands:
            yield hands

    @pytest.fixture
    def other(self, sqlite_url):
        """The lock as another process takes it."""
        turnstile = Turnstile(sqlite_path(sqlite_url))
        yield turnstile.turn()
        turnstile.close()

    async def test_it_does_not_count_towards_the_time_of_the_transaction(self, shop, other):
        async def ask():
            async with shop.store.transaction() as tx:
                await tx.insert_jobs([new_job()])

        async with asyncio.timeout(PATIENCE):
            with other:
                asking = asyncio.create_task(ask())
                await asyncio.sleep(2.5)  # longer than a transaction may take
                assert not asking.done()
            await asking
        assert await shop.count("job") == 1

    async def test_it_has_a_limit_of_its_own_and_says_so(self, shop, other, monkeypatch):
        monkeypatch.setattr(session, "_LOCK_SECONDS", 0.05)
        with other, pytest.raises(StoreUnavailable, match=r"the write lock .* did not become free within 0.05 s"):
            async with shop.store.transaction():
                pytest.fail("it has the lock")
        monkeypatch.undo()
        async with asyncio.timeout(PATIENCE):  # nobody is left holding it
            async with shop.store.transaction() as tx:
                await tx.insert_jobs([new_job()])
        assert await shop.count("job") == 1
