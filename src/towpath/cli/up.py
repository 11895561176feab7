"""towpath up: a small real example, end to end, in one process."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Annotated

import typer
from rich.live import Live

from towpath.cli.example.board import Board, Line
from towpath.cli.example.display import Display, told
from towpath.cli.example.documents import SHELVES, write_documents
from towpath.cli.example.summary import Outcome, print_summary
from towpath.cli.opening import run
from towpath.cli.screen import console
from towpath.core.errors import StoreUnavailable
from towpath.core.lifecycle import State
from towpath.core.records import Job
from towpath.engine.app import App

_CONCURRENCY = 4
_PATIENCE = 300.0


def up(
    data: Annotated[Path, typer.Option("--data", metavar="DIR", help="Where everything is kept; made if missing.")] = Path(
        "towpath-data"
    ),
    plain: Annotated[bool, typer.Option("--plain", help="Plain lines instead of the live display.")] = False,
) -> None:
    """Runs a small real example with live progress: three tenants have their documents read and packed.

    Documents are written to DIR; a worker in this process reads, measures and packs them as jobs in a SQLite database
    there. A service is not ready at first, so some jobs are retried; one document is broken, so it lands in the inbox.
    It ends by itself and says what to try next. Nothing is deleted: running it again adds to what is there.

    \b
    Examples:
      towpath up
      towpath up --data /tmp/towpath-tour
    """
    run(_up(data.absolute(), plain))


async def _up(data: Path, plain: bool) -> None:
    from towpath.cli.example.pipeline import app

    screen = console()
    folders = await asyncio.to_thread(write_documents, data / "documents")
    app.url = f"sqlite:///{data / 'jobs.db'}"
    count = sum(shelf.documents for shelf in SHELVES)
    screen.print(f"{count} documents of {len(SHELVES)} tenants in {data}", soft_wrap=True)
    board, began = Board(), time.monotonic()
    with _log_to(data / "towpath.log"):
        async with app:
            if screen.is_terminal and not plain:
                with Live(Display(board, app.url), console=screen, refresh_per_second=10, transient=True):
                    roots = await _work(app, board, folders, data, lambda _: None)
            else:
                roots = await _work(app, board, folders, data, lambda line: screen.print(told(line)))
            failed = [await app.get(job_id) for job_id, seen in board.jobs.items() if seen.state is State.FAILED]
    print_summary(screen, Outcome(board, roots, failed, time.monotonic() - began, data, app.url))


async def _work(app: App, board: Board, folders: dict[str, Path], data: Path, tell: Callable[[Line], object]) -> list[Job]:
    """Runs the worker, the listener and the jobs together; answers the root jobs as they ended."""
    board.cursor = await app.services.store.stream_start()
    listener = asyncio.create_task(_listen(app, board, tell, follow=True))
    worker = asyncio.create_task(app.run_worker(concurrency=_CONCURRENCY, name="towpath up"))
    jobs = asyncio.create_task(_enqueue_and_wait(app, folders, data))
    try:
        done, _ = await asyncio.wait({listener, worker, jobs}, timeout=_PATIENCE, return_when=asyncio.FIRST_COMPLETED)
        for task in done - {jobs}:
            task.result()
        if jobs not in done:
            raise StoreUnavailable(f"the example did not end within {_PATIENCE:.0f} s; see {data / 'towpath.log'}")
        roots = jobs.result()
    finally:
        for task in (jobs, worker, listener):
            task.cancel()
        await asyncio.gather(jobs, worker, listener, return_exceptions=True)
    await _listen(app, board, tell, follow=False)
    return roots


async def _enqueue_and_wait(app: App, folders: dict[str, Path], data: Path) -> list[Job]:
    reading = await app.enqueue_many(
        {
            "operation": "collection.read",
            "tenant": tenant,
            "payload": {
                "folder": str(folder),
                "report": str(data / "reports" / f"{tenant}.md"),
                "archive": str(data / "archive" / tenant),
            },
        }
        for tenant, folder in folders.items()
    )
    read = [await _ended(app, job.id) for job in reading]
    packed = [await _ended(app, job.result["packing"]) for job in read if job.result]
    return [*read, *packed]


async def _ended(app: App, job_id: str) -> Job:
    async for _ in app.events(job_id=job_id, follow=True):
        pass
    return await app.get(job_id)


async def _listen(app: App, board: Board, tell: Callable[[Line], object], *, follow: bool) -> None:
    async for event in app.events(after=board.cursor, follow=follow):
        if not board.knows(event.job_id):
            board.meet(await app.get(event.job_id))
        if line := board.hear(event):
            tell(line)


@contextlib.contextmanager
def _log_to(path: Path) -> Iterator[None]:
    """The engine's own log, out of the way of the display."""
    handler = logging.FileHandler(path, encoding="utf-8")
    handler.setFormatter(logging.Formatter("%(asctime)s %(levelname)s %(name)s: %(message)s"))
    engine = logging.getLogger("towpath")
    level, propagate = engine.level, engine.propagate
    engine.addHandler(handler)
    engine.setLevel(logging.INFO)
    engine.propagate = False
    try:
        yield
    finally:
        engine.removeHandler(handler)
        engine.setLevel(level)
        engine.propagate = propagate
        handler.close()
