"""The Failed Items Inbox: what failed for good, grouped by cause, and the way back."""

from __future__ import annotations

from typing import Annotated

from fastapi import Query, Request
from pydantic import Field

from towpath.core.errors import TowpathError
from towpath.engine.app import App
from towpath.engine.asking import listing
from towpath.engine.asking.causes import causes
from towpath.http.audit import audit, audited, note
from towpath.http.policy import Reader, Writer, tenant_of
from towpath.http.problems import Problem, invalid
from towpath.http.routing import Router
from towpath.http.state import Engine
from towpath.identity.principal import Principal
from towpath.server import dismissals
from towpath.server.counts import at_most_once_a_second
from towpath.server.payloads import check_edit
from towpath.server.routes.bulk import BATCH, own_ids, retry_many
from towpath.server.schemas.base import Label, Name, Page
from towpath.server.schemas.base import Request as Asked
from towpath.server.schemas.bulk import JobId
from towpath.server.schemas.inbox import Cause, ChosenGroup, InboxGroup, InboxPage, Kind, Requeue, Requeued
from towpath.server.schemas.jobs import Job, job_of
from towpath.store.also import Also

router = Router(prefix="/api/inbox", tags=["inbox"])

_MOST_GROUPS = 200


class InboxQuery(Asked):
    tenant: Label | None = None


class GroupsQuery(InboxQuery):
    dismissed: Annotated[bool, Field(description="Those too that were dismissed.")] = False


class GroupQuery(InboxQuery):
    operation: Name | None = None
    kind: Kind | None = None
    message: Annotated[Cause | None, Field(description="As in the group: with its variable parts taken out.")] = None
    after: JobId | None = None
    limit: Annotated[int, Field(ge=1, le=200)] = 50


@router.get("", operation_id="list_inbox")
async def list_inbox(principal: Reader, app: Engine, asked: Annotated[GroupsQuery, Query()]) -> InboxPage:
    """Failures grouped by cause, largest group first. The newest 5,000 failures are looked at.

    Groups that were dismissed are left out until one of their jobs fails again.
    """
    tenant = tenant_of(principal, asked.tenant)

    async def make() -> InboxPage:
        found, capped = await causes(app.services.store, tenant)
        groups = [
            InboxGroup(
                operation=cause.operation, kind=cause.kind, message=cause.message, jobs=cause.jobs,
                first_at=cause.first_at, last_at=cause.last_at, example=cause.example, trend=cause.trend,
            )
            for cause in found[:_MOST_GROUPS]
        ]  # fmt: skip
        return InboxPage(items=groups, next=None, capped=capped or len(found) > _MOST_GROUPS)

    page = await at_most_once_a_second(app, ("inbox", tenant), make)
    return _without(page, await dismissals.dismissed(app.services.store, tenant), shown=asked.dismissed)


def _without(page: InboxPage, known: dismissals.Dismissed, *, shown: bool) -> InboxPage:
    """Told apart at every look, so that whoever dismisses something sees it go at once."""
    marked = [group.model_copy(update={"dismissed": known.has(group)}) for group in page.items]
    kept = [group for group in marked if shown or not group.dismissed]
    return page.model_copy(update={"items": kept, "dismissed": sum(group.dismissed for group in marked)})


@router.post("/dismiss", operation_id="dismiss_inbox_group", status_code=204)
async def dismiss_inbox_group(principal: Writer, app: Engine, request: Request, asked: ChosenGroup) -> None:
    """Takes a group out of the inbox until one more of it fails. Its jobs stay as they are, and can be requeued."""
    tenant, group = tenant_of(principal, None), (asked.operation, asked.kind, asked.message)
    line: Also[None] = audited(request, lambda _: note("inbox.dismiss", asked.operation, tenant=tenant))
    await dismissals.dismiss(app.services.store, tenant, group, also=line)


@router.post("/restore", operation_id="restore_inbox_group", status_code=204)
async def restore_inbox_group(principal: Writer, app: Engine, request: Request, asked: ChosenGroup) -> None:
    """Brings a dismissed group back."""
    tenant, group = tenant_of(principal, None), (asked.operation, asked.kind, asked.message)
    line: Also[None] = audited(request, lambda _: note("inbox.restore", asked.operation, tenant=tenant))
    await dismissals.restore(app.services.store, tenant, group, also=line)


@router.get("/jobs", operation_id="list_inbox_jobs")
async def list_inbox_jobs(principal: Reader, app: Engine, asked: Annotated[GroupQuery, Query()]) -> Page[Job]:
    """The failed jobs of a group, newest first."""
    tenant = tenant_of(principal, asked.tenant)
    wanted = listing.failures(tenant=tenant, operation=asked.operation, kind=asked.kind, message=asked.message)
    found = await listing.search(app.services.store, wanted, after=asked.after, limit=asked.limit)
    return Page[Job](items=[job_of(row) for row in found.jobs], next=found.next)


@router.post("/requeue", operation_id="requeue_inbox")
async def requeue_inbox(principal: Writer, app: Engine, request: Request, asked: Requeue) -> Requeued:
    """Gives failures a fresh start: some by id, one group, or all. Up to 500 per request; see `remaining`."""
    ids, refused, following = await _chosen(app, principal, asked)
    done, why = await _requeue(app, ids, principal, asked)
    audit(request, "inbox.requeue", None, jobs=done, edited=asked.payload is not None)
    return Requeued(requeued=done, refused=refused | why, remaining=following is not None, next=following)


async def _chosen(app: App, principal: Principal, asked: Requeue) -> tuple[list[str], dict[str, str], str | None]:
    filters = {"operation": asked.operation, "kind": asked.kind, "message": asked.message}
    if asked.ids is not None:
        if asked.all or any(filters.values()):
            raise invalid("ids", "give ids, or a group, or all; not several of them")
        return *await own_ids(app, principal, asked.ids), None
    if not asked.all and not any(filters.values()):
        raise invalid("all", "name ids or a group, or set all to true")
    wanted = listing.failures(tenant=tenant_of(principal, None), **filters)
    found = await listing.search(app.services.store, wanted, after=asked.after, limit=BATCH)
    return [row.id for row in found.jobs], {}, found.next


async def _requeue(app: App, ids: list[str], principal: Principal, asked: Requeue) -> tuple[int, dict[str, str]]:
    if asked.payload is None:
        return await retry_many(app, ids, principal)
    refused: dict[str, str] = {}
    for job_id in ids:
        try:
            await _requeue_edited(app, principal, job_id, asked)
        except (TowpathError, Problem) as error:
            refused[job_id] = str(error)
    return len(ids) - len(refused), refused


async def _requeue_edited(app: App, principal: Principal, job_id: str, asked: Requeue) -> None:
    await check_edit(app, principal, await app.get(job_id), asked.payload)
    await app.requeue(job_id, payload=asked.payload, keep_steps=asked.keep_steps)
