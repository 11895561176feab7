"""Stopping runs, and trying again what failed: one item, many, or all of one cause."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from towpath import App, NotRequeueable, Row, State, TowpathError, Transaction, from_json, to_json
from towpath.documents import stored
from towpath.documents.intake import check_services
from towpath.documents.names import RUN
from towpath.documents.records import Run


class NotNow(TowpathError):
    """What was asked for does not fit what is being done with the run; the message says why."""


@dataclass(slots=True)
class Retried:
    retried: int = 0
    refused: dict[str, str] = field(default_factory=dict)


@dataclass(slots=True)
class Cause:
    """Failures that differ in nothing but names and numbers."""

    cause: str
    items: int
    error: dict[str, Any]


async def cancel(app: App, run: Run, by: str) -> list[str]:
    """Stops whatever is done with it; answers the jobs that were stopped."""
    return (await app.subjects.cancel(RUN, run.id, f"cancelled by {by}")).reached


async def causes(app: App, run: Run) -> list[Cause]:
    found: dict[str, Cause] = {}
    for row in await _failed(app, run):
        error = from_json(row["error"])
        if error:
            group = row["error_group"] or error.get("message", "")
            known = found.setdefault(group, Cause(group, 0, error))
            known.items += 1
    return sorted(found.values(), key=lambda one: -one.items)


async def retry(
    app: App, run: Run, *, items: Sequence[str] | None = None, cause: str | None = None,
    settings: Mapping[str, Any] | None = None,
) -> Retried:  # fmt: skip
    """Gives failed and cancelled items a fresh start. Steps that are on record are not done again: each goes on at the one
    that failed, with these settings, if any are given."""
    rows = await _failed(app, run)
    if not rows and items is None and cause is None:
        return await _from_the_start(app, run, settings)
    wanted = None if items is None else {one.lower() for one in items}
    chosen = [row for row in rows if (wanted is None or row["item_id"] in wanted) and _is_of(row, cause)]
    outcome = Retried(refused=dict.fromkeys(sorted((wanted or set()) - {row["item_id"] for row in rows}),
                                            "it has not failed, or is not of this run"))  # fmt: skip
    if settings and chosen:
        check_services(app, settings)
        await _change(app, [row["item_id"] for row in chosen], settings)
        if "budget_cents" in settings:
            await limit(app, run, settings["budget_cents"])
    if wanted is None and cause is None and chosen and len(chosen) == len(rows):
        return await _all(app, run, len(chosen))
    for row in chosen:
        try:
            await app.requeue(str(row["job_id"]))
            outcome.retried += 1
        except NotRequeueable as error:
            outcome.refused[row["item_id"]] = str(error)
    return outcome


async def _from_the_start(app: App, run: Run, settings: Mapping[str, Any] | None) -> Retried:
    """A run that was stopped, or failed, before its items had jobs of their own."""
    [*_, newest] = (await app.subjects.jobs(RUN, [run.id]))[run.id]
    if newest.children_total or newest.state not in (State.FAILED, State.CANCELLED):
        return Retried()
    ids = await stored.item_ids(app, run.id)
    if settings:
        check_services(app, settings)
        await _change(app, ids, settings)
        if "budget_cents" in settings:
            await limit(app, run, settings["budget_cents"])
    return await _all(app, run, len(ids))


async def _all(app: App, run: Run, count: int) -> Retried:
    """The run's own job takes them along. One that still waits for other items lets each be requeued by itself."""
    try:
        await app.subjects.requeue(RUN, run.id)
        return Retried(count)
    except NotRequeueable:
        outcome = Retried()
        for row in await _failed(app, run):
            try:
                await app.requeue(str(row["job_id"]))
                outcome.retried += 1
            except NotRequeueable as error:
                outcome.refused[row["item_id"]] = str(error)
        return outcome


async def _change(app: App, ids: Sequence[str], settings: Mapping[str, Any]) -> None:
    items = await stored.items(app, ids)

    async def unit(tx: Transaction) -> None:
        for one in items:
            await tx.change("document_items_settings", ids=[one.id], settings=to_json((one.settings or {}) | dict(settings)))

    await app.transact(unit)


async def limit(app: App, run: Run, cents: float | None) -> None:
    """What the run may spend from now on; None: anything. What waits for money looks again."""

    async def unit(tx: Transaction) -> None:
        await tx.change("document_run_settings", id=run.id, settings=to_json(run.settings | {"budget_cents": cents}))
        await tx.tell(RUN, run.id, tenant=run.tenant)

    await app.transact(unit)
    for job in (await app.subjects.jobs(RUN, [run.id]))[run.id][-1:]:
        await app.spending.limit_run(job.id, cents)


def _is_of(row: Row, cause: str | None) -> bool:
    if cause is None:
        return True
    error = from_json(row["error"]) or {}
    return cause == row["error_group"] or cause.lower() in str(error.get("message", "")).lower()


async def _failed(app: App, run: Run) -> list[Row]:
    jobs = (await app.subjects.jobs(RUN, [run.id]))[run.id]
    if not jobs:
        raise NotNow("its jobs are gone; read the documents again instead: make a run of kind reingest")
    return list(await app.query("document_items_failed", job_id=jobs[-1].id))
