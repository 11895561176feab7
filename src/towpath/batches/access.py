"""What the routes share: batches that the caller may see."""

from __future__ import annotations

from typing import Annotated

from fastapi import Path

from towpath import App
from towpath.batches import stored
from towpath.batches.intake import Owner
from towpath.batches.records import Batch
from towpath.http.problems import not_found
from towpath.identity.principal import Principal

BatchPath = Annotated[str, Path(description="The batch's id.")]
OrderPath = Annotated[str, Path(description="The id of the provider job here, not at the provider.")]


async def own_batch(app: App, principal: Principal, batch_id: str) -> Batch:
    """Somebody else's answers like one that does not exist."""
    try:
        return await stored.find(app, batch_id.lower(), tenant=None if principal.admin else principal.tenant)
    except stored.BatchNotFound:
        raise not_found(f"no batch has the id {batch_id[:100]!r}; it may have been deleted") from None


def owner_of(principal: Principal) -> Owner:
    return Owner(principal.tenant, principal.account_id, principal.name)
