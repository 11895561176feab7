"""Named points that the tests can stop at, or die at. Nothing happens at them unless a test has installed a hook.

They stand where an interleaving or a crash could matter: between locking and writing, before and after a commit, between
a handler's end and its settle. The hook may return an awaitable to pause there (on SQLite it must not: a unit runs
straight through, and the write lock leaves no room for anybody else anyway).
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable

Hook = Callable[[str], Awaitable[None] | None]
_hook: Hook | None = None


def install(hook: Hook | None) -> None:
    """For tests only: called with the name of every point that is reached in this process; None takes it away."""
    global _hook  # noqa: PLW0603  (one hook per process is the point)
    _hook = hook


async def reach(name: str) -> None:
    if _hook is not None:
        pause = _hook(name)
        if pause is not None:
            await pause


def touch(name: str) -> None:
    """`reach` for code in threads: the hook can kill or block here, but not be awaited."""
    if _hook is not None:
        _hook(name)
