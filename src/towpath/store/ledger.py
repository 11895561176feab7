"""What changes jobs, as units over any transaction: lock the rows, perform the verbs on a working set of them, write the
difference. Only a claim, a plain success and an insert have statements of their own.

Lock order: a unit that touches several jobs locks all of them, relatives included, in one statement ordered by id,
before it decides anything. Settling goes from child to parent and cancelling from parent to child; without one order
they would deadlock.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta

from towpath.core import fairness
from towpath.core.count_deltas import COUNT_DELTA_FIELDS, count_changes
from towpath.core.failpoints import reach
from towpath.core.lifecycle import State
from towpath.core.records import GATE_NONE, GATE_ROOTS, Job, Lane, gate_of
from towpath.core.transitions import Transition
from towpath.core.verbs import perform
from towpath.core.working_set import NO_PLACE, WorkingSet
from towpath.store import left_behind
from towpath.store.contract import Row, Tx

# Verbs that may take all descendants with them; the others touch the job and its ancestors.
_REACH_DOWN = frozenset({"cancel", "requeue"})
# Verbs that may end a job while children of it are open: those are cancelled with it.
_MAY_ORPHAN = frozenset({"fail", "finish_partial", "rescue", "expire", "retry_later"})
# For how long after a lane's cap has changed the janitor looks for jobs that were enqueued meanwhile.
NEW_CAP = timedelta(minutes=10)


async def apply(tx: Tx, transitions: Sequence[Transition]) -> list[str | None]:
    """Performs the transitions in order. For each: None if it happened, else why it was refused."""
    return (await carry_out(tx, transitions))[0]


async def carry_out(tx: Tx, transitions: Sequence[Transition]) -> tuple[list[str | None], WorkingSet]:
    """As `apply`, and the working set as it was written, for whoever wants to know what came of it."""
    working = await _lock_family(tx, transitions)
    await reach("apply.locked")
    holders = await _key_holders(tx, working, transitions)
    verdicts = [_key_taken(working, holders, transition) or perform(working, transition) for transition in transitions]
    for job_id in holders:
        if working.jobs[job_id].live:
            working.jobs[job_id].key = None  # it came back for a relative's sake and was not asked for by its key
    await write(tx, working)
    await reach("apply.written")
    return verdicts, working


def short_way(transitions: Sequence[Transition]) -> list[int]:
    """Which of them may take a store's short way: plain successes that are the first word about their job."""
    first: dict[str, int] = {}
    for index, transition in enumerate(transitions):
        first.setdefault(transition.job_id, index)
    return [index for index in first.values() if transitions[index].solo]


async def _lock_family(tx: Tx, transitions: Sequence[Transition]) -> WorkingSet:
    """The jobs and every relative that the transitions may change as well: ancestors count how their children end, and
    some verbs take children along."""
    ids = {transition.job_id for transition in transitions}
    downward = {t.job_id for t in transitions if t.verb in _REACH_DOWN}
    family = ids | await _relatives(tx, "ancestors", ids)
    if downward:
        family |= await _relatives(tx, "descendants", downward)
    await reach("apply.looked")
    working = WorkingSet(await _lock(tx, family), tx.now)
    for transition in transitions:
        job = working.jobs.get(transition.job_id)
        if job is not None and job.children_open > 0 and transition.verb in _MAY_ORPHAN:
            downward.add(job.id)
    # A parent that was still running may have spawned while we waited for its lock: look again until nothing is new.
    while downward:
        found = await _relatives(tx, "descendants", downward) - working.jobs.keys()
        if not found:
            break
        await reach("apply.deeper")
        working.add(await _lock(tx, found))
        working.now = tx.now
    return working


async def _key_holders(tx: Tx, working: WorkingSet, transitions: Sequence[Transition]) -> dict[str, str]:
    """Ended jobs that a requeue might bring back to life -> the live job that holds their key by now."""
    holders: dict[str, str] = {}
    if any(transition.verb == "requeue" for transition in transitions):
        for job in working.jobs.values():
            if job.key is not None and job.ended:
                rows = await tx.fetch("job_by_key", tenant=job.tenant, operation=job.operation, key=job.key)
                if rows:
                    holders[job.id] = str(rows[0]["id"])
    return holders


def _key_taken(working: WorkingSet, holders: dict[str, str], transition: Transition) -> str | None:
    job = working.jobs.get(transition.job_id)
    if transition.verb != "requeue" or job is None or job.key is None or not job.ended:
        return None
    key = (job.tenant, job.operation, job.key)
    came_back = (one.id for one in working.jobs.values() if one.live and (one.tenant, one.operation, one.key) == key)
    holder = holders.get(job.id) or next(came_back, None)
    return f"its key {job.key!r} is held by job {holder}, which is still live" if holder else None


