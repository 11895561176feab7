"""Ways to summarise: those that come along, and those that people have written. A chat service follows them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from towpath import App, NameTaken, Row, SchemaInvalid, TowpathError, Transaction, choices, moment, new_id
from towpath.recordings.stored import Source

LONGEST_NAME, LONGEST_PROMPT, MOST = 100, 8000, 200


@dataclass(frozen=True, slots=True)
class Template:
    id: str
    name: str
    prompt: str
    own: bool = False
    changed_at: datetime | None = None


MINUTES = Template(
    "minutes",
    "Minutes",
    "Write the minutes of this meeting. Begin with a line on what it was about and, as far as it is said, who took part. "
    "Then a section for each topic in the order in which it came up: what was said about it in one to three sentences, and "
    "what was decided. End with the open questions. Write nothing that was not said.",
)
ACTION_ITEMS = Template(
    "action-items",
    "Action items",
    "List what somebody said they would do, or was asked to do. A line for each, beginning with “- ”: who, what, "
    "and by when. Where it was not said who or by when, say so. If there is nothing to do, say that in one sentence.",
)
BUILT_IN = (MINUTES, ACTION_ITEMS)


class TemplateNotFound(TowpathError, LookupError):
    """No template has this id, or it belongs to somebody else."""


def _key(name: str) -> str:
    return " ".join(name.split()).casefold()


async def templates_of(source: Source, tenant: str) -> list[Template]:
    """Those that come along first."""
    return [*BUILT_IN, *(_from(row) for row in await source.query("recording_templates", tenant=tenant))]


async def find(source: Source, tenant: str, template_id: str | None) -> Template | None:
    """None for the usual way, and for one that is gone: then the usual way is what is left."""
    if template_id is None:
        return None
    found = next((one for one in BUILT_IN if one.id == template_id), None)
    if found is not None:
        return found
    rows = await source.query("recording_template_by_id", tenant=tenant, id=template_id.lower())
    return _from(rows[0]) if rows else None


async def check(app: App, tenant: str, template_id: str | None) -> None:
    """Refuses a template that is not there, and any where nothing could follow it."""
    if template_id is None:
        return
    if not (await choices.settings_of(app)).chat_url:
        raise SchemaInvalid(
            "templates are followed by a chat service, and none is configured", path="template",
            remedy="choose one in Settings → Models or by TOWPATH_CHAT_URL and TOWPATH_CHAT_MODEL, or leave it out",
        )  # fmt: skip
    if await find(app, tenant, template_id) is None:
        known = ", ".join(f"{one.id} ({one.name})" for one in (await templates_of(app, tenant))[:20])
        raise SchemaInvalid(f"there is no template {template_id[:100]!r}; there are: {known}", path="template")


async def add(app: App, tenant: str, name: str, prompt: str, by: str | None) -> Template:
    made = new_id()

    async def unit(tx: Transaction) -> Template:
        known = await tx.query("recording_templates", tenant=tenant)
        if len(known) >= MOST:
            raise SchemaInvalid(f"there are {MOST} templates already; delete one first", path="name")
        _check_name(name)
        values = {"id": made, "tenant": tenant, "key": _key(name), "name": " ".join(name.split()), "prompt": prompt.strip()}
        if not await tx.change("recording_template_add", **values, created_by=by, now=tx.now):
            raise _taken(name)
        return await _named(tx, tenant, made)

    return await app.transact(unit)


async def change(app: App, tenant: str, template_id: str, name: str, prompt: str) -> Template:
    """Summaries that were made by it stay as they are."""

    async def unit(tx: Transaction) -> Template:
        _check_name(name)
        others = await tx.query("recording_template_named", tenant=tenant, key=_key(name))
        if any(row["id"] != template_id for row in others):
            raise _taken(name)
        values = {"key": _key(name), "name": " ".join(name.split()), "prompt": prompt.strip(), "now": tx.now}
        await tx.change("recording_template_change", id=template_id, tenant=tenant, **values)
        return await _named(tx, tenant, template_id)

    return await app.transact(unit)


async def remove(app: App, tenant: str, template_id: str) -> Template:
    async def unit(tx: Transaction) -> Template:
        gone = await _named(tx, tenant, template_id)
        await tx.change("recording_template_delete", id=template_id, tenant=tenant)
        await tx.change("recording_template_forget", id=template_id, tenant=tenant)
        return gone

    return await app.transact(unit)


async def _named(tx: Transaction, tenant: str, template_id: str) -> Template:
    rows: Sequence[Row] = await tx.query("recording_template_by_id", tenant=tenant, id=template_id)
    if not rows:
        raise TemplateNotFound(f"no template has the id {template_id[:100]!r}; it may have been deleted")
    return _from(rows[0])


def _check_name(name: str) -> None:
    if _key(name) in {_key(one.name) for one in BUILT_IN}:
        raise _taken(name)


def _taken(name: str) -> NameTaken:
    return NameTaken(f"there is a template called {name[:100]!r} already; give this one another name")


def _from(row: Row) -> Template:
    return Template(row["id"], row["name"], row["prompt"], True, moment(row["changed_at"]))
