"""The operations of the example.

collection.read ── gather ──> document.read     steps, one of them against a service that is not ready at first
      │
      └─ follow-up ──> collection.pack ── spawn ──> document.pack     plain functions in threads, with progress
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from pydantic import BaseModel

from towpath.cli.example import measuring
from towpath.cli.example.language import LanguageService, ask_language
from towpath.core.outcomes import Deferred, Partial
from towpath.core.retry import Retry
from towpath.engine.app import App
from towpath.engine.bridge import SyncContext
from towpath.engine.context import Context

_SAMPLE = 4000  # characters are plenty for telling a language

app = App()


class Collection(BaseModel):
    """A folder of documents, and where its report and its archive go."""

    folder: str
    report: str
    archive: str


class Document(BaseModel):
    path: str
    encoding: str = "utf-8"


class Packing(BaseModel):
    source: str
    target: str


@app.resource("language")
def language_service() -> LanguageService:
    return LanguageService()


@app.operation("collection.read", queue="collections")
async def read_collection(ctx: Context, work: Collection) -> Any:
    """Has every document read as a job of its own, writes a report about them, and has them packed."""
    paths = await ctx.step("find documents", measuring.find_documents, work.folder)
    children = await ctx.gather("document.read", [{"path": path} for path in paths], partial_ok=True)
    documents = [result for result in await children.results() if result is not None]
    outcome = await ctx.step("write report", measuring.write_report, work.report, ctx.tenant, documents)
    outcome["packing"] = ctx.enqueue("collection.pack", work)
    if children.failed:
        return Partial(outcome, f"{children.failed} of {children.total} documents could not be read")
    return outcome


@app.operation("document.read", queue="documents", retry=Retry(limit=5, base=0.5, max_delay=3))
async def read_document(ctx: Context, document: Document) -> Any:
    """Each step runs once: after the language service has refused, only that step is tried again."""
    text = await ctx.step("parse", measuring.parse, document.path, document.encoding)
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
    return {"name": Path(document.path).name, "language": language, "checksum": checksum, "common": common, **counts}


@app.operation("collection.pack", queue="collections")
async def pack_collection(ctx: Context, work: Collection) -> Any:
    """Ends when the last of its documents is packed."""
    paths = await ctx.step("find documents", measuring.find_documents, work.folder)
    jobs = [{"source": path, "target": str(Path(work.archive) / f"{Path(path).name}.xz")} for path in paths]
    await ctx.spawn("document.pack", jobs)
    return Deferred({"archive": work.archive})


@app.operation("document.pack", queue="documents")
def pack_document(ctx: SyncContext, work: Packing) -> Any:
    before, after = measuring.pack(work.source, work.target, ctx.progress)
    return {"bytes": before, "packed": after}
