"""The job of a task: it is sent, waits for its worker, and what the worker says is looked at before it is believed.

A task may be sent many times: each time is an attempt with a number of its own, and one is under way at a time. What an
attempt came to reaches the job as a signal that names it. Failures, backoff, the cap and the inbox are those of any job.
"""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from towpath import App, Context, Fatal, RateLimited, RetryLater, SchemaInvalid, Transaction, Transient, WaitTimeout
from towpath.fleet import sending, stored
from towpath.fleet.judging import Judging, StorageAway
from towpath.fleet.names import AFTER, CARE_LANE, HERE, KIND, ended, queue_of
from towpath.fleet.offers import Offers
from towpath.fleet.records import Dispatch, Task
from towpath.fleet.secrets import draw
from towpath.fleet.verdicts import COMPLETED

ATTEMPTS = 3
_AWAY = 15.0
_PATIENCE = 60.0
"""Seconds beyond all deadlines until the job stops waiting although nobody gave its worker up."""


class Dispatching:
    def __init__(self, app: App) -> None:
        self._app = app

    async def run(self, ctx: Context, payload: dict[str, Any]) -> dict[str, Any]:
        task = await stored.task(ctx, payload["task"])
        while True:
            dispatch = await stored.newest(ctx, task.id)
            if dispatch is not None and dispatch.outcome == COMPLETED:
                return await _result(ctx, task.id)  # the worker died between this commit and the job's end
            if dispatch is None or not dispatch.open:
                dispatch = await self._begin(ctx, task, 1 if dispatch is None else dispatch.attempt + 1)
            if dispatch.sent_at is None and dispatch.report is None:
                await self._send(ctx, task, dispatch)
            await self._wait(ctx, dispatch)
            if await self._judged(ctx, task, dispatch):
                return await _result(ctx, task.id)

    async def _begin(self, ctx: Context, task: Task, attempt: int) -> Dispatch:
        link_key, settings = draw(), self._app.settings

        async def unit(tx: Transaction) -> None:
            lasts = timedelta(seconds=settings.fleet_ack_seconds)
            await tx.change(
                "fleet_dispatch_add", task_id=task.id, attempt=attempt, job_id=ctx.id, tenant=task.tenant,
                operation=task.operation, route=task.route, link_key=link_key, now=tx.now, lease_until=tx.now + lasts,
                deadline=tx.now + lasts + timedelta(seconds=settings.fleet_task_seconds),
            )  # fmt: skip
            if task.route == HERE:
                await tx.change(
                    "fleet_dispatch_sent", task_id=task.id, attempt=attempt, now=tx.now, lease_until=tx.now + lasts
                )
            queue = queue_of(task.source, task.target)
            await tx.leave_word(ctx.id, AFTER, {"task": task.id}, tenant=task.tenant, lane=CARE_LANE, queue=queue)
            await tx.tell(KIND, task.id)

        await ctx.transact(unit)
        self._app.part(Offers).ring()
        made = await stored.attempt(ctx, task.id, attempt)
        assert made is not None
        return made

    async def _send(self, ctx: Context, task: Task, dispatch: Dispatch) -> None:
        """What cannot be reached is nothing that the task has done: it comes back, and loses no attempt."""
        try:
            await sending.send(self._app, ctx, task, dispatch)
        except (Transient, RateLimited, Fatal) as error:  # a queue that is not there may be made
            raise RetryLater(f"the task could not be sent: {error}", _AWAY) from None

    async def _wait(self, ctx: Context, dispatch: Dispatch) -> None:
        lasts = (dispatch.deadline - dispatch.made_at).total_seconds()
        try:
            await ctx.wait_for(ended(dispatch.attempt), timeout=lasts + _PATIENCE)
        except WaitTimeout:
            await sending.give_up(ctx, dispatch)

    async def _judged(self, ctx: Context, task: Task, dispatch: Dispatch) -> bool:
        """Whether the task is done. What has failed is raised; what has to be sent anew is False."""
        seen = await stored.attempt(ctx, task.id, dispatch.attempt)
        if seen is None or not seen.open or seen.report is None:
            return False
        try:
            return await Judging(self._app, ctx, task, seen).judge()
        except StorageAway as error:
            raise RetryLater(f"the result could not be looked at: {error}", _AWAY) from None


async def _result(ctx: Context, task_id: str) -> dict[str, Any]:
    task = await stored.task(ctx, task_id)
    return {"result": task.result_key, "bytes": task.result_bytes, "sha256": task.result_sha256}


def check_attempts(attempts: int | None) -> int | None:
    if attempts is not None and not 1 <= attempts <= 100:
        raise SchemaInvalid(f"between 1 and 100, got {attempts}", path="max_attempts")
    return attempts
