"""Towpath: a durable, fair job engine for long-running AI media and document work."""

from towpath.blobs import BlobStore
from towpath.config import Settings
from towpath.core.encoding import decode as from_json
from towpath.core.encoding import encode as to_json
from towpath.core.encoding import plain as plain_text
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
    StreamReset,
    TowpathError,
    Transient,
    UnknownOperation,
    WaitRefused,
    WaitTimeout,
)
from towpath.core.forecast import Parts
from towpath.core.ids import first_at as first_id_at
from towpath.core.ids import uuid7 as new_id
from towpath.core.lifecycle import State
from towpath.core.moments import moment
from towpath.core.outcomes import Deferred, Done, Partial, RetryLater, outcome_from_envelope
from towpath.core.prospects import InLine, Prospect, Work
from towpath.core.provider_jobs import ProviderJob, ProviderState
from towpath.core.records import DEFAULT_PRIORITY, DEFAULT_TENANT, Event, Job, Step, Subject
from towpath.core.retry import Retry
from towpath.core.usage import Price
from towpath.engine.app import App
from towpath.engine.asking.explain import Why
from towpath.engine.asking.references import JobRef
from towpath.engine.projections import Projection
from towpath.engine.running.bridge import SyncContext
from towpath.engine.running.children import Children
from towpath.engine.running.context import Context
from towpath.engine.running.isolation import IsolatedContext
from towpath.engine.sync import SyncApp
from towpath.engine.transaction import Reading, Transaction
from towpath.providers import Input as OrderInput
from towpath.providers import Order
from towpath.store.contract import Row
from towpath.store.migrating import Slice
from towpath.version import __version__

__all__ = [
    "DEFAULT_PRIORITY",
    "DEFAULT_TENANT",
    "App",
    "BlobStore",
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
    "InLine",
    "IsolatedContext",
    "Job",
    "JobCancelled",
    "JobFailed",
    "JobNotFound",
    "JobRef",
    "LeaseLost",
    "NameTaken",
    "NotRequeueable",
    "Order",
    "OrderInput",
    "Partial",
    "Parts",
    "PayloadTooLarge",
    "Price",
    "Projection",
    "Prospect",
    "ProviderJob",
    "ProviderState",
    "QueueNotFound",
    "RateLimited",
    "Reading",
    "ResultTimeout",
    "Retry",
    "RetryLater",
    "Row",
    "ScheduleNotFound",
    "SchemaInvalid",
    "Settings",
    "Slice",
    "State",
    "Step",
    "StepNameReused",
    "StoreUnavailable",
    "StreamReset",
    "Subject",
    "SyncApp",
    "SyncContext",
    "TowpathError",
    "Transaction",
    "Transient",
    "UnknownOperation",
    "WaitRefused",
    "WaitTimeout",
    "Why",
    "Work",
    "__version__",
    "first_id_at",
    "from_json",
    "moment",
    "new_id",
    "outcome_from_envelope",
    "plain_text",
    "to_json",
]
