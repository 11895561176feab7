"""Dismissals as they are stored: by tenant, or for all tenants at once."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime, timedelta

from towpath.core.moments import moment
from towpath.engine.asking.causes import Cause
from towpath.server.schemas.inbox import InboxGroup
from towpath.store.also import Also, together
from towpath.store.contract import Store, Tx

ALL = ""
_KEPT = timedelta(days=400)

Key = tuple[str, str, str]


class Dismissed:
    """When each group was dismissed last, by whoever may do that for these failures."""

    def __init__(self, at: Mapping[Key, datetime]) -> None:
        self._at = at

    def has(self, cause: Cause | InboxGroup) -> bool:
        """A failure that came later brings the group back."""
        at = self._at.get((cause.operation, cause.kind, cause.message))
        return at is not None and cause.last_at <= at


async def dismissed(store: Store, tenant: str | None) -> Dismissed:
    rows = await store.read(lambda tx: tx.fetch("dismissals_of", tenants=_seen_by(tenant)))
    return Dismissed({(row["operation"], row["kind"], row["message"]): moment(row["dismissed_at"]) for row in rows})


async def dismiss(store: Store, tenant: str | None, group: Key, *, also: Also[None] | None = None) -> None:
    async def unit(tx: Tx) -> None:
        await tx.execute("dismissals_forget", before=tx.now - _KEPT)
        operation, kind, message = group
        await tx.execute(
            "dismissal_put", tenant=tenant or ALL, operation=operation, kind=kind, message=message, now=tx.now
        )  # fmt: skip

    await store.run(together(unit, also))


async def restore(store: Store, tenant: str | None, group: Key, *, also: Also[None] | None = None) -> None:
    """Brings it back. Whoever sees all tenants brings back what was dismissed for all; a tenant only its own."""

    async def unit(tx: Tx) -> None:
        operation, kind, message = group
        await tx.execute("dismissal_drop", tenants=[tenant or ALL], operation=operation, kind=kind, message=message)

    await store.run(together(unit, also))


def _seen_by(tenant: str | None) -> list[str]:
    """What a tenant dismissed is still in the inbox of administrators, and the other way round."""
    return [tenant or ALL]
