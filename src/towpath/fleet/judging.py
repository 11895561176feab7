"""What a worker says is looked at: a result is believed when it is there, whole and as it was described."""

from __future__ import annotations

import hashlib
from contextlib import aclosing
from typing import Any

from towpath import App, Context, Fatal, Transaction, Transient
from towpath.fleet import verdicts
from towpath.fleet.messages import COMPLETED, LOST, URL_EXPIRED, Failure, Output, Used
from towpath.fleet.names import HERE, KIND, control_key, output_key
from towpath.fleet.records import Dispatch, Task
from towpath.fleet.storage import Found, storage_of
from towpath.fleet.verdicts import raised

MOST_EXPIRED = 10
"""So often in a row the URLs of a task may end before anybody has begun with it."""


class StorageAway(Exception):
    """It cannot be said yet whether the result is there."""


class Judging:
    def __init__(self, app: App, ctx: Context, task: Task, dispatch: Dispatch) -> None:
        self._app, self._ctx, self._task, self._dispatch = app, ctx, task, dispatch
        self._report: dict[str, Any] = dispatch.report or {}
        self._target = storage_of(app, task.target)
        self._output = output_key(task.target, task.id, dispatch.attempt)

    async def judge(self) -> bool:
        """True: it is done. False: it is to be sent anew. What has failed is raised."""
        status = self._report.get("status")
        if status == COMPLETED:
            return await self._completed(Output.model_validate(self._report.get("output") or {"size": -1, "sha256": ""}))
        if status == URL_EXPIRED:
            return await self._expired()
        failure = Failure.model_validate(self._report.get("failure") or {})
        await self._end(verdicts.LOST if status == LOST else verdicts.FAILED, failure)
        raise raised(failure)

    async def _completed(self, said: Output) -> bool:
        if wrong := await self._wrong_with(said):
            failure = Failure(kind="storage", error_class="ResultMissing", message=wrong)
            await self._end(verdicts.REFUSED, failure)
            raise raised(failure)
        for used in self._report.get("used") or ():
            await self._ctx.meter(**Used.model_validate(used).model_dump())
        await self._end(verdicts.COMPLETED, None, result=said)
        return True

    async def _wrong_with(self, said: Output) -> str | None:
        """Why the result is not believed, if it is not. It is under its own name afterwards if it is: whatever the worker
        writes from then on is not read by anybody."""
        try:
            there = await self._target.head(self._output)
            if there is None and await self._is(self._task.result_key, said):
                return None  # whoever looked before has moved it already
            if wrong := await self._differs(there, said):
                return wrong
            await self._target.move(self._output, self._task.result_key)
            await self._tidy()
        except (Transient, Fatal) as error:  # credentials that have ended are renewed
            raise StorageAway(str(error)) from None
        return None

    async def _tidy(self) -> None:
        """What earlier attempts have stored that were given up, and what their workers and this one were told beside it."""
        task = self._task
        if task.target != HERE:
            last = self._dispatch.attempt
            for attempt in range(1, last):
                await self._target.delete(output_key(task.target, task.id, attempt))
            for attempt in range(1, last + 1) if self._dispatch.route != HERE else ():
                await self._target.delete(control_key(task.target, task.id, attempt))

    async def _differs(self, there: Found | None, said: Output) -> str | None:
        who = f"worker {self._dispatch.worker_id}"
        if there is None:
            return f"{who} reported COMPLETED, and its result is not there"
        if there.size != said.size:
            return f"{who} reported a result of {said.size:,} bytes, and there are {there.size:,}"
        if await self._sha256(self._output) != said.sha256:
            return f"{who} reported a result with another checksum than the one that is there"
        return None

    async def _is(self, key: str, said: Output) -> bool:
        found = await self._target.head(key)
        return found is not None and found.size == said.size and await self._sha256(key) == said.sha256

    async def _sha256(self, key: str) -> str:
        made = hashlib.sha256()
        async with aclosing(self._target.open(key)) as pieces:
            async for piece in pieces:
                made.update(piece)
        return made.hexdigest()

    async def _expired(self) -> bool:
        rows = await self._ctx.query("fleet_dispatch_expired_count", task_id=self._task.id)
        if rows[0]["times"] + 1 >= MOST_EXPIRED:
            failure = Failure(
                kind="network", error_class="UrlExpired",
                message=f"its URLs ended {MOST_EXPIRED} times in a row before a worker had begun with it",
                remedy="raise TOWPATH_FLEET_URL_SECONDS, or set the workers' clocks",
            )  # fmt: skip
            await self._end(verdicts.FAILED, failure)
            raise raised(failure)
        await self._end(verdicts.EXPIRED, None)
        return False

    async def _end(self, outcome: str, failure: Failure | None, *, result: Output | None = None) -> None:
        task, dispatch = self._task, self._dispatch

        async def unit(tx: Transaction) -> None:
            await tx.change(
                "fleet_dispatch_end", task_id=task.id, attempt=dispatch.attempt, outcome=outcome, now=tx.now,
                kind=failure.kind if failure else None, reason=failure.message if failure else None,
            )  # fmt: skip
            if result is not None:
                await tx.change("fleet_task_result", id=task.id, bytes=result.size, sha256=result.sha256)
            await tx.tell(KIND, task.id)

        await self._ctx.transact(unit)
