"""Jobs that are alike have a shorter way in; what it leaves is what the general one leaves."""

import asyncio
import dataclasses

import pytest

from tests.contracts.stores import Hands, new_job, opened
from towpath.core.ids import uuid7
from towpath.core.records import NewJob

_OWN = {"id", "created_at", "lane", "tenant", "root_id"}


async def rows_of(hands: Hands, jobs: list[NewJob]) -> list[dict]:
    found = {job.id: dataclasses.asdict(job) for job in await hands.jobs(*(job.id for job in jobs))}
    rows = [found[job.id] | {"of_its_own_root": found[job.id]["root_id"] == job.id} for job in jobs]
    return [{name: value for name, value in row.items() if name not in _OWN} for row in rows]


def odd_one_out(tenant: str, **fields) -> NewJob:
    """Makes a batch one of unlike jobs, without touching the others' lane."""
    return new_job(tenant=f"beside {tenant}", **{"cost": 7.0} | fields)


@pytest.mark.parametrize("cap", [{}, {"weight": 3.0}, {"max_slots": 2}, {"max_roots": 2}, {"max_slots": 0}])
@pytest.mark.parametrize("child", [False, True])
async def test_a_batch_of_like_jobs_is_stamped_like_any_other(hands, cap, child):
    batches = []
    parent = uuid7() if child else None
    family = {"parent_id": parent, "root_id": parent, "child_group": "g"} if child else {}
    for tenant, unlike in (("alike", False), ("unlike", True)):
        await hands.lane(tenant, **cap)
        await hands.enqueue(new_job(tenant=tenant, cost=2.0))
        jobs = [new_job(tenant=tenant, payload_json=str(n), cost=1.5, max_attempts=5, **family) for n in range(4)]
        made = await hands.store.enqueue([*jobs, odd_one_out(tenant)] if unlike else jobs)
        assert all(one.created for one in made)
        batches.append((await rows_of(hands, jobs), [await hands.names(job.id) for job in jobs]))
    if not (child and cap):  # a family that does not exist has no gate to open; the stamps are compared all the same
        await hands.assert_truthful(*(job.id for job in jobs))
    assert batches[0] == batches[1]


async def test_a_bulk_of_many_sorts_is_placed_as_if_its_jobs_had_come_one_by_one(hands):
    """Lanes with many jobs and with few, with several sorts in one, with weights and with gates."""
    parent = uuid7()
    family = {"parent_id": parent, "root_id": parent, "child_group": "g"}

    def job(number: int, queue: str) -> NewJob:
        tenant = ("plain", "weighed", "capped", "roots", "children", "rare")[number % 6 if number % 40 else 5]
        more = family if tenant == "children" else {}
        return new_job(queue=queue, tenant=tenant, cost=(1.0, 2.5)[number % 7 == 0], payload_json=str(number), **more)

    for queue in ("bulk", "single"):
        await hands.lane("weighed", queue, weight=2.0)
        await hands.lane("capped", queue, max_slots=3)
        for lane in ("roots", "children"):
            await hands.lane(lane, queue, max_roots=0)
    bulk, single = ([job(number, queue) for number in range(120)] for queue in ("bulk", "single"))
    assert [one.id for one in await hands.store.enqueue(bulk)] == [one.id for one in bulk]
    for one in single:
        await hands.store.enqueue([one])
    found = [await rows_of(hands, jobs) for jobs in (bulk, single)]
    for row in (row for rows in found for row in rows):
        del row["queue"]
        row["pass_"] = row["pass_"] if row["ready"] else None  # who is held back gets a place when the gate opens
    assert found[0] == found[1]
    assert await hands.count("owned") == len(await hands.batched_events()) == 240
    [counted] = await hands.sql(f"SELECT sum(created) AS n FROM {hands.table('count_delta')} WHERE queue = 'bulk'")
    assert counted["n"] == 120


@pytest.mark.parametrize("key", [None, "k"])
async def test_a_root_behind_the_cap_does_not_push_children_of_its_bulk_back(hands, key):
    """It has no place yet, so nothing is behind it; a child is, as if each had come alone, behind the child before it."""
    parent = uuid7()
    family = {"parent_id": parent, "root_id": parent, "child_group": "g"}
    await hands.lane("roots", max_roots=0)
    await hands.enqueue(new_job(tenant="roots", cost=2.0, **family))
    bulk = [new_job(tenant="roots", cost=5.0), new_job(tenant="roots", **family), new_job(tenant="roots", cost=5.0, key=key),
            new_job(tenant="roots", cost=1.5, **family), new_job(tenant="beside")]  # fmt: skip
    await hands.store.enqueue(bulk)
    found = {job.id: job for job in await hands.jobs(*(job.id for job in bulk))}
    first, child, second, last, beside = (found[job.id] for job in bulk)
    assert (first.parked, second.parked) == (True, True)
    assert [job.pass_ for job in (child, last, beside)] == [3.0, 4.5, 1.0]
    await hands.lane("roots", max_roots=1)
    assert (await hands.job(first.id)).pass_ == 9.5