async def _relatives(tx: Tx, query: str, ids: Iterable[str]) -> set[str]:
    return {str(row["id"]) for row in await tx.fetch(query, ids=sorted(ids))}


async def _lock(tx: Tx, ids: Iterable[str]) -> list[Job]:
    return await tx.jobs("lock_jobs", ids=sorted(ids))


async def lock_one(tx: Tx, job_id: str) -> Job | None:
    found = await _lock(tx, [job_id])
    return found[0] if found else None


async def write(tx: Tx, working: WorkingSet) -> None:
    """Writes what is different in the working set: places in the fair order, rows, events, follow-ups, gates."""
    working.tell_counts()
    await _stamp(tx, working)
    changes = working.changes()
    await _keep_starts(tx, changes)
    await tx.write_jobs(changes)
    await _write_leases(tx, changes)
    await tx.insert_events(working.events)
    for counts in count_changes(changes, working.events, working.jobs):
        await tx.execute("add_count_delta", now=tx.now, **{name: getattr(counts, name) for name in COUNT_DELTA_FIELDS})
    for job_id in working.waits_forgotten:
        await tx.execute("drop_timeouts", job_id=job_id)
    for job_id, after in working.steps_dropped.items():
        await tx.execute("drop_steps", job_id=job_id, after=after)
    await left_behind.release_money(tx, changes)
    working.new_jobs.extend(await left_behind.cancelling(tx, changes))
    working.new_jobs.extend(await left_behind.last_words(tx, changes))
    if working.new_jobs:
        await tx.insert_jobs(working.new_jobs)
    for job_id in working.stamps:
        tx.rings.add(working.jobs[job_id].queue)
    for job in working.jobs.values():
        if job.state is State.CANCELLED and job.leased and job.worker_id:
            tx.cancelled.append(job.worker_id)
    for queue, lane in sorted(working.gates):
        await gate(tx, queue, lane)


async def _keep_starts(tx: Tx, changes: Sequence[tuple[Job, Job, list[str]]]) -> None:
    """A job's row may be all that knows of its first start. Before it forgets, an event is made of it."""
    ids = [before.id for before, job, _ in changes if before.started_at is not None and job.started_at is None]
    if ids:
        await tx.execute("keep_starts", ids=ids)


async def _write_leases(tx: Tx, changes: Sequence[tuple[Job, Job, list[str]]]) -> None:
    """The table of leases has a row for each job that is leased, and no other."""
    for before, job, _ in changes:
        if job.leased and not before.leased:
            await tx.execute("put_lease", job_id=job.id, queue=job.queue)
    ended = [job.id for before, job, _ in changes if before.leased and not job.leased]
    if ended:
        await tx.execute("drop_leases", ids=ended)


async def _stamp(tx: Tx, working: WorkingSet) -> None:
    """Gives every job that became ready its place in the fair order."""
    if not working.stamps:
        return
    places: dict[tuple[str, int, str], Row] = {}
    tails: dict[tuple[str, int, str], float] = {}
    for job_id, fresh in sorted(working.stamps.items()):
        job = working.jobs[job_id]
        lane = (job.queue, job.priority, job.lane)
        if lane not in places:
            [places[lane]] = await tx.fetch("place", queue=job.queue, priority=job.priority, lane=job.lane)
        place = places[lane]
        if not fresh:
            job.pass_ = fairness.keep(place["floor"], job.pass_)
            continue
        tails[lane] = job.pass_ = fairness.stamp(place["floor"], tails.get(lane, place["tail"]), job.cost, place["weight"])


async def gate(tx: Tx, queue: str, lane: str) -> int:
    """Lets as many parked jobs of a capped lane through as its cap has room for; answers how many.

    The lane's row is locked first and the jobs are counted in a second statement, so that two gates of one lane never
    count the same free slot.
    """
    rows = await tx.fetch("lock_lane", queue=queue, lane=lane)
    if not rows:
        return 0
    await reach("gate.locked")
    slots, roots = rows[0]["max_slots"], rows[0]["max_roots"]
    if slots is not None:
        room = slots - (await tx.fetch("lane_slots_used", queue=queue, lane=lane))[0]["used"]
    elif roots is not None:
        room = roots - (await tx.fetch("lane_roots_open", queue=queue, lane=lane))[0]["used"]
    else:
        room = 1_000_000
    await reach("gate.counted")
    if room > 0:
        return await _promote(tx, await tx.jobs("parked_jobs", queue=queue, lane=lane, limit=room))
    if room < 0 and slots is not None:
        await _park(tx, await tx.jobs("lane_ready_last", queue=queue, lane=lane, limit=-room))
    return 0


async def _promote(tx: Tx, jobs: list[Job]) -> int:
    if not jobs:
        return 0
    working = WorkingSet(jobs, tx.now)
    for job in jobs:
        job.parked, job.ready, job.reason = False, True, None
        working.stamps[job.id] = job.attempt == 0 or job.pass_ == NO_PLACE
    await _stamp(tx, working)
    await tx.write_jobs(working.changes())
    tx.rings.update(job.queue for job in jobs)
    return len(jobs)


