"""Cancel, retry and delete for many jobs at once, in bounded batches."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence

from fastapi import Request

from towpath.core.records import Job as JobRow
from towpath.engine.app import App
from towpath.engine.asking import listing
from towpath.engine.changing import cancelling, deleting, requeueing
from towpath.engine.changing.batches import batches
from towpath.http.audit import audit
from towpath.http.policy import Writer
from towpath.http.problems import invalid
from towpath.http.routing import Router
from towpath.http.state import Engine
from towpath.identity.principal import Principal
from towpath.server.routes.sharing import wanted_by
from towpath.server.schemas.bulk import Bulk, BulkDone, JobFilter

router = Router(prefix="/api/jobs", tags=["jobs"])

BATCH = 500
"""Jobs per request by filter."""

NOT_FOUND = "not found"


@router.post("/bulk", operation_id="bulk_update_jobs")
async def bulk_update_jobs(principal: Writer, app: Engine, request: Request, asked: Bulk) -> BulkDone:
    """Cancels, retries or deletes the jobs of these ids, or up to 500 of those that match a filter.

    While `remaining` is true there are more: send the same request with `next` as `filter.after`.
    """
    if (asked.ids is None) == (asked.filter is None):
        raise invalid("ids", "give either ids or a filter")
    if asked.filter is not None:
        ids, following = await matching(app, principal, asked.filter)
        refused: dict[str, str] = {}
    else:
        ids, refused = await own_ids(app, principal, asked.ids or [])
        following = None
    done, why = await _ACTIONS[asked.action](app, ids, principal)
    audit(request, f"jobs.{asked.action}", None, jobs=done)
    return BulkDone(done=done, refused=refused | why, remaining=following is not None, next=following)


async def matching(app: App, principal: Principal, asked: JobFilter) -> tuple[list[str], str | None]:
    found = await listing.search(app.services.store, wanted_by(asked, principal), after=asked.after, limit=BATCH)
    return [job.id for job in found.jobs], found.next


async def own_ids(app: App, principal: Principal, ids: Sequence[str]) -> tuple[list[str], dict[str, str]]:
    """Those the caller may touch; all others do not exist for it."""
    asked = list(dict.fromkeys(one.lower() for one in ids))
    rows = await app.services.store.read(lambda tx: tx.jobs("jobs_by_id", ids=asked)) if asked else []
    own = {row.id for row in rows if may_touch(principal, row)}
    return [one for one in asked if one in own], {one: NOT_FOUND for one in asked if one not in own}


def may_touch(principal: Principal, row: JobRow) -> bool:
    return principal.admin or row.tenant == principal.tenant


Outcome = tuple[int, dict[str, str]]
"""How many it was done to, and why not to others."""


async def cancel_many(app: App, ids: Sequence[str], principal: Principal) -> Outcome:
    done: set[str] = set()
    refused: dict[str, str] = {}
    for batch in batches(ids):
        outcome = await cancelling.cancel(app.services.store, batch, f"cancelled by {principal.name}")
        done.update(outcome.ids)
        refused |= {one: f"it had ended: {outcome.was[one]}" for one in batch if one in outcome.was and one not in done}
        refused |= {one: NOT_FOUND for one in batch if one not in outcome.was}
    return len(done.intersection(ids)), refused


async def retry_many(app: App, ids: Sequence[str], _principal: Principal) -> Outcome:
    done = await requeueing.requeue(app.services, ids)
    return done.requeued, done.refused


async def delete_many(app: App, ids: Sequence[str], _principal: Principal) -> Outcome:
    removed = await deleting.remove(app.services, ids)
    return removed.jobs, removed.refused


_ACTIONS: dict[str, Callable[[App, Sequence[str], Principal], Awaitable[Outcome]]] = {
    "cancel": cancel_many,
    "retry": retry_many,
    "delete": delete_many,
}
