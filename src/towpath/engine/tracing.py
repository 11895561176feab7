"""Trace context travels on the job row, as a W3C `traceparent`."""

from __future__ import annotations

from towpath.engine.place import current_context


def current_trace() -> str | None:
    """The trace of the running job, or of OpenTelemetry's current span if that library is there."""
    ctx = current_context.get()
    if ctx is not None:
        return ctx.trace
    try:
        from opentelemetry import propagate  # type: ignore[import-not-found]
    except ImportError:
        return None
    carrier: dict[str, str] = {}
    propagate.inject(carrier)
    return carrier.get("traceparent")
