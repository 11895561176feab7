"""What only PostgreSQL has: enqueue as an SQL function for any driver, a pool that can run dry, results it checks."""

import asyncio
import contextlib
from uuid import UUID

import asyncpg
import psycopg
import pytest

from tests.contracts.stores import PATIENCE, new_job, opened, until, worker_row
from towpath.core import transitions
from towpath.core.errors import ConfigurationError, StoreUnavailable
from towpath.core.lifecycle import State
from towpath.core.topics import EVENTS
from towpath.engine.changing import deleting
from towpath.store import ledger
from towpath.store.contract import Claim


@pytest.fixture
async def hands(postgres_url):
    async with opened(postgres_url) as own:
        yield own


@pytest.fixture
def caller(postgres_url, hands):
    """Somebody else's code on the same database, with another driver."""
    with psycopg.connect(postgres_url) as connection:
        yield connection


def enqueue(caller, arguments: str = "'op', queue => 'q'") -> str | None:
    made = caller.execute(f"SELECT towpath.enqueue({arguments})").fetchone()[0]
    return str(made) if made is not None else None


class TestEnqueueInSql:
    async def test_the_job_is_there_when_the_caller_commits(self, hands, caller):
        job_id = enqueue(
            caller, "'op', '{\"a\": 1}', queue => 'q', tenant => 'alice', priority => 2, max_attempts => 7, trace => 't'"
        )
        assert await hands.jobs(job_id) == []
        caller.commit()
        job = await hands.job(job_id)
        assert (job.state, job.ready, job.payload, job.tenant, job.lane) == (State.QUEUED, True, {"a": 1}, "alice", "alice")
        assert (job.priority, job.max_attempts, job.trace, job.root_id) == (2, 7, "t", job_id)
        assert UUID(job_id).version == 7
        [claimed] = await hands.claim()
        assert await hands.settle(transitions.succeed(claimed.id, 1, None, solo=True)) == [None]
        await hands.assert_truthful(job_id)

    async def test_a_subject_has_both_halves_or_neither(self, hands, caller):
        enqueue(caller, "'op', queue => 'q', subject_kind => 'recording', subject_id => 'r 1'")
        caller.commit()
        [claimed] = await hands.claim()
        assert claimed.subject == ("recording", "r 1")
        for half in ("subject_kind => 'recording'", "subject_id => 'r 1'"):
            with pytest.raises(psycopg.errors.CheckViolation, match="a subject has a kind and an id"):
                enqueue(caller, f"'op', {half}")
            caller.rollback()

    async def test_no_job_is_left_when_the_caller_rolls_back(self, hands, caller):
        enqueue(caller)
        caller.rollback()
        assert await hands.count("job") == 0
        assert len(await hands.batched_events()) == 0
        assert await hands.count("count_delta") == 0

    @pytest.mark.parametrize("wrong", ["priority => 4", "priority => -1", "cost => 0", "cost => 'NaN'", "max_attempts => 0"])
    async def test_numbers_that_make_no_sense_are_refused(self, hands, caller, wrong):
        with pytest.raises(psycopg.errors.CheckViolation, match="priority must be 0 to 3, cost above 0"):
            enqueue(caller, f"'op', {wrong}")
        caller.rollback()
        assert await hands.count("job") == 0

    async def test_defaults_are_those_of_the_library(self, hands, caller):
        job_id = enqueue(caller, "'op'")
        caller.commit()
        mine = await hands.job(job_id)
        ours = await hands.job(await hands.enqueue(operation="op", queue="default"))
        for name in (
            "queue",
            "tenant",
            "lane",
            "priority",
            "cost",
            "max_attempts",
            "payload_json",
            "gate",
            "seq",
            "attempt",
        ):
            assert getattr(mine, name) == getattr(ours, name), name

    async def test_its_place_in_the_fair_order_is_the_one_we_would_have_given(self, hands, caller):
        await hands.lane("heavy", weight=4.0)
        await hands.store.advance("q", {1: 10.0})
        for tenant, cost in (("heavy", 2.0), ("light", 3.0), ("heavy", 1.0)):
            enqueue(caller, f"'op', queue => 'q', tenant => '{tenant}', cost => {cost}")
            await hands.enqueue(queue="other", tenant=tenant, cost=cost)
        caller.commit()
        rows = await hands.sql("SELECT pass FROM towpath.job WHERE queue = 'q' ORDER BY created_at, id")
        assert sorted(row["pass"] for row in rows) == [10.5, 10.75, 13.0]
        assert (await hands.job(await hands.enqueue(tenant="heavy"))).pass_ == 11.0

    async def test_a_key_answers_the_live_job_that_holds_it(self, hands, caller):
        ours = await hands.enqueue(key="k")
        assert enqueue(caller, "'op', queue => 'q', key => 'k'") == ours
        mine = enqueue(caller, "'op', queue => 'q', key => 'other'")
        assert enqueue(caller, "'op', queue => 'q', key => 'other'") == mine
        caller.commit()
        assert await hands.enqueue(key="other") == mine
        assert await hands.count("job") == 2

    async def test_a_key_whose_holder_ends_at_that_very_moment_is_not_an_enqueue_lost(self, hands, caller, postgres_url):
        holder = await hands.start(key="k")
        # The statement trigger fires between the insert that met the holder and the look for it, and waits there.
        await hands.store.run(
            lambda tx: tx.execute_sql(
                "CREATE FUNCTION pause() RETURNS trigger LANGUAGE plpgsql AS "
                "$$ BEGIN PERFORM pg_advisory_xact_lock_shared(42); RETURN NULL; END $$"
            )
        )
        await hands.store.run(
            lambda tx: tx.execute_sql(
                "CREATE TRIGGER pause AFTER INSERT ON towpath.job FOR EACH STATEMENT EXECUTE FUNCTION pause()"
            )
        )
        with psycopg.connect(postgres_url) as gate:
            gate.execute("SELECT pg_advisory_lock(42)")
            asking = asyncio.create_task(asyncio.to_thread(enqueue, caller, "'op', queue => 'q', key => 'k'"))
            waiting = "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND NOT granted"
            await until(lambda: gate.execute(waiting).fetchone() == (1,), "the caller stands between its two statements")
            assert await hands.settle(transitions.succeed(holder.id, 1, None, solo=True)) == [None]
            gate.execute("SELECT pg_advisory_unlock(42)")
            gate.commit()
            async with asyncio.timeout(PATIENCE):
                made = await asking
        caller.commit()
        assert made is not None
        assert (await hands.job(made)).state is State.QUEUED
        assert made != holder.id

    async def test_a_scheduled_job_waits_for_its_time(self, hands, caller):
        job_id = enqueue(caller, "'op', queue => 'q', run_at => now() + interval '1 hour'")
        enqueue(caller, "'op', queue => 'q', run_at => now() - interval '1 hour'")
        caller.commit()
        job = await hands.job(job_id)
        assert (job.ready, job.reason) == (False, "scheduled")
        assert len(await hands.claim()) == 1

    @pytest.mark.parametrize("cap", ["max_slots", "max_roots"])
    async def test_in_a_capped_lane_it_waits_at_the_gate(self, hands, caller, cap):
        await hands.lane("alice", **{cap: 1})
        ids = [enqueue(caller, "'op', queue => 'q', tenant => 'alice'") for _ in range(3)]
        caller.commit()
        assert {(job.parked, job.reason) for job in await hands.jobs(*ids)} == {(True, "capped")}
        assert await hands.store.run(lambda tx: ledger.gate(tx, "q", "alice")) == 1
        assert len(await hands.claim()) == 1
        assert await hands.store.run(lambda tx: ledger.gate(tx, "q", "alice")) == 0

    async def test_its_commit_rings_the_bell(self, hands, caller):
        heard: list[str] = []
        hands.store.bell.listen(heard.append)
        listening = "SELECT count(*) FROM pg_stat_activity WHERE query LIKE 'LISTEN%' AND datname = current_database()"
        await until(lambda: caller.execute(listening).fetchone() == (1,), "the bell is listening")
        enqueue(caller, "'op', queue => 'rung'")
        assert "rung" not in heard
        caller.commit()
        await until(lambda: "rung" in heard, "the notification of the commit")

    async def test_a_trigger_can_enqueue(self, hands, caller):
        caller.execute("CREATE TABLE upload (id integer)")
        caller.execute(
            "CREATE FUNCTION on_upload() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN "
            "PERFORM towpath.enqueue('op', json_build_object('upload', new.id), queue => 'q'); RETURN NULL; END $$"
        )
        caller.execute("CREATE TRIGGER enqueue AFTER INSERT ON upload FOR EACH ROW EXECUTE FUNCTION on_upload()")
        caller.execute("INSERT INTO upload VALUES (1), (2)")
        caller.commit()
        assert sorted(job.payload_json.replace(" ", "") for job in await hands.all_jobs()) == [
            '{"upload":1}',
            '{"upload":2}',
        ]

    @pytest.mark.parametrize("wrong", ["priority => 9", "cost => 0", "cost => -1", "max_attempts => 0"])
    async def test_what_the_library_would_refuse_is_refused(self, hands, caller, wrong):
        with pytest.raises(psycopg.errors.CheckViolation):
            enqueue(caller, f"'op', queue => 'q', {wrong}")


