"""I11, I12, I14: caps and shares.

Slots are counted by live lease, and a lease covers its handler: it is claimed before the handler begins and given up
after it has ended or died. So the handlers that really ran at the same moment, each counted until its end or until its
attempt was taken away, are never more than the leases were.
"""

from collections.abc import Iterable, Iterator

from tests.chaos.history import History
from tests.chaos.violation import Violation, broken
from towpath.core.lifecycle import STATE_AFTER, TERMINAL
from towpath.core.records import Event, Job

Span = tuple[float, float, str]  # from, until, job id

_FAILURES = frozenset({"job.retry_scheduled", "job.rescued", "job.failed"})


def failures_stay_within_the_cap(history: History) -> Iterator[Violation]:
    """I11: between two requeues a job fails at most `max_attempts` times."""
    for job in history.jobs.values():
        failures: list[Event] = []
        for event in history.of(job.id):
            if event.name in ("job.requeued", "job.reopened"):
                failures = []
            elif event.name in _FAILURES and (event.fields or {}).get("kind") != "children":
                failures.append(event)
        if len(failures) > job.max_attempts or job.failures > job.max_attempts:
            yield broken("I11", job, f"failed {len(failures)} times, its cap is {job.max_attempts}", failures)


def lanes_keep_their_slots(history: History) -> Iterator[Violation]:
    """I12: a lane with a cap on slots never has more handlers at work."""
    for (queue, lane), cap in history.lane_slots.items():
        jobs = [job for job in history.jobs.values() if job.queue == queue and job.lane == lane]
        yield from _exceeded(history, _handlers(history, jobs), cap, f"lane {lane} of queue {queue}")


def queues_keep_their_slots(history: History) -> Iterator[Violation]:
    """I12: so does a queue."""
    for queue, cap in history.queue_slots.items():
        jobs = [job for job in history.jobs.values() if job.queue == queue]
        yield from _exceeded(history, _handlers(history, jobs), cap, f"queue {queue}")


def lanes_keep_their_open_roots(history: History) -> Iterator[Violation]:
    """I12: a lane with a cap on open roots begins the next root only when one has ended."""
    for (queue, lane), cap in history.lane_roots.items():
        roots = [job for job in history.jobs.values() if job.queue == queue and job.lane == lane and job.parent_id is None]
        yield from _exceeded(history, _open_roots(history, roots), cap, f"the open roots of lane {lane} of queue {queue}")


def _handlers(history: History, jobs: Iterable[Job]) -> Iterator[Span]:
    ends = {(sighting.job, sighting.fence): sighting.wall for sighting in history.seen("end")}
    wanted = {job.id for job in jobs}
    for sighting in history.seen("start"):
        if sighting.job in wanted and sighting.job is not None:
            taken = _taken_away(history.of(sighting.job), sighting.fence)
            end = min(ends.get((sighting.job, sighting.fence), taken), taken)
            if end > sighting.wall:
                yield sighting.wall, end, sighting.job


def _taken_away(events: list[Event], attempt: int | None) -> float:
    """When the attempt stopped being the running one, by the database's clock."""
    begun = False
    for event in events:
        if event.name == "job.started":
            begun = event.attempt == attempt
        elif begun and event.name in STATE_AFTER:
            assert event.ts is not None
            return event.ts.timestamp()
    return float("inf")


def _open_roots(history: History, roots: Iterable[Job]) -> Iterator[Span]:
    starts: dict[str, float] = {}
    for sighting in history.seen("start"):
        starts.setdefault(sighting.job or "", sighting.wall)
    for root in roots:
        ended = [event.ts for event in history.of(root.id) if STATE_AFTER.get(event.name) in TERMINAL]
        if root.id in starts and ended and ended[0] is not None and ended[0].timestamp() > starts[root.id]:
            yield starts[root.id], ended[0].timestamp(), root.id


def _exceeded(history: History, spans: Iterable[Span], cap: int, what: str) -> Iterator[Violation]:
    moments = sorted(
        (moment, change, job_id)
        for start, end, job_id in spans
        for moment, change, job_id in ((start, +1, job_id), (end, -1, job_id))
    )
    at_work: set[str] = set()
    for _, change, job_id in moments:
        at_work = at_work | {job_id} if change > 0 else at_work - {job_id}
        if len(at_work) > cap:
            message = f"{len(at_work)} at once in {what}, its cap is {cap}: {', '.join(sorted(at_work))}"
            yield broken("I12", history.jobs[job_id], message, history.of(job_id)[:3])
            return  # the first moment says it all


def tenants_share_fairly(history: History) -> Iterator[Violation]:
    """I14: in a queue of equal jobs, lanes that have work take turns.

    While a job waits for its first claim, another lane may be served as often as its own lane is until then, and a little
    more: `fair_slack` covers the claims that are on their way in one batch, and the floor, which is written ten times a
    second.
    """
    for queue in history.fair_queues:
        jobs = [job for job in history.jobs.values() if job.queue == queue and job.parent_id is None]
        claims = sorted((*first, job.lane, job.id) for job in jobs if (first := _first_claim(history, job)) is not None)
        place = {job_id: number for number, (_, _, _, job_id) in enumerate(claims)}
        for claimed, created, lane, job_id in claims:
            since = [row for row in claims[: place[job_id]] if row[0] >= created]
            own = sum(row[2] == lane for row in since)
            for other in {row[2] for row in since} - {lane}:
                theirs = sum(row[2] == other for row in since)
                if theirs > own + 1 + history.fair_slack:
                    message = f"waited for {theirs} claims of lane {other} while its own lane {lane} had {own}"
                    yield broken("I14", history.jobs[job_id], message, history.of(job_id)[:2])
                    break
            del claimed


def _first_claim(history: History, job: Job) -> tuple[float, float] | None:
    """When a job was first claimed, and when it was created."""
    created: float | None = None
    for event in history.of(job.id):
        assert event.ts is not None
        if event.name == "job.created":
            created = event.ts.timestamp()
        elif event.name == "job.started" and created is not None:
            return event.ts.timestamp(), created
    return None
