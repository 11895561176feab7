"""The items of a run, and what has happened to each."""

from __future__ import annotations

from typing import Annotated

from fastapi import Query
from pydantic import Field

from towpath import App
from towpath.documents import schemas, stored
from towpath.documents.access import ItemPath, RunPath, own_item, own_run
from towpath.documents.names import RUN
from towpath.documents.records import Item, Run, item_from
from towpath.documents.shaping import event_shape, item_shape
from towpath.documents.status import states_of
from towpath.documents.views import item_views
from towpath.http import shapes
from towpath.http.policy import Reader
from towpath.http.problems import responses
from towpath.http.routing import Router
from towpath.http.state import Engine

router = Router(prefix="/api/documents/runs/{run_id}/items", tags=["documents"])
by_id = Router(prefix="/api/documents/items", tags=["documents"])
"""For who knows an item and not its run, as from a job."""


class IdsQuery(shapes.Request):
    id: Annotated[list[schemas.Id], Field(min_length=1, max_length=100)]


@by_id.get("", operation_id="find_document_items")
async def find_document_items(
    principal: Reader, app: Engine, asked: Annotated[IdsQuery, Query()]
) -> shapes.Page[schemas.DocumentItem]:
    """The items with these ids, whichever runs they belong to. Those that are not there are left out."""
    found = await stored.items(app, [one.lower() for one in asked.id])
    own = [one for one in found if principal.admin or one.tenant == principal.tenant]
    there = {run.id for run in await stored.runs(app, {one.run_id for one in own})}
    views = await item_views(app, [one for one in own if one.run_id in there])
    return shapes.Page[schemas.DocumentItem](items=[item_shape(view) for view in views], next=None)


class ItemQuery(shapes.Request):
    status: Annotated[list[schemas.AskedItemStatus], Field(default_factory=list, max_length=5)]
    after: Annotated[int, Field(ge=-1, description="The `next` of the page before.")] = -1
    limit: Annotated[int, Field(ge=1, le=500)] = 100


@router.get("", operation_id="list_document_items", responses=responses(404))
async def list_document_items(
    principal: Reader, app: Engine, run_id: RunPath, asked: Annotated[ItemQuery, Query()]
) -> shapes.Page[schemas.DocumentItem]:
    """The items of a run in its order: where each is, what it took, and why it failed."""
    run = await own_run(app, principal, run_id)
    found = await _found(app, run, asked)
    page = await item_views(app, found[: asked.limit])
    following = str(page[-1].item.number) if len(found) > asked.limit else None
    return shapes.Page[schemas.DocumentItem](items=[item_shape(view) for view in page], next=following)


async def _found(app: App, run: Run, asked: ItemQuery) -> list[Item]:
    if not asked.status:
        return await stored.items_page(app, run.id, after=asked.after, limit=asked.limit + 1)
    jobs = (await app.subjects.jobs(RUN, [run.id]))[run.id]
    if jobs and jobs[-1].children_total:
        rows = await app.query(
            "document_items_in_state", job_id=jobs[-1].id, states=states_of(asked.status), after=asked.after,
            limit=asked.limit + 1,
        )  # fmt: skip
        return [item_from(row) for row in rows]
    found: list[Item] = []  # its job is gone, or has no children yet: every item says for itself
    after = asked.after
    while page := await stored.items_page(app, run.id, after=after, limit=500):
        found += [view.item for view in await item_views(app, page) if view.status in asked.status]
        after = page[-1].number
        if len(found) > asked.limit:
            break
    return found


@router.get("/{item_id}", operation_id="get_document_item", responses=responses(404))
async def get_document_item(principal: Reader, app: Engine, run_id: RunPath, item_id: ItemPath) -> schemas.DocumentItem:
    [view] = await item_views(app, [await own_item(app, principal, run_id, item_id)])
    return item_shape(view)


class EventQuery(shapes.Request):
    after: Annotated[int, Field(ge=0, description="The `next` of the page before.")] = 0
    limit: Annotated[int, Field(ge=1, le=1000)] = 200


@router.get("/{item_id}/events", operation_id="list_document_item_events", responses=responses(404))
async def list_document_item_events(
    principal: Reader, app: Engine, run_id: RunPath, item_id: ItemPath, asked: Annotated[EventQuery, Query()]
) -> shapes.Page[schemas.ItemEvent]:
    """What has happened to an item, each transition with the model, tokens, cost and, of a failure, its category."""
    [view] = await item_views(app, [await own_item(app, principal, run_id, item_id)])
    events: list[schemas.ItemEvent] = []
    if view.job_id is not None:
        async for event in app.events(job_id=view.job_id, after=asked.after):
            events.append(event_shape(event))
            if len(events) > asked.limit:
                break
    shown = events[: asked.limit]
    return shapes.Page[schemas.ItemEvent](
        items=shown, next=str(shown[-1].seq) if len(events) > asked.limit else None
    )  # fmt: skip
