"""A file on its way out: whole or in part, with headers that let a browser play it and nothing more."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from contextlib import aclosing
from email.utils import format_datetime, parsedate_to_datetime

from fastapi import Response
from fastapi.responses import StreamingResponse

from towpath.assets import Asset, AssetNotFound
from towpath.assets.naming import disposition
from towpath.blobs import BlobStore
from towpath.engine.app import App
from towpath.http.problem import Problem
from towpath.http.ranges import Span, Unsatisfiable, span_of

_PLAYED = ("audio/", "video/")


async def content_response(app: App, asset: Asset, asked: Mapping[str, str], *, download: bool = False) -> Response:
    """The answer to a request for an asset's content; `asked` are the request's headers. Raises `AssetNotFound`.

    Audio and video may be played where they are; everything else, and everything with `download`, is saved as a file.
    """
    if asset.state != "ready":
        raise AssetNotFound(asset.id)
    headers = _headers(asset, download)
    if _known(asset, asked):
        return Response(status_code=304, headers={name: headers[name] for name in ("ETag", "Cache-Control")})
    span = _span(asset, asked)
    whole = Span(0, asset.bytes)
    if span is not None:
        headers["Content-Range"] = f"bytes {span.start}-{span.end - 1}/{asset.bytes}"
    part = span or whole
    headers["Content-Length"] = str(part.end - part.start)
    pieces = _pieces(app.blobs, asset.blob_key, part)
    first = await anext(pieces, b"")  # a blob that is gone must be known before the status is sent
    return StreamingResponse(
        _after(first, pieces), 200 if span is None else 206, media_type=asset.media_type, headers=headers
    )


def _headers(asset: Asset, download: bool) -> dict[str, str]:
    inline = not download and asset.media_type.startswith(_PLAYED)
    return {
        "Accept-Ranges": "bytes",
        "ETag": _etag(asset),
        "Last-Modified": format_datetime(asset.created_at.replace(microsecond=0), usegmt=True),
        "Cache-Control": "private, no-cache",  # kept, but asked about every time: access may end
        "Content-Disposition": disposition("inline" if inline else "attachment", asset.name),
    }


def _etag(asset: Asset) -> str:
    return f'"{asset.sha256}"'


def _known(asset: Asset, asked: Mapping[str, str]) -> bool:
    given = [tag.strip().removeprefix("W/") for tag in asked.get("if-none-match", "").split(",")]
    return _etag(asset) in given or given == ["*"]


def _span(asset: Asset, asked: Mapping[str, str]) -> Span | None:
    if not _same(asset, asked.get("if-range")):
        return None
    try:
        return span_of(asked.get("range"), asset.bytes)
    except Unsatisfiable:
        raise Problem(
            "invalid", 416, f"the file has {asset.bytes:,} bytes, and nothing of it lies in the range that was asked for",
            headers={"Content-Range": f"bytes */{asset.bytes}"},
        ) from None  # fmt: skip


def _same(asset: Asset, condition: str | None) -> bool:
    """If-Range: a part of this very file, or all of what is there now."""
    if condition is None:
        return True
    if condition.strip().startswith(('"', "W/")):
        return condition.strip() == _etag(asset)
    try:
        return parsedate_to_datetime(condition) == asset.created_at.replace(microsecond=0)
    except (ValueError, TypeError):
        return False


async def _pieces(blobs: BlobStore, key: str, part: Span) -> AsyncIterator[bytes]:
    async with aclosing(blobs.open(key, part.start, part.end)) as stream:
        async for piece in stream:
            yield piece


async def _after(head: bytes, rest: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
    yield head
    async for piece in rest:
        yield piece
