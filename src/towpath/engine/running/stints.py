"""A worker's time at an app: until it is told to stop, and has wound down."""

from __future__ import annotations

import asyncio
import signal as signals

from towpath.engine.running.garbage_collection import leave_live_objects_alone
from towpath.engine.running.worker import Worker

Stints = dict[Worker, "asyncio.Task[None]"]
"""Who works at an app."""


async def stint(worker: Worker, stints: Stints) -> None:
    """Until it has wound down, whatever comes: the first cancel asks it to stop, the next one not to wait."""
    leave_live_objects_alone()
    running = stints[worker] = asyncio.create_task(worker.run())
    cancelled: asyncio.CancelledError | None = None
    try:
        while not running.done():
            try:
                await asyncio.wait({running})
            except asyncio.CancelledError as error:
                cancelled = error
                stop_sooner(worker)
        await running
    finally:
        del stints[worker]
    if cancelled is not None:
        raise cancelled


async def until_set(stop: asyncio.Event, worker: Worker, stints: Stints) -> None:
    async def wait() -> None:
        await stop.wait()
        worker.stop()

    waiting = asyncio.create_task(wait())
    try:
        await stint(worker, stints)
    finally:
        waiting.cancel()


async def until_signal(worker: Worker, stints: Stints) -> None:
    """SIGTERM or SIGINT lets running jobs finish or hands them back; a second one does not wait."""
    loop = asyncio.get_running_loop()
    for number in (signals.SIGTERM, signals.SIGINT):
        loop.add_signal_handler(number, stop_sooner, worker)
    try:
        await stint(worker, stints)
    finally:
        for number in (signals.SIGTERM, signals.SIGINT):
            loop.remove_signal_handler(number)


def stop_sooner(worker: Worker) -> None:
    worker.stop_now() if worker.stopping else worker.stop()