async def test_a_result_that_is_no_json_is_refused_at_once_and_costs_the_neighbours_nothing(hands):
    first, second = await hands.start(), await hands.start()
    with pytest.raises(Exception, match="invalid input syntax for type json"):
        await hands.settle(
            transitions.succeed(first.id, 1, "1", solo=True), transitions.succeed(second.id, 1, "no json", solo=True)
        )
    assert (await hands.job(first.id)).state is State.RUNNING  # all or nothing; the group_commit tries each alone
    assert await hands.settle(transitions.succeed(first.id, 1, "1", solo=True)) == [None]


async def test_an_empty_pool_refuses_callers_in_words_while_heartbeats_go_on(postgres_url):
    async with opened(postgres_url, pool_size=2, checkout_seconds=0.2) as hands:
        job = await hands.start()
        before = (await hands.job(job.id)).lease_until
        heart = hands.store.heart()
        async with asyncio.timeout(PATIENCE), contextlib.AsyncExitStack() as held:
            for _ in range(2):
                await held.enter_async_context(hands.store.transaction())
            for refused in (hands.enqueue(), hands.enqueue_many(2), hands.job(job.id)):
                with pytest.raises(StoreUnavailable, match="connection"):
                    await refused
            with pytest.raises(StoreUnavailable, match="connection"):
                async with hands.store.transaction():
                    pass
            beat = await asyncio.to_thread(heart.beat, worker_row(), [(job.id, 1)], 600.0)
            assert beat.lost == {}
        assert (await hands.job(job.id)).lease_until > before
        assert await hands.enqueue() is not None
        await asyncio.to_thread(heart.close)


