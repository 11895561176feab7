"""Operations in a process of their own, with limits that hold and a kill that kills.

The child gets the payload over a pipe and answers over it: events, progress, meter, the result or the error. It never
opens the database. It leads its own process group, so a cancel or a timeout ends whatever it started, too.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import multiprocessing
import os
import pickle
import resource
import signal
import threading
from collections.abc import Awaitable, Callable
from functools import partial
from multiprocessing.connection import Connection
from typing import Any

from towpath.core.errors import Category, Fatal, OperationError, RateLimited, SchemaInvalid, Transient
from towpath.core.outcomes import RetryLater
from towpath.core.reactions import ExceptionMap, categorise, describe
from towpath.core.records import Subject
from towpath.engine.registry import Operation
from towpath.engine.running.context import Context
from towpath.engine.running.logs import jot_line, line_of

_SPAWN = multiprocessing.get_context("spawn")
_SECONDS_TO_DIE = 5.0


class IsolatedContext:
    """What an isolated operation is handed: a pipe to the worker with the words of SyncContext."""

    def __init__(self, pipe: Connection, facts: dict[str, Any]) -> None:
        self._pipe, self._turn = pipe, threading.Lock()
        self.id: str = facts["id"]
        self.operation: str = facts["operation"]
        self.tenant: str = facts["tenant"]
        self.attempt: int = facts["attempt"]
        self.trace: str | None = facts["trace"]
        self.subject: Subject | None = facts["subject"]

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
        with self._turn:
            self._pipe.send((verb, args, kwargs))
            error = self._pipe.recv()
        if error is not None:
            raise ValueError(error)


class _Logs(logging.Handler):
    """Sends what the operation logs to the worker, which makes events of it."""

    def __init__(self, ctx: IsolatedContext) -> None:
        super().__init__(logging.INFO)
        self._ctx = ctx

    def emit(self, record: logging.LogRecord) -> None:
        try:
            self._ctx._ask("log", *line_of(record))
        except Exception:  # a log line must never break the operation that wrote it
            self.handleError(record)


def _child(pipe: Connection, run: Any, facts: dict[str, Any], payload: Any, memory_mb: int | None) -> None:
    """The body of the child process."""
    os.setsid()
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_die_with_the_worker, daemon=True).start()
    if memory_mb is not None:
        limit = memory_mb * 1024 * 1024
        resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
    ctx = IsolatedContext(pipe, facts)
    logging.basicConfig(level=facts["log_level"])
    logging.getLogger().addHandler(_Logs(ctx))
    try:
        args = (ctx, payload) if facts["takes_payload"] else (ctx,)
        value = asyncio.run(run(*args)) if facts["is_async"] else run(*args)
        if isinstance(value, RetryLater):
            raise value
        pipe.send(("result", (_portable(value),), {}))
    except BaseException as error:
        with contextlib.suppress(Exception):
            pipe.send(("error", (_described(error),), {}))


def _die_with_the_worker() -> None:
    """A worker that was killed cannot end its children any more: they notice, and take their whole group along."""
    worker = multiprocessing.parent_process()
    if worker is not None:
        worker.join()
        os.killpg(os.getpgrp(), signal.SIGKILL)


def _portable(value: Any) -> Any:
    try:
        pickle.dumps(value)
    except Exception as error:
        raise Fatal(f"a {type(value).__name__} cannot leave its process: {error}", remedy="return plain values") from None
    return value


def _described(error: BaseException) -> dict[str, Any]:
    if isinstance(error, RetryLater):
        return {"retry_later": error.reason, "delay": error.delay_seconds}
    if isinstance(error, MemoryError):
        return {"memory": True}
    category = categorise(error)
    extra = {"retry_after": error.retry_after, "budget": error.budget} if isinstance(error, RateLimited) else {}
    classes = [_full_name(cls) for cls in type(error).__mro__]
    return describe(error, category).as_dict() | {"category": category.value, "classes": classes} | extra


def _full_name(cls: type) -> str:
    return f"{cls.__module__}.{cls.__qualname__}"


async def run_isolated(operation: Operation, ctx: Context, payload: Any) -> Any:
    """Runs the operation in a fresh process; whatever ends this call also ends the process and its whole group."""
    ours, theirs = _SPAWN.Pipe()
    facts = {
        "id": ctx.id, "operation": ctx.operation, "tenant": ctx.tenant, "attempt": ctx.attempt, "trace": ctx.trace,
        "subject": ctx.subject,
        "takes_payload": operation.takes_payload, "is_async": operation.is_async,
        "log_level": logging.getLogger().level,
    }  # fmt: skip
    process = _SPAWN.Process(target=_child, args=(theirs, operation.run, facts, payload, operation.memory_mb), daemon=False)
    started = asyncio.ensure_future(asyncio.to_thread(process.start))
    try:
        await asyncio.shield(started)
        theirs.close()
        return await _converse(operation, ctx, ours, process)
    finally:
        await asyncio.shield(_finish(process, started))
        theirs.close()
        ours.close()


async def _finish(process: Any, started: asyncio.Future[None]) -> None:
    """A start that was interrupted goes on in its thread: only what has been started can be killed."""
    await asyncio.wait({started})
    await asyncio.to_thread(_end, process)


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
            raise _rebuilt(operation, args[0], ctx.exceptions)
        await _answer(ctx, pipe, verb, args, kwargs)


async def _answer(ctx: Context, pipe: Connection, verb: str, args: Any, kwargs: Any) -> None:
    try:
        verbs: dict[str, Callable[..., Awaitable[None]]] = {
            "emit": ctx.emit,
            "progress": ctx.progress,
            "meter": ctx.meter,
            "log": partial(jot_line, ctx),
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


def _rebuilt(operation: Operation, facts: dict[str, Any], registered: ExceptionMap) -> Exception:
    """The error of the other process, as good as our own: same category, same class name, same words."""
    if "retry_later" in facts:
        return RetryLater(facts["retry_later"], facts["delay"])
    if "memory" in facts:
        limit = "there was" if operation.memory_mb is None else f"its memory limit of {operation.memory_mb} MB"
        return Fatal(f"it needed more than {limit}", remedy="raise memory_mb= of the operation, or give it smaller work")
    mapped = {_full_name(cls): category for cls, category in registered.items()}
    error = _of_category(next((mapped[name] for name in facts["classes"] if name in mapped), facts["category"]), facts)
    error.error_class = facts["error_class"]
    return error


def _of_category(category: str, facts: dict[str, Any]) -> OperationError:
    message, remedy = facts["message"], facts.get("remedy")
    match Category(category):
        case Category.RATE_LIMITED:
            return RateLimited(message, retry_after=facts.get("retry_after", 30.0), budget=facts.get("budget"))
        case Category.SCHEMA_INVALID:
            error = SchemaInvalid(message, remedy=remedy)
            error.path = facts.get("path")  # already part of the message
            return error
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
    if process.pid is None:
        return  # it was never started
    if process.is_alive():
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, signal.SIGKILL)
        with contextlib.suppress(ProcessLookupError):
            process.kill()
    else:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, signal.SIGKILL)  # what it may have left behind
    process.join(_SECONDS_TO_DIE)
