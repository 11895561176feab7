"""How operations of each kind are run: coroutines here, plain functions in threads, isolated ones in processes."""

from __future__ import annotations

import asyncio
import contextvars
from collections.abc import Awaitable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from towpath.engine.registry import Operation
from towpath.engine.running.bridge import SyncContext
from towpath.engine.running.context import Context
from towpath.engine.running.isolation import run_isolated


class Runners:
    def __init__(self, concurrency: int) -> None:
        self._threads = ThreadPoolExecutor(concurrency, "towpath-operation")

    def run(self, operation: Operation, ctx: Context, payload: Any) -> Awaitable[Any]:
        if operation.isolation == "process":
            return run_isolated(operation, ctx, payload)
        if not operation.is_async:
            return self._in_thread(operation, ctx, payload)
        running: Awaitable[Any] = operation.run(ctx, payload) if operation.takes_payload else operation.run(ctx)
        return running

    async def _in_thread(self, operation: Operation, ctx: Context, payload: Any) -> Any:
        """A thread cannot be killed: whatever happens, the slot stays taken until the function returns."""
        bridge = SyncContext(ctx, asyncio.get_running_loop())
        args = (bridge, payload) if operation.takes_payload else (bridge,)
        call = contextvars.copy_context().run
        future = asyncio.get_running_loop().run_in_executor(self._threads, call, operation.run, *args)
        while not future.done():
            try:
                await asyncio.wait({future})
            except asyncio.CancelledError:
                if ctx.interrupted is None:
                    ctx.interrupted = "shutdown"
        return future.result()

    def close(self) -> None:
        self._threads.shutdown(wait=False, cancel_futures=True)
