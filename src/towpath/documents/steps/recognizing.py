"""ENTITY_EXTRACTED: what is named on each page, by the rules on this machine or by a service."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from towpath.documents import results
from towpath.documents.names import CONTENT_EXTRACTED, ENTITY_EXTRACTED
from towpath.documents.work import Work
from towpath.search import Mention, Page, Passage, mentions

_MODEL = "towpath/rules 1"
_PIECE = 20_000
"""Characters at a time: rules look at all of them at once."""
Row = list[Any]


async def recognize(work: Work) -> dict[str, Any]:
    if not work.options.entities:
        return {"result": None, "reused": False, "entities": 0}

    async def make() -> tuple[bytes, Mapping[str, Any]]:
        rows = await work.ctx.in_thread(_found, await work.pages())
        await work.ctx.meter(model=_MODEL, cost_cents=0.0)
        return results.packed(rows), {"entities": len(rows)}

    return await results.once(work, ENTITY_EXTRACTED, [work.output(CONTENT_EXTRACTED)["result"], _MODEL], make)


def _found(pages: list[Page]) -> list[Row]:
    """Place of the page, type, value, key, and where it stands there."""
    return [
        [at, one.type, one.value, one.key, start + one.start, start + one.end]
        for at, page in enumerate(pages)
        for start, text in _pieces(page.text)
        for one in mentions(text)
    ]


def _pieces(text: str) -> Iterator[tuple[int, str]]:
    start = 0
    while start < len(text):
        end = min(start + _PIECE, len(text))
        if end < len(text):
            end = max(text.rfind("\n", start, end), text.rfind(" ", start, end), start) + 1
            end = end if end > start + 1 else start + _PIECE
        yield start, text[start:end]
        start = end


async def mentions_in(work: Work, passages: list[Passage]) -> list[Passage]:
    """The passages with what is named in them. What a cut has divided is named where it begins."""
    made = work.output(ENTITY_EXTRACTED)
    if made["result"] is None or not made["entities"]:
        return passages
    pages = await work.pages()
    rows = results.unpacked(await results.body(work.ctx, work.tenant, made["result"]))
    named = sorted((pages[at].offset + start, pages[at].offset + end, type_, value, key)
                   for at, type_, value, key, start, end in rows)  # fmt: skip
    return list(_spread(passages, named))


def _spread(passages: list[Passage], named: list[tuple[int, int, str, str, str]]) -> Iterator[Passage]:
    at = 0
    for one in passages:
        begin, end = one.start or 0, one.end or 0
        while at < len(named) and named[at][0] < begin:
            at += 1
        own = []
        while at < len(named) and named[at][0] < end:
            start, stop, type_, value, key = named[at]
            own.append(Mention(type_, value, key, start - begin, min(stop, end) - begin))
            at += 1
        yield Passage(one.text, page=one.page, start=one.start, end=one.end, tokens=one.tokens, mentions=own)
