"""The way into the server, and out: what is done with every request before a route sees it, and with every answer.

It gives the request an id, sees through proxies, refuses what comes under a foreign name, from another site, or too large,
writes the audit log, dresses the answer in its headers, and turns what nobody expected into a plain 500.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any

from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp

from towpath.core.ids import uuid7
from towpath.engine.app import App
from towpath.http import audit, bodies, csrf
from towpath.http.facts import Facts, facts_in
from towpath.http.headers import security_headers
from towpath.http.hosts import hosts_of
from towpath.http.problems import Problem, answer, internal
from towpath.http.proxies import Proxies, check_base_path, parse_networks
from towpath.http.state import Exposure
from towpath.http.telling import told

Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]

log = logging.getLogger("towpath.http")
_FOR_PROBES = frozenset({"/healthz", "/readyz"})
"""Load balancers ask by address; there is nothing in the answers for anybody else."""


class Entrance:
    """ASGI middleware; the outermost one of the server's own."""

    def __init__(self, inside: ASGIApp, app: App, exposure: Exposure) -> None:
        self._inside, self._app, self._exposure = inside, app, exposure
        self._proxies = Proxies(parse_networks(exposure.trusted_proxies), check_base_path(exposure.base_path))
        self._hosts = hosts_of(exposure)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._inside(scope, receive, send)
            return
        scope = self._proxies.seen_through(dict(scope))
        scope.pop("towpath", None)
        facts = facts_in(scope)
        facts.request_id, facts.address = uuid7(), (scope.get("client") or (None,))[0]
        leaving = Leaving(self._app, scope, facts, send)
        try:
            refused = self._refusal(scope)
            if refused is not None:
                await answer(refused, facts.request_id, scope)(scope, receive, leaving.send)
            else:
                await self._inside(scope, self._taking(scope, receive), leaving.send)
        except Exception:
            log.exception("request %s failed: %s", facts.request_id, told(scope))
            if leaving.begun:
                raise  # half an answer is out: the server breaks the connection, so that it cannot pass for a whole one
            await internal(facts.request_id, scope)(scope, receive, leaving.send)

    def _taking(self, scope: Scope, receive: Receive) -> Receive:
        if bodies.streamed(scope["method"], _below_mount(scope)):
            return receive
        return bodies.counted(receive, self._most(scope))

    def _most(self, scope: Scope) -> int:
        return bodies.most_for(scope["method"], _below_mount(scope), self._app.settings.max_payload_bytes)

    def _refusal(self, scope: Scope) -> Problem | None:
        headers, method = Headers(scope=scope), scope["method"]
        if _below_mount(scope) not in _FOR_PROBES:
            refused = self._hosts.refusal(headers.get("host"))
            if refused is not None:
                return refused
        refused = csrf.refusal(method, headers, self._exposure.base_url)
        if refused is not None:
            return refused
        streamed = bodies.streamed(method, _below_mount(scope))
        return streamed.refusal(headers) if streamed else bodies.refusal(method, headers, self._most(scope))


class Leaving:
    """The answer on its way out."""

    def __init__(self, app: App, scope: Scope, facts: Facts, send: Send) -> None:
        self._app, self._scope, self._facts, self._send = app, scope, facts, send
        self._since = time.perf_counter()
        self.begun = False

    async def send(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            await self._write_audit(message["status"])
            self._dress(message)
            self.begun = True
            took = (time.perf_counter() - self._since) * 1000
            log.info("%s %d %.0f ms", told(self._scope), message["status"], took)
        await self._send(message)

    def _dress(self, message: Message) -> None:
        headers = MutableHeaders(raw=message.setdefault("headers", []))
        https = self._scope.get("scheme") == "https"
        for name, value in security_headers(_below_mount(self._scope), https=https).items():
            headers.setdefault(name, value)
        headers["x-request-id"] = self._facts.request_id
        if message["status"] == 413 and self._scope.get("http_version", "").startswith("1"):
            headers["connection"] = "close"  # the rest of the body is not waited for

    async def _write_audit(self, status: int) -> None:
        """What was done was done: an answer is not taken back because its line could not be written."""
        notes = audit.lines_for(self._scope, status)
        if not notes:
            return
        try:
            await audit.write(self._app.services.store, self._facts, notes)
        except Exception:
            actions = ", ".join(f"{note.action} {note.target or ''}".strip() for note in notes)
            log.exception("request %s is missing in the audit log: %s", self._facts.request_id, actions)


def _below_mount(scope: Scope) -> str:
    path, root = str(scope["path"]), str(scope.get("root_path", ""))
    return path[len(root) :] if root and path.startswith(root) else path
