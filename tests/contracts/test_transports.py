"""Doorbells: they reach somebody soon, never fail who rings, and losing one costs a poll and no job."""

import asyncio
import re
from collections.abc import AsyncIterator

import pytest

from tests.contracts.installations import BROKERS, TRANSPORTS, Installation, Parts, installed, parts_for
from tests.contracts.stores import PATIENCE, new_job, opened, until
from towpath import App, ConfigurationError, Settings
from towpath.core import transitions
from towpath.core.topics import EVENTS, EVERYWHERE, of_worker
from towpath.transports import Found
from towpath.transports.places import plain_name

on_brokers = pytest.mark.parametrize("parts", BROKERS, indirect=True)
"""Where a bell is handed to one of those who attend, and not to all of them."""


@pytest.fixture(params=TRANSPORTS)
def parts(request) -> Parts:
    return parts_for(request, request.param)


@pytest.fixture
async def site(parts, tmp_path) -> AsyncIterator[Installation]:
    async with installed(parts, tmp_path) as own:
        yield own


async def rung_until(site: Installation, transport, topic: str, condition, what: str) -> None:
    """Rings until it is heard: whoever listens may still be connecting, and bells from before may be lost."""

    async def ring() -> None:
        while True:
            await site.ring(transport, topic)
            await asyncio.sleep(0.2)

    ringing = asyncio.create_task(ring())
    try:
        await until(condition, what)
    finally:
        ringing.cancel()


async def test_a_ring_reaches_every_listener_of_the_process(site):
    transport, first, second = await site.process(), [], []
    transport.listen(first.append)
    transport.listen(second.append)
    transport.ring(["a", "b"])
    await until(lambda: {"a", "b"} <= set(first) and {"a", "b"} <= set(second), "both listeners heard both topics")


async def test_who_stops_listening_hears_no_more(site):
    transport, gone, there = await site.process(), [], []
    stop = transport.listen(gone.append)
    transport.listen(there.append)
    stop()
    stop()
    transport.ring(["late"])
    await until(lambda: "late" in there, "the other listener heard")
    assert "late" not in gone


async def test_who_listens_for_some_topics_hears_no_others(site):
    transport, some, every = await site.process(), [], []
    transport.listen(some.append, [EVENTS])
    transport.listen(every.append)
    transport.ring(["a", EVENTS, of_worker("w")])
    await until(lambda: {"a", EVENTS, of_worker("w")} <= set(every), "everything was heard")
    assert set(some) - {EVERYWHERE} == {EVENTS}


async def test_a_commit_rings_for_every_queue_that_got_something_to_do(site):
    transport, heard = await site.process(), []
    transport.listen(heard.append)
    jobs = [new_job(queue="x"), new_job(queue="y"), new_job(queue="later", delay=3600.0)]
    await site.hands(transport).store.enqueue(jobs)
    await until(lambda: {"x", "y"} <= set(heard), "the bell rang for both queues")
    assert "later" not in heard


async def test_what_one_process_commits_is_heard_by_whoever_attends_in_another(site):
    here, there = await site.process(), await site.attendant("q", "other")
    await rung_until(site, here, "other", lambda: there.heard, "the other process attends")
    there.looks(Found.LITTLE)
    there.heard.clear()
    await site.hands(here).enqueue(queue="q")
    await until(lambda: {"q", EVERYWHERE} & set(there.heard), "the other process heard the commit")


async def test_a_queue_that_nobody_attends_to_is_kept_until_somebody_does(site):
    here = await site.process()
    await site.hands(here).enqueue(queue="early")
    late = await site.attendant("early")
    # Without a broker, whoever comes looks by himself: nothing is kept.
    if site.hands_out:
        await until(lambda: "early" in late.heard, "the bell was kept")


async def test_cancelling_rings_for_the_worker_that_holds_the_job_wherever_it_is(site):
    here, there, heard = await site.process(), await site.process(), []
    there.listen(heard.append, [of_worker("w")])
    job = await site.hands(here).start()
    await rung_until(site, here, EVERYWHERE, lambda: heard, "the other process listens")
    await site.hands(here).apply(transitions.cancel(job.id))
    await until(lambda: {of_worker("w"), EVERYWHERE} & set(heard), "the bell rang for the worker")


async def test_events_are_heard_by_whoever_follows_them_in_another_process(site):
    if site.url.startswith("sqlite:"):
        pytest.skip("the file itself tells of events, without a bell")
    here, there, heard = await site.process(), await site.process(), []
    there.listen(heard.append, [EVENTS])
    await rung_until(site, here, EVENTS, lambda: EVENTS in heard, "the other process heard of events")


async def test_nobody_listening_is_no_reason_to_fail(site):
    transport = await site.process()
    transport.ring(["nobody"])
    transport.ring([])
    transport.arrived(["nobody"])


async def test_a_listener_that_fails_hurts_neither_the_ringer_nor_the_others(site, caplog):
    transport, heard = await site.process(), []

    def broken(topic: str) -> None:
        raise RuntimeError("a listener with a bug")

    transport.listen(broken)
    transport.listen(heard.append)
    transport.ring(["a"])
    assert await site.hands(transport).enqueue() is not None
    await until(lambda: {"a", "q"} <= set(heard), "the healthy listener heard everything")
    assert "a listener with a bug" in caplog.text


async def test_whoever_finds_plenty_has_others_look_too(site):
    here, first, second = await site.process(), await site.attendant("q"), await site.attendant("q")

    def both_heard() -> bool:
        for one in (first, second):
            one.looks(Found.PLENTY)
        return bool(first.heard and second.heard)

    await site.ring(here, "q")
    await until(both_heard, "both looked, of one bell")


