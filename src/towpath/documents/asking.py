"""What a service that does a step is sent of its document."""

from __future__ import annotations

import base64
from collections.abc import Awaitable, Callable, Sequence
from typing import Any

from towpath import SchemaInvalid, assets
from towpath.documents.names import CHUNKED, CONTENT_EXTRACTED, FETCHED
from towpath.documents.work import Work

Question = Callable[[Work, Sequence[str]], Awaitable[dict[str, Any]]]
"""Given the steps that the asking one needs."""
_LARGEST_FILE = 32 * 1024 * 1024


async def text_and_passages(work: Work, needs: Sequence[str]) -> dict[str, Any]:
    """The text page by page; and for who needs it cut, its passages with where each begins and ends on its page."""
    from towpath.documents.steps.chunking import passages

    pages = await work.pages()
    asked: dict[str, Any] = {
        "document": _document(work), "pages": [{"number": page.number, "text": page.text} for page in pages]
    }  # fmt: skip
    if CHUNKED in needs:
        begins = {page.number: page.offset for page in pages}
        asked["passages"] = [
            {"page": one.page, "start": (one.start or 0) - begins[one.page or 0],
             "end": (one.end or 0) - begins[one.page or 0], "text": one.text}
            for one in await passages(work)
        ]  # fmt: skip
    return asked


async def the_file(work: Work, needs: Sequence[str]) -> dict[str, Any]:
    """The file itself, for a service that reads it."""
    fetched = work.output(FETCHED)
    if fetched["bytes"] > _LARGEST_FILE:
        raise SchemaInvalid(
            f"{fetched['name']!r} has {fetched['bytes'] >> 20:,} MB, and a service is sent at most {_LARGEST_FILE >> 20}",
            remedy="leave CONTENT_EXTRACTED to this machine for such documents",
        )
    asset = await assets.get(work.ctx, work.tenant, fetched["asset_id"])
    async with assets.open_file(work.ctx, asset) as path:
        data = await work.ctx.in_thread(path.read_bytes)
    return {"document": _document(work), "file": base64.b64encode(data).decode()}


def _document(work: Work) -> dict[str, Any]:
    fetched, content = work.output(FETCHED), work.outputs.get(CONTENT_EXTRACTED) or {}
    told = {name: content[name] for name in ("kind", "media_type", "title", "language", "unit") if name in content}
    return {"name": fetched["name"], "bytes": fetched["bytes"], "sha256": fetched["sha256"]} | told