async def test_what_a_worker_has_to_write_waits_for_a_free_connection(postgres_url):
    async with opened(postgres_url, pool_size=1, checkout_seconds=0.1) as hands:
        job = await hands.start()
        async with asyncio.timeout(PATIENCE):
            async with hands.store.transaction():
                settling = asyncio.create_task(hands.settle(transitions.succeed(job.id, 1, None, solo=True)))
                await asyncio.sleep(0.5)  # several times longer than a caller would wait
                assert not settling.done()
            assert await settling == [None]
        assert (await hands.job(job.id)).state is State.SUCCEEDED


async def test_many_clients_share_a_small_pool(postgres_url):
    async with opened(postgres_url, pool_size=2) as hands:
        async with asyncio.timeout(60):
            await asyncio.gather(*(hands.enqueue() for _ in range(50)))
        assert await hands.count("job") == 50


async def test_a_database_that_does_not_exist_is_a_matter_of_configuration(postgres_url):
    with pytest.raises(ConfigurationError, match="TOWPATH_DATABASE_URL"):
        async with opened(f"{postgres_url}_nowhere"):
            pass


async def test_a_server_that_does_not_answer_is_unavailable():
    with pytest.raises(StoreUnavailable, match="cannot be reached"):
        async with opened("postgresql://nobody@127.0.0.1:1/nothing"):
            pass


