"""Looking at one job, and at events."""

from __future__ import annotations

import uuid
from collections.abc import AsyncIterator
from datetime import datetime

from towpath.core.encoding import decode
from towpath.core.errors import ConfigurationError, JobNotFound
from towpath.core.lifecycle import State
from towpath.core.naming import folded
from towpath.core.records import Event, Job, Step
from towpath.core.usage import NOTHING, Cost, Usage, total
from towpath.engine.asking.deltas import OF_NO_JOB, Deltas
from towpath.engine.asking.prices import get_prices
from towpath.store import journal
from towpath.store.contract import Row, Store, Tx

_PAGE = 1000
_STREAMED = 2500


def check_id(job_id: str) -> str:
    try:
        return str(uuid.UUID(str(job_id)))
    except ValueError:
        raise JobNotFound(f"{job_id!r} is not a job id; an id looks like 0198c2f0-6f0a-7c3e-8d1b-2f7a9c4e5b60") from None


async def get(store: Store, job_id: str) -> Job:
    asked = check_id(job_id)
    found = await store.read(lambda tx: tx.jobs("jobs_by_id", ids=[asked]))
    if not found:
        raise no_job(job_id)
    return found[0]


def no_job(job_id: str) -> JobNotFound:
    return JobNotFound(f"no job has the id {job_id}; it may have been deleted or pruned")


async def now(store: Store) -> datetime:
    """What time it is for the engine: the database's time, wherever that runs."""

    async def unit(tx: Tx) -> datetime:
        return tx.now

    return await store.read(unit)


def check_state(name: str) -> str:
    try:
        return State(folded(str(name))).value
    except ValueError:
        states = ", ".join(state.value for state in State)
        raise ConfigurationError(f"there is no state {name!r}; the states are {states}") from None


async def steps(store: Store, job_id: str) -> list[Step]:
    asked = check_id(job_id)
    return await store.read(lambda tx: journal.load_steps(tx, asked))


async def usage(store: Store, job_id: str) -> tuple[list[Usage], Cost]:
    """What a job has used, by model, and what that costs today: of all its attempts, in steps and outside of them. What
    its children have used is theirs."""
    asked = check_id(job_id)

    async def unit(tx: Tx) -> tuple[list[Usage], Cost]:
        used = [Usage(**row) for row in await tx.fetch("job_usage", job_id=asked)]
        return used, total(used, await get_prices(tx)) if used else NOTHING

    return await store.read(unit)


def event_from(row: Row) -> Event:
    return Event(
        str(row["job_id"]), row["seq"], row["attempt"], row["name"], row["level"], row["message"],
        decode(row["fields"]), row["ts"], token=str(row["seq"]),
    )  # fmt: skip


async def events_of(store: Store, job_id: str, after: int, limit: int = _PAGE) -> list[Event]:
    asked = check_id(job_id)

    async def unit(tx: Tx) -> list[Event]:
        return [event_from(row) for row in await tx.fetch("job_events", job_id=asked, after=after, limit=limit)]

    return await store.read(unit)


async def follow_job(store: Store, job_id: str, after: int, follow: bool) -> AsyncIterator[Event]:
    """The events of one job in order; with `follow`, until it has ended and everything has been seen."""
    pulse = store.follow()
    while True:
        job = await get(store, job_id)
        page = await events_of(store, job_id, after)
        for event in page:
            after = event.seq
            yield event
        if len(page) == _PAGE:
            continue
        if not follow or (job.ended and after >= job.seq):
            return
        await anext(pulse)


async def follow_all(store: Store, after: str | None, follow: bool) -> AsyncIterator[Event]:
    """Every event of every job, without loss or repetition; `event.token` is where to go on from."""
    stream = await Deltas.of(store)
    place = await stream.now() if after is None else await stream.place(after)
    pulse = store.follow()
    while True:
        page = await stream.page(place, limit=_STREAMED, whole=True)
        for event in page.events:
            if event.name not in OF_NO_JOB:
                event.token = stream.token(page.place_after(event))
                yield event
        place = page.end
        if not page.more:
            if not follow:
                return
            await anext(pulse)
