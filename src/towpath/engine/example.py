"""The jobs of the example that `towpath up` begins with: told from real work by their names, and removed as a whole."""

from __future__ import annotations

import asyncio
import shutil
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from towpath.config import sqlite_path
from towpath.engine.app import App
from towpath.engine.asking.listing import Wanted, search
from towpath.engine.changing import deleting
from towpath.store.contract import Tx

PREFIX = "example."
"""Of its operations and schedules."""
QUEUES = ("example-collections", "example-documents", "example-dictation")
_MARK, _SAYS = "README.txt", "The example of towpath up. This folder goes with it: towpath example remove\n"
_PAGE = 200
_STATISTICS = ("count_delta", "rollup", "depth", "histogram", "histogram_minute", "usage_delta", "usage", "spend")


@dataclass(frozen=True, slots=True)
class Cleared:
    """How many jobs and schedules went, and how many jobs are still being stopped: asking again removes them."""

    jobs: int
    schedules: int
    left: int


class Demonstration:
    """Kept on an app."""

    def __init__(self) -> None:
        self.on = False


def declare_demonstration(app: App) -> None:
    """Everything of this app is made up, and is to say so wherever it shows."""
    app.part(Demonstration).on = True


def is_demonstration(app: App) -> bool:
    return app.part(Demonstration).on


async def is_there(app: App) -> bool:
    """Whether any of its jobs or schedules is."""
    for queue in QUEUES:
        if (await search(app.services.store, Wanted(queue=queue), limit=1)).jobs:
            return True
    return bool(await _schedules(app))


async def remove(app: App) -> Cleared:
    """Everything of it: schedules first, so that no job comes after; then jobs, what they left in the statistics, files."""
    schedules = await remove_schedules(app)
    jobs = left = 0
    for queue in QUEUES:
        gone, refused = await _remove_jobs(app, queue)
        jobs, left = jobs + gone, left + refused
    if not left:
        await app.services.store.run(_forget)
        await asyncio.to_thread(_remove_folder, folder(app.url))
    return Cleared(jobs, schedules, left)


async def remove_schedules(app: App) -> int:
    plans = await _schedules(app)
    for name in plans:
        await app.schedules.remove(name)
    return len(plans)


async def _schedules(app: App) -> list[str]:
    """Those that enqueue its operations: others may be called an example too."""
    plans = await app.schedules.list()
    return [plan.name for plan in plans if plan.name.startswith(PREFIX) and plan.operation.startswith(PREFIX)]


def folder(url: str) -> Path:
    """Where it keeps its documents, reports and archive: beside its database. On PostgreSQL there is no such place."""
    return sqlite_path(url).parent / "example" if url.startswith("sqlite:") else Path("towpath-example").absolute()


def make_folder(url: str) -> Path:
    """Marked, unless there was one of that name before: somebody else's is never removed."""
    home = folder(url)
    if not home.exists():
        home.mkdir(parents=True)
        (home / _MARK).write_text(_SAYS, "utf-8")
    return home


def _remove_folder(home: Path) -> None:
    with suppress(OSError, UnicodeDecodeError):
        if (home / _MARK).read_text("utf-8") == _SAYS:
            shutil.rmtree(home, ignore_errors=True)


async def _remove_jobs(app: App, queue: str) -> tuple[int, int]:
    jobs, refused, after = 0, 0, None
    while True:
        found = await search(app.services.store, Wanted(queue=queue), after=after, limit=_PAGE)
        roots = sorted({job.root_id for job in found.jobs})
        if roots:
            removed = await deleting.remove(app.services, roots)
            jobs += removed.jobs
            refused += sum(why != "not found" for why in removed.refused.values())
        if found.next is None:
            return jobs, refused
        after = found.next


async def _forget(tx: Tx) -> None:
    for table in _STATISTICS:
        await tx.execute(f"forget_{table}_of", queues=list(QUEUES))
