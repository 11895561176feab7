"""Where a request really comes from, and what it was really sent to, when a proxy stands in between.

Anybody can send X-Forwarded headers, so they count only when the connection comes from a proxy that the settings name.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from ipaddress import IPv4Network, IPv6Network, ip_address, ip_network
from typing import Any

from towpath.core.errors import ConfigurationError

Scope = dict[str, Any]
Headers = Sequence[tuple[bytes, bytes]]
_FORWARDED = (b"x-forwarded-for", b"x-forwarded-proto", b"x-forwarded-host", b"x-forwarded-prefix")


def parse_networks(text: str) -> tuple[IPv4Network | IPv6Network, ...]:
    try:
        return tuple(ip_network(item.strip(), strict=False) for item in text.split(",") if item.strip())
    except ValueError as error:
        raise ConfigurationError(
            f"TOWPATH_TRUSTED_PROXIES takes addresses and networks such as 10.0.0.5, 10.0.0.0/8: {error}"
        ) from None


def check_base_path(text: str) -> str:
    path = text.rstrip("/")
    if path and (not path.startswith("/") or "//" in path or any(mark in path for mark in " ;,?#\\\"'")):
        raise ConfigurationError(f"TOWPATH_BASE_PATH is a path such as /towpath, got {text!r}")
    return path


@dataclass(frozen=True, slots=True)
class Proxies:
    trusted: tuple[IPv4Network | IPv6Network, ...] = ()
    base_path: str = ""

    def seen_through(self, scope: Scope) -> Scope:
        """The scope as the client meant it: its address, scheme, host and the path the server is mounted at."""
        scope = dict(scope)
        client, prefix = scope.get("client"), self.base_path
        if client and self._trusts(client[0]):
            headers = {name: value.decode("latin-1") for name, value in scope["headers"] if name in _FORWARDED}
            prefix = self._apply(scope, headers) or prefix
        if prefix:
            _mount(scope, prefix)
        return scope

    def _apply(self, scope: Scope, headers: dict[bytes, str]) -> str:
        if chain := headers.get(b"x-forwarded-for"):
            scope["client"] = (self._client(chain, scope["client"][0]), 0)
        if (scheme := headers.get(b"x-forwarded-proto", "").split(",")[-1].strip().lower()) in ("http", "https"):
            scope["scheme"] = scheme
        if host := headers.get(b"x-forwarded-host", "").split(",")[-1].strip():
            kept = [(name, value) for name, value in scope["headers"] if name != b"host"]
            scope["headers"] = [*kept, (b"host", host.encode("latin-1"))]
        try:
            return check_base_path(headers.get(b"x-forwarded-prefix", ""))
        except ConfigurationError:
            return ""

    def _client(self, chain: str, peer: str) -> str:
        """The last address that is not one of our proxies: what stands before it may be made up."""
        found = peer
        for item in reversed(chain.split(",")):
            try:
                found = str(ip_address(item.strip().strip("[]")))
            except ValueError:
                break
            if not self._trusts(found):
                break
        return found

    def _trusts(self, address: str) -> bool:
        try:
            found = ip_address(address)
        except ValueError:
            return False
        found = getattr(found, "ipv4_mapped", None) or found
        return any(found in network for network in self.trusted)


def _mount(scope: Scope, prefix: str) -> None:
    """By the rules of ASGI the path includes what it is mounted at, whether or not the proxy has taken it off."""
    if not f"{scope['path']}/".startswith(f"{prefix}/"):
        scope["path"] = prefix + scope["path"]
        scope["root_path"] = prefix + scope.get("root_path", "")
    elif not scope.get("root_path", "").startswith(prefix):
        scope["root_path"] = prefix + scope.get("root_path", "")
