"""Running what there is to run, and nothing else."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from datetime import datetime, timedelta
from typing import Any

from towpath.core.records import Job
from towpath.engine.app import App
from towpath.engine.running.worker import Worker
from towpath.store import provider_journal
from towpath.store.contract import Tx
from towpath.testing.clock import FakeClock

# Instants are stored as floats of seconds: a jump goes a little past the instant, never a hair short of it.
_PAST_IT = timedelta(milliseconds=1)


async def drain(
    app: App,
    queues: Sequence[str] | None = None,
    *,
    concurrency: int = 8,
    within: float | None = None,
    timeout: float = 30.0,
) -> int:
    """Runs everything that is ready until nothing is; answers how many times an operation was entered.

    If the app has a FakeClock, time passes in between: the clock jumps to the next retry, scheduled job or sleep, one
    after the other, but not further than `within` seconds in all. It never jumps over a wait for a signal or to the
    next turn of a cron schedule; send the signal, or advance the clock yourself. Without a FakeClock, jobs that are
    due later stay where they are.

    `timeout` is in real seconds: operations that still run after it are interrupted, and TimeoutError names them.
    """
    worker = app.worker(queues, concurrency, name="drain")
    running = asyncio.create_task(worker.run_until_idle(_jumper(app, worker, within)))
    try:
        await asyncio.wait({running}, timeout=timeout)
        if not running.done():
            raise TimeoutError(f"not idle after {timeout:g} s; {_still_busy(worker)}")
        return running.result()
    finally:
        if not running.done():
            worker.hand_back()
            running.cancel()
            await asyncio.wait({running})


async def run_operation(app: App, operation: str, payload: Any = None, **options: Any) -> Job:
    """Enqueues one job, drains the app, and answers the job as it stands then: `job.state`, `job.result`, `job.error`.

    Options are those of `App.enqueue`. Whatever else is ready runs as well.
    """
    job = await app.enqueue(operation, payload, **options)
    await drain(app, sorted({job.queue, *app.registry.queues()}))
    return await app.get(job.id)


def _jumper(app: App, worker: Worker, within: float | None) -> Callable[[], Awaitable[bool]] | None:
    clock = app.clock
    if not isinstance(clock, FakeClock):
        return None
    latest = None if within is None else clock.now + timedelta(seconds=within)

    async def jump() -> bool:
        moment = await _next_timer(app, worker.row.queues)
        if moment is None or moment < clock.now or (latest is not None and moment > latest):
            return False
        clock.advance_to(moment + _PAST_IT)
        return True

    return jump


async def _next_timer(app: App, queues: Sequence[str]) -> datetime | None:
    async def unit(tx: Tx) -> datetime | None:
        rows = await tx.fetch("next_timer", queues=list(queues))
        polled = await provider_journal.due_next(tx, app.services.providers.names)
        moments = [value for value in (rows[0]["run_at"], rows[0]["deadline"], polled) if value is not None]
        return min(moments) if moments else None

    return await app.services.store.read(unit)


def _still_busy(worker: Worker) -> str:
    busy = worker.running
    if not busy:
        return "jobs keep becoming ready"
    shown = ", ".join(f"{job.operation} ({job.id})" for job in busy[:5])
    return f"still running: {shown}{', …' if len(busy) > 5 else ''}"
