"""How an entry of an operation ended, as values. They become transitions in one place, `engine/running/execution.py`; what
is to follow from a failure is decided in `reactions.py`."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any

from towpath.core.encoding import plain
from towpath.core.errors import Fatal, OperationError, RateLimited, SchemaInvalid, TowpathError, Transient


@dataclass(frozen=True, slots=True)
class Done:
    """It worked. Returning a plain value means the same."""

    result: Any = None


@dataclass(frozen=True, slots=True)
class Partial:
    """It worked in part; `warning` says what is missing."""

    result: Any = None
    warning: str | None = None


@dataclass(frozen=True, slots=True)
class Deferred:
    """The operation is done, the job is not: its spawned children will close it."""

    result: Any = None


class RetryLater(TowpathError):
    """Not now: back to the queue after `delay_seconds`, using up no attempt. Raise it or return it."""

    def __init__(self, reason: str = "not now", delay_seconds: float = 60.0) -> None:
        if not delay_seconds >= 0:
            raise ValueError(f"delay_seconds must be zero or more, got {delay_seconds!r}")
        super().__init__(reason)
        self.reason = reason
        self.delay_seconds = min(float(delay_seconds), 365 * 86400.0)


class Suspend(BaseException):
    """Leaves the operation until something wakes the job. A BaseException, so `except Exception` does not catch it."""

    def __init__(self, reason: str, *, wakes_seen: int, deadline: Any = None) -> None:
        super().__init__(reason)
        self.reason = reason
        self.wakes_seen = wakes_seen
        self.deadline = deadline


@dataclass(frozen=True, slots=True)
class Failure:
    """What is recorded of an error: never more than a person may see, and always something a database can store."""

    kind: str
    error_class: str
    message: str
    remedy: str | None = None
    detail: dict[str, Any] = field(default_factory=dict)

    def as_dict(self) -> dict[str, Any]:
        value: dict[str, Any] = {"kind": self.kind, "error_class": self.error_class, "message": self.message}
        if self.remedy:
            value["remedy"] = self.remedy
        return {name: plain(text) if isinstance(text, str) else text for name, text in (value | self.detail).items()}

    @property
    def group(self) -> str:
        """The message with its numbers, ids and quoted names taken out, so that one cause is one group."""
        return plain(fingerprint(self.message))


_VARIABLE = re.compile(
    r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}|0x[0-9a-fA-F]+|'[^']{1,80}'|\"[^\"]{1,80}\"|\d+(\.\d+)?"
)


def fingerprint(message: str) -> str:
    return _VARIABLE.sub("…", message)[:200]


_KINDS: dict[str, type[OperationError]] = {
    "ratelimited": RateLimited,
    "transient": Transient,
    "schemainvalid": SchemaInvalid,
    "fatal": Fatal,
}


def outcome_from_envelope(envelope: dict[str, Any]) -> Done:
    """The verdict of a remote handler that answers `{status, error_kind, message, retry_after, output}`; `result` means the
    same as `output`.

    An ok envelope gives its result; any other raises the category it names. An unknown kind is Transient, because
    retrying a thing we do not understand is cheaper than losing it.
    """
    kind = re.sub(r"[^a-z]", "", str(envelope.get("error_kind") or "").lower())
    if not kind and str(envelope.get("status", "ok")).lower() in ("ok", "success", "succeeded"):
        return Done(envelope["output"] if "output" in envelope else envelope.get("result"))
    message = str(envelope.get("message") or envelope.get("error") or "the remote handler reported a failure")
    error = _KINDS.get(kind, Transient)
    if error is RateLimited:
        budget = envelope.get("budget")
        raise RateLimited(message, retry_after=_seconds(envelope.get("retry_after")), budget=str(budget) if budget else None)
    raise error(message)


_USUAL_WAIT = 30.0


def _seconds(said: Any) -> float:
    """What a handler asks us to wait; whatever is no number of seconds says nothing."""
    try:
        wait = float(said)
    except (TypeError, ValueError):
        return _USUAL_WAIT
    return wait if 0 <= wait < float("inf") else _USUAL_WAIT
