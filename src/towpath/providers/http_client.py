"""The HTTP client of adapters that ask without a library of the provider's, and of links to files.

Such links carry their own permission and expire, so that whoever asks for a new one gets on: whatever is wrong with one is
Transient.
"""

from __future__ import annotations

import json
import ssl
from collections.abc import AsyncGenerator
from functools import cache
from typing import TYPE_CHECKING, Any

from towpath.core.errors import ConfigurationError, Transient
from towpath.providers.refusals import patience, told

if TYPE_CHECKING:
    import httpx

_CONNECT_SECONDS = 20.0
_SILENT_SECONDS = 60.0
DOWNLOADS = 10
"""So many times as long as other calls may those take that fetch a result."""
_LARGEST_DOCUMENT = 512 * 1024 * 1024
"""A transcript of a day of speech with a time for every word is a tenth of it."""


def new_client(extra: str) -> httpx.AsyncClient:
    """Proxies are the environment's; loopback is never asked through one. Nothing is followed or tried again by itself."""
    try:
        import httpx
    except ImportError:
        raise ConfigurationError(f"this provider needs httpx: pip install 'towpath[{extra}]'") from None
    direct: dict[str, httpx.AsyncBaseTransport | None] = {
        "all://127.0.0.1": None,
        "all://localhost": None,
        "all://[::1]": None,
    }
    timeout = httpx.Timeout(_SILENT_SECONDS, connect=_CONNECT_SECONDS)
    return httpx.AsyncClient(timeout=timeout, verify=_trust(), mounts=direct)


async def follow(client: httpx.AsyncClient, who: str, url: str, limit: float) -> AsyncGenerator[bytes, None]:
    """The bytes behind a link, as they come; `limit` is for the answer to begin."""
    import httpx

    try:
        async with patience(who, limit):
            response = await client.send(client.build_request("GET", url), stream=True)
        try:
            if response.status_code != 200:
                said = told((await response.aread())[:2000].decode(errors="replace"))
                raise Transient(f"{who} has a link to results that answers {response.status_code}: {said}")
            async for piece in response.aiter_bytes():
                yield piece
        finally:
            await response.aclose()
    except (httpx.HTTPError, httpx.InvalidURL, ssl.SSLError, OSError) as error:
        raise Transient(f"results of {who} broke off: {type(error).__name__}: {told(str(error))}") from None


async def document(client: httpx.AsyncClient, who: str, url: str, limit: float) -> Any:
    """The JSON document behind a link."""
    taken = bytearray()
    async with patience(who, limit * DOWNLOADS):
        async for piece in follow(client, who, url, limit):
            taken += piece
            if len(taken) > _LARGEST_DOCUMENT:
                raise Transient(f"a result of {who} is larger than {_LARGEST_DOCUMENT >> 20} MiB")
    return parsed(who, taken)


def parsed(who: str, body: bytes | bytearray) -> Any:
    try:
        return json.loads(body)
    except ValueError:
        shown = told(bytes(body[:200]).decode(errors="replace"))
        raise Transient(f"a result of {who} is no JSON, or breaks off: {shown or 'it is empty'}") from None


@cache
def _trust() -> ssl.SSLContext:
    """Made once: reading the certificates takes longer than most requests."""
    import httpx

    return httpx.create_ssl_context()
