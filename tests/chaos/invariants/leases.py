"""I2, I18: one live lease per job, and none left over."""

from collections.abc import Iterator

from tests.chaos.history import History
from tests.chaos.violation import Violation, broken
from towpath.core.records import Event


def attempts_grow(history: History) -> Iterator[Violation]:
    """I2: every claim has a number of its own, higher than all before it."""
    for job in history.jobs.values():
        highest = 0
        for event in history.of(job.id):
            if event.name in ("job.started", "job.polled"):
                if event.attempt <= highest:
                    yield broken("I2", job, f"attempt {event.attempt} was claimed after attempt {highest}", [event])
                highest = max(highest, event.attempt)


def one_handler_per_lease(history: History) -> Iterator[Violation]:
    """I2: a handler runs only with a claim, once per claim, and not beside another one that still holds the job.

    Two handlers of a job may overlap when the first has lost its lease. A lease lasts at least `lease_seconds` from its
    claim, so a later attempt that starts before that, with the earlier one still at work, is a broken promise on any
    machine. (A worker may be frozen between its claim and its handler's first line: then the earlier attempt starts last.)
    """
    ends = {(sighting.job, sighting.fence): sighting.wall for sighting in history.seen("end")}
    begun: dict[str, list[int]] = {}
    for sighting in history.seen("start"):
        job, fence = history.jobs.get(sighting.job or ""), sighting.fence
        if job is None or fence is None:
            yield broken("I2", sighting.job, "a handler ran for a job that does not exist")
            continue
        claims = {event.attempt: event for event in history.of(job.id) if event.name == "job.started"}
        if fence not in claims:
            yield broken("I2", job, f"a handler ran as attempt {fence}, which was never claimed", claims.values())
        earlier = begun.setdefault(job.id, [])
        if fence in earlier:
            yield broken("I2", job, f"attempt {fence} was run twice", history.of(job.id))
        for other in earlier:
            good = other < fence and other in claims and sighting.wall < _moment(claims[other]) + history.lease_seconds
            if good and ends.get((job.id, other), float("-inf")) > sighting.wall:
                message = f"attempt {fence} ran while attempt {other} held a good lease and was still at work"
                yield broken("I2", job, message, history.of(job.id))
        earlier.append(fence)


def no_rescue_before_expiry(history: History) -> Iterator[Violation]:
    """I2: a rescue takes a job away only when its lease has run out."""
    for job in history.jobs.values():
        claim: Event | None = None
        for event in history.of(job.id):
            if event.name == "job.started":
                claim = event
            elif _is_rescue(event) and claim is not None:
                held = _moment(event) - _moment(claim)
                if held < history.lease_seconds - 0.001:
                    message = f"was rescued {held:.3f} s after its claim, with a lease of {history.lease_seconds} s"
                    yield broken("I2", job, message, (claim, event))


def _is_rescue(event: Event) -> bool:
    return event.name == "job.rescued" or (event.name == "job.failed" and (event.fields or {}).get("kind") == "crashed")


def no_lease_is_left(history: History) -> Iterator[Violation]:
    """I18: after quiescence nobody holds anything."""
    for job in history.jobs.values():
        if job.leased:
            yield broken("I18", job, f"is still leased by {job.worker_id} until {job.lease_until}", history.of(job.id)[-3:])


def _moment(event: Event) -> float:
    assert event.ts is not None
    return event.ts.timestamp()
