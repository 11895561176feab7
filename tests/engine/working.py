"""Words the engine's tests share: run a worker, wait for something to become true, look at a job's history."""

import asyncio
import inspect
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from typing import Any, TypeVar

import pytest

from towpath import App, Context, Event, Job, JobCancelled, JobFailed, Retry, Transaction
from towpath.core.history import differences, fold

T = TypeVar("T")

# Backoff without waiting: what is tested is that a job is tried again, not how long that takes.
AT_ONCE = Retry(limit=3, base=0.0)

on_sqlite = pytest.mark.parametrize("database_url", ["sqlite"], indirect=True)
on_postgres = pytest.mark.parametrize("database_url", ["postgres"], indirect=True)


@asynccontextmanager
async def working(
    app: App, *queues: str, concurrency: int = 4, name: str | None = None
) -> AsyncIterator[asyncio.Task[None]]:
    """A worker in the background; leaving the block stops it and waits until it has."""
    task = asyncio.create_task(app.run_worker(list(queues) or None, concurrency, name=name))
    try:
        yield task
    finally:
        task.cancel()
        with suppress(asyncio.CancelledError):
            async with asyncio.timeout(30):
                await task


async def eventually(condition: Callable[[], Any | Awaitable[Any]], within: float = 20.0) -> Any:
    """The first truthy answer of `condition`; fails the test if there is none in time."""
    deadline = asyncio.get_running_loop().time() + within
    while True:
        answer = condition()
        if inspect.isawaitable(answer):
            answer = await answer
        if answer:
            return answer
        if asyncio.get_running_loop().time() > deadline:
            pytest.fail(f"it did not become true within {within:g} s: {inspect.getsource(condition).strip()}")
        await asyncio.sleep(0.01)


async def ended(app: App, job: Job | str, within: float = 20.0) -> Job:
    """The job's row once it has ended, whichever way."""
    job_id = job if isinstance(job, str) else job.id
    with suppress(JobFailed, JobCancelled):
        await app.result(job_id, timeout=within)
    return await app.get(job_id)


async def in_state(app: App, job: Job | str, state: str, within: float = 20.0) -> Job:
    """The job's row as soon as it is in that state."""
    job_id = job if isinstance(job, str) else job.id

    async def there() -> Job | None:
        row = await app.get(job_id)
        return row if row.state == state else None

    found: Job = await eventually(there, within)
    return found


async def history(app: App, job: Job | str) -> list[Event]:
    """The job's events; folding them must give its row."""
    job_id = job if isinstance(job, str) else job.id
    row = await app.get(job_id)
    events = [event async for event in app.events(job_id=job_id)]
    if len(events) == row.seq:
        assert differences(row, fold(events)) == []
    return events


async def happened(app: App, job: Job | str, name: str) -> list[Event]:
    """The job's events of that name."""
    return [event for event in await history(app, job) if event.name == name]


async def in_form(place: App | Context, form: str, unit: Callable[[Transaction], Awaitable[T]]) -> T:
    """What `unit` does in a transaction, as the `unit` that it is or in a `block`."""
    if form == "unit":
        return await place.transact(unit)
    async with place.transaction() as tx:
        return await unit(tx)


class Gate:
    """Lets a test hold an operation where it wants it, and know that it is there."""

    def __init__(self) -> None:
        self.reached = asyncio.Event()
        self._open = asyncio.Event()

    async def wait(self) -> None:
        self.reached.set()
        await self._open.wait()

    def open(self) -> None:
        self._open.set()

    async def until_reached(self, within: float = 20.0) -> None:
        async with asyncio.timeout(within):
            await self.reached.wait()
