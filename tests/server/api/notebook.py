"""A slice with a table, routes and lines in the audit log, written with nothing but what slices are offered."""

from pathlib import Path
from typing import Annotated

from fastapi import Query, Request
from pydantic import Field

from towpath import App, Slice, Transaction, moment, new_id
from towpath.http import shapes
from towpath.http.audit import audit_with
from towpath.http.policy import Reader, Writer
from towpath.http.problems import conflict, not_found, responses
from towpath.http.routes import add_routes
from towpath.http.routing import Router
from towpath.http.state import Engine

MIGRATION = {
    "sqlite": "CREATE TABLE notebook_note (id text PRIMARY KEY, tenant text NOT NULL, text text NOT NULL, at REAL NOT NULL)",
    "postgres": "CREATE TABLE notebook_note (id text PRIMARY KEY, tenant text NOT NULL, text text NOT NULL, at timestamptz NOT NULL)",  # noqa: E501  (the same on one line)
}
QUERIES = """
-- name: notebook_add
INSERT INTO notebook_note (id, tenant, text, at) VALUES (:id, :tenant, :text, :now)

-- name: notebook_page
SELECT id, text, at FROM notebook_note WHERE tenant = :tenant AND id < :before ORDER BY id DESC LIMIT :limit

-- name: notebook_note
SELECT id, text, at FROM notebook_note WHERE tenant = :tenant AND id = :id
"""
router = Router(prefix="/api/notes", tags=["notes"])


class Note(shapes.Answer):
    id: str
    text: str
    at: shapes.Moment


class NewNote(shapes.Request):
    text: shapes.Text


class NoteQuery(shapes.Request):
    after: Annotated[str | None, Field(description="The `next` of the page before.")] = None
    limit: Annotated[int, Field(ge=1, le=100)] = 2


def note_of(row) -> Note:
    return Note(id=row["id"], text=row["text"], at=moment(row["at"]))


@router.get("", operation_id="list_notes")
async def list_notes(principal: Reader, app: Engine, asked: Annotated[NoteQuery, Query()]) -> shapes.Page[Note]:
    """Newest first."""
    rows = await app.query(
        "notebook_page", tenant=principal.tenant, before=asked.after or shapes.LAST, limit=asked.limit + 1
    )
    return shapes.page_of(rows, asked.limit, note_of, lambda row: row["id"])


@router.get("/{note_id}", operation_id="get_note", responses=responses(404))
async def get_note(principal: Reader, app: Engine, note_id: str) -> Note:
    """One note."""
    rows = await app.query("notebook_note", tenant=principal.tenant, id=note_id)
    if not rows:
        raise not_found(f"no note has the id {note_id[:100]!r}")
    return note_of(rows[0])


@router.post("", status_code=201, operation_id="add_note", responses=responses(409))
async def add_note(principal: Writer, app: Engine, request: Request, asked: NewNote) -> Note:
    """A note."""
    number = new_id()

    async def unit(tx: Transaction) -> None:
        await tx.change("notebook_add", id=number, tenant=principal.tenant, text=asked.text, now=tx.now)
        await audit_with(tx, request, "note.add", number, letters=len(asked.text))
        if asked.text == "bad":
            raise conflict("such a note is not taken")

    await app.transact(unit)
    return await get_note(principal, app, number)


def add_notebook(app: App, folder: Path) -> None:
    for name in ("migrations", "queries"):
        (folder / name).mkdir(exist_ok=True)
    for dialect, text in MIGRATION.items():
        (folder / f"migrations/0001_notes.{dialect}.sql").write_text(text)
    (folder / "queries/notes.sql").write_text(QUERIES)
    if app.add_slice(Slice("notebook", folder / "migrations", folder / "queries")):
        add_routes(app, lambda: router)
