"""What the routes share: tasks that the caller may see, and workers that have shown their token."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import Depends, Path, Request, Security
from fastapi.security import HTTPBearer

from towpath import App
from towpath.fleet import stored
from towpath.fleet.intake import Owner
from towpath.fleet.records import Task
from towpath.fleet.schemas import Id
from towpath.fleet.workers import Claimant, claimant_of
from towpath.http.policy import Policy, refuse_unknown_query
from towpath.http.problems import Problem, not_found
from towpath.http.state import app_of
from towpath.identity.principal import Principal

TaskPath = Annotated[Id, Path(description="The task's id.")]
WorkerPath = Annotated[Id, Path(description="The worker's id.")]
_BEARER = HTTPBearer(auto_error=False, scheme_name="worker", description="A remote worker's token: `tow_fleet_…`")


class WorkerGuard(Policy):
    """For remote workers: a token of their own, which opens nothing else, and no other token opens this."""

    async def __call__(self, request: Request, _bearer: Annotated[Any, Security(_BEARER)] = None) -> Claimant:  # type: ignore[override]  # a worker is no account
        refuse_unknown_query(request)
        known = getattr(request.state, "towpath_claimant", None)
        if known is None:
            kind, _, token = request.headers.get("authorization", "").partition(" ")
            known = await claimant_of(app_of(request), token.strip()) if kind.lower() == "bearer" else None
            request.state.towpath_claimant = known
        if known is None:
            raise Problem(
                "unauthenticated", 401, "this needs the token of a remote worker, and there is none or it was revoked",
                remedy="make one: towpath fleet worker-add NAME", headers={"WWW-Authenticate": "Bearer"},
            )  # fmt: skip
        return known


FleetWorker = Annotated[Claimant, Depends(WorkerGuard())]
"""A remote worker that has shown its token."""


async def own_task(app: App, principal: Principal, task_id: str) -> Task:
    """Somebody else's answers like one that does not exist."""
    try:
        return await stored.task(app, task_id.lower(), tenant=None if principal.admin else principal.tenant)
    except stored.NotFound as error:
        raise not_found(str(error)) from None


def owner_of(principal: Principal) -> Owner:
    return Owner(principal.tenant, principal.account_id, principal.name)


async def worker_names(app: App, ids: set[str | None]) -> dict[str, str]:
    return {one.id: one.name for one in await stored.workers(app, [name for name in ids if name])}
