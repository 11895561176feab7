"""Whether files and addresses need to be sent at all."""

from __future__ import annotations

from towpath.documents import schemas
from towpath.documents.known import Asked, known
from towpath.documents.shaping import item_shape
from towpath.http.policy import Reader
from towpath.http.routing import Router
from towpath.http.state import Engine

router = Router(prefix="/api/documents", tags=["documents"])


@router.post("/known", operation_id="find_known_documents")
async def find_known_documents(principal: Reader, app: Engine, asked: schemas.AskedKnown) -> schemas.KnownItems:
    """Which of these were sent before with the same settings, so that they need not be sent again: the newest item of
    each, done, under way, or failed and worth a retry. What is at an address may have changed, so an address is known only
    while it is being read."""
    wanted = [Asked(one.source, one.sha256, one.url) for one in asked.items]
    found = await known(app, principal.tenant, wanted, asked.settings.model_dump(exclude_none=True))
    return schemas.KnownItems(items=[None if view is None else item_shape(view) for view in found])
