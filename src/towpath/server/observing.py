"""Watches every request: a count and a duration for the metrics, a span for the trace.

It stands inside the entrance, where a request has its id, and outside the routes, so that it sees what they answer.
Durations end when the answer begins: a stream may last for days, and that says nothing about the server.
"""

from __future__ import annotations

import time
from collections import Counter, defaultdict
from collections.abc import Awaitable, Callable, MutableMapping
from contextlib import contextmanager
from typing import Any

from fastapi import FastAPI
from starlette.datastructures import Headers
from starlette.types import ASGIApp

from towpath.core.histogram import bucket
from towpath.engine import tracing

Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]

NO_OTHER: Any = {"tracing": False, "metrics": False, "logs": False, "operation_spans": False}
"""For newer releases of FastAPI, which would trace requests a second time, and log what people send."""
_METHODS = frozenset({"GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS"})
_UNTRACED = frozenset({"/healthz", "/readyz", "/metrics", "/api/events"})
"""Asked all the time, or without an end."""


class Requests:
    """How many requests there were in this process, and how long they took."""

    def __init__(self) -> None:
        self.answered: Counter[tuple[str, str, int]] = Counter()
        self.seconds: defaultdict[tuple[str, str], float] = defaultdict(float)
        self.durations: defaultdict[tuple[str, str], Counter[int]] = defaultdict(Counter)

    def note(self, method: str, route: str, status: int, seconds: float) -> None:
        self.answered[method, route, status] += 1
        self.seconds[method, route] += seconds
        self.durations[method, route][bucket(seconds)] += 1


def install(api: FastAPI) -> Requests:
    """Call it before the entrance is put in front."""
    seen = api.state.towpath_requests = Requests()
    api.add_middleware(Observer, requests=seen)
    return seen


class Observer:
    """ASGI middleware."""

    def __init__(self, inside: ASGIApp, requests: Requests) -> None:
        self._inside, self._requests = inside, requests

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._inside(scope, receive, send)
            return
        began, answered = time.perf_counter(), False

        def note(status: int) -> None:
            nonlocal answered
            if not answered:
                answered = True
                self._requests.note(_method(scope), route_of(scope), status, time.perf_counter() - began)
                _describe(span, scope, status)

        async def watched(message: Message) -> None:
            if message["type"] == "http.response.start":
                note(message["status"])
            await send(message)

        with _traced(scope) as span:
            try:
                await self._inside(scope, receive, watched)
            except Exception:
                note(500)  # the entrance makes an answer of it
                raise


@contextmanager
def _traced(scope: Scope) -> Any:
    """A span below whatever the caller sent along; or only the context, for what is enqueued without one."""
    parent = tracing.check_traceparent(Headers(scope=scope).get("traceparent"))
    token = tracing.arrived.set(parent)
    try:
        if scope["path"].removeprefix(scope.get("root_path", "")) in _UNTRACED:
            yield None
        else:
            with tracing.span(_method(scope), kind="server", parent=parent) as span:
                yield span
    finally:
        tracing.arrived.reset(token)


def _describe(span: Any, scope: Scope, status: int) -> None:
    """By the route and not by the path: a path may hold what nobody should collect, and has no end of forms."""
    if span is None:
        return
    from opentelemetry.trace import Status, StatusCode

    span.update_name(f"{_method(scope)} {route_of(scope)}")
    span.set_attribute("http.request.method", _method(scope))
    span.set_attribute("http.route", route_of(scope))
    span.set_attribute("http.response.status_code", status)
    if status >= 500:
        span.set_status(Status(StatusCode.ERROR))


def _method(scope: Scope) -> str:
    return scope["method"] if scope["method"] in _METHODS else "OTHER"


def route_of(scope: Scope) -> str:
    """The route's template; requests that fit none are all the same."""
    return getattr(scope.get("route"), "path", None) or "none"
