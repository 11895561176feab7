"""The app for code without an event loop: Django, Flask, scripts.

There is one engine, and it is async. This facade sends each call to an event loop and waits for the answer: to the loop
the app is already open in, if there is one (sync views of an async server), else to a loop of its own in a thread that
the first call starts.
"""

from __future__ import annotations

import asyncio
import atexit
import os
import threading
from collections.abc import Awaitable, Callable, Iterable
from concurrent.futures import CancelledError, Future
from typing import TYPE_CHECKING, Any, NamedTuple, Self, TypeVar

from towpath.core.errors import ConfigurationError, StoreUnavailable
from towpath.core.records import Job

if TYPE_CHECKING:
    from towpath.engine.app import App

T = TypeVar("T")


class Home(NamedTuple):
    """Where an app is open. Neither its connections nor its event loop survive a fork."""

    pid: int
    loop: asyncio.AbstractEventLoop


class SyncApp:
    """Blocking calls to an app, from any number of threads. `app.sync()` makes it; it opens with its first call.

    As a context manager it closes the app again. Left open, as in a web process, it closes when the process ends.
    """

    def __init__(self, app: App) -> None:
        self._app = app
        self._lock = threading.Lock()
        self._thread: threading.Thread | None = None
        self._stop: asyncio.Event | None = None
        self._calls: set[asyncio.Task[Any]] = set()

    def __enter__(self) -> Self:
        self.open()
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def enqueue(self, operation: str, payload: Any = None, **options: Any) -> Job:
        """Adds a job, with the options of `App.enqueue`."""
        return self.run(self._app.enqueue, operation, payload, **options)

    def enqueue_many(self, jobs: Iterable[dict[str, Any]]) -> list[Job]:
        """Adds many jobs in one round trip, all or none."""
        return self.run(self._app.enqueue_many, jobs)

    def get(self, job_id: str) -> Job:
        return self.run(self._app.get, job_id)

    def result(self, job_id: str, timeout: float | None = None) -> Any:
        """Blocks until the job has ended; JobFailed, JobCancelled or ResultTimeout if there is no result."""
        return self.run(self._app.result, job_id, timeout)

    def cancel(self, job_id: str, reason: str | None = None) -> bool:
        return self.run(self._app.cancel, job_id, reason)

    def signal(self, job_id: str, name: str, payload: Any = None) -> None:
        self.run(self._app.signal, job_id, name, payload)

    def run(self, function: Callable[..., Awaitable[T]], *args: Any, **kwargs: Any) -> T:
        """Calls any coroutine function in the app's event loop and waits: `jobs.run(app.explain, job_id)`."""
        self._refuse_misuse()
        with self._lock:  # so that nobody closes the loop before the call is on its way
            loop = self._loop()
            call: Future[T] = asyncio.run_coroutine_threadsafe(self._call(function(*args, **kwargs)), loop)
        try:
            return call.result()
        except CancelledError:
            raise StoreUnavailable("the app was closed while this call was under way") from None
        except BaseException:
            call.cancel()  # a Ctrl-C here ends the wait there, too
            raise

    def open(self) -> None:
        """Opens the app now rather than with the first call, to learn at once of a database that does not answer."""
        self._refuse_misuse()
        with self._lock:
            self._loop()

    def close(self) -> None:
        """Closes what this facade has opened; calls that are still waiting get StoreUnavailable."""
        home = self._app.home
        if home is not None and home.pid != os.getpid():
            return  # a forked child has none of this to close
        with self._lock:
            thread, self._thread, home = self._thread, None, self._app.home
            atexit.unregister(self.close)
            if thread is None or home is None or self._stop is None:
                return
            home.loop.call_soon_threadsafe(self._stop.set)
            thread.join()

    def _loop(self) -> asyncio.AbstractEventLoop:
        loop = (self._app.home or self._start()).loop
        if loop.is_closed():
            raise ConfigurationError(
                "the event loop this app was opened in has ended; leave `async with app:` before it does"
            )
        return loop

    def _refuse_misuse(self) -> None:
        if _in_event_loop():
            raise ConfigurationError(
                "app.sync() blocks, and this thread runs an event loop that it would stop; await the app's own methods here"
            )
        home = self._app.home
        if home is not None and home.pid != os.getpid():
            raise ConfigurationError(
                f"the app was opened in process {home.pid} and this one ({os.getpid()}) was forked from it; connections do "
                f"not survive a fork. Open it after the fork: let the first call do it, or close it before forking"
            )

    def _start(self) -> Home:
        opened: Future[Home] = Future()
        thread = threading.Thread(target=self._run, args=[opened], name="towpath-sync", daemon=True)
        thread.start()
        self._thread = thread
        try:
            home = opened.result()
        except Exception:
            self._thread = None
            thread.join()
            raise
        atexit.register(self.close)
        return home

    def _run(self, opened: Future[Home]) -> None:
        """Not `asyncio.run`: that ends by starting a thread, which the interpreter refuses when it is ending itself."""
        loop = asyncio.new_event_loop()
        try:
            loop.run_until_complete(self._live(opened))
            loop.run_until_complete(loop.shutdown_asyncgens())
        finally:
            loop.close()

    async def _live(self, opened: Future[Home]) -> None:
        self._stop = asyncio.Event()
        try:
            await self._app.open()
        except BaseException as error:
            opened.set_exception(error)
            return
        opened.set_result(Home(os.getpid(), asyncio.get_running_loop()))
        try:
            await self._stop.wait()
            for call in self._calls:
                call.cancel()
            await asyncio.gather(*self._calls, return_exceptions=True)
        finally:
            await self._app.close()

    async def _call(self, work: Awaitable[T]) -> T:
        task = asyncio.current_task()
        assert task is not None
        self._calls.add(task)
        try:
            return await work
        finally:
            self._calls.discard(task)


def _in_event_loop() -> bool:
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return False
    return True
