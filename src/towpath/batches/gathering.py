"""Requests that come one by one, put together: each waits as a row until there is a batch of them.

The batch is there from its first request on, with a job that waits until it is full or its time has come. Whoever asks adds
a row to the batch that is open for requests of that kind, or begins another, in the transaction of its own job: who fills
it says so there, and closing it is a change of one row. So there is nobody who collects, and nothing to be lost by him.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import timedelta

from towpath import App, Context, Fatal, Reading, Row, Settings, Transaction, WaitTimeout, from_json, moment, new_id, to_json
from towpath.batches.names import (
    CARE_QUEUE,
    COMPLETE,
    COMPLETION,
    FULL,
    GATHERED,
    KIND,
    QUEUE,
    TELL_ASKERS,
    WITHDRAWN,
    dataset_key,
)
from towpath.batches.records import Batch

_PAGE = 500
_TITLE = "requests"


@dataclass(frozen=True, slots=True)
class Kind:
    """What requests have in common that may go out together. One tenant's never go with another's."""

    tenant: str
    provider: str
    model: str
    span: str

    @property
    def fields(self) -> dict[str, str]:
        return {"tenant": self.tenant, "provider": self.provider, "model": self.model, "span": self.span}


@dataclass(frozen=True, slots=True)
class Waiting:
    """A request of a job, on its way into a batch. The ids are those of a batch, should it have to begin one."""

    job_id: str
    name: str
    body: str
    digest: str
    batch_id: str
    dataset_id: str


def waiting(job_id: str, name: str, body: str, digest: str) -> Waiting:
    return Waiting(job_id, name, body, digest, new_id(), new_id())


async def join(tx: Transaction, settings: Settings, kind: Kind, request: Waiting) -> None:
    """Puts the request into the batch that is open for its kind; the one that fills it sends it off."""
    size = len(request.body.encode())
    place = await _join_open(tx, settings, kind, size)
    while place is None:
        if await _begin(tx, settings, kind, request, size):
            place = (request.batch_id, 1)
        else:  # somebody else did at the same moment
            place = await _join_open(tx, settings, kind, size)
    batch_id, number = place
    await tx.change(
        "batch_request_add", job_id=request.job_id, name=request.name, batch_id=batch_id, number=number, body=request.body,
        digest=request.digest,
    )  # fmt: skip


async def _join_open(tx: Transaction, settings: Settings, kind: Kind, size: int) -> tuple[str, int] | None:
    """The batch and the place in it; None if none is open."""
    limits = {"most": settings.gather_requests, "most_bytes": settings.gather_bytes}
    joined = await tx.query("gathering_joined", **kind.fields, **limits, bytes=size)
    if not joined:
        return None
    batch_id = str(joined[0]["batch_id"])
    if not joined[0]["is_open"]:
        await _is_full(tx, batch_id)
    return batch_id, int(joined[0]["count"])


async def _is_full(tx: Transaction, batch_id: str) -> None:
    jobs = (await tx.jobs_of(KIND, [batch_id]))[batch_id]
    await tx.signal_many([(job.id, FULL, None) for job in jobs if job.live])


async def _begin(tx: Transaction, settings: Settings, kind: Kind, request: Waiting, size: int) -> bool:
    full = settings.gather_requests == 1 or 0 < settings.gather_bytes <= size
    begun = await tx.change(
        "gathering_begun", batch_id=request.batch_id, **kind.fields, is_open=not full, bytes=size,
        due_at=tx.now + timedelta(seconds=settings.gather_seconds),
    )  # fmt: skip
    if not begun:
        return False
    batch_id, tenant = request.batch_id, kind.tenant
    await tx.change(
        "batch_dataset_add", id=request.dataset_id, tenant=tenant, name=_TITLE, asset_id=None, source=None,
        batch_id=batch_id, now=tx.now,
    )  # fmt: skip
    options = {GATHERED: True} | ({"window": kind.span} if kind.span else {})
    await tx.change(
        "batch_add", id=batch_id, tenant=tenant, lane=tenant, task_type=COMPLETION, provider=kind.provider, title=_TITLE,
        models=to_json([kind.model]), settings=to_json(options), dataset_ids=to_json([request.dataset_id]), retry_of=None,
        created_by=None, creator=None, now=tx.now,
    )  # fmt: skip
    whose = {"tenant": tenant, "lane": tenant}
    job_id = await tx.enqueue(COMPLETE, {"batch_id": batch_id}, queue=QUEUE, subject=(KIND, batch_id), **whose)
    await tx.leave_word(job_id, TELL_ASKERS, {"batch_id": batch_id}, queue=CARE_QUEUE, **whose)
    return True


def is_gathered(batch: Batch) -> bool:
    return GATHERED in batch.settings


async def gathered(app: App, ctx: Context, batch: Batch) -> None:
    """Waits until the batch is to be sent, and makes it one like any other: its requests are lines of its dataset then."""
    row = await _row(ctx, batch.id)
    if row is None or row["is_void"]:
        why = "its requests were of jobs that have been told that nothing comes of it"
        raise Fatal(why, remedy="requeue the jobs that asked: they come into another batch")
    if row["is_open"]:
        with suppress(WaitTimeout):  # then it goes as it is
            await ctx.wait_for(FULL, timeout=await _left(ctx, row))
    await ctx.step("gather", _gather, app, ctx, batch)


async def _left(ctx: Context, row: Row) -> float:
    async def unit(now: Reading) -> float:
        return max(0.0, (moment(row["due_at"]) - now.now).total_seconds())

    return await ctx.read(unit)


async def _row(source: Context, batch_id: str) -> Row | None:
    rows = await source.query("gathering_by_id", batch_id=batch_id)
    return rows[0] if rows else None


async def _gather(app: App, ctx: Context, batch: Batch) -> int:
    await close(app, batch.id)
    await _withdraw(app, batch.id)
    [row] = await ctx.query("batch_requests_count", batch_id=batch.id)
    if row["unsent"]:  # all of them or none: they are marked in one transaction, when the lines are there
        await ctx.blobs.put(dataset_key(batch.dataset_ids[0]), _lines(ctx, batch.id))
    count = int(row["requests"])

    async def unit(tx: Transaction) -> None:
        await tx.change("batch_requests_sent", batch_id=batch.id)
        await tx.change("batch_titled", id=batch.id, title=title_of(count))
        await tx.tell(KIND, batch.id, tenant=batch.tenant)

    await ctx.transact(unit)
    return count


def title_of(count: int) -> str:
    if not count:
        return "no requests: all were withdrawn"
    return "1 request" if count == 1 else f"{count:,} requests"


async def close(app: App, batch_id: str) -> None:
    """From here on it takes no more. Not in a fenced transaction, which would hold the job that whoever fills it signals."""

    async def unit(tx: Transaction) -> None:
        await tx.change("gathering_closed", batch_id=batch_id)

    await app.transact(unit)


async def _withdraw(app: App, batch_id: str) -> None:
    """Takes out what nobody wants any more. A job that comes back to life just then is still in it, or asks anew."""

    async def unit(tx: Transaction) -> None:
        ended = [str(row["job_id"]) for row in await tx.query("batch_requests_ended", batch_id=batch_id)]
        for some in _by(_PAGE, ended):
            alive = set(await tx.signal_many([(job_id, WITHDRAWN, None) for job_id in some]))
            gone = [job_id for job_id in some if job_id not in alive]
            await tx.change("batch_requests_withdraw", batch_id=batch_id, job_ids=gone)

    await app.transact(unit)


def _by(size: int, ids: Sequence[str]) -> list[Sequence[str]]:
    return [ids[at : at + size] for at in range(0, len(ids), size)]


async def _lines(ctx: Context, batch_id: str) -> AsyncIterator[bytes]:
    after = 0
    while page := await ctx.query("batch_requests_page", batch_id=batch_id, after=after, limit=_PAGE):
        for row in page:
            line = {"custom_id": ref_of(str(row["job_id"]), row["name"]), "body": from_json(row["body"])}
            yield to_json(line).encode() + b"\n"
        after = int(page[-1]["number"])


def ref_of(job_id: str, name: str) -> str:
    """What a request is called in its batch: by its job, and which of that job's requests it is."""
    return f"{job_id}:{name}" if name else job_id
