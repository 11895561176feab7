"""Requests to OpenAI-compatible services, and what their refusals mean for a job.

429                         RateLimited on the service's budget, for as long as it says; Fatal if the account is empty
408, 425, 5xx, no answer    Transient
an answer that is no JSON   Transient: proxies and starting servers talk like that
401, 403, 404, redirects    Fatal: a setting is wrong
other 4xx                   SchemaInvalid: the same question gets the same answer
"""

from __future__ import annotations

import asyncio
import json
import ssl
from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager, nullcontext
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from functools import cache
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from towpath.core.encoding import plain
from towpath.core.errors import ConfigurationError, Fatal, OperationError, RateLimited, SchemaInvalid, Transient

if TYPE_CHECKING:
    import httpx

_LONGEST_ANSWER = 32 * 1024 * 1024
_LOOPBACK = ("localhost", "127.0.0.1", "::1")
_KEPT_SECONDS = 2.0
"""An idle connection is kept so long. Servers hang up after five or more, and a request that meets that fails."""
_LATER = (408, 425)
_REFUSED = (401, 403)
_WHERE = "in Settings → Models, or by"


@dataclass(frozen=True, slots=True)
class Service:
    """One endpoint of one kind, `speech`, `chat` or `embed`, which also names its settings."""

    kind: str
    url: str
    key: str
    timeout: float
    client: httpx.AsyncClient | None = field(default=None, repr=False, compare=False)
    """Whose connections are used; without one every request makes its own."""
    model: str = ""
    """If its models have limits of their own."""

    @property
    def host(self) -> str:
        return urlsplit(self.url).netloc.rpartition("@")[2]

    @property
    def budget(self) -> str:
        """What a 429 blocks: everybody who asks this service, or this model of it."""
        return f"{self.kind}:{self.host}:{self.model}" if self.model else f"{self.kind}:{self.host}"

    @property
    def setting(self) -> str:
        return f"TOWPATH_{self.kind.upper()}"

    @asynccontextmanager
    async def connected(self) -> AsyncIterator[Service]:
        """The same service, over connections that are kept from one request to the next: for whoever has many to ask."""
        async with self._new_client() as client:
            yield replace(self, client=client)

    async def post(self, path: str, **request: Any) -> dict[str, Any]:
        """The JSON object it answers. `request` is what httpx takes: json, or data and files."""
        try:
            async with asyncio.timeout(self.timeout or None):
                return await self._post(path, request)
        except TimeoutError:
            raise Transient(f"{self._who} did not answer within {self.timeout:g} s") from None

    async def _post(self, path: str, request: dict[str, Any]) -> dict[str, Any]:
        httpx = _httpx()
        headers = {"authorization": f"Bearer {self.key}"} if self.key else {}
        try:
            async with (
                self._borrowed() as client,
                client.stream("POST", self._endpoint(path), headers=headers, **request) as response,
            ):
                body = await self._body(response)
        except (httpx.HTTPError, ssl.SSLError, OSError) as error:
            raise Transient(f"{self._who} could not be reached: {type(error).__name__}: {error}") from None
        except (httpx.InvalidURL, UnicodeEncodeError) as error:
            raise ConfigurationError(f"{self.setting}_URL or {self.setting}_KEY cannot be used: {error}") from None
        if response.status_code != 200:
            raise refusal(self, response.status_code, response.headers.get("retry-after"), body)
        return self._object(body)

    def _borrowed(self) -> AbstractAsyncContextManager[httpx.AsyncClient]:
        return self._new_client() if self.client is None else nullcontext(self.client)

    def _new_client(self) -> httpx.AsyncClient:
        library = _httpx()
        direct = urlsplit(self.url).hostname in _LOOPBACK
        limits = library.Limits(keepalive_expiry=_KEPT_SECONDS)
        client: httpx.AsyncClient = library.AsyncClient(timeout=None, verify=_trust(), trust_env=not direct, limits=limits)
        return client

    def _endpoint(self, path: str) -> str:
        base = self.url.rstrip("/")
        return base if base.endswith(path) else base + path

    async def _body(self, response: httpx.Response) -> bytes:
        taken = bytearray()
        async for piece in response.aiter_bytes():
            taken += piece
            if len(taken) > _LONGEST_ANSWER:
                raise Transient(f"{self._who} answered more than {_LONGEST_ANSWER >> 20} MiB")
        return bytes(taken)

    def _object(self, body: bytes) -> dict[str, Any]:
        try:
            value = json.loads(body)
        except ValueError:
            raise Transient(f"{self._who} answered something that is no JSON: {_shown(self.hidden(body))}") from None
        if not isinstance(value, dict):
            raise Transient(f"{self._who} answered JSON that is no object: {_shown(self.hidden(body))}")
        return value

    def misshapen(self, value: object) -> Transient:
        return Transient(
            f"{self._who} answered in a shape this client does not know: {_shown(self.hidden(json.dumps(value).encode()))}"
        )

    def hidden(self, body: bytes) -> bytes:
        """What it answers, as people may read it: some repeat the key that they were given."""
        return body.replace(self.key.encode(), "…".encode()) if self.key else body

    @property
    def _who(self) -> str:
        return f"the {self.kind} service at {self.host}"


