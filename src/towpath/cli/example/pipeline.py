"""The operations of the example.

collection.read ── gather ──> document.read     steps, one of them against a service that is not ready at first
      │
      └─ follow-up ──> collection.pack ── spawn ──> document.pack     plain functions in threads, with progress

logbook.dictate      writes a text line by line, slowly enough to be watched
collection.count     what the schedules run every minute

All of them, and their queues and schedules, begin with `example`: what is no real work says so wherever it shows.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

from pydantic import BaseModel, Field

from towpath.cli.example import measuring, place
from towpath.cli.example.dictating import Dictation, write_page
from towpath.cli.example.language import LanguageService, ask_language
from towpath.core.outcomes import Deferred, Partial
from towpath.core.retry import Retry
from towpath.engine import example
from towpath.engine.app import App
from towpath.engine.running.bridge import SyncContext
from towpath.engine.running.context import Context

_SAMPLE = 4000  # characters are plenty for telling a language

app = App()

Folder = Annotated[
    str, Field(pattern=r"^[a-z0-9_-]{1,60}$", description="A folder of documents.", examples=["alder", "birch", "cedar"])
]
FileName = Annotated[str, Field(pattern=r"^[\w-]{1,60}\.txt$", description="A document in it.", examples=["logbook-01.txt"])]


class Collection(BaseModel):
    """A folder of documents below the data directory."""

    folder: Folder


class Document(BaseModel):
    """One document, and how its letters are written as bytes."""

    folder: Folder
    name: FileName
    encoding: Annotated[str, Field(max_length=40, description="utf-8, latin-1, cp1252 …")] = "utf-8"


class Packing(BaseModel):
    folder: Folder
    name: FileName


def home() -> Path:
    return example.folder(app.url)


@app.resource("language")
def language_service() -> LanguageService:
    return LanguageService()


@app.operation("example.collection.read", queue="example-collections", public=True)
async def read_collection(ctx: Context, work: Collection) -> Any:
    """Has every document of a folder read as a job of its own, writes a report about them, and has them packed."""
    folder = place.documents(home(), work.folder)
    names = await ctx.step("find documents", measuring.find_documents, str(folder))
    children = await ctx.gather(
        "example.document.read", [{"folder": work.folder, "name": name} for name in names], partial_ok=True
    )
    documents = [result for result in await children.results() if result is not None]
    report = place.report(home(), work.folder)
    outcome = await ctx.step("write report", measuring.write_report, str(report), work.folder, documents)
    outcome["packing"] = ctx.enqueue("example.collection.pack", work)
    if children.failed:
        return Partial(outcome, f"{children.failed} of {children.total} documents could not be read")
    return outcome


@app.operation("example.document.read", queue="example-documents", retry=Retry(limit=5, base=0.5, max_delay=3), public=True)
async def read_document(ctx: Context, document: Document) -> Any:
    """Measures a document. Each step runs once: when the language service refuses, only that step is tried again."""
    path = place.documents(home(), document.folder) / document.name
    text = await ctx.step("parse", measuring.parse, str(path), document.encoding)
    await ctx.progress(1, 5)
    counts, common, checksum = await ctx.parallel(
        ctx.step("count words", measuring.count_words, text),
        ctx.step("common words", measuring.common_words, text),
        ctx.step("checksum", measuring.checksum, text),
    )
    await ctx.progress(4, 5)
    service = await ctx.resources.get("language")
    language = await ctx.step("language", ask_language, service, text[:_SAMPLE])
    await ctx.progress(5, 5)
    return {"name": document.name, "language": language, "checksum": checksum, "common": common, **counts}


@app.operation("example.collection.pack", queue="example-collections", public=True)
async def pack_collection(ctx: Context, work: Collection) -> Any:
    """Compresses every document of a folder; ends when the last of them is packed."""
    folder = place.documents(home(), work.folder)
    names = await ctx.step("find documents", measuring.find_documents, str(folder))
    await ctx.spawn("example.document.pack", [{"folder": work.folder, "name": name} for name in names])
    return Deferred({"archive": f"archive/{work.folder}", "documents": len(names)})


@app.operation("example.document.pack", queue="example-documents", public=True)
def pack_document(ctx: SyncContext, work: Packing) -> Any:
    """Compresses one document, a plain function in a thread that reports its progress."""
    source = place.documents(home(), work.folder) / work.name
    target = place.archive(home(), work.folder) / f"{work.name}.xz"
    before, after = measuring.pack(str(source), str(target), ctx.progress)
    return {"bytes": before, "packed": after}


@app.operation("example.logbook.dictate", queue="example-dictation", public=True)
async def dictate(ctx: Context, work: Dictation) -> Any:
    """Writes a logbook line by line, as a model would answer. Pages that are done survive a restart."""
    pages = [
        await ctx.step("page", write_page, ctx, work, number, key=str(number + 1)) for number in range(work.pages)
    ]  # fmt: skip
    return {"lines": work.lines, "text": "\n".join(line for page in pages for line in page)}


@app.operation("example.collection.count", queue="example-collections", public=True)
async def count_collections(ctx: Context) -> Any:
    """Counts the documents of every folder."""
    return await ctx.step("count", measuring.count_documents, str(home() / "documents"))
