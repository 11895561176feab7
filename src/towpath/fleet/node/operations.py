"""What a remote worker can do: one object in, one object out, settings, and a context to tell how it goes."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol, TypeVar

from towpath import ConfigurationError
from towpath.fleet.messages import FailureKind, Note, Used

T = TypeVar("T")
_MOST_WAITING = 100
_MOST_FIELDS, _MOST_AT_ONCE = 8 * 1024, 128 * 1024


@dataclass(slots=True)
class RemoteContext:
    """`input` is the object, whole and checked; the operation writes its result to `output`."""

    task: str
    attempt: int
    name: str
    settings: dict[str, Any]
    input: Path
    output: Path
    current: float | None = None
    total: float | None = None
    message: str | None = None
    notes: list[Note] = field(default_factory=list)
    used: list[Used] = field(default_factory=list)
    _numbered: int = 0
    _stopping: asyncio.Event = field(default_factory=asyncio.Event)

    async def emit(
        self, name: str, message: str | None = None, *, level: str = "info", fields: dict[str, Any] | None = None
    ) -> None:
        """Writes a line of the task's history; it goes out with the next heartbeat."""
        self._numbered += 1
        if fields is not None and (size := len(json.dumps(fields, default=str))) > _MOST_FIELDS:
            fields = {"truncated": True, "bytes": size}
        told = {"number": self._numbered, "name": name, "message": message, "level": level, "fields": fields}
        if len(self.notes) < _MOST_WAITING:
            self.notes.append(Note.model_validate(told))

    async def progress(self, current: float, total: float | None = None, message: str | None = None) -> None:
        self.current, self.total = current, total if total is not None else self.total
        self.message = message if message is not None else self.message

    async def meter(self, **used: Any) -> None:
        """`model`, `tokens_in`, `tokens_out` and `cost_cents`, as in a job."""
        self.used.append(Used.model_validate(used))
        if len(self.used) > _MOST_WAITING:
            self.used[-2:] = [_sum(*self.used[-2:])]

    @property
    def cancelled(self) -> bool:
        """Whether to stop: the task was cancelled, or somebody else has it by now."""
        return self._stopping.is_set()

    def stop(self) -> None:
        self._stopping.set()

    async def in_thread(self, function: Callable[..., T], *args: Any) -> T:
        return await asyncio.to_thread(function, *args)


def fitting(notes: Sequence[Note]) -> list[Note]:
    """The first of them, as many as fit into one report."""
    size, some = 0, []
    for note in notes:
        size += len(note.model_dump_json())
        if size > _MOST_AT_ONCE:
            break
        some.append(note)
    return some


def _sum(one: Used, other: Used) -> Used:
    def both(name: str) -> Any:
        given = [value for value in (getattr(one, name), getattr(other, name)) if value is not None]
        return sum(given) if given else None

    return Used(model=other.model, tokens_in=both("tokens_in"), tokens_out=both("tokens_out"), cost_cents=both("cost_cents"))


class RemoteFunction(Protocol):
    def __call__(self, ctx: RemoteContext, /) -> Awaitable[None]: ...


@dataclass(frozen=True, slots=True)
class RemoteOperation:
    name: str
    function: RemoteFunction
    kind: FailureKind


_known: dict[str, RemoteOperation] = {}


def remote_operation(name: str, *, kind: FailureKind = "operation") -> Callable[[RemoteFunction], RemoteFunction]:
    """Adds something that remote workers can do. `kind` is what its failures are counted as."""

    def register(function: RemoteFunction) -> RemoteFunction:
        if name in _known and _known[name].function is not function:
            raise ConfigurationError(f"two remote operations are named {name!r}")
        _known[name] = RemoteOperation(name, function, kind)
        return function

    return register


def operation(name: str) -> RemoteOperation | None:
    return _known.get(name)


def names() -> list[str]:
    return sorted(_known)
