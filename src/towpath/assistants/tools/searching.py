"""Search: passages of documents and recordings that answer."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field

from towpath.assistants.tool import Arguments, Call, Tool

_KEPT = ("passage_id", "document_id", "recording_id", "type", "title", "page", "start", "text", "score", "link")


class Search(Arguments):
    query: Annotated[str, Field(min_length=1, max_length=2000, description='Words, "a phrase", or a whole question.')]
    type: Annotated[str | None, Field(description="Only this kind of thing: pdf, docx, …, or recording.")] = None
    document_id: Annotated[str | None, Field(description="Only in this document.")] = None
    recording_id: Annotated[str | None, Field(description="Only in this recording.")] = None
    run_id: Annotated[str | None, Field(description="Only in documents that this run has read.")] = None
    entity: Annotated[str | None, Field(description="Only what names this, such as person:helen brandt.")] = None
    how: Annotated[Literal["both", "words", "meaning"], Field(description="By words, by meaning, or both.")] = "both"
    limit: Annotated[int, Field(ge=1, le=50)] = 8
    cursor: Annotated[str | None, Field(description="The `next` of the page before.")] = None


async def search(call: Call, asked: Search) -> dict[str, Any]:
    found = await call.api.get(
        "/api/documents/search", q=asked.query, type=asked.type, document_id=asked.document_id,
        recording_id=asked.recording_id, run=asked.run_id, entity=asked.entity, how=asked.how, limit=asked.limit,
        cursor=asked.cursor,
    )  # fmt: skip
    results = [{name: one[name] for name in _KEPT if one[name] is not None} for one in found["results"]]
    return {"results": results, "next": found["next"]}


TOOLS = (
    Tool(
        "search", "Search documents and recordings",
        "Finds passages of the documents and transcripts that are kept here, by words and by meaning, the best first. Each "
        "has its title, page or second, and an id for read_passage. Quote them with title and page. To find nothing is no "
        "error.",
        Search, search,
    ),
)  # fmt: skip
