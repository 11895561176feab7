"""Batches as they are stored: looking them up."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from towpath import App, Context, Job, ProviderJob, TowpathError, from_json
from towpath.batches.names import KIND
from towpath.batches.records import Batch, Dataset, batch_from, dataset_from
from towpath.http.shapes import LAST

Source = App | Context
"""Whoever reads: an app, or a running operation."""


class BatchNotFound(TowpathError, LookupError):
    """No batch has this id, or it belongs to somebody else."""


@dataclass(slots=True)
class Work:
    """A batch with the jobs that worked on it, as far as they are still there, oldest first, and what they ordered."""

    batch: Batch
    jobs: list[Job]
    ordered: list[ProviderJob]


async def by_ids(source: Source, ids: Iterable[str]) -> list[Batch]:
    asked = list(dict.fromkeys(ids))
    if not asked:
        return []
    return [batch_from(row) for row in await source.query("batches_by_id", ids=asked)]


async def find(source: Source, batch_id: str, *, tenant: str | None = None) -> Batch:
    """The batch, if there is one and it is this tenant's; `tenant=None` is for those who may see all."""
    found = await by_ids(source, [batch_id])
    if not found or (tenant is not None and found[0].tenant != tenant):
        raise BatchNotFound(f"no batch has the id {batch_id[:100]!r}; it may have been deleted")
    return found[0]


async def page(source: Source, tenant: str | None, *, before: str | None, limit: int) -> list[Batch]:
    """Newest first; `before` is the last id of the page before. `tenant=None` is all of them."""
    rows = await source.query("batches_page", tenant=tenant, before=before or LAST, limit=limit)
    return [batch_from(row) for row in rows]


async def page_with_option(source: Source, tenant: str, option: str, *, before: str | None, limit: int) -> list[Batch]:
    """Newest first: those of a tenant whose settings have an option of this name."""
    asked = {"tenant": tenant, "option": f'%"{option}":%', "before": before or LAST, "limit": limit}
    return [batch_from(row) for row in await source.query("batches_page_with_option", **asked)]


async def datasets(source: Source, tenant: str, ids: Sequence[str]) -> list[Dataset]:
    """In the order asked for; those that there are not, or that are somebody else's, are left out."""
    rows = await source.query("batch_datasets_by_id", tenant=tenant, ids=list(ids))
    found = {row["id"]: dataset_from(row) for row in rows}
    return [found[one] for one in ids if one in found]


async def datasets_of_removed(source: Source, batch_id: str) -> list[str]:
    """The ids of the datasets that a batch names, also if it is out of everybody's sight by now."""
    return [
        one for row in await source.query("batch_dataset_ids", batch_id=batch_id) for one in from_json(row["dataset_ids"])
    ]


async def work_on(source: App, batches: Sequence[Batch]) -> list[Work]:
    """The batches with their jobs and orders, in the same order."""
    jobs = await source.subjects.jobs(KIND, [batch.id for batch in batches])
    ordered = await source.provider_jobs.of(job.id for found in jobs.values() for job in found)
    # One whose job has ended since its row was read has results by now: nobody is to see the end without them.
    behind = [batch.id for batch in batches if batch.result_bytes is None and any(job.ended for job in jobs[batch.id])]
    newer = {batch.id: batch for batch in await by_ids(source, behind)}
    batches = [newer.get(batch.id, batch) for batch in batches]
    return [
        Work(batch, jobs[batch.id], [row for job in jobs[batch.id] for row in ordered[job.id]]) for batch in batches
    ]  # fmt: skip
