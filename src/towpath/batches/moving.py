"""Stopping batches, and asking again what failed."""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing

from towpath import App, BlobStore, Job, ProviderJob, ProviderState, TowpathError
from towpath.batches import intake, stored
from towpath.batches.gathering import is_gathered
from towpath.batches.intake import Owner, Wanted
from towpath.batches.lines import lines_of
from towpath.batches.names import KIND, OPENAI_FILE, TRANSCRIPTION, index_key, requests_key, results_key
from towpath.batches.records import Batch
from towpath.batches.status import COMPLETED, FAILED, IN_PROGRESS, PARTIAL_COMPLETE, PENDING, standing
from towpath.batches.tidying import tidy_soon

_ANSWERED = frozenset({ProviderState.COMPLETED, ProviderState.PARTIAL})


class NotNow(TowpathError):
    """What was asked for does not fit what is being done with the batch; the message says why."""


async def cancel(app: App, batch: Batch, by: str) -> list[str]:
    """Stops whatever is done with it, also at its provider; answers the jobs that were stopped."""
    reached = (await app.subjects.cancel(KIND, batch.id, f"cancelled by {by}")).reached
    if reached and batch.task_type == TRANSCRIPTION:
        await tidy_soon(app, batch)
    return reached


async def retry(app: App, batch: Batch, whose: Owner) -> tuple[str, str]:
    """A new batch of the requests that were not answered, each for the models that did not; answers its id and its job's. If
    there are no results at all, everything is asked again, unless they are at the provider: then they are fetched, and it is
    the same batch that goes on."""
    if is_gathered(batch):
        raise NotNow(
            "its requests are those of jobs of their own; retry the jobs that failed, and they go into another batch"
        )
    [work] = await stored.work_on(app, [batch])
    told = standing(work.jobs, work.ordered, batch.ended)
    status = told.status
    if status in (PENDING, IN_PROGRESS):
        raise NotNow("it has not ended yet; cancel it first, or wait for it")
    if status == COMPLETED or (batch.result_bytes is not None and not batch.failed):
        raise NotNow("there is nothing to retry: every request that could be asked was answered")
    if status == FAILED and told.job is not None and _paid_for(batch, told.job, work.ordered):
        return batch.id, (await app.requeue(told.job.id)).id
    await _check_not_retried(app, batch)
    lines = failed_lines(app.blobs, batch) if batch.result_bytes is not None else None
    settings = {name: value for name, value in batch.settings.items() if lines is None or name != OPENAI_FILE}
    wanted = Wanted(
        batch.provider, batch.models, batch.title, settings, lines=lines, retry_of=batch.id,
        dataset_ids=batch.dataset_ids if lines is None else (), task_type=batch.task_type,
    )  # fmt: skip
    return await intake.create(app, wanted, whose)


async def _check_not_retried(app: App, batch: Batch) -> None:
    """What another batch asks, or has asked, is not asked and paid for once more. One that came to nothing is no answer."""
    rows = await app.query("batches_retrying", tenant=batch.tenant, id=batch.id)
    for work in await stored.work_on(app, await stored.by_ids(app, [str(row["id"]) for row in rows])):
        status = standing(work.jobs, work.ordered, work.batch.ended).status
        if status in (PENDING, IN_PROGRESS):
            raise NotNow(f"the batch {work.batch.id} is asking it again; wait for that one")
        if status in (COMPLETED, PARTIAL_COMPLETE):
            raise NotNow(
                f"the batch {work.batch.id} has asked it again; retry that one if something is still missing, or delete it "
                "to ask all of it once more"
            )


def _paid_for(batch: Batch, job: Job, ordered: Sequence[ProviderJob]) -> bool:
    """Whether there are answers at the provider that nobody has fetched."""
    return batch.result_bytes is None and any(row.job_id == job.id and row.state in _ANSWERED for row in ordered)


async def failed_lines(blobs: BlobStore, batch: Batch) -> AsyncGenerator[bytes, None]:
    """The requests that have an error in their results, read beside each other, a line at a time."""
    async with (
        aclosing(lines_of(blobs, index_key(batch.id))) as index,
        aclosing(lines_of(blobs, requests_key(batch.id))) as requests,
        aclosing(lines_of(blobs, results_key(batch.id))) as results,
    ):
        async for line in index:
            asked = json.loads(line)
            if "reason" in asked:
                await anext(results)
                continue
            given = json.loads(await anext(requests))
            answers = [json.loads(await anext(results)) for _ in asked.get("models", batch.models)]
            failed = [answer["model"] or "" for answer in answers if answer["error"] is not None]
            if failed:
                told = {name: asked[name] for name in ("custom_id",) if name in asked}
                told |= {name: given[name] for name in ("body", "input") if name in given}
                told |= {"models": failed} if len(failed) < len(batch.models) else {}
                yield json.dumps(told).encode() + b"\n"
