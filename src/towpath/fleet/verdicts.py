"""What an attempt came to, and how a worker's failure is raised here."""

from __future__ import annotations

from towpath import Fatal, RateLimited, SchemaInvalid, Transient
from towpath.fleet.messages import Failure

COMPLETED, FAILED, LOST, EXPIRED, REFUSED, CANCELLED = "completed", "failed", "lost", "expired", "refused", "cancelled"
OUTCOMES = (COMPLETED, FAILED, LOST, EXPIRED, REFUSED, CANCELLED)
"""`refused`: it was reported as completed, and the result is not there. `expired`: its URLs had ended too early."""

_SOON = 5.0
Raised = Transient | RateLimited | SchemaInvalid | Fatal


def raised(failure: Failure) -> Raised:
    """As if it had happened here."""
    error: Raised
    match failure.category:
        case "rate_limited":
            error = RateLimited(failure.message, retry_after=_SOON, remedy=failure.remedy)
        case "schema_invalid":
            error = SchemaInvalid(failure.message, remedy=failure.remedy)
        case "fatal":
            error = Fatal(failure.message, remedy=failure.remedy)
        case _:
            error = Transient(failure.message, remedy=failure.remedy)
    error.error_class = failure.error_class
    return error
