"""Remote workers: who there is, and tokens for those that ask over HTTPS. And what they ask: a task, and to be heard."""

from __future__ import annotations

from typing import Annotated

from fastapi import Query, Request
from pydantic import Field

from towpath import Transaction
from towpath.fleet import claiming, reporting, schemas, stored, workers
from towpath.fleet.access import FleetWorker, WorkerPath
from towpath.fleet.messages import MOST_MESSAGE, StatusReport, WorkerReport
from towpath.fleet.records import worker_from
from towpath.fleet.shaping import worker_shape
from towpath.fleet.statistics import sums_of_workers
from towpath.http import bodies, shapes
from towpath.http.audit import audit_with
from towpath.http.policy import Admin
from towpath.http.problems import not_found, responses
from towpath.http.routing import Router
from towpath.http.state import Engine, base_url_of

router = Router(prefix="/api/fleet", tags=["fleet"])
bodies.large("POST", "/api/fleet/status", MOST_MESSAGE)


class WorkerQuery(shapes.Request):
    after: Annotated[str | None, Field(description="The `next` of the page before.", max_length=100)] = None
    limit: Annotated[int, Field(ge=1, le=200)] = 100


@router.get("/workers", operation_id="list_fleet_workers")
async def list_fleet_workers(
    _: Admin, app: Engine, asked: Annotated[WorkerQuery, Query()]
) -> shapes.Page[schemas.FleetWorker]:
    """Remote workers, newest first: those with a token, and those that were heard of through a queue in the last week."""
    now = await app.now()
    page = {"before": asked.after or shapes.LAST, "limit": asked.limit + 1}
    rows = await app.query("fleet_workers_page", since=now - reporting.REMEMBERED, **page)
    sums = await sums_of_workers(app, now)
    return shapes.page_of(
        rows, asked.limit, lambda row: worker_shape(worker_from(row), now, sums.get(row["id"])), lambda row: row["id"]
    )


@router.post("/workers", status_code=201, operation_id="create_fleet_worker")
async def create_fleet_worker(
    principal: Admin, app: Engine, request: Request, asked: schemas.NewFleetWorker
) -> schemas.MadeFleetWorker:
    """Lets a remote worker in. Its token is shown once, and opens nothing but claims and statuses."""
    new = workers.draw()

    async def unit(tx: Transaction) -> None:
        await workers.add(tx, new, asked.name, asked.tenant, principal.name)
        await audit_with(tx, request, "fleet.worker_add", new.id, name=asked.name)

    await app.transact(unit)
    return schemas.MadeFleetWorker(id=new.id, token=new.token)


@router.delete("/workers/{worker_id}", operation_id="revoke_fleet_worker", responses=responses(404))
async def revoke_fleet_worker(_: Admin, app: Engine, request: Request, worker_id: WorkerPath) -> schemas.RevokedFleetWorker:
    """Ends its token at once. What it has under way is given to others when it is not heard of any more."""
    try:
        found = await workers.worker(app, worker_id.lower())
    except stored.NotFound as error:
        raise not_found(str(error)) from None

    async def unit(tx: Transaction) -> bool:
        done = await workers.revoke(tx, found.id)
        await audit_with(tx, request, "fleet.worker_revoke", found.id)
        return done

    return schemas.RevokedFleetWorker(revoked=await app.transact(unit))


@router.post("/claim", operation_id="claim_fleet_task")
async def claim_fleet_task(worker: FleetWorker, app: Engine, request: Request, asked: schemas.Claim) -> schemas.Claimed:
    """A remote worker asks for a task, and waits for one. Whoever is silent for a minute then has lost it."""
    told = WorkerReport(
        worker_id=worker.id, name=worker.name, host=asked.host, version=asked.version, slots=asked.slots, busy=asked.busy,
        operations=asked.operations,
    )  # fmt: skip
    await reporting.greet(app, told, worker_id=worker.id)
    where, is_gone = base_url_of(request), request.is_disconnected
    return schemas.Claimed(task=await claiming.claim(app, worker, asked.operations, asked.wait_seconds, where, is_gone))


@router.post("/status", operation_id="report_fleet_status")
async def report_fleet_status(
    worker: FleetWorker, app: Engine, request: Request, asked: StatusReport
) -> schemas.StatusAnswer:
    """A remote worker tells how far it is, or what came of a task. What is late, stale or not its own changes nothing."""
    heard = await reporting.take(app, asked, worker_id=worker.id, base_url=base_url_of(request))
    urls = heard.urls
    return schemas.StatusAnswer.model_validate({
        "verdict": heard.verdict, "cancelled": heard.cancelled, "get_url": urls.get_url if urls else None,
        "put_url": urls.put_url if urls else None, "urls_until": urls.until if urls else None,
    })  # fmt: skip
