"""The usual steps as services do them: what such a service has to answer, and how that becomes what the step itself would
have made. What was answered is kept by what it was made of and by the address, so the same content is not paid for twice."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any, Literal

from pydantic import BaseModel, Field, ValidationError

from towpath import Fatal, SchemaInvalid, plain_text
from towpath.documents import results
from towpath.documents.names import CHUNKED, CONTENT_EXTRACTED, EMBEDDED, ENTITY_EXTRACTED
from towpath.documents.remote import HttpStep
from towpath.documents.work import Work
from towpath.search import packed
from towpath.search.meaning import Meaning

Made = tuple[bytes, Mapping[str, Any]]


class Page(BaseModel):
    number: int = Field(ge=0, le=1_000_000_000)
    text: str


class Content(BaseModel):
    pages: list[Page] = Field(min_length=1, max_length=100_000)
    kind: str = Field("text", min_length=1, max_length=100)
    media_type: str = Field("text/plain", max_length=200)
    title: str | None = Field(None, max_length=1000)
    language: str | None = Field(None, max_length=20)
    unit: Literal["page", "slide", "sheet", "text"] = "page"
    method: Literal["text", "ocr", "mixed"] = "text"
    warnings: list[str] = Field(default_factory=list, max_length=100)


class Cut(BaseModel):
    page: int
    start: int = Field(ge=0)
    end: int = Field(ge=0)
    tokens: int = Field(0, ge=0)


class Cuts(BaseModel):
    passages: list[Cut]


class Vectors(BaseModel):
    model: str = Field(min_length=1, max_length=200)
    vectors: list[list[float]]


class Named(BaseModel):
    page: int
    type: str = Field(min_length=1, max_length=50)
    value: str = Field(min_length=1, max_length=1000)
    key: str | None = Field(None, max_length=1000)
    start: int = Field(ge=0)
    end: int = Field(ge=0)


class Entities(BaseModel):
    entities: list[Named]


def remote_step(name: str, service: HttpStep, needs: Sequence[str]) -> Callable[[Work], Awaitable[Any]]:
    shape, made = SHAPES[name]

    async def run(work: Work) -> Any:
        async def make() -> Made:
            output = await service.ask(work, name, needs)
            try:
                told = shape.model_validate(output)
            except ValidationError as error:
                raise _misshapen(service.host, name, error) from None
            return await made(work, told, service)

        chunk = [work.options.chunk_tokens] if name == CHUNKED else []
        of = [work.output(one).get("result", work.output(one).get("sha256")) for one in needs]
        return await results.once(work, name, [*of, *chunk, service.url], make)

    return run


async def _content(work: Work, told: Content, service: HttpStep) -> Made:
    texts = {page.number: plain_text(page.text) for page in told.pages}
    if len(texts) < len(told.pages):
        raise SchemaInvalid(f"{service.host} answered two pages of one number")
    facts = {
        "kind": plain_text(told.kind), "media_type": plain_text(told.media_type), "unit": told.unit, "method": told.method,
        "title": plain_text(told.title) if told.title else None,
        "language": plain_text(told.language) if told.language else None, "pages": len(texts),
        "characters": sum(map(len, texts.values())), "warnings": [plain_text(one, 300) for one in told.warnings],
        "engine": service.host,
    }  # fmt: skip
    return await work.ctx.in_thread(results.packed, sorted(texts.items())), facts


async def _cuts(work: Work, told: Cuts, service: HttpStep) -> Made:
    pages = await work.pages()
    at = {page.number: place for place, page in enumerate(pages)}
    rows = []
    for one in told.passages:
        if one.page not in at or not one.start < one.end <= len(pages[at[one.page]].text):
            raise _outside(service.host, CHUNKED, one.page, one.start, one.end)
        rows.append([at[one.page], one.start, one.end, one.tokens])
    rows.sort()
    return results.packed(rows), {"passages": len(rows), "tokens": sum(row[3] for row in rows)}


async def _vectors(work: Work, told: Vectors, service: HttpStep) -> Made:
    import numpy as np

    passages, embedder = work.output(CHUNKED)["passages"], work.app.part(Meaning).embedder
    if len(told.vectors) != passages or len({len(row) for row in told.vectors}) > 1:
        raise SchemaInvalid(f"{service.host} answered {len(told.vectors):,} vectors for {passages:,} passages")
    if embedder is None or told.model != embedder.name:
        asked = "no model" if embedder is None else repr(embedder.name)
        raise Fatal(
            f"{service.host} made vectors of the model {told.model!r}, and questions are asked with {asked}",
            remedy="passages and questions need the same model: have the service use it, or name its own by TOWPATH_EMBED_…",
        )
    rows = np.array(told.vectors, dtype=np.float32)
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    if not np.isfinite(lengths).all():
        raise SchemaInvalid(f"{service.host} answered vectors that are no directions")
    np.divide(rows, lengths, out=rows, where=lengths > 0)
    made = packed(told.model, rows)
    return made.packed, {"model": made.model, "dimensions": made.dimensions}


async def _entities(work: Work, told: Entities, service: HttpStep) -> Made:
    pages = await work.pages()
    at = {page.number: place for place, page in enumerate(pages)}
    rows = []
    for one in told.entities:
        if one.page not in at or not one.start < one.end <= len(pages[at[one.page]].text):
            raise _outside(service.host, ENTITY_EXTRACTED, one.page, one.start, one.end)
        value = plain_text(one.value)
        rows.append([at[one.page], one.type, value, plain_text(one.key or value).casefold(), one.start, one.end])
    return results.packed(rows), {"entities": len(rows)}


SHAPES: dict[str, tuple[type[Any], Callable[[Work, Any, HttpStep], Awaitable[Made]]]] = {
    CONTENT_EXTRACTED: (Content, _content),
    CHUNKED: (Cuts, _cuts),
    EMBEDDED: (Vectors, _vectors),
    ENTITY_EXTRACTED: (Entities, _entities),
}


def _misshapen(host: str, step: str, error: ValidationError) -> SchemaInvalid:
    first = error.errors(include_url=False)[0]
    where = ".".join(str(part) for part in first["loc"]) or "it"
    return SchemaInvalid(
        f"{host} answered an output that is none of {step}: {where}: {first['msg']}", remedy="see what it has to answer, "
        "or have this machine do the step",
    )  # fmt: skip


def _outside(host: str, step: str, page: int, start: int, end: int) -> SchemaInvalid:
    return SchemaInvalid(f"{host} answered for {step} what is on no page: {start} to {end} of page {page}")