def service(kind: str, url: str, key: str, timeout: float) -> Service:
    parts = urlsplit(url)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise ConfigurationError(
            f"TOWPATH_{kind.upper()}_URL must be the base URL of an OpenAI-compatible service, such as "
            f"https://api.example.com/v1, got {url!r}"
        )
    return Service(kind, url, key, timeout)


def refusal(asked: Service, status: int, retry_after: str | None, body: bytes) -> OperationError:
    body = asked.hidden(body)
    said = _said(body)
    message = f"the {asked.kind} service at {asked.host} answered {status}: {said}"
    if status == 429:
        if "insufficient_quota" in _shown(body, 2000):
            return Fatal(message, remedy="top up the account, or use another service")
        return RateLimited(message, retry_after=seconds(retry_after), budget=asked.budget)
    if status >= 500 or status in _LATER:
        return Transient(message)
    if status in _REFUSED:
        return Fatal(message, remedy=f"check the key: {_WHERE} {asked.setting}_KEY")
    if status < 400 or status == 404:
        where = f"{_WHERE} {asked.setting}_URL and {asked.setting}_MODEL"
        return Fatal(message, remedy=f"check the address (usually it ends in /v1) and the model: {where}")
    where = f"{_WHERE} {asked.setting}_MODEL"
    return SchemaInvalid(message, remedy=f"check that the model fits the service, and what it takes at most: {where}")


def seconds(retry_after: str | None, usual: float = 30.0) -> float:
    """What a Retry-After header asks for: seconds, or a date."""
    if not retry_after:
        return usual
    try:
        wait = float(retry_after)
    except ValueError:
        try:
            then = parsedate_to_datetime(retry_after)
        except ValueError:
            return usual
        wait = ((then if then.tzinfo else then.replace(tzinfo=UTC)) - datetime.now(UTC)).total_seconds()
    return wait if 0 <= wait < float("inf") else (0.0 if wait < 0 else usual)


def _said(body: bytes) -> str:
    """The message of an error document, or the beginning of whatever came instead."""
    try:
        value = json.loads(body)
        error = value.get("error", value)
        return plain(str(error["message"] if isinstance(error, dict) else error), 300)
    except (ValueError, AttributeError, KeyError, TypeError):
        return _shown(body)


def _shown(body: bytes, most: int = 200) -> str:
    return plain(" ".join(body[: most * 4].decode(errors="replace").split()), most) or "nothing"


def _httpx() -> Any:
    try:
        import httpx
    except ImportError:
        raise ConfigurationError("speech and chat services need httpx: pip install 'towpath[server]'") from None
    return httpx


@cache
def _trust() -> ssl.SSLContext:
    """Made once: reading the certificates takes longer than most requests."""
    context: ssl.SSLContext = _httpx().create_ssl_context()
    return context
