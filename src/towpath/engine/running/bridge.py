"""The context of plain (non-async) operations: the same words, blocking. It never touches the database itself."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from typing import Any

from towpath.core.records import Subject
from towpath.engine.running.context import Context


class SyncContext:
    """What a function in a thread is handed. Waits and steps need an async operation."""

    def __init__(self, ctx: Context, loop: asyncio.AbstractEventLoop) -> None:
        self._ctx = ctx
        self._loop = loop
        self.resources = SyncResources(self)

    @property
    def id(self) -> str:
        return self._ctx.id

    @property
    def operation(self) -> str:
        return self._ctx.operation

    @property
    def tenant(self) -> str:
        return self._ctx.tenant

    @property
    def attempt(self) -> int:
        return self._ctx.attempt

    @property
    def trace(self) -> str | None:
        return self._ctx.trace

    @property
    def subject(self) -> Subject | None:
        return self._ctx.subject

    @property
    def cancelled(self) -> bool:
        """Ask now and then: a thread cannot be interrupted, it has to stop by itself."""
        return self._ctx.cancelled

    def emit(
        self, name: str, message: str | None = None, *, level: str = "info", fields: dict[str, Any] | None = None
    ) -> None:
        self.wait(self._ctx.emit(name, message, level=level, fields=fields))

    def progress(self, current: float, total: float | None = None, message: str | None = None) -> None:
        self.wait(self._ctx.progress(current, total, message))

    def meter(self, **used: Any) -> None:
        self.wait(self._ctx.meter(**used))

    def enqueue(self, operation: str, payload: Any = None, **options: Any) -> str:
        return self._ctx.enqueue(operation, payload, **options)

    def wait(self, work: Coroutine[Any, Any, Any]) -> Any:
        return asyncio.run_coroutine_threadsafe(work, self._loop).result()


class SyncResources:
    def __init__(self, bridge: SyncContext) -> None:
        self._bridge = bridge

    def get(self, name: str) -> Any:
        return self._bridge.wait(self._bridge._ctx.resources.get(name))
