"""Towpath: a durable, fair job engine for long-running AI media and document work."""

from towpath.config import Settings
from towpath.core.errors import (
    ChildrenFailed,
    ConfigurationError,
    EncodingError,
    Fatal,
    HistoryMismatch,
    JobCancelled,
    JobFailed,
    JobNotFound,
    LeaseLost,
    NameTaken,
    NotRequeueable,
    PayloadTooLarge,
    QueueNotFound,
    RateLimited,
    ResultTimeout,
    ScheduleNotFound,
    SchemaInvalid,
    StepNameReused,
    StoreUnavailable,
    TowpathError,
    Transient,
    UnknownOperation,
    WaitRefused,
    WaitTimeout,
)
from towpath.core.lifecycle import State
from towpath.core.outcomes import Deferred, Done, Partial, RetryLater, outcome_from_envelope
from towpath.core.records import Event, Job, Step
from towpath.core.retry import Retry
from towpath.engine.app import App
from towpath.engine.bridge import SyncContext
from towpath.engine.children import Children
from towpath.engine.context import Context
from towpath.engine.isolation import IsolatedContext
from towpath.engine.references import JobRef
from towpath.engine.sync import SyncApp
from towpath.store.migrating import Slice
from towpath.version import __version__

__all__ = [
    "App",
    "Children",
    "ChildrenFailed",
    "ConfigurationError",
    "Context",
    "Deferred",
    "Done",
    "EncodingError",
    "Event",
    "Fatal",
    "HistoryMismatch",
    "IsolatedContext",
    "Job",
    "JobCancelled",
    "JobFailed",
    "JobNotFound",
    "JobRef",
    "LeaseLost",
    "NameTaken",
    "NotRequeueable",
    "Partial",
    "PayloadTooLarge",
    "QueueNotFound",
    "RateLimited",
    "ResultTimeout",
    "Retry",
    "RetryLater",
    "ScheduleNotFound",
    "SchemaInvalid",
    "Settings",
    "Slice",
    "State",
    "Step",
    "StepNameReused",
    "StoreUnavailable",
    "SyncApp",
    "SyncContext",
    "TowpathError",
    "Transient",
    "UnknownOperation",
    "WaitRefused",
    "WaitTimeout",
    "__version__",
    "outcome_from_envelope",
]