async def _park(tx: Tx, jobs: list[Job]) -> None:
    working = WorkingSet(jobs, tx.now)
    for job in jobs:
        job.parked, job.ready, job.reason = True, False, "capped"
    await tx.write_jobs(working.changes())


async def promote_due(tx: Tx, limit: int) -> int:
    """Makes scheduled jobs that have fallen due ready, ranked within their lanes; answers how many it saw."""
    jobs = await tx.jobs("due_jobs", now=tx.now, limit=limit)
    await reach("due.locked")
    return await _make_ready(tx, jobs)


async def promote_one(tx: Tx, job_id: str) -> int:
    """One of them alone, for when they will not go through together."""
    jobs = await _lock(tx, [job_id])
    due = [job for job in jobs if job.state is State.QUEUED and job.run_at is not None and job.run_at <= tx.now]
    return await _make_ready(tx, due)


async def _make_ready(tx: Tx, jobs: list[Job]) -> int:
    working = WorkingSet(jobs, tx.now)
    for job in jobs:
        job.run_at = None
        working.admit(job, fresh=job.attempt == 0)
    await write(tx, working)
    return len(jobs)


async def set_lane(tx: Tx, queue: str, lane: str, *, weight: float, max_slots: int | None, max_roots: int | None) -> None:
    """Changes a lane's weight and cap. Jobs already here go behind the new gate, or come out from behind the old one."""
    await tx.execute("put_lane", queue=queue, lane=lane, weight=weight, max_slots=max_slots, max_roots=max_roots, now=tx.now)
    await tx.fetch("lock_lane", queue=queue, lane=lane)
    await reach("lane.locked")
    new_gate = gate_of(max_slots, max_roots)
    await tx.execute("regate_lane", queue=queue, lane=lane, gate=new_gate)
    if new_gate == GATE_NONE:
        await _promote(tx, await tx.jobs("unpark_lane", queue=queue, lane=lane))
    elif new_gate == GATE_ROOTS:
        await _park(tx, await tx.jobs("unbegun_ready_roots", queue=queue, lane=lane))
        await _promote(tx, await tx.jobs("parked_children", queue=queue, lane=lane))
    await gate(tx, queue, lane)


async def tend(tx: Tx, queue: str, lane: str) -> int:
    """`gate`, and before it a look for jobs that got past it: whoever enqueued them had not seen the cap yet.

    A transaction that was open when the cap was set may commit long after, so this looks for a while.
    """
    rows = await tx.fetch("lock_lane", queue=queue, lane=lane)
    caps = Lane(queue, lane, max_slots=rows[0]["max_slots"], max_roots=rows[0]["max_roots"]) if rows else None
    if caps is not None and caps.gate and rows[0]["updated_at"] > tx.now - NEW_CAP:
        await _catch_strays(tx, caps)
    return await gate(tx, queue, lane)


async def _catch_strays(tx: Tx, lane: Lane) -> None:
    place = {"queue": lane.queue, "lane": lane.lane}
    strays = await tx.jobs("stray_ready", **place, gate=lane.gate) + await tx.jobs("stray_leased", **place, gate=lane.gate)
    working = WorkingSet(strays, tx.now)
    for job in strays:
        job.gate = lane.gate
    await tx.write_jobs(working.changes())
    if lane.gate == GATE_ROOTS:
        await _park(tx, [job for job in strays if job.ready and job.parent_id is None and job.attempt == 0])
        await _promote(tx, await tx.jobs("parked_children", **place))


async def due_next(tx: Tx) -> datetime | None:
    """When the next scheduled job or timer falls due."""
    rows = await tx.fetch("next_due")
    moments = [value for value in (rows[0]["run_at"], rows[0]["deadline"]) if value is not None] if rows else []
    return min(moments) if moments else None


async def queue_room(tx: Tx, queue: str, wanted: int) -> int:
    """How many jobs of this queue may be claimed now: none while it is paused, and never past its cap."""
    rows = await tx.fetch("lock_queue", queue=queue)
    if not rows:
        return wanted
    if rows[0]["paused"]:
        return 0
    if rows[0]["max_slots"] is None:
        return wanted
    used = int((await tx.fetch("leased_in_queue", queue=queue))[0]["used"])
    return max(0, min(wanted, int(rows[0]["max_slots"]) - used))


async def adopt(tx: Tx, operations: list[str]) -> int:
    """Takes back jobs that were set aside because no worker knew their operation."""
    jobs = await tx.jobs("no_handler_jobs", operations=operations, limit=1000)
    working = WorkingSet(jobs, tx.now)
    for job in jobs:
        job.run_at = None
        working.admit(job, fresh=False)
    await write(tx, working)
    return len(jobs)
