"""What is told of the things that jobs work on, each by the projection that its product has registered."""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import Mapping, Sequence

from towpath.core.errors import StoreUnavailable
from towpath.core.records import Event, Job
from towpath.engine.asking import deltas
from towpath.engine.projections import GONE, Project, Projection
from towpath.push import frames
from towpath.push.limits import Limits
from towpath.push.messages import Message, Wants

log = logging.getLogger("towpath.push")

Group = tuple[str, Sequence[Event]]
"""A job's id, and what happened to it."""


class Products:
    def __init__(self, projections: Mapping[str, Project], limits: Limits) -> None:
        self._projections, self._limits = projections, limits
        self._resting_until: dict[str, float] = {}

    async def messages(self, groups: Sequence[Group], jobs: Mapping[str, Job], wants: Wants) -> list[Message]:
        """They have no id, and are sent before the messages of the jobs that made the change: whoever is cut off in between
        comes back to before it, and is told again. Whose a thing is, its projection knows best."""
        made: list[Message] = []
        for kind, tenants in self._changed(groups, jobs).items():
            ids = [one for one, tenant in tenants.items() if wants(kind, tenant, one)]
            if not ids:
                continue
            found = await self._ask(kind, ids)
            if found is not None:
                told = [_message(kind, one, found.get(one), tenants[one]) for one in ids]
                made += [message for message in told if wants(kind, message.tenant, message.about)]
        return made

    def _changed(self, groups: Sequence[Group], jobs: Mapping[str, Job]) -> dict[str, dict[str, str]]:
        """Kind -> id -> tenant of everything that a job has changed of."""
        found: dict[str, dict[str, str]] = {}
        for job_id, events in groups:
            job, last = jobs.get(job_id), events[-1]
            if job is not None:
                subject, tenant = job.subject, job.tenant
            else:
                subject, tenant = deltas.subject_told(last), last.message or ""
            if subject is not None and subject[0] in self._projections:
                found.setdefault(subject[0], {})[subject[1]] = tenant
        return found

    async def _ask(self, kind: str, ids: list[str]) -> Mapping[str, Projection] | None:
        """A thing that cannot be shown must not end the stream of all others, nor hold it up."""
        now, limit = asyncio.get_running_loop().time(), asyncio.timeout(self._limits.projection)
        if now < self._resting_until.get(kind, now):
            return None
        try:
            async with limit:
                return await self._projections[kind](ids)
        except StoreUnavailable:
            raise
        except Exception:
            if limit.expired():
                self._rest(kind, now)
            else:
                log.exception("%d of kind %s could not be put into words for the stream; they are left out", len(ids), kind)
            return None

    def _rest(self, kind: str, now: float) -> None:
        limits = self._limits
        self._resting_until[kind] = now + limits.projection + limits.resting
        log.error(
            "the projection of kind %s did not answer within %g s; what it tells is left out of the stream for %g s",
            kind, limits.projection, limits.resting,
        )  # fmt: skip


def _message(kind: str, one: str, told: Projection | None, tenant: str) -> Message:
    if told is not None:
        return Message(kind, told.tenant, one, frames.event(kind, None, told.json))
    return Message(kind, tenant, one, frames.event(f"{kind}{GONE}", None, json.dumps({"id": one})))