async def test_a_bulk_of_many_sorts_sent_again_changes_nothing(hands):
    jobs = [new_job(tenant=f"t{number % 7}", payload_json=str(number)) for number in range(60)]
    first = await hands.store.enqueue(jobs)
    again = await hands.store.enqueue(jobs)
    assert [one.id for one in first] == [one.id for one in again] == [job.id for job in jobs]
    assert not any(one.created for one in again)
    assert (await hands.count("job"), len(await hands.batched_events()), await hands.count("owned")) == (60, 60, 60)


async def test_a_batch_of_like_jobs_sent_twice_is_there_once(hands):
    jobs = [new_job(payload_json=str(n)) for n in range(3)]
    first = await hands.store.enqueue(jobs)
    again = await hands.store.enqueue(jobs)
    assert [one.id for one in first] == [one.id for one in again] == [job.id for job in jobs]
    assert [one.created for one in again] == [False] * 3
    assert await hands.count("job") == 3
    assert len(await hands.batched_events()) == 3
    assert await hands.count("owned") == 3


async def test_everybody_who_enqueues_says_whose_the_job_is(hands):
    await hands.enqueue(new_job(tenant="one"))
    await hands.store.enqueue([new_job(tenant="alike") for _ in range(2)])
    await hands.store.enqueue([new_job(tenant="unlike"), new_job(tenant="unlike", cost=9.0)])
    if hands.store.dialect == "postgres":
        await hands.sql("SELECT towpath.enqueue('op', tenant => 'by function')")
    jobs = {(job.tenant, job.id) for job in await hands.all_jobs()}
    owned = {(row["tenant"], str(row["id"])) for row in await hands.sql(f"SELECT tenant, id FROM {hands.table('owned')}")}
    assert owned == jobs


async def test_a_bulk_sent_again_after_an_unknown_commit_changes_nothing(hands):
    jobs = [new_job() for _ in range(3)]
    first = await hands.store.enqueue(jobs)
    tx_again = await hands.store.run(lambda tx: tx.insert_jobs(jobs))
    assert [one.id for one in tx_again] == [one.id for one in first] == [job.id for job in jobs]
    assert not any(one.created for one in tx_again)
    assert (await hands.count("job"), len(await hands.batched_events()), await hands.count("owned")) == (3, 3, 3)


async def test_a_bulk_waits_for_one_of_the_same_lane_and_goes_behind_it(hands):
    """Both would stamp from the same tail otherwise. The first is somebody's own transaction, so it can take its time."""
    async with hands.store.transaction() as tx:
        await tx.insert_jobs([new_job() for _ in range(2)])
        others = {asyncio.create_task(hands.store.enqueue([new_job() for _ in range(2)]))}
        done, _ = await asyncio.wait(others, timeout=0.3)
        assert not done
    await asyncio.wait(others)
    assert sorted(job.pass_ for job in await hands.all_jobs()) == [1.0, 2.0, 3.0, 4.0]


async def test_a_bulk_of_another_lane_does_not_wait(postgres_url):
    async with opened(postgres_url) as hands, hands.store.transaction() as tx:
        await tx.insert_jobs([new_job(tenant="a") for _ in range(2)])
        async with asyncio.timeout(20):
            await hands.store.enqueue([new_job(tenant="b") for _ in range(2)])


class Listened:
    """A connection that remembers what is sent on it."""

    def __init__(self, connection):
        self._connection, self.sent = connection, []

    def __getattr__(self, name):
        call = getattr(self._connection, name)

        async def noted(text, *values):
            self.sent.append(text)
            return await call(text, *values)

        return noted if name in ("fetch", "execute", "fetchval", "fetchrow") else call


async def test_a_bulk_over_several_lanes_in_a_transaction_is_its_locks_and_its_insert(postgres_url):
    async with opened(postgres_url) as hands, hands.store.transaction() as tx:
        await tx.insert_jobs([new_job(tenant=tenant) for tenant in ("a", "b")])
        tx.connection = listened = Listened(tx.connection)
        await tx.insert_jobs([new_job(tenant=tenant) for tenant in ("a", "b")])
        await tx.insert_jobs([new_job(tenant="a") for _ in range(2)])
    assert [text.strip().split("(")[0] for text in listened.sent] == [
        "SELECT pg_advisory_xact_lock",
        "SELECT queue, lane, ready, parked, added\nFROM towpath.insert_jobs",
        "SELECT queue, lane, ready, parked, added\nFROM towpath.insert_jobs",
    ]