async def test_whoever_stops_attending_leaves_his_bells_to_others(site):
    here, first = await site.process(), await site.attendant("q")
    await rung_until(site, here, "q", lambda: first.heard, "the first one heard")
    second = await site.attendant("q")
    await first.attendance.stop()
    await first.attendance.stop()
    if site.hands_out:
        await until(lambda: "q" in second.heard, "the second one heard the same bell")
    else:
        await rung_until(site, here, "q", lambda: second.heard, "the second one heard the next bell")


async def test_it_says_that_it_is_well(site):
    transport = await site.process()
    assert await transport.check()
    assert transport.away is None


@on_brokers
async def test_a_bell_is_handed_to_one_of_those_who_attend(site):
    here, many = await site.process(), [await site.attendant("q") for _ in range(3)]
    for rung in range(1, 4):
        here.ring(["q"])
        await until(lambda rung=rung: sum(one.heard.count("q") for one in many) == rung, "each bell was heard by one")
    assert [one.heard.count("q") for one in many] == [1, 1, 1]


@on_brokers
async def test_a_look_that_was_begun_before_the_bell_does_not_answer_it(site):
    here, one = await site.process(), await site.attendant("q")
    early = one.attendance.look()
    await rung_until(site, here, "q", lambda: one.heard, "it rang")
    early.over(Found.LITTLE)
    other = await site.attendant("q")
    await one.attendance.stop()
    await until(lambda: other.heard, "the bell was not answered, and went to another one")


@on_brokers
async def test_a_bell_that_nobody_could_answer_comes_again_later(site):
    here, one = await site.process(), await site.attendant("q")
    await rung_until(site, here, "q", lambda: one.heard, "it rang")
    one.heard.clear()
    one.looks(Found.UNKNOWN)
    await until(lambda: one.heard, "it rang again")


@on_brokers
async def test_bells_from_while_everybody_was_busy_are_few(site):
    here, one = await site.process(), await site.attendant("q")
    await rung_until(site, here, "q", lambda: one.heard, "it rang")
    one.looks(Found.PLENTY)
    for _ in range(300):
        here.ring(["q"])
    await asyncio.sleep(0.3)
    one.looks(Found.LITTLE)
    looks = 0

    def answered() -> bool:
        nonlocal looks
        if one.heard:
            looks += 1
            one.heard.clear()
            one.looks(Found.LITTLE)
        return looks >= 1

    await until(answered, "what was rung meanwhile was answered")


async def test_a_bell_that_loses_its_connection_comes_back(postgres_url):
    async with opened(postgres_url) as hands, opened(postgres_url) as other:
        heard: list[str] = []
        hands.store.bell.listen(heard.append)
        kill = (
            "SELECT count(pg_terminate_backend(pid)) AS n FROM pg_stat_activity "
            "WHERE query LIKE 'LISTEN%' AND datname = current_database()"
        )
        async with asyncio.timeout(PATIENCE):
            while (await other.sql(kill))[0]["n"] == 0:  # noqa: ASYNC110  (another connection is connecting)
                await asyncio.sleep(0.02)
            heard.clear()
            while "again" not in heard:
                await other.enqueue(queue="again")
                await asyncio.sleep(0.05)


@on_brokers
async def test_whoever_holds_a_bell_for_very_long_exchanges_it_for_another_one(site, monkeypatch):
    monkeypatch.setattr("towpath.transports.attending.HELD_AT_MOST", 0.1)
    here, one = await site.process(), await site.attendant("q")
    here.ring(["q"])
    await until(lambda: one.heard.count("q") >= 3, "it came again and again, while nobody answered")
    one.heard.clear()
    await until(lambda: one.heard and not one.looks(Found.LITTLE), "it was answered")


async def test_a_bell_of_sqs_is_kept_from_others_while_work_runs(request, sqs_env, postgres_url, tmp_path, monkeypatch):
    monkeypatch.setattr("towpath.transports.sqs.VISIBILITY_SECONDS", 2)
    async with installed(Parts("sqs", postgres_url, "sqs:///held"), tmp_path) as site:
        here, one = await site.process(), await site.attendant("q")
        here.ring(["q"])
        await until(lambda: "q" in one.heard, "it is held")
        other = await site.attendant("q")
        await asyncio.sleep(3.5)  # longer than it would be invisible by itself
        assert "q" not in other.heard
        await one.attendance.stop()
        await until(lambda: "q" in other.heard, "it was given back")


@pytest.mark.parametrize(
    ("url", "said"),
    [
        ("kafka://user:secret@host/topic", "names no transport; use database, amqp"),
        ("amqp:///vhost", "names no host"),
        ("amqp://user:secret@host/?prefix=a%20b", "names the prefix 'a%20b'"),
        ("sqs://eu-west-1/a/b", "it looks like sqs://REGION/PREFIX"),
        ("pubsub://project", "names no topic"),
        ("amqp://user:secret@[host/", "is no address"),
    ],
)
async def test_an_address_that_names_no_transport_is_refused_without_its_password(sqlite_url, url, said):
    with pytest.raises(ConfigurationError) as caught:
        async with App(sqlite_url, settings=Settings(transport=url)):
            pass
    assert said in str(caught.value)
    assert "secret" not in str(caught.value)


def test_every_queue_has_a_name_of_its_own_that_brokers_take():
    queues = ["default", "a.b", "a/b", "a-b", "x" * 200, "x" * 199 + "y"]
    names = [plain_name("towpath-0123abcd", queue) for queue in queues]
    assert names[0] == "towpath-0123abcd-default"
    assert len(set(names)) == len(names)
    assert all(re.fullmatch(r"[A-Za-z0-9_-]{1,80}", name) for name in names)
