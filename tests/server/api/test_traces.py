"""OpenTelemetry: one trace from a request through enqueue, attempts and steps to children."""

import gzip
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest
from opentelemetry import trace
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.trace import SpanKind, StatusCode
from opentelemetry.util._once import Once

from tests.engine.working import AT_ONCE, ended, on_sqlite, working
from tests.server.api.site import Site, ok
from towpath import App, Settings, Transient
from towpath.engine import tracing
from towpath.testing import drain

TRACE_ID, CALLER = "4bf92f3577b34da6a3ce929d0e0e4736", "00f067aa0ba902b7"
TRACEPARENT = f"00-{TRACE_ID}-{CALLER}-01"


@pytest.fixture(autouse=True)
def _no_provider_is_left_behind(monkeypatch: pytest.MonkeyPatch) -> None:
    """A process has one provider for good; each test here begins as a process without one."""
    monkeypatch.setattr(trace, "_TRACER_PROVIDER", None)
    monkeypatch.setattr(trace, "_TRACER_PROVIDER_SET_ONCE", Once())
    monkeypatch.setattr(tracing, "_ours", [])


@pytest.fixture
def spans() -> InMemorySpanExporter:
    """A provider of the program's own."""
    exporter, provider = InMemorySpanExporter(), TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    trace.set_tracer_provider(provider)
    return exporter


@pytest.fixture(autouse=True)
def family(app: App) -> None:
    @app.operation("parent", queue="back", public=True)
    async def parent(ctx):
        await ctx.step("think", lambda: None)
        await ctx.gather("child", [1, 2])
        return ctx.trace

    @app.operation("child", queue="back", retry=AT_ONCE)
    async def child(ctx, number):
        if number == 2 and ctx.attempt == 1:
            raise Transient("again")
        await ctx.step("work", _work)

    async def _work():
        return trace.get_current_span().get_span_context().trace_id


async def lived(site: Site, **headers: str) -> str:
    made = ok(await site.ann.post("/api/jobs", json={"operation": "parent", "payload": None}, headers=headers), 201)
    async with working(site.app):
        await ended(site.app, made["id"])
    return made["id"]


async def test_one_trace_leads_from_the_request_to_the_last_step_of_a_child(site: Site, spans: InMemorySpanExporter):
    await lived(site, traceparent=TRACEPARENT)
    found = [span for span in spans.get_finished_spans() if f"{span.context.trace_id:032x}" == TRACE_ID]
    names = sorted(span.name for span in found)
    assert names == [
        "POST /api/jobs", "enqueue child", "enqueue parent", "run child", "run child", "run child", "run parent",
        "run parent", "step think", "step work", "step work",
    ]  # fmt: skip
    by_id = {span.context.span_id: span for span in found}

    def above(span) -> str:
        return by_id[span.parent.span_id].name if span.parent.span_id in by_id else f"{span.parent.span_id:016x}"

    parents = {(span.name, above(span)) for span in found}
    assert parents == {
        ("POST /api/jobs", CALLER),
        ("enqueue parent", "POST /api/jobs"),
        ("run parent", "enqueue parent"),
        ("step think", "run parent"),
        ("enqueue child", "run parent"),
        ("run child", "enqueue child"),
        ("step work", "run child"),
    }


async def test_spans_say_what_they_are_about(site: Site, spans: InMemorySpanExporter):
    job_id = await lived(site)
    found = {span.name: span for span in spans.get_finished_spans() if span.name != "run child"}
    request, run = found["POST /api/jobs"], found["run parent"]
    assert (request.kind, run.kind) == (SpanKind.SERVER, SpanKind.CONSUMER)
    assert found["enqueue parent"].kind is SpanKind.PRODUCER
    assert request.attributes["http.response.status_code"] == 201
    assert request.attributes["http.route"] == "/api/jobs"
    assert run.attributes["towpath.job_id"] == job_id
    assert run.attributes["towpath.tenant"] == "north"
    outcomes = [span.attributes["towpath.outcome"] for span in spans.get_finished_spans() if span.name == "run parent"]
    assert outcomes == ["defer", "succeed"]
    failed = [span for span in spans.get_finished_spans() if span.status.status_code is StatusCode.ERROR]
    assert [(span.name, span.attributes["towpath.outcome"]) for span in failed] == [("run child", "retry")]


