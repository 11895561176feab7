"""Things that are opened once per worker process and shared by its jobs: a loaded model, an HTTP client."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Callable
from contextlib import AsyncExitStack
from typing import Any

from towpath.core.errors import ConfigurationError


class Resources:
    """`await resources.get(name)` opens it the first time; all are closed, in reverse order, with the last worker."""

    def __init__(self, factories: dict[str, Callable[[], Any]]) -> None:
        self._factories = factories
        self._opened: dict[str, Any] = {}
        self._locks: dict[str, asyncio.Lock] = {}
        self._stack = AsyncExitStack()
        self._workers = 0

    def hold(self) -> None:
        """A worker of this process has started."""
        self._workers += 1

    async def let_go(self) -> None:
        """A worker has stopped; the last one closes the door."""
        self._workers -= 1
        if self._workers <= 0:
            await self.close()

    async def get(self, name: str) -> Any:
        if name in self._opened:
            return self._opened[name]
        if name not in self._factories:
            known = ", ".join(sorted(self._factories)) or "none"
            raise ConfigurationError(
                f"no resource is named {name!r} (known: {known}); register it with @app.resource({name!r})"
            )
        async with self._locks.setdefault(name, asyncio.Lock()):
            if name not in self._opened:
                self._opened[name] = await self._open(self._factories[name])
        return self._opened[name]

    async def _open(self, factory: Callable[[], Any]) -> Any:
        """A factory may be a function, a coroutine function, or either kind of context manager."""
        if inspect.isasyncgenfunction(factory) or inspect.isgeneratorfunction(factory):
            raise ConfigurationError(f"{factory.__qualname__} yields; decorate it with contextlib's (async)contextmanager")
        made = factory() if inspect.iscoroutinefunction(factory) else await asyncio.to_thread(factory)
        if inspect.isawaitable(made):
            made = await made
        if hasattr(made, "__aenter__") and hasattr(made, "__aexit__"):
            return await self._stack.enter_async_context(made)
        if hasattr(made, "__enter__") and hasattr(made, "__exit__"):
            return self._stack.enter_context(made)
        return made

    async def close(self) -> None:
        self._opened.clear()
        await self._stack.aclose()
        self._stack = AsyncExitStack()
