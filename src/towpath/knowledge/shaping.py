"""What the index answers as the API's shapes."""

from __future__ import annotations

from typing import Any

from towpath.knowledge import schemas
from towpath.knowledge.names import DOCUMENT, RECORDING
from towpath.search import Hit, Stored


def passage_fields(one: Stored, second: float | None = None) -> dict[str, Any]:
    """`second` is that of the line that was asked for, if it is another than the passage's own."""
    start = one.second if second is None else second
    return {
        "passage_id": one.id, "document_id": one.source_id if one.kind == DOCUMENT else None,
        "recording_id": one.source_id if one.kind == RECORDING else None, "type": _type(one), "title": one.title,
        "page": one.page, "start": start, "end": one.until, "text": one.text, "link": _link(one, start),
    }  # fmt: skip


def passage_shape(one: Stored) -> schemas.Passage:
    return schemas.Passage(**passage_fields(one))


def result_shape(hit: Hit) -> schemas.Result:
    highlights = [schemas.Range(start=start, end=end) for start, end in hit.highlights]
    fields = passage_fields(hit.passage, hit.second)
    return schemas.Result(**fields, highlights=highlights, score=round(hit.score, 4))


def _type(one: Stored) -> str:
    return str(one.facts.get("kind") or one.kind).lower()


def _link(one: Stored, start: float | None) -> str | None:
    if one.kind == RECORDING:
        return f"/recordings/{one.source_id}?t={int(start or 0)}"
    if one.kind == DOCUMENT:
        page = "" if one.page is None else f"page={one.page}&"
        return f"/documents/{one.source_id}?{page}passage={one.ordinal}"
    return None