async def test_a_callers_settings_do_not_leak_to_the_next_user_of_the_connection(postgres_url):
    async with opened(postgres_url, pool_size=1) as hands:
        async with hands.store.transaction() as tx:
            await tx.execute_sql("SET search_path = pg_catalog")
            await tx.insert_jobs([new_job()])
        rows = await hands.sql("SHOW search_path")
        assert "public" in rows[0]["search_path"]


class TestTheBellOfEvents:
    """Streams of other processes wait for it; without it they look once a second."""

    @pytest.fixture
    def rung(self, hands, monkeypatch):
        topics: list[str] = []
        monkeypatch.setattr(hands.store, "ring", topics.extend)
        return topics

    async def test_it_rings_when_jobs_are_deleted(self, hands, rung):
        job = await hands.start()
        await hands.apply(transitions.cancel(job.id), transitions.handler_ended(job.id, 1))
        rung.clear()
        await hands.store.run(lambda tx: deleting.delete_jobs(tx, [job.id]))
        assert rung == [EVENTS]

    async def test_it_rings_when_a_job_is_claimed_under_a_cap(self, hands, rung):
        await hands.store.run(lambda tx: tx.execute("put_queue", name="q", paused=False, paused_at=None, max_slots=1))
        await hands.enqueue()
        rung.clear()
        assert len(await hands.claim()) == 1
        assert EVENTS in rung
        rung.clear()
        assert await hands.claim() == []
        assert EVENTS not in rung


@pytest.mark.parametrize("way", ["claim", "turn"])
async def test_a_claim_that_is_sent_again_lists_every_try_in_a_row_of_its_own(hands, monkeypatch, way):
    """The first answer is lost: its job is leased and nobody knows, so nobody but the janitor may take its list away."""
    running = await hands.start()
    await hands.enqueue_many(2)
    real, lost = asyncpg.Connection.fetch, []

    async def fetch(self, query, *values, **options):
        rows = await real(self, query, *values, **options)
        if "picked" in query and not lost:
            lost.extend(str(row["id"]) for row in rows if row["id"])
            raise asyncpg.ConnectionDoesNotExistError("the answer is lost")
        return rows

    monkeypatch.setattr(asyncpg.Connection, "fetch", fetch)
    claim = Claim("q", 1, "w", 30.0)
    if way == "claim":
        [job] = await hands.store.claim(claim)
    else:
        _, [job] = await hands.store.turn([transitions.succeed(running.id, 1, None, solo=True)], claim)
    assert [job.id] != lost
    await hands.settle(transitions.succeed(job.id, 1, None, solo=True))
    leased = {str(row["job_id"]) for row in await hands.sql("SELECT job_id FROM towpath.lease")}
    assert leased == {*lost, *([running.id] if way == "claim" else [])}


@pytest.mark.parametrize(
    ("payload", "fits"),
    [
        ("[" * 200 + "]" * 200, True),
        ("[" * 201 + "]" * 201, False),
        ('{"in":' * 201 + "1" + "}" * 201, False),
        ("[" + "[]," * 1000 + "[]]", True),
        ('["' + "[" * 1000 + '\\"' + "{" * 1000 + '"]', True),
    ],
    ids=["200 levels", "201 levels", "201 objects", "side by side", "in a text"],
)
async def test_the_function_refuses_what_is_nested_too_deeply(caller, payload, fits):
    if fits:
        assert caller.execute("SELECT towpath.enqueue('op', %s::json)", [payload]).fetchone()[0]
        return
    with pytest.raises(psycopg.errors.CheckViolation, match="200 levels"):
        caller.execute("SELECT towpath.enqueue('op', %s::json)", [payload])
