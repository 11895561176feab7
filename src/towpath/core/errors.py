"""Every error Towpath raises, in one tree.

    TowpathError
    ├── OperationError           an operation's own verdict on its failure; its category decides the reaction
    │   ├── Transient            try again with backoff, up to the cap
    │   ├── RateLimited          wait on a budget, no attempt is used up
    │   ├── SchemaInvalid        same input, same failure: straight to the inbox
    │   └── Fatal                a person has to look: straight to the inbox
    │       ├── HistoryMismatch  the record and the code disagree about a step
    │       ├── StepNameReused   two steps of one entry share a name
    │       ├── WaitRefused      a wait inside a step or inside parallel()
    │       └── ChildrenFailed   a gather had children that did not succeed
    ├── WaitTimeout              wait_for() ran into its timeout
    ├── LeaseLost                this attempt no longer owns the job; nothing it writes counts
    ├── JobNotFound, QueueNotFound, ScheduleNotFound, NameTaken, UnknownOperation, NotRequeueable, JobFailed, JobCancelled,
    │   ResultTimeout
    ├── StreamReset              a stream of events cannot go on from the token it was given
    ├── EncodingError            a value that JSON cannot carry faithfully
    │   └── PayloadTooLarge
    ├── ConfigurationError       wrong setting, URL, or a component that is too old
    └── StoreUnavailable         the database cannot be reached or refuses work right now

Messages say what happened, what was given and what to do.
"""

from __future__ import annotations

from collections.abc import Collection
from enum import StrEnum
from typing import Any

from towpath.core.naming import listed, meant


class Category(StrEnum):
    """How the engine reacts to a failure. The reactions themselves are in `reactions.py`."""

    TRANSIENT = "transient"
    RATE_LIMITED = "rate_limited"
    SCHEMA_INVALID = "schema_invalid"
    FATAL = "fatal"


class TowpathError(Exception):
    """Base of everything Towpath raises on purpose."""


class OperationError(TowpathError):
    """A failure whose category the operation knows."""

    category = Category.TRANSIENT

    def __init__(self, message: str = "", *, remedy: str | None = None) -> None:
        super().__init__(message or self.__class__.__name__)
        self.remedy = remedy
        self.error_class = self.__class__.__name__  # as recorded; another process's error keeps its own


class Transient(OperationError):
    """Likely to go away by itself: retried with backoff up to the cap."""


class RateLimited(OperationError):
    """The other side asked us to slow down. Every worker of `budget` waits until `retry_after` seconds have passed."""

    category = Category.RATE_LIMITED

    def __init__(
        self,
        message: str = "rate limited",
        *,
        retry_after: float = 30.0,
        budget: str | None = None,
        remedy: str | None = None,
    ) -> None:
        super().__init__(message, remedy=remedy)
        if not retry_after >= 0:
            raise ValueError(f"retry_after must be zero or more seconds, got {retry_after!r}")
        self.retry_after = min(float(retry_after), 365 * 86400.0)  # nobody means what they ask beyond a year
        self.budget = budget


class SchemaInvalid(OperationError):
    """The input or output has the wrong shape. `path` names the field."""

    category = Category.SCHEMA_INVALID

    def __init__(self, message: str = "", *, path: str | None = None, remedy: str | None = None) -> None:
        super().__init__(f"{path}: {message}" if path else message, remedy=remedy)
        self.path = path


class Fatal(OperationError):
    """Retrying cannot help; the job goes to the inbox."""

    category = Category.FATAL


class HistoryMismatch(Fatal):
    """A recorded step has the same name as this one but is another kind of thing."""


class StepNameReused(Fatal):
    """A step name was used twice in one entry."""


class WaitRefused(Fatal):
    """A wait was asked for where the job cannot be suspended."""


class ChildrenFailed(Fatal):
    """Some children of a gather did not succeed."""

    def __init__(self, message: str, *, children: Any = None) -> None:
        super().__init__(message, remedy="requeue the failed children, or gather with partial_ok=True")
        self.children = children


class WaitTimeout(TowpathError, TimeoutError):
    """No signal came before the timeout of wait_for()."""


class LeaseLost(TowpathError):
    """This attempt no longer owns its job: it was cancelled, rescued or requeued meanwhile."""


class JobNotFound(TowpathError, LookupError):
    """No job has this id."""


class QueueNotFound(TowpathError, LookupError):
    """No queue of this name has had a job, a worker or a setting; the message lists those that have."""

    def __init__(self, name: str, known: Collection[str]) -> None:
        super().__init__(f"no queue is named {name[:200]!r}: no operation uses it and no job was ever in it")
        self.remedy = meant(name, known) or listed(known)


class ScheduleNotFound(TowpathError, LookupError):
    """No schedule has this name; the message lists those that there are."""

    def __init__(self, name: str, known: Collection[str]) -> None:
        super().__init__(f"no schedule is named {name[:200]!r}")
        self.remedy = meant(name, known) or listed(known)


class NameTaken(TowpathError):
    """Something has this name already, or is kept by somebody else; the message says who."""


class UnknownOperation(TowpathError, LookupError):
    """No operation of this name is registered in this process."""


class NotRequeueable(TowpathError):
    """The job cannot be requeued as asked; the message says why."""


class JobFailed(TowpathError):
    """app.result() of a job that failed. `failure` is the recorded error."""

    def __init__(self, message: str, failure: dict[str, Any] | None = None) -> None:
        super().__init__(message)
        self.failure = failure or {}


class JobCancelled(TowpathError):
    """app.result() of a job that was cancelled."""


class ResultTimeout(TowpathError, TimeoutError):
    """app.result() gave up waiting; the job itself goes on."""


class StreamReset(TowpathError):
    """A stream of events cannot go on from this token: it is `unknown` here, or has `expired`, because what came after it is
    no longer kept. Start over from now, and load anew what you had from the stream."""

    def __init__(self, reason: str, token: str) -> None:
        shown = token if len(token) <= 80 else f"{token[:80]}…"
        super().__init__(
            f"the stream of events cannot go on from {shown!r}, which {_WHY_RESET[reason]}; begin without a token, "
            f"and load anew what you keep"
        )
        self.reason = reason


_WHY_RESET = {"unknown": "this database does not know", "expired": "has expired"}


class EncodingError(TowpathError, ValueError):
    """The value cannot be written as strict JSON."""


class PayloadTooLarge(EncodingError):
    """The encoded value is larger than the configured limit."""


class ConfigurationError(TowpathError):
    """A setting, a URL or an installed component does not fit; the message names the remedy."""


class StoreUnavailable(TowpathError):
    """The database cannot be reached, or has no connection free, right now."""
