"""`app.inbox`, the Failed Items Inbox: what failed for good, grouped by cause, and the way back.

It lists leaf failures only: a parent that failed because of its children comes back when they do.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from functools import partial
from typing import Any

from towpath.core.records import Job
from towpath.engine.asking.listing import list_failures
from towpath.engine.asking.reading import check_id
from towpath.engine.changing.requeueing import Requeued, requeue
from towpath.engine.services import Services

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
        return await list_failures(
            self._services.store, operation=operation, kind=kind, message=message, tenant=tenant, after=after, limit=limit
        )

    async def requeue(
        self, ids: list[str] | None = None, *, payload: Any = None, keep_steps: bool = False, **filters: Any
    ) -> Requeued:
        """Requeues the given jobs, or all that match the filter. The old error stays in each job's events.

        With an edited payload the recorded steps and children are dropped, unless `keep_steps`.
        """
        again = partial(requeue, self._services, payload=payload, keep_steps=keep_steps)
        if ids is not None:
            return await again([check_id(job_id) for job_id in ids])
        outcome = Requeued()
        after: str | None = None
        while page := await self.jobs(**filters, after=after, limit=_PAGE):
            some = await again([job.id for job in page])
            outcome = Requeued(outcome.requeued + some.requeued, outcome.refused | some.refused)
            after = page[-1].id
        return outcome
