"""What OpenAI's API answers and takes; tests compare every answer with the models of its own library."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any

from pydantic import Field

from towpath.http.shapes import Request, Text
from towpath.openai_api.files import File


class NewBatch(Request):
    input_file_id: Annotated[str, Field(max_length=200)]
    endpoint: Annotated[str, Field(max_length=200)]
    completion_window: Annotated[Text, Field(min_length=1, max_length=50)]
    metadata: Annotated[
        dict[Annotated[Text, Field(max_length=64)], Annotated[Text, Field(max_length=512)]] | None, Field(max_length=16)
    ] = None
    output_expires_after: None = None
    """Nothing expires here: files are kept until they are deleted."""


def seconds(moment: datetime | None) -> int | None:
    return None if moment is None else int(moment.timestamp())


def file_object(file: File) -> dict[str, Any]:
    return {
        "id": str(file.ref), "object": "file", "bytes": file.bytes, "created_at": seconds(file.created_at),
        "filename": file.name, "purpose": file.purpose, "status": "processed", "expires_at": None, "status_details": None,
    }  # fmt: skip


def page_object(items: list[dict[str, Any]], has_more: bool) -> dict[str, Any]:
    return {
        "object": "list", "data": items, "has_more": has_more, "first_id": items[0]["id"] if items else None,
        "last_id": items[-1]["id"] if items else None,
    }  # fmt: skip
