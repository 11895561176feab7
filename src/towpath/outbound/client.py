"""Requests to addresses that users give, such as webhooks: they must not reach what only this machine can reach.

The name is resolved once, every address it has is checked, and the connection goes to one that was checked: a name
that answers differently the second time gains nothing. Redirects are not followed here; whoever follows one comes back with
its address, which is checked like the first.
"""

from __future__ import annotations

import asyncio
import re
import socket
import ssl
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from functools import cache
from ipaddress import ip_address
from typing import TYPE_CHECKING, Any
from urllib.parse import SplitResult, urlsplit

from towpath.core.encoding import plain
from towpath.core.errors import SchemaInvalid, Transient
from towpath.outbound.addresses import Address, is_public

if TYPE_CHECKING:
    import httpx

Resolve = Callable[[str, int], Awaitable[list[str]]]
_PORTS = {"http": 80, "https": 443}
_LONGEST_URL, _LONGEST_NAME = 2000, 253
_LABEL = re.compile(r"[a-zA-Z0-9_]([a-zA-Z0-9_-]{0,61}[a-zA-Z0-9_])?")


class Unresolvable(Transient):
    """The name has no address, or nobody could say which."""


class UnsafeUrl(SchemaInvalid):
    """The URL names something that must not be called from here."""

    def __init__(self, message: str, *, remedy: str | None = None) -> None:
        super().__init__(message, path="url", remedy=remedy)


class ForbiddenAddress(UnsafeUrl):
    """It leads to this machine or to a private network."""


@dataclass(frozen=True, slots=True)
class Reply:
    status: int
    headers: Mapping[str, str]
    body: bytes
    """As much of it as was asked for."""


def check_url(url: str) -> SplitResult:
    """What can be said about a URL without asking anybody. Where its name leads is looked at when it is called."""
    if len(url) > _LONGEST_URL or plain(url) != url or not url.isprintable() or any(char in url for char in " \\"):
        raise UnsafeUrl(f"a URL is at most {_LONGEST_URL} printable characters without spaces")
    try:
        parts = urlsplit(url)
        host, _ = parts.hostname, parts.port
    except ValueError as error:
        raise UnsafeUrl(f"this is no URL: {error}") from None
    if parts.scheme not in _PORTS or not host:
        raise UnsafeUrl("a URL begins with https:// or http:// and a host name")
    if ":" not in host and not _is_name(host):
        raise UnsafeUrl(f"{plain(host, 100)!r} is no name that a host can have")
    if parts.username is not None or parts.password is not None:
        raise UnsafeUrl(
            "a URL must not hold a name or a password", remedy="check the signature of what you are sent instead"
        )
    return parts


def _is_name(host: str) -> bool:
    """What can never be a name is told now, and not looked for again and again."""
    try:
        known = host.removesuffix(".").encode("idna").decode()
    except UnicodeError:
        return False
    return len(known) <= _LONGEST_NAME and all(_LABEL.fullmatch(label) for label in known.split("."))


async def resolve(host: str, port: int) -> list[str]:
    found = await asyncio.get_running_loop().getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return list(dict.fromkeys(str(item[4][0]) for item in found))


