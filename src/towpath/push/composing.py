"""Makes messages of events: the rows of a page's jobs are looked up once, and each message is encoded once."""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import AsyncIterator, Callable, Collection, Sequence
from dataclasses import dataclass
from itertools import groupby
from operator import attrgetter

from towpath.core.records import Event, Job
from towpath.engine.asking import deltas
from towpath.engine.asking.deltas import Deltas, Page, Place
from towpath.engine.projections import DELETED, JOB
from towpath.push import frames
from towpath.push.messages import Message, Wants
from towpath.push.products import Products
from towpath.store.contract import Store

log = logging.getLogger("towpath.push")

Describe = Callable[[Job, Sequence[Event]], str]
"""A job and what happened to it, as JSON without line breaks."""
_ROWS = 500
_SLICE = 50


@dataclass(frozen=True, slots=True)
class Batch:
    """Messages that are handed out together, and the place behind them."""

    messages: list[Message]
    end: Place


class Composer:
    def __init__(self, store: Store, stream: Deltas, describe: Describe, products: Products) -> None:
        self._store = store
        self._stream = stream
        self._describe = describe
        self._products = products

    async def compose(self, page: Page, wants: Wants, only: Collection[str] | None = None) -> AsyncIterator[Batch]:
        """The page's messages in order, a few at a time so that nobody else has to wait; `only` those of some jobs."""
        groups = [(job_id, list(events)) for job_id, events in groupby(page.events, attrgetter("job_id"))]
        if only is not None:
            groups = [group for group in groups if group[0] in only]
        for first in range(0, len(groups), _ROWS):
            some = groups[first : first + _ROWS]
            jobs = await self._look_up([job_id for job_id, events in some if events[-1].name not in deltas.OF_NO_JOB])
            if told := await self._products.messages(some, jobs, wants):
                yield Batch(told, page.place_after(groups[first - 1][1][-1]) if first else page.begin)
            for begin in range(0, len(some), _SLICE):
                few = some[begin : begin + _SLICE]
                made = [self._message(page, jobs.get(job_id), events, wants) for job_id, events in few]
                yield Batch([message for message in made if message is not None], page.place_after(few[-1][1][-1]))
                await asyncio.sleep(0)

    async def _look_up(self, job_ids: list[str]) -> dict[str, Job]:
        if not job_ids:
            return {}
        return {job.id: job for job in await self._store.read(lambda tx: tx.jobs("streamed_jobs", ids=job_ids))}

    def _message(self, page: Page, job: Job | None, events: list[Event], wants: Wants) -> Message | None:
        last = events[-1]
        if last.name == deltas.DELETED:
            kind, tenant = DELETED, last.message or ""
        elif job is not None:
            kind, tenant = JOB, job.tenant
        else:
            return None  # a thing that was told of; or a job that was deleted a moment ago, whose tombstone comes later
        if not wants(kind, tenant, last.job_id):
            return None
        try:
            data = json.dumps({"id": last.job_id}) if job is None else self._describe(job, events)
        except Exception:  # one job that cannot be shown must not end the stream of all others
            log.exception("job %s could not be put into words for the stream; it is left out", last.job_id)
            return None
        return Message(kind, tenant, last.job_id, frames.event(kind, self._stream.token(page.place_after(last)), data))
