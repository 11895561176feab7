"""Real servers on loopback ports: in the test's own process, or in one of their own that can be killed."""

import asyncio
import contextlib
import socket
import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path

import httpx
import uvicorn
from starlette.types import ASGIApp

from towpath import App, Context, Settings

PATIENCE = 60.0  # seconds after which a wait in a test has failed; never a measure of speed


class _Server(uvicorn.Server):
    """Leaves the signals of the test process alone."""

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield


def listening_socket() -> socket.socket:
    found = socket.socket()
    found.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    found.bind(("127.0.0.1", 0))
    return found


def free_port() -> int:
    with listening_socket() as found:
        return int(found.getsockname()[1])


@asynccontextmanager
async def serving(api: ASGIApp, *, lifespan: str = "on") -> AsyncIterator[str]:
    """The server's address. Leaving the block shuts it down as a signal would, except that streams are not told."""
    found = listening_socket()
    server = _Server(uvicorn.Config(api, log_config=None, lifespan=lifespan, timeout_graceful_shutdown=10))
    running = asyncio.create_task(server.serve(sockets=[found]))
    try:
        async with asyncio.timeout(PATIENCE):
            while not server.started:  # noqa: ASYNC110  (uvicorn sets no event)
                await asyncio.sleep(0.005)
        yield f"http://127.0.0.1:{found.getsockname()[1]}"
    finally:
        server.should_exit = True
        async with asyncio.timeout(PATIENCE):
            await running


class ServerProcess:
    """`python -m tests.server.push.process`: a server that takes signals like any other."""

    def __init__(self, url: str, port: int) -> None:
        self._command = [sys.executable, "-m", "tests.server.push.process", url, str(port)]
        self.address = f"http://127.0.0.1:{port}"
        self._process: asyncio.subprocess.Process | None = None

    async def start(self) -> None:
        self._process = await asyncio.create_subprocess_exec(*self._command, cwd=Path(__file__).parents[3])
        async with asyncio.timeout(PATIENCE), httpx.AsyncClient() as client:
            while True:
                with contextlib.suppress(httpx.TransportError):
                    await client.get(f"{self.address}/healthz")
                    return
                assert self._process.returncode is None, "the server process ended"
                await asyncio.sleep(0.05)

    async def kill(self) -> None:
        if self._process is not None and self._process.returncode is None:
            self._process.kill()
            await self._process.wait()

    async def terminate(self) -> int:
        """Its exit status after SIGTERM."""
        assert self._process is not None
        self._process.terminate()
        async with asyncio.timeout(PATIENCE):
            return await self._process.wait()


def make_app(url: str, blobs: str | None = None) -> App:
    """The app that servers and workers of these tests run."""
    settings = Settings(blobs_url=blobs or "", poll_seconds=0.2, drain_seconds=0.2, pool_size=6)
    app = App(url, settings=settings)

    @app.operation("work", public=True)
    async def work(ctx: Context, words: int | None) -> str:
        for number in range(words or 0):
            await ctx.emit("word", f"word {number}", fields={"n": number})
        return "a result that no stream shows"

    return app
