"""Connections that somebody holds open without saying anything.

uvicorn ends a connection that is silent between two requests, and waits for ever in all other places: before the first
byte, in the middle of a head, in the middle of a body. Here each of them has a deadline, and there is a bound to how many
connections there are. An answer may take as long as it likes: streams last for days.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from ipaddress import IPv4Network, IPv6Network, ip_address
from typing import Any

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

from towpath.config import Settings
from towpath.http.proxies import parse_networks
from towpath.outbound.addresses import is_loopback

_PROGRESS = 1024
"""A body that brings fewer bytes than these by its deadline does not come along."""
_LINGER_SECONDS = 30.0
"""How long the rest of a body is taken and thrown away after its answer, so that the sender gets to read it."""


@dataclass(slots=True)
class Bounds:
    """What one server grants its connections; 0 is no bound."""

    header_seconds: float = 15.0
    body_idle_seconds: float = 60.0
    most: int = 1000
    most_per_address: int = 100
    exempt: Callable[[str], bool] = is_loopback
    """Whose address says nothing about who it is: proxies."""
    open: int = 0
    by_address: Counter[str] = field(default_factory=Counter)

    def enter(self, address: str) -> str | None:
        """Counts a connection; answers why it is one too many."""
        self.open += 1
        self.by_address[address] += 1
        if self.most and self.open > self.most:
            return f"this server has {self.most} connections open, which is as many as it takes"
        if self.most_per_address and self.by_address[address] > self.most_per_address and not self.exempt(address):
            return f"there are {self.most_per_address} connections from this address, which is as many as it may have"
        return None

    def leave(self, address: str) -> None:
        self.open -= 1
        self.by_address[address] -= 1
        if not self.by_address[address]:
            del self.by_address[address]


def bounds_from(settings: Settings) -> Bounds:
    proxies = parse_networks(settings.trusted_proxies)

    def exempt(address: str) -> bool:
        return is_loopback(address) or _within(address, proxies)

    return Bounds(
        settings.header_seconds, settings.body_idle_seconds, settings.max_connections,
        settings.max_connections_per_address, exempt,
    )  # fmt: skip


def _within(address: str, networks: tuple[IPv4Network | IPv6Network, ...]) -> bool:
    try:
        found = ip_address(address)
    except ValueError:
        return False
    found = getattr(found, "ipv4_mapped", None) or found
    return any(found in network for network in networks)


def protocol_within(bounds: Bounds) -> type[asyncio.Protocol]:
    """For uvicorn's `http`: its own protocol, held to these bounds."""

    class Bounded(BoundedProtocol):
        pass

    Bounded.bounds = bounds
    return Bounded


class BoundedProtocol(H11Protocol):
    bounds = Bounds()

    def __init__(self, *given: Any, **options: Any) -> None:
        super().__init__(*given, **options)
        self._deadline: asyncio.TimerHandle | None = None
        self._awaited, self._came = "", 0

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]  # as in uvicorn itself
        super().connection_made(transport)
        self._address = self.client[0] if self.client else ""
        refused = self.bounds.enter(self._address)
        if refused is not None:
            self._end(503, "Service Unavailable", refused)
        else:
            self._await_next()

    def connection_lost(self, exc: Exception | None) -> None:
        self.bounds.leave(self._address)
        self._await("", 0.0)
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        if self.transport.is_closing():
            return
        self._came += len(data)
        super().data_received(data)
        self._await_next()

    def on_response_complete(self) -> None:
        super().on_response_complete()
        if self.transport.is_closing():
            self._await("", 0.0)
        elif self.conn.their_state is h11.SEND_BODY:
            self._await("the rest", _LINGER_SECONDS)
        elif self.timeout_keep_alive_task is None:
            self._await_next()  # a request that was waiting behind this one

    def _await_next(self) -> None:
        """Sets the deadline for what has to come now; what is awaited already keeps the one it has."""
        if self.transport.is_closing():
            self._await("", 0.0)
        elif self.conn.their_state is h11.IDLE:
            self._await("the head", self.bounds.header_seconds)
        elif self.conn.their_state is h11.SEND_BODY:
            if self.cycle.response_complete:
                self._await("the rest", _LINGER_SECONDS)
            elif self._awaited != "the body" or self._came >= _PROGRESS:
                self._awaited, self._came = "", 0
                self._await("the body", self.bounds.body_idle_seconds)
        else:
            self._await("", 0.0)

    def _await(self, what: str, seconds: float) -> None:
        if what and what == self._awaited:
            return
        if self._deadline is not None:
            self._deadline.cancel()
        self._awaited = what
        self._deadline = self.loop.call_later(seconds, self._missed) if what and seconds else None

    def _missed(self) -> None:
        if self._awaited == "the body" and self.flow.read_paused:
            self._awaited = ""  # it is we who do not read: the sender is not to blame
            self._await("the body", self.bounds.body_idle_seconds)
        elif self._awaited == "the rest" or (self._awaited == "the body" and self.cycle.response_started):
            self.transport.close()
        else:
            self._end(408, "Request Timeout", f"{self._awaited} of a request was awaited, and did not come in time")

    def _end(self, status: int, reason: str, why: str) -> None:
        """Answers by hand: there is no request that a route could answer."""
        body = f"{why}\n".encode()
        head = (
            f"HTTP/1.1 {status} {reason}\r\ncontent-type: text/plain; charset=utf-8\r\ncontent-length: {len(body)}\r\n"
            f"retry-after: 2\r\nconnection: close\r\n\r\n"
        )
        self.transport.write(head.encode() + body)
        self.transport.close()