async def test_a_job_that_came_without_a_trace_still_has_one_for_all_its_entries(site: Site, spans: InMemorySpanExporter):
    async with working(site.app):
        with knowing_nothing_of_traces():
            job = await site.make("parent")
        await ended(site.app, job)
    runs = [span for span in spans.get_finished_spans() if span.name.startswith("run")]
    assert {f"{span.context.trace_id:032x}" for span in runs} == {job.id.replace("-", "")}
    assert len(runs) == 5


@contextmanager
def knowing_nothing_of_traces() -> Iterator[None]:
    """As a process without OpenTelemetry enqueues."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(tracing, "active", lambda: False)
        patch.setattr(tracing, "current_trace", lambda: None)
        yield


async def test_without_a_provider_the_context_travels_and_nothing_is_recorded(site: Site):
    job_id = await lived(site, traceparent=TRACEPARENT)
    assert not tracing.active()
    assert {job.trace for job in await site.app.list()} == {TRACEPARENT}
    assert (await site.app.get(job_id)).result == TRACEPARENT


@on_sqlite
@pytest.mark.parametrize("bad", ["nonsense", f"00-{'0' * 32}-{CALLER}-01", TRACEPARENT.upper(), f"{TRACEPARENT}-x"])
async def test_a_context_that_is_none_is_left_alone(site: Site, bad: str):
    made = ok(await site.ann.post("/api/jobs", json={"operation": "parent"}, headers={"traceparent": bad}), 201)
    assert (await site.app.get(made["id"])).trace is None


@on_sqlite
async def test_what_is_asked_all_the_time_is_not_traced(site: Site, spans: InMemorySpanExporter):
    for path in ("/healthz", "/readyz", "/metrics"):
        await site.root.get(path)
    assert spans.get_finished_spans() == ()


class Sink:
    """A collector that keeps what it is sent."""

    def __init__(self) -> None:
        self.names: list[str] = []
        self.services: set[str] = set()

    def take(self, path: str, body: bytes) -> None:
        assert path == "/v1/traces"
        for resource in ExportTraceServiceRequest.FromString(body).resource_spans:
            attributes = {item.key: item.value.string_value for item in resource.resource.attributes}
            self.services.add(attributes["service.name"])
            self.names += [span.name for scope in resource.scope_spans for span in scope.spans]


@pytest.fixture
def collector() -> Iterator[tuple[str, Sink]]:
    sink = Sink()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["content-length"]))
            sink.take(self.path, gzip.decompress(body) if self.headers.get("content-encoding") == "gzip" else body)
            self.send_response(200)
            self.send_header("content-length", "0")
            self.end_headers()

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}", sink
    finally:
        server.shutdown()
        server.server_close()
        thread.join(10)


async def test_a_setting_sends_traces_to_a_collector(sqlite_url: str, tmp_path, collector: tuple[str, Sink]):
    endpoint, sink = collector
    settings = Settings(blobs_url=(tmp_path / "b").as_uri(), otel_endpoint=endpoint, otel_service="shop")
    app = App(sqlite_url, settings=settings)

    @app.operation("work")
    async def work(ctx):
        await ctx.step("one", lambda: 1)

    async with app:
        await app.enqueue("work")
        await drain(app)
    assert sorted(sink.names) == ["enqueue work", "run work", "step one"]
    assert sink.services == {"shop"}
    for provider in tracing._ours:
        provider.shutdown()


async def test_a_provider_of_the_programs_own_goes_before_the_setting(
    sqlite_url: str, tmp_path, spans: InMemorySpanExporter, collector: tuple[str, Sink]
):
    endpoint, sink = collector
    app = App(sqlite_url, settings=Settings(blobs_url=(tmp_path / "b").as_uri(), otel_endpoint=endpoint))
    app.operation("work")(_nothing)
    async with app:
        await app.enqueue("work")
        await drain(app)
    assert [span.name for span in spans.get_finished_spans()] == ["enqueue work", "run work"]
    assert sink.names == []


async def _nothing(ctx):
    return None
