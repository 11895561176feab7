"""Inputs that people name by their address: `https://`, and `s3://`, `gs://` and `az://` where the settings allow it.

They are read as they come, never held. What is wrong with an address, or with what is there, is one of the engine's
categories; what stands behind its question mark, such as the signature of a link, is in no message.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from posixpath import basename
from urllib.parse import unquote

from towpath.config import Settings
from towpath.core.encoding import plain
from towpath.core.errors import SchemaInvalid
from towpath.outbound.buckets import SCHEMES, InBucket
from towpath.outbound.client import Outbound, UnsafeUrl, check_url
from towpath.outbound.reading import Place, Reading
from towpath.outbound.web import OnTheWeb

_LONGEST_NAME = 200
_PATIENCE = 60.0
"""Seconds until something must have come."""


@dataclass(frozen=True, slots=True)
class Source:
    """Something that is being read. Iterate over it once."""

    name: str
    """The last part of its address, as a file would be called."""
    size: int | None
    """In bytes; None if nobody says."""
    _reading: Reading

    def __aiter__(self) -> AsyncIterator[bytes]:
        return self._reading.pieces()


def is_address(text: str) -> bool:
    """Whether it is meant to be one, and not an id or a file's name."""
    return "://" in text


def shown(uri: str) -> str:
    """An address as it may be shown: without the secrets that its query may have."""
    return plain(uri.partition("?")[0].partition("#")[0], 300)


def name_of(uri: str) -> str:
    """Also of an address that is none: what is wrong with it is said by whoever is to read it."""
    path = unquote(shown(uri).partition("://")[2].partition("/")[2])
    return plain(basename(path.rstrip("/")), _LONGEST_NAME) or "input"


def check_source(settings: Settings, uri: str, *, tenant: str | None = None) -> None:
    """Refuses an address that would not be read, as far as can be said without asking anybody: SchemaInvalid."""
    _place(settings, uri, tenant, None)


@asynccontextmanager
async def open_source(
    settings: Settings, uri: str, *, tenant: str | None = None, limit: int | None = None, outbound: Outbound | None = None
) -> AsyncIterator[Source]:
    """Something at an address, found and ready to be read.

    SchemaInvalid if it must not be asked, is not there or is larger than `limit` bytes, which is also watched while it
    is read; Fatal if our own credentials do not open it; RateLimited and Transient if it may be there later. A connection
    that breaks is taken up where it ended, if it is certain that the same thing is still there.
    """
    place = _place(settings, uri, tenant, outbound)
    async with Reading(place, shown(uri), limit) as reading:
        yield Source(name_of(uri), reading.size, reading)


def _place(settings: Settings, uri: str, tenant: str | None, outbound: Outbound | None) -> Place:
    scheme = uri.partition("://")[0].lower()
    if scheme in SCHEMES:
        return InBucket(uri, settings.input_buckets, tenant)
    if scheme not in ("https", "http"):
        raise SchemaInvalid(f"an address begins with https://, s3://, gs:// or az://, and {shown(uri)[:100]!r} does not")
    check_url(uri)
    if scheme == "http" and not settings.allow_private_urls:
        raise UnsafeUrl("what is read over http:// can be changed on its way", remedy="give an https:// address")
    asked = outbound or Outbound(allow_private=settings.allow_private_urls, timeout=_PATIENCE)
    return OnTheWeb(uri, asked, plain_http=settings.allow_private_urls)
