"""The audit log: who did what, from where, when.

Where a change is one unit of the store, its line is part of that unit: `also=audited(request, lambda made: note(…))`. Both
are there, or neither. That is so for users, tokens, webhooks, prices, queues, lanes and schedules. In a transaction of a
slice's own it is `await audit_with(tx, request, "order.cancel", target)`.

Everything else says what it has done by `audit(request, "job.cancel", target=…)`, and the line is written afterwards, before
the answer goes out: logging in and out, which may be refused after the fact; what takes several transactions, such as
deleting or bulk actions; and moves of jobs, whose own events are written with them. If the server dies in between, that
line is missing. A route that changes something and says nothing gets a line all the same, made from its name and the ids
in its path.
"""

from __future__ import annotations

import json
from collections.abc import Callable, MutableMapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import TYPE_CHECKING, Any, TypeVar

from towpath.core.encoding import plain
from towpath.core.ids import uuid7
from towpath.core.moments import moment
from towpath.http.facts import SAFE, Facts, Note, facts_in
from towpath.http.shapes import LAST
from towpath.identity.principal import Principal
from towpath.store.also import Also
from towpath.store.contract import Row, Store, Tx

if TYPE_CHECKING:
    from fastapi import Request

    from towpath.engine.transaction import Transaction

T = TypeVar("T")

_SECRET = ("password", "secret", "token", "cookie", "authorization")
_LONGEST = 500


@dataclass(frozen=True, slots=True)
class AuditEntry:
    id: str
    at: datetime | None
    account_id: str | None
    account: str | None
    via: str
    tenant: str | None
    action: str
    target: str | None
    address: str | None
    request_id: str | None
    details: dict[str, Any] | None


def note(action: str, target: str | None = None, *, tenant: str | None = None, **details: Any) -> Note:
    """A line. Secrets are refused."""
    if leaked := [name for name in details if any(word in name.lower() for word in _SECRET)]:
        raise ValueError(f"{leaked[0]!r} must not be in the audit log")
    return Note(action, target, tenant, details=details or None)


def audited(request: Request, told: Callable[[T], Note]) -> Also[T]:
    """The line of this request, for the transaction of what it is about; `told` makes it from what that came to."""
    facts, entry_id = facts_in(request.scope), uuid7()
    facts.audited = True

    async def also(tx: Tx, outcome: T) -> None:
        await tx.execute("audit_add", **_values(entry_id, told(outcome), facts), now=tx.now)

    return also


async def audit_with(
    tx: Transaction, request: Request, action: str, target: str | None = None, *, tenant: str | None = None, **details: Any
) -> None:
    """The line of this request in a slice's own transaction: it is there if what it is about is, and not otherwise. Like
    everything in a unit it may be done again."""
    facts = facts_in(request.scope)
    line = note(action, target, tenant=tenant, **details)
    await tx.change("audit_add", **_values(uuid7(), line, facts), now=tx.now)
    facts.audited = True


def also(line: Note) -> Also[Any]:
    """A line for the transaction of what it is about, where there is no request."""
    entry_id = uuid7()

    async def add(tx: Tx, _outcome: object) -> None:
        await tx.execute("audit_add", **_values(entry_id, line, Facts()), now=tx.now)

    return add


def audit(
    request: Request,
    action: str,
    target: str | None = None,
    *,
    tenant: str | None = None,
    principal: Principal | None = None,
    **details: Any,
) -> None:
    """Notes a line for this request. It is written whatever the answer is, so note what happened, not what was tried.
    `principal` is for requests that bring none, such as a log-in."""
    line = note(action, target, tenant=tenant, **details)
    if principal is not None:
        who: dict[str, Any] = {"account_id": principal.account_id, "account": principal.name, "via": principal.via}
        line = replace(line, tenant=tenant or principal.tenant, **who)
    facts_in(request.scope).notes.append(line)


def lines_for(scope: MutableMapping[str, Any], status: int) -> list[Note]:
    """What a request is to leave in the log, now that its status is known."""
    facts = facts_in(scope)
    if facts.notes or facts.audited or status >= 400 or scope["method"] in SAFE or facts.principal is None:
        return facts.notes
    target = " ".join(str(value) for value in scope.get("path_params", {}).values())
    return [Note(getattr(scope.get("route"), "name", None) or scope["method"], target or None)]


async def write(store: Store, facts: Facts, notes: Sequence[Note]) -> None:
    made = [(uuid7(), note) for note in notes]

    async def unit(tx: Tx) -> None:
        for entry_id, note in made:
            await tx.execute("audit_add", **_values(entry_id, note, facts), now=tx.now)

    await store.run(unit)


def _values(entry_id: str, note: Note, facts: Facts) -> dict[str, Any]:
    who = facts.principal
    return {
        "id": entry_id,
        "account_id": note.account_id or (who.account_id if who else None),
        "account": note.account or (who.name if who else None),
        "via": note.via or (who.via if who else "nobody"),
        "tenant": note.tenant or (who.tenant if who else None),
        "action": plain(note.action, _LONGEST),
        "target": plain(note.target, _LONGEST) if note.target else None,
        "address": facts.address,
        "request_id": facts.request_id or None,
        "details": json.dumps(note.details, default=str) if note.details else None,
    }


async def page(
    store: Store, *, account_id: str | None = None, after: str | None = None, limit: int = 100
) -> list[AuditEntry]:
    """Newest first; `after` is the last id of the page before."""

    async def unit(tx: Tx) -> list[AuditEntry]:
        if account_id is None:
            rows = await tx.fetch("audit_page", before=after or LAST, limit=limit)
        else:
            rows = await tx.fetch("audit_page_of", account_id=account_id, before=after or LAST, limit=limit)
        return [_entry(row) for row in rows]

    return await store.read(unit)


def _entry(row: Row) -> AuditEntry:
    return AuditEntry(
        row["id"], moment(row["ts"]), row["account_id"], row["account"], row["via"], row["tenant"], row["action"],
        row["target"], row["address"], row["request_id"], json.loads(row["details"]) if row["details"] else None,
    )  # fmt: skip
