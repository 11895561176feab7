"""Reading on: a passage among its neighbours, a page, a transcript, and what there is at all."""

from __future__ import annotations

from typing import Annotated, Any
from urllib.parse import quote

from pydantic import Field

from towpath.assistants.tool import Arguments, Call, Tool

_OF_DOCUMENTS = ("id", "title", "name", "kind", "pages", "unit", "language", "indexed", "updated_at")
_OF_PASSAGES = ("passage_id", "document_id", "recording_id", "title", "page", "start", "end", "text", "link")
_OF_LINES = ("start", "end", "speaker", "text")
_LINES = 200
"""Of a transcript at once: a quarter of an hour of talk."""
Id = Annotated[str, Field(min_length=1, max_length=600)]


class ReadPassage(Arguments):
    passage_id: Annotated[Id, Field(description="As search has it.")]
    around: Annotated[int, Field(ge=0, le=10, description="How many neighbours on each side.")] = 2


class ReadPage(Arguments):
    document_id: Id
    page: Annotated[int, Field(ge=0, description="The page's number, as search has it; 1 of what has no pages.")] = 1


class ReadTranscript(Arguments):
    recording_id: Id
    after: Annotated[int, Field(ge=0, description="The `next` of the part before.")] = 0


class ListDocuments(Arguments):
    limit: Annotated[int, Field(ge=1, le=200)] = 20
    after: Annotated[str | None, Field(description="The `next` of the page before.")] = None


async def read_passage(call: Call, asked: ReadPassage) -> dict[str, Any]:
    found = await call.api.get(f"/api/documents/passages/{quote(asked.passage_id, safe='/')}", around=asked.around)

    def kept(one: dict[str, Any]) -> dict[str, Any]:
        return {name: one[name] for name in _OF_PASSAGES if one[name] is not None}

    return {
        "before": [kept(one) for one in found["before"]], "passage": kept(found["passage"]),
        "after": [kept(one) for one in found["after"]],
    }  # fmt: skip


async def read_page(call: Call, asked: ReadPage) -> dict[str, Any]:
    return await call.api.get(f"/api/documents/{quote(asked.document_id, safe='')}/pages/{asked.page}")


async def read_transcript(call: Call, asked: ReadTranscript) -> dict[str, Any]:
    found = await call.api.get(f"/api/recordings/{quote(asked.recording_id, safe='')}/transcript")
    end = asked.after + _LINES
    lines = [
        {name: one[name] for name in _OF_LINES if one.get(name) is not None} for one in found["segments"][asked.after : end]
    ]
    following = end if end < len(found["segments"]) else None
    return {"recording_id": asked.recording_id, "language": found["language"], "lines": lines, "next": following}


async def list_documents(call: Call, asked: ListDocuments) -> dict[str, Any]:
    found = await call.api.get("/api/documents", limit=asked.limit, after=asked.after)
    return {
        "documents": [{name: one[name] for name in _OF_DOCUMENTS} for one in found["items"]], "next": found["next"],
    }  # fmt: skip


TOOLS = (
    Tool(
        "read_passage", "Read a passage in its place",
        "A passage that search has found, with what stands before and after it.", ReadPassage, read_passage,
    ),
    Tool("read_page", "Read a page of a document", "The whole text of one page, slide or sheet.", ReadPage, read_page),
    Tool(
        "read_transcript", "Read a recording's transcript",
        "What was said in a recording, line by line with seconds and speakers.", ReadTranscript, read_transcript,
    ),
    Tool(
        "list_documents", "List documents", "The documents that are kept here, newest first.", ListDocuments, list_documents
    ),
)  # fmt: skip
