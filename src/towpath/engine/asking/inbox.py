"""The Failed Items Inbox: what failed for good, grouped by cause, and the way back.

It lists leaf failures only: a parent that failed because of its children comes back when they do.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from functools import partial
from typing import Any

from towpath.core import transitions
from towpath.core.ids import FIRST_ID
from towpath.core.records import Job
from towpath.engine.asking.reading import check_id, check_limit, get
from towpath.engine.services import Services
from towpath.store import ledger

_PAGE = 200


@dataclass(slots=True)
class Group:
    """One cause. `message` has its variable parts taken out; `example` is one of the jobs."""

    operation: str
    kind: str
    message: str
    jobs: int
    first_at: datetime
    last_at: datetime
    example: str


@dataclass(slots=True)
class Requeued:
    """What a bulk requeue did: how many went back, and why the others did not."""

    requeued: int
    refused: dict[str, str]


class Inbox:
    def __init__(self, services: Services) -> None:
        self._services = services

    async def groups(self, *, tenant: str | None = None, limit: int = 100) -> list[Group]:
        rows = await self._services.store.read(lambda tx: tx.fetch("inbox_groups", tenant=tenant, limit=limit))
        return [
            Group(
                row["operation"], row["kind"], row["message"], row["jobs"],
                row["first_at"], row["last_at"], str(row["example"]),
            )
            for row in rows
        ]  # fmt: skip

    async def jobs(
        self,
        *,
        operation: str | None = None,
        kind: str | None = None,
        message: str | None = None,
        tenant: str | None = None,
        after: str | None = None,
        limit: int = 100,
    ) -> list[Job]:
        """The failures of a group or filter, oldest first; `after` is the last id of the previous page."""
        page = {"after": after, "after_id": check_id(after) if after else FIRST_ID, "limit": check_limit(limit)}
        filters = {"operation": operation, "kind": kind, "message": message, "tenant": tenant}
        return await self._services.store.read(lambda tx: tx.jobs("list_failed", **page, **filters))

    async def requeue(
        self, ids: list[str] | None = None, *, payload: Any = None, keep_steps: bool = False, **filters: Any
    ) -> Requeued:
        """Requeues the given jobs, or all that match the filter. The old error stays in each job's events.

        With an edited payload the recorded steps and children are dropped, unless `keep_steps`.
        """
        outcome = Requeued(0, {})
        if ids is not None:
            await self._requeue([check_id(job_id) for job_id in ids], payload, keep_steps, outcome)
            return outcome
        after: str | None = None
        while page := await self.jobs(**filters, after=after, limit=_PAGE):
            await self._requeue([job.id for job in page], payload, keep_steps, outcome)
            after = page[-1].id
        return outcome

    async def _requeue(self, ids: list[str], payload: Any, keep_steps: bool, outcome: Requeued) -> None:
        for job_id in ids:
            text = None if payload is None else await payload_for(self._services, job_id, payload)
            asked = transitions.requeue(job_id, payload_json=text, keep_steps=keep_steps)
            [refused] = await self._services.store.run(partial(ledger.apply, transitions=[asked]))
            if refused is None:
                outcome.requeued += 1
            else:
                outcome.refused[job_id] = refused


async def payload_for(services: Services, job_id: str, payload: Any) -> str:
    """An edited payload is checked against the operation's type like any other."""
    job = await get(services.store, job_id)
    known = services.registry.get(job.operation)
    text = known.check(payload) if known else services.values.encode(payload, "the payload")
    services.values.check(text, "the payload")
    return await services.values.place(text, f"jobs/{job_id}/payload-{job.seq}")
