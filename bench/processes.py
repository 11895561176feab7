"""Child processes: each measured system gets fresh ones, with the event loop that its own command line uses."""

import asyncio
import json
import multiprocessing
import socket
import time
import traceback
from collections.abc import Callable, Coroutine, Iterator
from contextlib import contextmanager, suppress
from ctypes import c_longlong
from dataclasses import dataclass, field
from functools import partial
from multiprocessing.connection import Connection
from multiprocessing.sharedctypes import RawArray
from pathlib import Path
from typing import Any, Literal, Self, TypeVar

from bench.contender import Contender, EventLoop, Sink

T = TypeVar("T")
SinkKind = Literal["count", "latency"]

_PATIENCE = 30.0
_spawn = multiprocessing.get_context("spawn")


class ChildFailed(Exception):
    """A child process ended with an error; the message carries its traceback."""


def run_on(event_loop: EventLoop, main: Coroutine[Any, Any, T]) -> T:
    if event_loop == "uvloop":
        import uvloop

        with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
            return runner.run(main)
    return asyncio.run(main)


def call(event_loop: EventLoop, function: Callable[..., Coroutine[Any, Any, T]], *arguments: Any) -> T:
    """Run an async function in a process of its own and return what it returns."""
    ours, theirs = _spawn.Pipe()
    child = _spawn.Process(target=_answer, args=(theirs, event_loop, function, arguments), daemon=True)
    child.start()
    theirs.close()
    try:
        succeeded, answer = ours.recv()
    except EOFError:
        raise ChildFailed(f"{function.__qualname__} ended without an answer") from None
    finally:
        child.join()
    if not succeeded:
        raise ChildFailed(answer)
    return answer  # type: ignore[no-any-return]  # a pipe carries anything


def _answer(
    pipe: Connection, event_loop: EventLoop, function: Callable[..., Coroutine[Any, Any, T]], arguments: Any
) -> None:
    try:
        pipe.send((True, run_on(event_loop, function(*arguments))))
    except BaseException:
        pipe.send((False, traceback.format_exc()))


def peak_memory(pid: int) -> int:
    """The most bytes that a process has held in memory so far, as Linux tells it."""
    told = Path(f"/proc/{pid}/status").read_text()
    return next(int(line.split()[1]) for line in told.splitlines() if line.startswith("VmHWM:")) * 1024


@contextmanager
def running(serve: Callable[..., None], *where: Any, port: int) -> Iterator[int]:
    """A child process that serves on a port of this machine: answering on entry, ended on exit. Tells its id."""
    child = _spawn.Process(target=serve, args=(*where, port), daemon=True)
    child.start()
    try:
        assert child.pid is not None
        deadline = time.monotonic() + _PATIENCE
        while not _answers(port):
            if not child.is_alive() or time.monotonic() > deadline:
                raise ChildFailed(f"nobody serves on port {port}; the process's status is {child.exitcode}")
            time.sleep(0.05)
        yield child.pid
    finally:
        child.terminate()
        child.join(10)
        if child.is_alive():
            child.kill()
            child.join()


def free_port() -> int:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return int(found.getsockname()[1])


def _answers(port: int) -> bool:
    with socket.socket() as asking:
        return asking.connect_ex(("127.0.0.1", port)) == 0


@dataclass(frozen=True)
class Scoreboard:
    """Shared memory in which worker processes note what they did; one slot per process, so that nobody locks."""

    processes: int
    samples: int = 0
    counts: Any = field(init=False)
    first: Any = field(init=False)
    latencies: Any = field(init=False)

    def __post_init__(self) -> None:
        for name, size in (("counts", self.processes), ("first", self.processes), ("latencies", self.samples)):
            object.__setattr__(self, name, RawArray(c_longlong, max(1, size)))

    @property
    def handled(self) -> int:
        return int(sum(self.counts))

    @property
    def started_at(self) -> int:
        """When the first handler ran, in nanoseconds of the machine-wide monotonic clock."""
        return int(min(moment for moment in self.first if moment))

    def sink(self, kind: SinkKind, index: int) -> Sink:
        return self._counting(index) if kind == "count" else self._timing(index)

    def _counting(self, index: int) -> Sink:
        counts, first, count = self.counts, self.first, 0

        def handled(_: Any) -> None:
            nonlocal count
            if not count:
                first[index] = time.monotonic_ns()
            count += 1
            counts[index] = count

        return handled

    def _timing(self, index: int) -> Sink:
        counts, latencies = self.counts, self.latencies

        def handled(payload: Any) -> None:
            now = time.monotonic_ns()
            sent = payload if isinstance(payload, dict) else json.loads(payload)
            latencies[counts[index]] = now - sent["sent_at"]
            counts[index] += 1

        return handled


class Workers:
    """Worker processes of one system: started and ready on entry, at work after `go`, stopped on exit."""

    def __init__(self, contender: Contender, url: str, *, batch: int, scoreboard: Scoreboard, sink: SinkKind) -> None:
        self._pipes: list[Connection] = []
        self._children = []
        for index in range(scoreboard.processes):
            ours, theirs = _spawn.Pipe()
            arguments = (theirs, contender, url, batch, partial(scoreboard.sink, sink, index))
            self._children.append(_spawn.Process(target=_work, args=arguments, daemon=True))
            self._children[-1].start()
            theirs.close()
            self._pipes.append(ours)

    def __enter__(self) -> Self:
        for pipe in self._pipes:
            pipe.recv()
        return self

    def go(self) -> None:
        for pipe in self._pipes:
            pipe.send(None)

    def check(self) -> None:
        """Raise if a worker has died or reported an error."""
        for pipe, child in zip(self._pipes, self._children, strict=True):
            if pipe.poll():
                with suppress(EOFError):
                    raise ChildFailed(pipe.recv())
            if not child.is_alive():
                raise ChildFailed(f"a worker process ended with status {child.exitcode}")

    def __exit__(self, *_: object) -> None:
        for pipe in self._pipes:
            pipe.close()
        for child in self._children:
            child.join(10)
            if child.is_alive():
                child.kill()
                child.join()


def _work(pipe: Connection, contender: Contender, url: str, batch: int, make_sink: Callable[[], Sink]) -> None:
    async def main() -> None:
        stopped = asyncio.Event()
        pipe.send(None)
        pipe.recv()
        # From now on the pipe says one thing: that the parent closed its end.
        asyncio.get_running_loop().add_reader(pipe.fileno(), stopped.set)
        work = asyncio.ensure_future(contender.work(url, batch, make_sink()))
        stop = asyncio.ensure_future(stopped.wait())
        await asyncio.wait((work, stop), return_when=asyncio.FIRST_COMPLETED)
        stop.cancel()
        work.cancel()
        with suppress(asyncio.CancelledError):
            await work

    try:
        run_on(contender.event_loop, main())
    except Exception:
        with suppress(OSError):
            pipe.send(traceback.format_exc())
