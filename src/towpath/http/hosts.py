"""Which names the server answers to.

A page of somebody else's can make its own name point to 127.0.0.1 and then read whatever answers there. It cannot change
the name that the browser sends, so a server on loopback answers to loopback names only.
"""

from __future__ import annotations

from dataclasses import dataclass

from towpath.http.problems import Problem
from towpath.http.state import Exposure
from towpath.outbound.addresses import is_loopback


@dataclass(frozen=True, slots=True)
class Hosts:
    """Names as `*.example.com` stand for everything below; no names at all stand for every name."""

    names: tuple[str, ...] = ()
    loopback: bool = False

    def refusal(self, header: str | None) -> Problem | None:
        host = host_in(header)
        if host is None:
            return Problem("invalid", 400, "the request has no usable Host header")
        if self._answers_to(host):
            return None
        return Problem(
            "invalid", 400, f"this server does not answer to the name {host[:100]!r}",
            remedy="open it by the address it printed, or name this one in TOWPATH_ALLOWED_HOSTS",
        )  # fmt: skip

    def _answers_to(self, host: str) -> bool:
        if self.loopback and is_loopback(host):
            return True
        if not self.names:
            return not self.loopback
        return any(
            name in ("*", host) or (name.startswith("*.") and host.endswith(name[1:])) for name in self.names
        )  # fmt: skip


def hosts_of(exposure: Exposure) -> Hosts:
    names = tuple(item.strip().lower() for item in exposure.allowed_hosts.split(",") if item.strip())
    return Hosts(names, exposure.local)


def host_in(header: str | None) -> str | None:
    """The name in a Host header, without its port; None if it is no such header."""
    text = (header or "").strip().lower()
    if text.startswith("["):
        name, closed, rest = text[1:].partition("]")
    else:
        name, colon, port = text.partition(":")
        closed, rest = "]", colon + port
    if not name or not closed or (rest and not (rest[0] == ":" and rest[1:].isdecimal())):
        return None
    return None if any(mark in name for mark in "/\\@?# ,") else name.rstrip(".")
