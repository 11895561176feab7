"""Schedules: what is planned, ways to hold it or to have it now, and to plan something that no code declares."""

from __future__ import annotations

from typing import Annotated

from fastapi import Path, Request

from towpath.core.records import Job as JobRow
from towpath.core.records import Schedule as Planned
from towpath.engine.app import App
from towpath.http.audit import audited, note
from towpath.http.policy import Admin, Reader, tenant_of
from towpath.http.problems import not_found, responses
from towpath.http.routing import Router
from towpath.http.state import Engine
from towpath.server.schemas.jobs import Job, job_of
from towpath.server.schemas.schedules import NewSchedule, Schedule, ScheduleChange, ScheduleDetail
from towpath.server.values import inlined
from towpath.store.also import Also

router = Router(prefix="/api/schedules", tags=["schedules"])

Named = Annotated[str, Path(description="The schedule's name.")]


@router.get("", operation_id="list_schedules")
async def list_schedules(principal: Reader, app: Engine) -> list[Schedule]:
    """What is planned for the caller's tenant; admins see all."""
    tenant = tenant_of(principal, None)
    plans = [plan for plan in await app.schedules.list() if tenant in (None, plan.tenant)]
    states = await _states(app, plans)
    return [_shown(plan, states) for plan in plans]


@router.post("", operation_id="create_schedule", status_code=201, responses=responses(404, 409))
async def create_schedule(principal: Admin, app: Engine, request: Request, asked: NewSchedule) -> Schedule:
    """Plans something that no code declares; it stays until somebody deletes it. For operations of this server's app."""
    plan = asked.model_dump() | {"tenant": asked.tenant or principal.tenant}
    told = {name: plan[name] for name in ("cron", "timezone", "operation")}
    line: Also[Planned] = audited(request, lambda made: note("schedule.create", made.name, tenant=made.tenant, **told))
    made = await app.schedules.add(**plan, also=line)
    return _shown(made, {})


@router.get("/{name:path}", operation_id="get_schedule", responses=responses(404))
async def get_schedule(principal: Reader, app: Engine, name: Named) -> ScheduleDetail:
    """One schedule with the payload that its jobs get."""
    plan = await app.schedules.get(name)
    if tenant_of(principal, None) not in (None, plan.tenant):
        raise not_found(f"there is no schedule {name[:200]!r}")
    payload, cut = await inlined(app.services.values, plan.payload_json)
    shown = _shown(plan, await _states(app, [plan]))
    return ScheduleDetail.model_construct(**dict(shown), payload=payload, payload_truncated=cut)


@router.put("/{name:path}", operation_id="update_schedule", responses=responses(404, 409))
async def update_schedule(principal: Admin, app: Engine, request: Request, name: Named, asked: ScheduleChange) -> Schedule:
    """Plans one that people have made anew; what is paused stays so. 409 for those that code declares."""
    plan = asked.model_dump() | {"tenant": asked.tenant or principal.tenant}
    told = {word: plan[word] for word in ("cron", "timezone", "operation")}
    line: Also[Planned] = audited(request, lambda made: note("schedule.update", made.name, tenant=made.tenant, **told))
    await app.schedules.change(name, **plan, also=line)
    return await _one(app, name)


@router.delete("/{name:path}", operation_id="delete_schedule", status_code=204, responses=responses(404, 409))
async def delete_schedule(_principal: Admin, app: Engine, request: Request, name: Named) -> None:
    """Deletes one that people have made, or that its code has left behind; jobs that it has enqueued stay."""
    line: Also[Planned] = audited(request, lambda gone: note("schedule.delete", gone.name, tenant=gone.tenant))
    await app.schedules.remove(name, also=line)


@router.post("/{name:path}/pause", operation_id="pause_schedule", responses=responses(404))
async def pause_schedule(_principal: Admin, app: Engine, request: Request, name: Named) -> Schedule:
    """Holds it: its times pass without effect, and it fires once when it is resumed."""
    await app.schedules.pause(name, also=audited(request, lambda _: note("schedule.pause", name)))
    return await _one(app, name)


@router.post("/{name:path}/resume", operation_id="resume_schedule", responses=responses(404))
async def resume_schedule(_principal: Admin, app: Engine, request: Request, name: Named) -> Schedule:
    """It fires again; once at once, if it has missed a time."""
    await app.schedules.resume(name, also=audited(request, lambda _: note("schedule.resume", name)))
    return await _one(app, name)


@router.post("/{name:path}/fire", operation_id="fire_schedule", responses=responses(404))
async def fire_schedule(_principal: Admin, app: Engine, request: Request, name: Named) -> Job:
    """Enqueues its job now, paused or not; its next time stays what it was."""
    line = audited(request, lambda job_id: note("schedule.fire", name, job=job_id))
    job_id = await app.schedules.fire(name, also=line)
    return job_of(await app.get(job_id))


async def _one(app: App, name: str) -> Schedule:
    plan = await app.schedules.get(name)
    return _shown(plan, await _states(app, [plan]))


async def _states(app: App, plans: list[Planned]) -> dict[str, str]:
    """What became of the last job of each; nothing for one that is gone."""
    ids = [plan.last_job_id for plan in plans if plan.last_job_id is not None]
    rows: list[JobRow] = await app.services.store.read(lambda tx: tx.jobs("jobs_by_id", ids=ids)) if ids else []
    return {row.id: row.state.value for row in rows}


def _shown(plan: Planned, states: dict[str, str]) -> Schedule:
    return Schedule.model_construct(
        name=plan.name,
        cron=plan.cron,
        timezone=plan.timezone,
        operation=plan.operation,
        tenant=plan.tenant,
        priority=plan.priority,
        paused=plan.paused,
        next_fire=plan.next_fire,
        last_fire=plan.last_fire,
        last_job_id=plan.last_job_id,
        last_state=states.get(plan.last_job_id or ""),
        origin=plan.origin,
        retired=plan.retired,
    )
