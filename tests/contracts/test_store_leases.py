"""Every leased job is listed, so that a rescue finds it without an index over all jobs; and lists do not pile up."""

from tests.contracts.stores import new_job
from towpath.core import transitions
from towpath.core.lifecycle import State
from towpath.store import ledger
from towpath.store.contract import Claim


async def leases(hands) -> dict[str, set[str]]:
    found: dict[str, set[str]] = {}
    for row in await hands.sql(f"SELECT lease_id, job_id FROM {hands.table('held')}"):
        found.setdefault(str(row["lease_id"]), set()).add(str(row["job_id"]))
    return found


async def sweep(hands) -> None:
    await hands.store.run(lambda tx: tx.execute("forget_spent_leases", now=tx.now))


async def test_a_claim_lists_what_it_took_in_one_row(hands):
    ids = await hands.enqueue_many(3)
    claim = Claim("q", 2, "w", 30.0)
    taken = await hands.store.claim(claim)
    assert await leases(hands) == {claim.lease_id: {job.id for job in taken}} == {claim.lease_id: set(ids[:2])}


async def test_a_turn_lists_what_it_took(hands):
    first = await hands.start()
    following = await hands.enqueue()
    claim = Claim("q", 5, "w", 30.0)
    await hands.store.turn([transitions.succeed(first.id, 1, None, solo=True)], claim)
    assert (await leases(hands))[claim.lease_id] == {following}


async def test_a_claim_that_finds_nothing_leaves_no_row(hands):
    assert await hands.claim() == []
    assert await leases(hands) == {}


async def test_whoever_works_on_a_waiting_job_is_listed_too(hands):
    job = await hands.start()
    waiting = transitions.defer(job.id, 1, "provider", wakes_seen=0, deadline=None, max_wait=3600.0)
    assert await hands.settle(waiting) == [None]
    await hands.let_lists_grow_old()
    await sweep(hands)
    assert await leases(hands) == {}
    assert await hands.apply(transitions.poll(job.id, "poller", 60.0)) == [None]
    assert list((await leases(hands)).values()) == [{job.id}]


async def test_the_janitor_takes_away_what_is_spent_and_nothing_else(hands):
    done, held = [await hands.start() for _ in range(2)]
    await hands.settle(transitions.succeed(done.id, 1, None, solo=True))
    await sweep(hands)
    assert len(await leases(hands)) == 2  # too young: perhaps its worker is about to do it
    await hands.let_lists_grow_old()
    await sweep(hands)
    assert list((await leases(hands)).values()) == [{held.id}]


async def test_a_cancelled_job_stays_listed_until_its_handler_has_ended(hands):
    job = await hands.start()
    await hands.apply(transitions.cancel(job.id))
    await hands.let_lists_grow_old()
    await sweep(hands)
    assert list((await leases(hands)).values()) == [{job.id}]
    await hands.apply(transitions.handler_ended(job.id, 1))
    await sweep(hands)
    assert await leases(hands) == {}


async def test_a_job_that_is_claimed_again_is_listed_twice_and_counted_once(hands):
    job = await hands.start()
    await hands.run_out(job.id)
    await hands.apply(transitions.rescue(job.id, 1))
    [again] = await hands.claim()
    assert (again.id, again.attempt) == (job.id, 2)
    assert len(await leases(hands)) == 2
    [row] = await hands.store.read(lambda tx: tx.fetch("leased_in_queue", queue="q"))
    assert row["used"] == 1


async def test_a_requeued_job_of_a_capped_lane_waits_behind_its_gate(hands):
    """An ended job no longer counts for its lane, and still knows that there was a gate."""
    await hands.lane(max_slots=1)
    failed = await hands.enqueue()
    [job] = await hands.claim()
    failure = transitions.Failure("fatal", "Broken", "it broke", "mend it")
    await hands.settle(transitions.fail(job.id, 1, failure))
    assert (await hands.job(failed)).gate == -1
    await hands.enqueue()
    [other] = await hands.claim()
    await hands.apply(transitions.requeue(failed))
    back = await hands.job(failed)
    assert (back.gate, back.parked, back.reason) == (1, True, "capped")
    await hands.settle(transitions.succeed(other.id, 1, None))
    assert [job.id for job in await hands.claim()] == [failed]


async def test_the_row_says_what_its_indexes_need(hands):
    ids = [await hands.enqueue(new_job(key=name)) for name in ("done", "failed", "live")]
    jobs = {job.id: job for job in await hands.claim(2)}
    await hands.settle(
        transitions.succeed(ids[0], 1, None, solo=True),
        transitions.fail(ids[1], 1, transitions.Failure("fatal", "Broken", "it broke", "mend it")),
    )
    assert set(jobs) == set(ids[:2])
    rows = [(job.rare_state, job.live_key) for job in await hands.jobs(*ids)]
    assert rows == [(None, None), ("failed", None), (None, "live")]
    await hands.store.run(lambda tx: ledger.apply(tx, [transitions.requeue(ids[1])]))
    again = await hands.job(ids[1])
    assert (again.state, again.rare_state, again.live_key) == (State.QUEUED, None, "failed")


async def forget(hands, lease_id: str) -> None:
    await hands.store.run(lambda tx: tx.execute("forget_leases", ids=[lease_id]))


async def test_a_list_that_still_has_a_leased_job_on_it_is_not_forgotten(hands):
    await hands.enqueue_many(2)
    claim = Claim("q", 2, "w", 30.0)
    known, unknown = await hands.store.claim(claim)
    await hands.settle(transitions.succeed(known.id, 1, None, solo=True))
    await forget(hands, claim.lease_id)
    assert list(await leases(hands)) == [claim.lease_id]
    await hands.settle(transitions.succeed(unknown.id, 1, None, solo=True))
    await forget(hands, claim.lease_id)
    assert await leases(hands) == {}


async def test_a_leased_job_that_is_listed_nowhere_is_listed_again_when_its_lease_has_run_out(hands):
    job = await hands.start()
    await hands.sql(f"DELETE FROM {hands.table('lease')} RETURNING 1 AS done")
    assert await hands.store.run(ledger.list_leases) == 0
    await hands.shift("lease_until", -86400.0, job.id)
    assert await hands.store.run(ledger.list_leases) == 1
    assert list((await leases(hands)).values()) == [{job.id}]
    assert await hands.store.run(ledger.list_leases) == 0
