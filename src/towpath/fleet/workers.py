"""Remote workers that ask over HTTPS: each has a token of its own, shown once and stored as its hash."""

from __future__ import annotations

import secrets
from dataclasses import dataclass

from towpath import App, SchemaInvalid, Transaction, new_id, plain_text
from towpath.fleet import stored
from towpath.fleet.names import WORKER
from towpath.fleet.records import Worker
from towpath.identity.secrets import digest

MARK = "tow_fleet_"
"""What tokens of workers begin with; no log ever shows what follows `tow_`."""
_SHOWN = len(MARK) + 6


@dataclass(frozen=True, slots=True)
class Claimant:
    """A worker that has shown its token. `tenant` is whose tasks it may have; None is everybody's."""

    id: str
    name: str
    tenant: str | None


@dataclass(frozen=True, slots=True)
class NewWorker:
    """What is drawn before the transaction, because that may be run again."""

    id: str
    token: str


def draw() -> NewWorker:
    return NewWorker(new_id(), MARK + secrets.token_hex(24))


async def add(tx: Transaction, new: NewWorker, name: str, tenant: str | None, created_by: str | None) -> None:
    await tx.change(
        "fleet_worker_add", id=new.id, name=_named(name), tenant=tenant, hash=digest(new.token), prefix=new.token[:_SHOWN],
        created_by=created_by, now=tx.now,
    )  # fmt: skip
    await tx.tell(WORKER, new.id)


def _named(name: str) -> str:
    found = " ".join(plain_text(name, 200).split())
    if not found:
        raise SchemaInvalid("give the worker a name", path="name")
    return found


async def create(app: App, name: str, tenant: str | None, created_by: str | None) -> NewWorker:
    new = draw()
    await app.transact(lambda tx: add(tx, new, name, tenant, created_by))
    return new


async def revoke(tx: Transaction, worker_id: str) -> bool:
    """Its token opens nothing any more; what it has under way is given up when it is not heard of."""
    await tx.tell(WORKER, worker_id)
    return bool(await tx.change("fleet_worker_revoke", id=worker_id, now=tx.now))


async def claimant_of(app: App, token: str) -> Claimant | None:
    if not token.startswith(MARK):
        return None
    rows = await app.query("fleet_worker_by_hash", hash=digest(token))
    return Claimant(rows[0]["id"], rows[0]["name"], rows[0]["tenant"]) if rows else None


async def worker(app: App, worker_id: str) -> Worker:
    found = await stored.workers(app, [worker_id])
    if not found:
        raise stored.NotFound(f"no worker has the id {worker_id[:100]!r}")
    return found[0]