class Outbound:
    """A client for such requests. `permitted` says which addresses may be called."""

    def __init__(
        self,
        *,
        allow_private: bool = False,
        timeout: float = 10.0,
        permitted: Callable[[Address], bool] = is_public,
        resolve: Resolve = resolve,
        trust: ssl.SSLContext | None = None,
    ) -> None:
        self._permitted = (lambda _: True) if allow_private else permitted
        self._resolve, self._timeout, self._trust = resolve, timeout, trust

    async def check(self, url: str) -> None:
        """Refuses a URL that would be refused now, so that people hear of it when they give it."""
        await self._addresses(check_url(url))

    async def post(self, url: str, content: bytes, headers: Mapping[str, str], *, most: int = 64 * 1024) -> Reply:
        return await self.send("POST", url, content=content, headers=headers, most=most)

    async def send(
        self, method: str, url: str, *, content: bytes = b"", headers: Mapping[str, str] | None = None, most: int = 64 * 1024
    ) -> Reply:
        """The answer, whatever its status. UnsafeUrl if it must not be called, Transient if it could not be reached."""
        import httpx

        parts = check_url(url)
        try:
            async with asyncio.timeout(self._timeout):
                address = (await self._addresses(parts))[0]
                return await self._send(method, parts, address, content, dict(headers or {}), most)
        except TimeoutError:
            raise self._silent(parts) from None
        except (httpx.HTTPError, httpx.InvalidURL, ssl.SSLError) as error:
            raise _unreachable(parts, error) from None

    @asynccontextmanager
    async def open(self, url: str, headers: Mapping[str, str]) -> AsyncIterator[httpx.Response]:
        """The answer to a GET, its body still to be read: `aiter_raw`, and each piece may take as long as the timeout. What
        breaks off while it is read is httpx's error."""
        import httpx

        parts = check_url(url)
        async with httpx.AsyncHTTPTransport(verify=self._trust or usual_trust(), trust_env=False) as transport:
            try:
                async with asyncio.timeout(self._timeout):
                    address = (await self._addresses(parts))[0]
                    response = await transport.handle_async_request(self._request("GET", parts, address, b"", headers))
            except TimeoutError:
                raise self._silent(parts) from None
            except (httpx.HTTPError, httpx.InvalidURL, ssl.SSLError) as error:
                raise _unreachable(parts, error) from None
            try:
                yield response
            finally:
                await response.aclose()

    def _silent(self, parts: SplitResult) -> Transient:
        return Transient(f"{parts.hostname} did not answer within {self._timeout:g} s")

    async def _addresses(self, parts: SplitResult) -> list[str]:
        host = parts.hostname or ""
        try:
            found = await self._resolve(host, parts.port or _PORTS[parts.scheme])
        except (OSError, UnicodeError) as error:
            raise Unresolvable(f"the name {host[:100]!r} cannot be resolved: {error}") from None
        if not found:
            raise Unresolvable(f"the name {host[:100]!r} has no address")
        for item in found:
            if not self._permitted(ip_address(item.partition("%")[0])):
                raise ForbiddenAddress(
                    f"{host[:100]!r} is an address of this machine or of a private network",
                    remedy="use a public address, or set TOWPATH_ALLOW_PRIVATE_URLS=true where everybody is trusted",
                )
        return found

    async def _send(
        self, method: str, parts: SplitResult, address: str, content: bytes, headers: dict[str, str], most: int
    ) -> Reply:
        import httpx

        request = self._request(method, parts, address, content, headers)
        # Below httpx's client, which would write the whole URL to the log, secrets in its query included.
        async with httpx.AsyncHTTPTransport(verify=self._trust or usual_trust(), trust_env=False) as transport:
            response = await transport.handle_async_request(request)
            try:
                return Reply(response.status_code, dict(response.headers), await _beginning(response, most))
            finally:
                await response.aclose()

    def _request(
        self, method: str, parts: SplitResult, address: str, content: bytes, headers: Mapping[str, str]
    ) -> httpx.Request:
        """To the address that was checked. TLS and the Host header still go by the name."""
        import httpx

        literal = f"[{address}]" if ":" in address else address
        target = parts._replace(netloc=f"{literal}:{parts.port}" if parts.port else literal, fragment="").geturl()
        sent = {"accept": "*/*"} | dict(headers) | {"host": parts.netloc}
        limits = dict.fromkeys(("connect", "read", "write", "pool"), self._timeout)
        return httpx.Request(
            method, target, content=content, headers=sent, extensions={"sni_hostname": parts.hostname, "timeout": limits}
        )


def _unreachable(parts: SplitResult, error: Exception) -> Transient:
    return Transient(f"{parts.hostname} could not be reached: {type(error).__name__}: {error}")


@cache
def usual_trust() -> ssl.SSLContext:
    """Made once: reading the certificates takes longer than most requests."""
    import httpx

    return httpx.create_ssl_context()


async def _beginning(response: Any, most: int) -> bytes:
    """Never more than asked for, however small the packed form was; and if nothing is, nobody waits for it."""
    taken = b""
    if not most:
        return taken
    async for piece in response.aiter_raw():
        taken += piece
        if len(taken) >= most:
            break
    return taken[:most]
