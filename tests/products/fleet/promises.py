"""What must hold of a fleet when a storm over it is over. Each line that comes out is a promise that was broken.

The engine's own invariants are judged by the history checker; what follows here is about tasks, the times they were sent,
and the objects that came of them.
"""

from __future__ import annotations

import asyncio
import hashlib
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path

from tests.chaos.checker import check as engine_check
from tests.chaos.history import load
from tests.products.fleet.harbour import ENDED, Bucket
from towpath import App
from towpath.fleet import stored
from towpath.fleet.names import BUCKETS_QUEUE
from towpath.fleet.records import Dispatch
from towpath.fleet.views import TaskView, views

_PAGE, _AT_ONCE = 500, 8
FAIR_SLACK, FAIR_PART = 60, 50
"""Claims by which a tenant may be ahead of another: a room's worth of open tasks and those on their way in batches, or one
in fifty of all. A tenant whose tasks were lost is served less often until its room is free again, and never catches up; whom
luck hits more often falls behind a little by and by. A tenant that is starved is behind by thousands."""


@dataclass
class Verdict:
    broken: list[str] = field(default_factory=list)
    statuses: Counter[str] = field(default_factory=Counter)
    attempts: Counter[str] = field(default_factory=Counter)
    seconds: float = 0.0
    kills: int = 0


def is_over(view: TaskView) -> bool:
    return view.status in ENDED and view.standing.retry_at is None


async def check(app: App, bucket: Bucket, data: Mapping[str, bytes], cancelled: set[str]) -> Verdict:
    """`data` is every object that was put, by its name."""
    verdict, names = Verdict(), Counter[str]()
    turns = asyncio.Semaphore(_AT_ONCE)

    async def judge(view: TaskView) -> None:
        async with turns:
            broken = await _of_view(app, bucket, view, data, cancelled, verdict)
            verdict.broken += [f"{view.task.name}: {what}" for what in broken]

    before = None
    while page := await stored.page(app, None, before=before, limit=_PAGE):
        found = await views(app, page)
        names.update(view.task.name for view in found)
        await asyncio.gather(*(judge(view) for view in found))
        before = page[-1].id
    verdict.broken += [f"{name} became {names[name]} tasks" for name in data if names[name] != 1]
    rules = {"fair_queues": frozenset({BUCKETS_QUEUE}), "fair_slack": max(FAIR_SLACK, len(data) // FAIR_PART)}
    history = await asyncio.to_thread(load, app.url, Path("/nowhere"), **rules)
    # What streams are told of tasks lies among the events, and is no job's history.
    history.events = {job_id: events for job_id, events in history.events.items() if job_id in history.jobs}
    verdict.broken += [str(one) for one in await asyncio.to_thread(engine_check, history)]
    return verdict


async def _of_view(
    app: App, bucket: Bucket, view: TaskView, data: Mapping[str, bytes], cancelled: set[str], verdict: Verdict
) -> list[str]:
    attempts = await stored.attempts(app, view.task.id)
    verdict.statuses[view.status] += 1
    verdict.attempts.update(one.outcome or "open" for one in attempts)
    broken = of_task(view, attempts, cancelled)
    if view.status == "COMPLETED":
        result = await bucket.get(f"{view.task.name}.json")
        if result != data[view.task.name].upper():
            broken.append(f"its result is {result[:200]!r}")
        if hashlib.sha256(result).hexdigest() != view.task.result_sha256:
            broken.append("its result has another checksum than what was looked at")
    return broken


def of_task(view: TaskView, attempts: list[Dispatch], cancelled: set[str]) -> list[str]:
    """Of a task and the times that it was sent."""
    broken = []
    if not is_over(view):
        broken.append(f"it has not ended, and is {view.status}")
    if [one.attempt for one in attempts] != list(range(1, len(attempts) + 1)):
        broken.append(f"its attempts are {[one.attempt for one in attempts]}")
    done = [one for one in attempts if one.outcome == "completed"]
    if (len(done) == 1) != (view.status == "COMPLETED") or len(done) > 1:
        broken.append(f"it is {view.status}, and {len(done)} attempts completed it")
    if done and done[0] is not attempts[-1]:
        broken.append("it was sent again after it had been completed")
    if view.task.id in cancelled and view.status != "CANCELLED":
        broken.append(f"it was cancelled, and is {view.status}")
    if view.status == "FAILED":
        broken.append("it has failed, although it could be tried again")
    broken += [
        f"attempt {later.attempt} was made before attempt {one.attempt} had ended"
        for one, later in pairwise(attempts)
        if one.ended_at is None or later.made_at < one.ended_at
    ]
    broken += [f"attempt {one.attempt} has not ended" for one in attempts if one.ended_at is None]
    return broken
