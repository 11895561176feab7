"""CHUNKED: the text cut into passages, as places in its pages."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from towpath.documents import results
from towpath.documents.names import CHUNKED, CONTENT_EXTRACTED
from towpath.documents.work import Work
from towpath.search import Page, Passage, passages_of

_VERSION = 1


async def chunk(work: Work) -> dict[str, Any]:
    async def make() -> tuple[bytes, Mapping[str, Any]]:
        pages = await work.pages()
        rows = await work.ctx.in_thread(_cut, pages, work.options.chunk_tokens)
        return results.packed(rows), {"passages": len(rows), "tokens": sum(row[3] for row in rows)}

    content = work.output(CONTENT_EXTRACTED)["result"]
    return await results.once(work, CHUNKED, [content, work.options.chunk_tokens, _VERSION], make)


def _cut(pages: list[Page], tokens: int) -> list[list[int]]:
    return [
        [at, (one.start or 0) - page.offset, (one.end or 0) - page.offset, one.tokens or 0]
        for at, page in enumerate(pages)
        for one in passages_of([page], tokens=tokens, entities=False)
    ]


async def passages(work: Work) -> list[Passage]:
    """As they were cut, without what is named in them."""
    pages = await work.pages()
    rows = results.unpacked(await results.body(work.ctx, work.tenant, work.output(CHUNKED)["result"]))
    return [
        Passage(
            (page := pages[at]).text[start:end], page=page.number, start=page.offset + start, end=page.offset + end,
            tokens=tokens,
        )
        for at, start, end, tokens in rows
    ]  # fmt: skip
