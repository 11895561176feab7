"""Is anything stuck? What `towpath doctor` asks of an open database, from the columns the engine obeys.

Every job that is not ended has a lease, a deadline or a place in a queue. A job is stuck when that has passed and nobody
acted on it, and nobody acts when no worker is alive or none of the right kind is.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from datetime import datetime, timedelta

from towpath.core.encoding import decode
from towpath.core.records import GATE_SLOTS, Lane
from towpath.engine.asking import liveness
from towpath.engine.asking.findings import Finding, note, ok, problem
from towpath.store.contract import Row, Store, Tx

# Janitors look every few seconds; what has been due for longer than this was overlooked.
_GRACE = timedelta(seconds=15)
_MOST = 20
_OLDEST_POSTGRES = 13
_OVERLOOKED = "a live worker should have seen to it; look for errors in the workers' logs"

Workers = Sequence[Row]


async def checkup(store: Store) -> list[Finding]:
    """Everything that could keep a job from moving; reads only."""

    async def unit(tx: Tx) -> list[Finding]:
        alive = await liveness.live_workers(tx)
        return [finding for look in _LOOKS for finding in await look(tx, alive)]

    return await store.read(unit)


async def _server(tx: Tx, _alive: Workers) -> list[Finding]:
    found = []
    for row in await tx.fetch("server_version"):
        if row["number"] < _OLDEST_POSTGRES * 10_000:
            remedy = f"upgrade it to {_OLDEST_POSTGRES} or later; the event stream needs 64-bit transaction ids"
            found.append(problem("server", f"PostgreSQL {row['version']} is too old", remedy))
        else:
            found.append(ok("server", f"PostgreSQL {row['version']}"))
    return found


async def _workers(tx: Tx, alive: Workers) -> list[Finding]:
    silent = await liveness.silent_workers(tx)
    found = [note("workers", f"{row['name']} fell silent at {_clock(row['seen_at'])}", "see its log") for row in silent]
    if alive:
        return [ok("workers", f"{len(alive)} alive: {', '.join(row['name'] for row in alive[:5])}"), *found]
    return [note("workers", "none is alive; jobs wait until one is", _start()), *found]


async def _queues(tx: Tx, alive: Workers) -> list[Finding]:
    served = {queue for row in alive for queue in decode(row["queues"])}
    paused = {row["name"] for row in await tx.fetch("queue_settings") if row["paused"]}
    found = []
    for queue in [row["queue"] for row in await tx.fetch("depths") if row["queued"] > 0]:
        since = (await tx.fetch("oldest_ready", queue=queue))[0]["created_at"]
        if since is None:
            continue
        if queue in paused:
            found.append(note("queues", f"{queue} is paused, and jobs are ready in it", f"towpath queues resume {queue}"))
        elif queue not in served:
            message = f"jobs are ready in {queue} since {_clock(since)}, and no live worker serves it"
            found.append(problem("queues", message, _start(queue)))
    return found or [ok("queues", "every queue with ready jobs has a live worker")]


async def _leases(tx: Tx, alive: Workers) -> list[Finding]:
    found = await _far_leases(tx, alive)
    # Whoever has just come looks on for a lease before it rescues.
    patience = liveness.patience(alive) if alive else 0.0
    row = (await tx.fetch("overdue_leases", before=_patience(tx, alive) - timedelta(seconds=patience)))[0]
    if row["jobs"]:
        message = f"nobody rescues {_jobs(row['jobs'])} whose lease has run out, the first at {_clock(row['lease_until'])}"
        found.append(problem("leases", message, _OVERLOOKED if alive else _start()))
    return found or [ok("leases", "none has run out")]


async def _far_leases(tx: Tx, alive: Workers) -> list[Finding]:
    beyond = await liveness.furthest_lease(tx)
    if beyond is None:
        return []
    row = (await tx.fetch("far_leases", beyond=beyond))[0]
    if not row["jobs"]:
        return []
    until = _clock(row["lease_until"])
    message = f"{_jobs(row['jobs'])} leased until {until}, longer than a lease lasts: the clock was moved back"
    if alive:
        return [note("leases", message, "wait: their workers renew them now, or others rescue them")]
    return [problem("leases", message, _start())]


async def _waits(tx: Tx, alive: Workers) -> list[Finding]:
    row = await _overdue(tx, "overdue_waits", alive)
    if not row["jobs"]:
        return [ok("waits", "none is past its deadline")]
    message = f"nobody wakes {_jobs(row['jobs'])} whose wait is over, the first since {_clock(row['deadline'])}"
    return [problem("waits", message, _OVERLOOKED if alive else _start())]


async def _due(tx: Tx, alive: Workers) -> list[Finding]:
    found = []
    row = await _overdue(tx, "overdue_jobs", alive)
    if row["jobs"]:
        message = f"{_jobs(row['jobs'])} fell due and nobody made them ready, the first at {_clock(row['run_at'])}"
        found.append(problem("due", message, _OVERLOOKED if alive else _start()))
    for late in await tx.fetch("overdue_schedules", before=_patience(tx, alive)):
        message = f"schedule {late['name']} should have fired at {_clock(late['next_fire'])}"
        found.append(problem("due", message, _OVERLOOKED if alive else _start()))
    return [*(found or [ok("due", "nothing scheduled is late")]), *await _retired(tx)]


async def _retired(tx: Tx) -> list[Finding]:
    names = [row["name"] for row in await tx.fetch("retired_schedules", now=tx.now)]
    if not names:
        return []
    message = f"no running process declares {', '.join(names[:_MOST])}{' and more' if len(names) > _MOST else ''}: not fired"
    return [note("schedules", message, "start a process of the app that does, or leave it: it is forgotten after a week")]


async def _set_aside(tx: Tx, alive: Workers) -> list[Finding]:
    known = {operation for row in alive for operation in decode(row["operations"])}
    found = []
    for row in await tx.fetch("set_aside", limit=_MOST):
        queue, operation = row["queue"], row["operation"]
        remedy = f"{_start(queue)} of an app that defines it"
        if operation in known:
            remedy = f"a live worker knows it; let that one serve {queue} too"
        found.append(problem("set aside", f"no worker of {queue} knows {operation}: {_jobs(row['jobs'])} set aside", remedy))
    return found or [ok("set aside", "every operation in the queues has found a worker that knows it")]


async def _parked(tx: Tx, alive: Workers) -> list[Finding]:
    rows = await tx.fetch("parked_lanes", limit=_MOST)
    found = [await _parked_lane(tx, row["queue"], row["lane"], row["jobs"], alive) for row in rows]
    return found or [ok("parked", "no job waits at a cap")]


async def _parked_lane(tx: Tx, queue: str, name: str, jobs: int, alive: Workers) -> Finding:
    row = next((row for row in await tx.fetch("lanes", queue=queue) if row["lane"] == name), None)
    lane = Lane(queue, name, max_slots=row["max_slots"], max_roots=row["max_roots"]) if row else Lane(queue, name)
    slots = lane.gate == GATE_SLOTS
    cap = lane.max_slots if slots else lane.max_roots
    remedy = _OVERLOOKED if alive else _start()
    if cap is None:
        return problem("parked", f"{_jobs(jobs)} of lane {name} in {queue} are parked, and the lane has no cap", remedy)
    place = {"queue": queue, "lane": name}
    used = (await tx.fetch("lane_slots_used" if slots else "lane_roots_open", **place))[0]["used"]
    if slots:
        running = (await tx.fetch("lane_slots_running", **place))[0]["used"]
        option, taken = "--slots", f"{running} of {cap} slots are taken, {used - running} kept for jobs that are ready"
    else:
        option, taken = "--roots", f"{used} of {cap} root jobs are open"
    message = f"{_jobs(jobs)} of lane {name} in {queue} wait at its cap: {taken}"
    if cap == 0:
        return problem("parked", message, f"towpath queues lane {queue} {name} {option} 1")
    return problem("parked", message, remedy) if used < cap and not alive else note("parked", message)


async def _budgets(tx: Tx, _alive: Workers) -> list[Finding]:
    rows = await tx.fetch("blocked_budgets", now=tx.now)
    return [
        note("budgets", f"{row['name']} is blocked until {_clock(row['blocked_until'])}: {row['reason']}") for row in rows
    ]


async def _inbox(tx: Tx, _alive: Workers) -> list[Finding]:
    groups = await tx.fetch("inbox_groups", tenant=None, limit=1000)
    if not groups:
        return [ok("inbox", "empty")]
    causes = "one cause" if len(groups) == 1 else f"{len(groups)} causes"
    return [note("inbox", f"{_jobs(sum(row['jobs'] for row in groups))} failed for good, of {causes}", "towpath inbox")]


async def _overdue(tx: Tx, query: str, alive: Workers) -> Row:
    return (await tx.fetch(query, before=_patience(tx, alive)))[0]


def _patience(tx: Tx, alive: Workers) -> datetime:
    """With no worker alive nobody is going to act, so there is no reason to wait for it."""
    return tx.now - _GRACE if alive else tx.now


def _start(queue: str = "") -> str:
    return "start a worker: towpath worker --app module:app" + (f" --queues {queue}" if queue else "")


def _jobs(number: int) -> str:
    return "1 job" if number == 1 else f"{number:,} jobs"


def _clock(moment: datetime) -> str:
    return moment.strftime("%Y-%m-%d %H:%M:%S UTC")


_LOOKS: tuple[Callable[[Tx, Workers], Awaitable[list[Finding]]], ...] = (
    _server,
    _workers,
    _queues,
    _leases,
    _waits,
    _due,
    _set_aside,
    _parked,
    _budgets,
    _inbox,
)
