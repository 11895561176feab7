"""Traces: one line from a request through enqueue, attempts and steps to children.

The context travels on the job row, as a W3C `traceparent`, whether or not anybody records it. Spans are made where
OpenTelemetry is set up: by the program itself, which installs a TracerProvider of its own, or by `otel_endpoint`. Without
the library, or without a provider, everything here costs a look into a dictionary.
"""

from __future__ import annotations

import logging
import re
import sys
from collections.abc import Awaitable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any

from towpath.core.errors import ConfigurationError
from towpath.core.masking import masked
from towpath.version import __version__

if TYPE_CHECKING:
    from towpath.config import Settings
    from towpath.core.transitions import Transition
    from towpath.store.contract import Claimed

log = logging.getLogger("towpath.tracing")

arrived: ContextVar[str | None] = ContextVar("towpath_arrived", default=None)
"""The `traceparent` that the request or the running job at hand came with."""

_TRACEPARENT = re.compile(r"00-(?!0{32})[0-9a-f]{32}-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}")
_FAILED = frozenset({"fail", "retry"})
_FLUSH_MS = 3000
_SILENT = frozenset({"ProxyTracerProvider", "NoOpTracerProvider"})  # what stands there until somebody installs a real one
_ours: list[Any] = []  # the provider that `set_up` has installed, if it did


def check_traceparent(text: str | None) -> str | None:
    """A trace context as it came from outside, or None if it is none."""
    return text if text is not None and _TRACEPARENT.fullmatch(text) else None


def active() -> bool:
    """Whether spans are recorded in this process."""
    trace: Any = sys.modules.get("opentelemetry.trace")
    return trace is not None and type(trace.get_tracer_provider()).__name__ not in _SILENT


def current_trace() -> str | None:
    """What a job made here and now belongs to: OpenTelemetry's current span, the running job, the request at hand."""
    if "opentelemetry.trace" in sys.modules:
        from opentelemetry import trace

        context = trace.get_current_span().get_span_context()
        if context.is_valid:
            return f"00-{context.trace_id:032x}-{context.span_id:016x}-{int(context.trace_flags):02x}"
    return arrived.get()


@contextmanager
def span(name: str, *, kind: str = "internal", parent: str | None = None, **attributes: Any) -> Iterator[Any]:
    """A span around a block, below `parent` or else below the current one; None where nothing is recorded.

    Attributes are `towpath.` and their names. What the block raises is recorded, but for the exceptions that are the
    engine's own way of suspending and interrupting.
    """
    if not active():
        yield None
        return
    from opentelemetry import trace
    from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

    above = TraceContextTextMapPropagator().extract({"traceparent": parent}) if parent is not None else None
    told = {f"towpath.{key}": value for key, value in attributes.items() if value is not None}
    tracer = trace.get_tracer("towpath", __version__)
    with tracer.start_as_current_span(name, above, trace.SpanKind[kind.upper()], told) as made:
        yield made


@contextmanager
def enqueueing(operations: Sequence[str]) -> Iterator[Any]:
    """Around the making of jobs: they belong to it."""
    names = set(operations)
    name = f"enqueue {operations[0]}" if len(names) == 1 else "enqueue"
    with span(name, kind="producer", operation=operations[0] if len(names) == 1 else None, jobs=len(operations)) as made:
        yield made


async def attempt(job: Claimed, running: Awaitable[Transition]) -> Transition:
    """One entry of a job: a child of whatever enqueued it, and the parent of all it does."""
    with span(
        f"run {job.operation}", kind="consumer", parent=job.trace or trace_of(job.root_id), job_id=job.id,
        operation=job.operation, queue=job.queue, tenant=job.tenant, attempt=job.failures + 1, entry=job.attempt,
        parent_id=job.parent_id,
    ) as made:  # fmt: skip
        transition = await running
        if made is not None:
            _tell_outcome(made, transition)
        return transition


def trace_of(root_id: str) -> str:
    """For a job that came without a trace: all entries of its tree are still found under one, which is its id."""
    digits = root_id.replace("-", "")
    return f"00-{digits}-{digits[16:]}-01"


def _tell_outcome(made: Any, transition: Transition) -> None:
    from opentelemetry.trace import Status, StatusCode

    made.set_attribute("towpath.outcome", transition.verb)
    if transition.reason is not None:
        made.set_attribute("towpath.reason", transition.reason)
    if transition.failure is not None:
        made.set_attribute("towpath.error.kind", transition.failure.kind)
        made.set_attribute("towpath.error.class", transition.failure.error_class)
    if transition.verb in _FAILED:
        made.set_status(Status(StatusCode.ERROR, transition.failure.message if transition.failure else None))


def set_up(settings: Settings) -> None:
    """Sends spans to `otel_endpoint`, unless the program has a TracerProvider of its own: then that one gets them."""
    if not settings.otel_endpoint or active():
        return
    try:
        from opentelemetry import trace
        from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
        from opentelemetry.sdk.resources import Resource
        from opentelemetry.sdk.trace import TracerProvider
        from opentelemetry.sdk.trace.export import BatchSpanProcessor
    except ImportError:
        raise ConfigurationError(
            "TOWPATH_OTEL_ENDPOINT is set and OpenTelemetry is not installed; pip install 'towpath[server]'"
        ) from None
    endpoint = settings.otel_endpoint.rstrip("/")
    endpoint = endpoint if endpoint.endswith("/v1/traces") else f"{endpoint}/v1/traces"
    provider = TracerProvider(resource=Resource.create({"service.name": settings.otel_service}))
    provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter(endpoint=endpoint)))
    trace.set_tracer_provider(provider)
    _ours.append(provider)
    log.info("traces go to %s", masked(endpoint))


def flush() -> None:
    """Sends what has not been sent yet; blocks for a few seconds at most."""
    for provider in _ours:
        provider.force_flush(_FLUSH_MS)
