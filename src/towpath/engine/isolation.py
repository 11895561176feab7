"""Operations in a process of their own, with limits that hold and a kill that kills.

The child gets the payload over a pipe and answers over it: events, progress, meter, the result or the error. It never
opens the database. It leads its own process group, so a cancel or a timeout ends whatever it started, too.
"""

from __future__ import annotations

import asyncio
import contextlib
import multiprocessing
import os
import pickle
import resource
import signal
from collections.abc import Awaitable, Callable
from multiprocessing.connection import Connection
from typing import Any

from towpath.core.errors import Category, Fatal, RateLimited, SchemaInvalid, Transient
from towpath.core.outcomes import RetryLater
from towpath.core.reactions import categorise, describe
from towpath.engine.context import Context
from towpath.engine.registry import Operation

_SPAWN = multiprocessing.get_context("spawn")
_SECONDS_TO_DIE = 5.0


class IsolatedContext:
    """What an isolated operation is handed: a pipe to the worker with the words of SyncContext."""

    def __init__(self, pipe: Connection, facts: dict[str, Any]) -> None:
        self._pipe = pipe
        self.id: str = facts["id"]
        self.operation: str = facts["operation"]
        self.tenant: str = facts["tenant"]
        self.attempt: int = facts["attempt"]
        self.trace: str | None = facts["trace"]

    @property
    def cancelled(self) -> bool:
        return False  # a cancelled process is killed, it need not ask

    def emit(
        self, name: str, message: str | None = None, *, level: str = "info", fields: dict[str, Any] | None = None
    ) -> None:
        self._ask("emit", name, message, level=level, fields=fields)

    def progress(self, current: float, total: float | None = None, message: str | None = None) -> None:
        self._ask("progress", current, total, message)

    def meter(self, **used: Any) -> None:
        self._ask("meter", **used)

    def _ask(self, verb: str, *args: Any, **kwargs: Any) -> None:
        """Waits for the answer: an event is durable when emit() returns, here as everywhere."""
        self._pipe.send((verb, args, kwargs))
        error = self._pipe.recv()
        if error is not None:
            raise RuntimeError(error)


def _child(pipe: Connection, run: Any, facts: dict[str, Any], payload: Any, memory_mb: int | None) -> None:
    """The body of the child process."""
    os.setsid()
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    if memory_mb is not None:
        limit = memory_mb * 1024 * 1024
        resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
    ctx = IsolatedContext(pipe, facts)
    try:
        args = (ctx, payload) if facts["takes_payload"] else (ctx,)
        value = asyncio.run(run(*args)) if facts["is_async"] else run(*args)
        pipe.send(("result", (_portable(value),), {}))
    except BaseException as error:
        with contextlib.suppress(Exception):
            pipe.send(("error", (_described(error),), {}))


def _portable(value: Any) -> Any:
    pickle.dumps(value)
    return value


def _described(error: BaseException) -> dict[str, Any]:
    if isinstance(error, RetryLater):
        return {"retry_later": error.reason, "delay": error.delay_seconds}
    if isinstance(error, MemoryError):
        return {"memory": True}
    category = categorise(error)
    extra = {"retry_after": error.retry_after, "budget": error.budget} if isinstance(error, RateLimited) else {}
    return describe(error, category).as_dict() | {"category": category.value} | extra


async def run_isolated(operation: Operation, ctx: Context, payload: Any) -> Any:
    """Runs the operation in a fresh process; whatever ends this call also ends the process and its whole group."""
    ours, theirs = _SPAWN.Pipe()
    facts = {
        "id": ctx.id, "operation": ctx.operation, "tenant": ctx.tenant, "attempt": ctx.attempt, "trace": ctx.trace,
        "takes_payload": operation.takes_payload, "is_async": operation.is_async,
    }  # fmt: skip
    process = _SPAWN.Process(target=_child, args=(theirs, operation.run, facts, payload, operation.memory_mb), daemon=False)
    await asyncio.to_thread(process.start)
    theirs.close()
    try:
        return await _converse(operation, ctx, ours, process)
    finally:
        await asyncio.shield(asyncio.to_thread(_end, process))
        ours.close()


async def _converse(operation: Operation, ctx: Context, pipe: Connection, process: Any) -> Any:
    while True:
        message = await _receive(pipe)
        if message is None:
            await asyncio.to_thread(process.join, _SECONDS_TO_DIE)
            raise Transient(_obituary(operation, process.exitcode), remedy="see the worker's log, then requeue")
        verb, args, kwargs = message
        if verb == "result":
            return args[0]
        if verb == "error":
            raise _rebuilt(operation, args[0])
        await _answer(ctx, pipe, verb, args, kwargs)


async def _answer(ctx: Context, pipe: Connection, verb: str, args: Any, kwargs: Any) -> None:
    try:
        verbs: dict[str, Callable[..., Awaitable[None]]] = {
            "emit": ctx.emit,
            "progress": ctx.progress,
            "meter": ctx.meter,
        }
        await verbs[verb](*args, **kwargs)
    except (ValueError, TypeError) as error:
        pipe.send(str(error))
    else:
        pipe.send(None)


async def _receive(pipe: Connection) -> Any:
    """The next message of the child, or None when it is gone. Waits without a thread, so that a cancel gets through."""
    loop = asyncio.get_running_loop()
    readable = asyncio.Event()
    loop.add_reader(pipe.fileno(), readable.set)
    try:
        await readable.wait()
    finally:
        loop.remove_reader(pipe.fileno())
    try:
        return await asyncio.to_thread(pipe.recv)
    except (EOFError, OSError):
        return None


def _rebuilt(operation: Operation, facts: dict[str, Any]) -> Exception:
    if "retry_later" in facts:
        return RetryLater(facts["retry_later"], facts["delay"])
    if "memory" in facts:
        return Fatal(
            f"it needed more than its memory limit of {operation.memory_mb} MB",
            remedy="raise memory_mb= of the operation, or give it smaller work",
        )
    message, remedy = f"{facts['error_class']}: {facts['message']}", facts.get("remedy")
    match Category(facts["category"]):
        case Category.RATE_LIMITED:
            return RateLimited(message, retry_after=facts.get("retry_after", 30.0), budget=facts.get("budget"))
        case Category.SCHEMA_INVALID:
            return SchemaInvalid(message, remedy=remedy)
        case Category.FATAL:
            return Fatal(message, remedy=remedy)
        case Category.TRANSIENT:
            return Transient(message, remedy=remedy)


def _obituary(operation: Operation, code: int | None) -> str:
    if code is not None and code < 0:
        name = signal.Signals(-code).name if -code in signal.Signals._value2member_map_ else str(-code)
        return f"the process of {operation.name} was killed by {name}"
    return f"the process of {operation.name} ended with exit code {code} and no result"


def _end(process: Any) -> None:
    if process.is_alive():
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, signal.SIGKILL)
        with contextlib.suppress(ProcessLookupError):
            process.kill()
    else:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, signal.SIGKILL)  # what it may have left behind
    process.join(_SECONDS_TO_DIE)
