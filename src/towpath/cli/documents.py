"""towpath documents: the group; what has been read, page by page, and reading it again."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any

import typer
from rich.table import Table

from towpath.cli.auditing import note
from towpath.cli.opening import run
from towpath.cli.options import AsJson, Database, Limit, Tenant, finds_data
from towpath.cli.screen import clean, console, facts, say_json, table
from towpath.cli.shelf import runs
from towpath.cli.shelf.opening import DocumentId, DocumentIds, opened_documents
from towpath.cli.words import size
from towpath.core.errors import ConfigurationError
from towpath.documents import Document, intake, removing, results, stored
from towpath.documents.intake import Given, Owner, Wanted
from towpath.documents.names import REINGEST
from towpath.documents.shaping import document_shape
from towpath.engine.app import App

app = typer.Typer(
    no_args_is_help=True,
    help="Documents that were read, and the runs that read them: list, show, delete, reingest, runs, requeue. "
    "See towpath ingest and towpath search.",
)


@app.command("list")
@finds_data
def list_documents(*, tenant: Tenant = None, limit: Limit = 20, as_json: AsJson = False, database: Database = None) -> None:
    """Lists documents, newest first.

    \b
    Examples:
      towpath documents list
      towpath documents list --limit 1000 --json
    """
    found = run(_list(tenant, limit, database))
    if as_json:
        say_json([_as_dict(one) for one in found])
        return
    console().print(_table(found) if found else "there are no documents")


async def _list(tenant: str | None, limit: int, database: str | None) -> Sequence[Document]:
    async with opened_documents(database) as opened:
        return await stored.documents_page(opened, tenant, before=None, limit=limit)


def _as_dict(document: Document) -> dict[str, Any]:
    return document_shape(document).model_dump(mode="json")


def _table(found: Sequence[Document]) -> Table:
    grid = table("id", "kind", "pages", "size", "indexed", "title")
    for one in found:
        indexed = "yes" if one.is_indexed else "no"
        grid.add_row(one.id, clean(one.kind), f"{one.pages:,}", size(one.bytes), indexed, clean(one.title))
    return grid


@app.command("show")
@finds_data
def show(
    document_id: DocumentId,
    *,
    page: Annotated[
        int | None, typer.Option("--page", min=0, help="Print the text of this page, slide or sheet.", show_default=False)
    ] = None,
    text: Annotated[bool, typer.Option("--text", help="Print all of its text.")] = False,
    as_json: AsJson = False,
    database: Database = None,
) -> None:
    """Shows a document: what it is, how it was read, and with --page or --text what stands in it.

    \b
    Examples:
      towpath documents show ID
      towpath documents show ID --page 3
      towpath documents show ID --text > report.txt
    """
    document, pages = run(_show(document_id, page, text, database))
    if as_json:
        given = [{"number": number, "text": said} for number, said in pages]
        say_json(_as_dict(document) | ({"text": given} if pages else {}))
    elif pages:
        typer.echo("\n\n".join(clean(said) for _, said in pages))
    else:
        _tell(document)


async def _show(
    document_id: str, page: int | None, text: bool, database: str | None
) -> tuple[Document, list[tuple[int | None, str]]]:  # fmt: skip
    async with opened_documents(database) as opened:
        document = await stored.document(opened, document_id.lower())
        if page is None and not text:
            return document, []
        body = await results.body(opened, document.tenant, document.content)
        pages = [(one.number, one.text) for one in results.pages_from(body) if page in (None, one.number)]
    if not pages:
        raise ConfigurationError(f"this document has no {document.unit} {page}; it has {document.pages:,}")
    return document, pages


def _tell(document: Document) -> None:
    shape = _as_dict(document)
    by = f"words and meaning ({document.embedded})" if document.embedded else "words only"
    pairs = [
        ("title", document.title), ("source", shape["source"]), ("kind", document.kind), ("language", document.language),
        (f"{document.unit}s", f"{document.pages:,}"), ("size", size(document.bytes)), ("read as", document.method),
        ("found by", by if document.is_indexed else "nothing: it is not in the index"),
        ("passages", f"{document.passages:,}"), ("tenant", document.tenant), ("run", document.run_id),
        ("read", shape["updated_at"]), *(("warning", one) for one in document.warnings),
    ]  # fmt: skip
    console().print(facts(pairs))


@app.command("delete")
@finds_data
def delete(document_ids: DocumentIds, database: Database = None) -> None:
    """Deletes documents with what is indexed of them, and their files if no other document has the same. Exit code 1 if some
    were not there.

    \b
    Examples:
      towpath documents delete ID ID
    """
    missing = run(_delete(document_ids, database))
    for one in missing:
        console().print(f"there is no document {clean(one)}")
    done = len(set(document_ids)) - len(missing)
    console().print("1 document deleted" if done == 1 else f"{done:,} documents deleted")
    if missing:
        raise typer.Exit(1)


async def _delete(document_ids: Sequence[str], database: str | None) -> list[str]:
    asked = list(dict.fromkeys(document_ids))
    async with opened_documents(database) as opened:
        found = {one.id: one for one in await stored.documents(opened, [one.lower() for one in asked])}
        for document in found.values():
            await removing.remove_document(opened, document)
            await note(opened, "documents.delete", document.id, tenant=document.tenant)
    return [one for one in asked if one.lower() not in found]


@app.command("reingest")
@finds_data
def reingest(document_ids: DocumentIds, as_json: AsJson = False, database: Database = None) -> None:
    """Reads documents again where they come from, and prints the id of the run. A running towpath up or worker does it.

    Only what has changed is done anew, such as by another release or another model. A file that was sent is read as it was
    sent: for a newer one, towpath ingest it again.

    \b
    Examples:
      towpath documents reingest ID
    """
    made = run(_reingest(document_ids, database))
    if as_json:
        say_json([{"id": run_id, "job_id": job_id, "status": "PENDING"} for run_id, job_id in made])
        return
    for run_id, _ in made:
        console().print(run_id)


async def _reingest(document_ids: Sequence[str], database: str | None) -> list[tuple[str, str]]:
    """A run for each tenant; usually there is one."""
    asked = list(dict.fromkeys(one.lower() for one in document_ids))
    async with opened_documents(database, writes=True) as opened:
        found = await stored.documents(opened, asked)
        missing = set(asked) - {one.id for one in found}
        if missing:
            raise stored.NotFound(f"no document has the id {min(missing)[:100]!r}; nothing was begun")
        return [await _one_run(opened, tenant, found) for tenant in sorted({one.tenant for one in found})]


async def _one_run(opened: App, tenant: str, found: Sequence[Document]) -> tuple[str, str]:
    items = [Given(document_id=one.id) for one in found if one.tenant == tenant]
    made = await intake.create(opened, Wanted(REINGEST, items), Owner(tenant))
    await note(opened, "documents.run", made[0], tenant=tenant, kind=REINGEST, items=len(items))
    return made


app.command("runs")(runs.list_runs)
app.command("run")(runs.show_run)
app.command("requeue")(runs.requeue)
app.command("cancel")(runs.cancel)
