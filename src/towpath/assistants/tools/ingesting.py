"""Ingest: addresses, folders of buckets, text, and files of the assistant's own machine become documents."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import Field

from towpath.assistants.api import Refused
from towpath.assistants.tool import Arguments, Call, Tool
from towpath.assistants.tools.waiting import Wait, job_with_progress

_BUCKETS = ("s3://", "gs://", "az://")


class Ingest(Arguments):
    urls: Annotated[
        list[str] | None,
        Field(
            max_length=1000,
            description="Addresses: https://…, objects of buckets, or one folder of a bucket with / at its end.",
        ),
    ] = None
    text: Annotated[str | None, Field(max_length=500_000, description="Text to keep as a document; give it a name.")] = None
    name: Annotated[
        str | None, Field(max_length=200, description="Of the text, such as notes.md; the same name again replaces it.")
    ] = None
    files: Annotated[
        list[str] | None,
        Field(max_length=100, description="Files on this machine, where the assistant was allowed any (stdio only)."),
    ] = None
    title: Annotated[str | None, Field(max_length=300, description="What the run is called in lists.")] = None
    wait_seconds: Wait = 10.0


async def ingest(call: Call, asked: Ingest) -> dict[str, Any]:
    kind, items = await _items(call, asked)
    made = await call.api.post("/api/documents/runs", {"kind": kind, "items": items, "title": asked.title})
    told = {"run_id": made["id"], "job_id": made["job_id"]}
    return told | await job_with_progress(call, made["job_id"], asked.wait_seconds)


async def _items(call: Call, asked: Ingest) -> tuple[str, list[dict[str, Any]]]:
    given = [name for name in ("urls", "text", "files") if getattr(asked, name)]
    if len(given) != 1:
        raise Refused(f"give one of urls, text and files, got {', '.join(given) or 'none'}")
    if asked.urls:
        return _of_addresses(asked.urls)
    if asked.text:
        if not asked.name:
            raise Refused("give the text a name, such as notes.md")
        made = await call.api.upload(asked.name, asked.text.encode(), "document")
        return "upload", [{"asset_id": made["asset_id"], "source": f"assistant:{asked.name}"}]
    paths = [call.files.checked(one) for one in asked.files or ()]
    items = []
    for path in paths:
        made = await call.api.upload(path.name, path, "document")
        items.append({"asset_id": made["asset_id"], "source": str(path)})
    return "upload", items


def _of_addresses(urls: list[str]) -> tuple[str, list[dict[str, Any]]]:
    folders = [one for one in urls if one.startswith(_BUCKETS) and one.endswith("/")]
    if folders and len(folders) < len(urls):
        raise Refused("give folders of buckets and other addresses in calls of their own")
    return ("bucket", [{"uri": one} for one in folders]) if folders else ("url", [{"url": one} for one in urls])


TOOLS = (
    Tool(
        "ingest", "Ingest documents",
        "Reads documents so that they can be searched: addresses, a folder of a bucket, or text that you have. Answers the "
        "job and how far it is; ask job_status for the rest. What is there already is read again only if it has changed.",
        Ingest, ingest, changes=True,
    ),
)  # fmt: skip
