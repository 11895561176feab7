"""A real server on a port of its own, in a thread: for tests that speak HTTP from outside."""

import asyncio
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import uvicorn

from tests.engine.working import ended, working
from tests.server.api.site import Site, opened_site
from towpath import App, Settings
from towpath.server import attach


@dataclass
class Live:
    url: str = ""
    secrets: dict[str, str] = field(default_factory=dict)
    """Tokens by person; `reader` is one of ann's that may only look."""
    jobs: list[str] = field(default_factory=list)
    stop: Callable[[], object] = field(default=lambda: None)

    def headers(self, name: str) -> dict[str, str]:
        return {"Authorization": f"Bearer {self.secrets[name]}"}


class _SoonGone:
    """Lets streams end by themselves: their client goes away a moment after it has come."""

    def __init__(self, inside: Any) -> None:
        self._inside = inside

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        async def leave() -> Any:
            await asyncio.sleep(0.05)
            return {"type": "http.disconnect"}

        status = 0

        async def watched(message: Any) -> None:
            nonlocal status
            status = message.get("status", status)
            await send(message)

        if scope["type"] != "http" or scope["path"] != "/api/events" or scope["method"] != "GET":
            await self._inside(scope, receive, send)
            return
        await self._inside(scope, leave, watched)
        if status == 200:
            await send({"type": "http.response.body", "body": b"", "more_body": False})


@contextmanager
def live_server(url: str, folder: Path) -> Iterator[Live]:
    """With people of three tenants and some jobs of every kind."""
    live, ready, failed = Live(), threading.Event(), []
    thread = threading.Thread(target=lambda: asyncio.run(_main(url, folder, live, ready, failed)))
    thread.start()
    try:
        assert ready.wait(60), "the server did not start"
        if failed:
            raise failed[0]
        yield live
    finally:
        live.stop()
        thread.join(30)


async def _main(url: str, folder: Path, live: Live, ready: threading.Event, failed: list[BaseException]) -> None:
    loop, stop = asyncio.get_running_loop(), asyncio.Event()
    live.stop = lambda: loop.call_soon_threadsafe(stop.set)
    settings = Settings(blobs_url=(folder / "blobs").as_uri(), poll_seconds=0.2, drain_seconds=0.2, allow_private_urls=True)
    try:
        async with opened_site(App(url, settings=settings)) as site:
            live.jobs = await _some_jobs(site)
            live.secrets = dict(site.secrets)
            async with await site.person("ann", scopes=("read",)):
                live.secrets["reader"] = site.secrets["ann"]
            config = uvicorn.Config(_SoonGone(site.api), port=0, lifespan="off", log_config=None, ws="none")
            server = uvicorn.Server(config)
            serving = asyncio.create_task(server.serve())
            while not server.started and not serving.done():  # noqa: ASYNC110  (uvicorn sets no event for it)
                await asyncio.sleep(0.01)
            live.url = f"http://127.0.0.1:{server.servers[0].sockets[0].getsockname()[1]}"
            ready.set()
            await stop.wait()
            server.should_exit = True
            await serving
    except BaseException as error:
        failed.append(error)
        raise
    finally:
        ready.set()


async def _some_jobs(site: Site) -> list[str]:
    jobs = await site.app.enqueue_many(
        {"operation": operation, "payload": payload, "tenant": "north"}
        for operation, payload in (("greet", {"name": "n"}), ("break", "x"), ("fan", {"children": 2}), ("long", 300_000))
    )
    async with working(site.app):
        for job in jobs:
            await ended(site.app, job)
    waiting = await site.app.enqueue("hold", 1, tenant="north", delay=3600)
    return [*(job.id for job in jobs), waiting.id]


@contextmanager
def worker_on(folder: Path, *queues: str) -> Iterator[None]:
    """A worker for the server whose database and blobs are in that folder, in a thread of its own."""
    settings = Settings(blobs_url=(folder / "blobs").as_uri(), poll_seconds=0.1, drain_seconds=0.2, allow_private_urls=True)
    app = attach(App(f"sqlite:///{folder}/jobs.db", settings=settings))
    ready, stop = threading.Event(), threading.Event()

    async def work() -> None:
        async with app, working(app, *queues):
            ready.set()
            await asyncio.to_thread(stop.wait)

    thread = threading.Thread(target=lambda: asyncio.run(work()))
    thread.start()
    try:
        assert ready.wait(30)
        yield
    finally:
        stop.set()
        thread.join(30)
