"""Something at an `https://` address. Redirects are followed; where each of them leads is checked like the first address."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from typing import TYPE_CHECKING
from urllib.parse import urljoin, urlsplit

from towpath.core.errors import OperationError, RateLimited, SchemaInvalid, Transient
from towpath.models.wire import seconds
from towpath.outbound.client import Outbound, UnsafeUrl, check_url
from towpath.outbound.reading import Arriving, Broken, Changed

if TYPE_CHECKING:
    import httpx

_REDIRECTS = frozenset({301, 302, 303, 307, 308})
_MOST_REDIRECTS = 5
_LATER = frozenset({408, 425})
_RANGE = re.compile(r"bytes (\d+)-\d*/(\d+|\*)")


class OnTheWeb:
    def __init__(self, url: str, outbound: Outbound, *, plain_http: bool) -> None:
        self._url, self._outbound, self._plain_http = url, outbound, plain_http

    @asynccontextmanager
    async def open(self, offset: int, tag: str | None) -> AsyncIterator[Arriving]:
        # Packed answers could be of any size once they are unpacked, and could not be taken up again.
        headers = {"accept-encoding": "identity"}
        if tag is not None:
            headers |= {"range": f"bytes={offset}-", "if-range": tag}
        async with AsyncExitStack() as stack:
            response = await self._follow(stack, headers)
            yield _arriving(response) if tag is None else _resumed(response, offset, tag)

    async def _follow(self, stack: AsyncExitStack, headers: dict[str, str]) -> httpx.Response:
        url = self._url
        for _ in range(_MOST_REDIRECTS + 1):
            response = await stack.enter_async_context(self._outbound.open(url, headers))
            if response.status_code not in _REDIRECTS:
                if response.status_code not in (200, 206, 416):
                    raise refusal(urlsplit(url).hostname or "", response)
                return response
            url = self._next(url, response.headers.get("location", ""))
            await stack.aclose()
        raise SchemaInvalid(f"{urlsplit(self._url).hostname} leads on more than {_MOST_REDIRECTS} times")

    def _next(self, url: str, location: str) -> str:
        try:
            parts = check_url(urljoin(url, location))
        except ValueError as error:
            raise UnsafeUrl(f"{urlsplit(url).hostname} leads on to what is no URL: {error}") from None
        if parts.scheme != "https" and not self._plain_http:
            raise UnsafeUrl(f"{urlsplit(url).hostname} leads on to an http:// address", remedy="give an https:// address")
        return parts.geturl()


def _arriving(response: httpx.Response) -> Arriving:
    if response.status_code != 200:
        raise Transient(f"a part was answered where the whole was asked for: {response.status_code}")
    if (packed := response.headers.get("content-encoding", "identity").lower()) != "identity":
        raise SchemaInvalid(f"it is sent packed as {packed[:50]}, which was not asked for", remedy="put it there as it is")
    length = response.headers.get("content-length", "")
    tag = response.headers.get("etag", "")
    whole = tag.startswith('"') and response.headers.get("accept-ranges", "").lower() == "bytes"
    return Arriving(int(length) if length.isdigit() else None, tag if whole else None, _pieces(response))


def _resumed(response: httpx.Response, offset: int, tag: str) -> Arriving:
    told = _RANGE.fullmatch(response.headers.get("content-range", ""))
    same = response.headers.get("etag", tag) == tag
    if response.status_code != 206 or told is None or int(told[1]) != offset or not same:
        raise Changed
    return Arriving(None if told[2] == "*" else int(told[2]), tag, _pieces(response))


async def _pieces(response: httpx.Response) -> AsyncIterator[bytes]:
    import httpx

    try:
        async for piece in response.aiter_raw():
            yield piece
    except httpx.HTTPError as error:
        raise Broken(type(error).__name__) from None


def refusal(host: str, response: httpx.Response) -> OperationError:
    """What a status means for whoever wanted to read. The answer's own words are left out: they may quote the address."""
    status = response.status_code
    if status == 429:
        return RateLimited(
            f"{host} answered 429: too many requests", retry_after=seconds(response.headers.get("retry-after"))
        )
    if status >= 500 or status in _LATER:
        return Transient(f"{host} answered {status}")
    if status in (404, 410):
        return SchemaInvalid(f"{host} answered {status}: there is nothing at this address")
    if status in (401, 403):
        return SchemaInvalid(
            f"{host} answered {status}: it may not be read", remedy="sign the address anew: such links expire"
        )
    return SchemaInvalid(f"{host} answered {status}, and no content")
