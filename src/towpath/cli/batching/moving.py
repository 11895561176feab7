"""towpath batch cancel, retry, adopt, resubmit."""

from __future__ import annotations

from typing import Annotated

import typer

from towpath.batches import moving, stored
from towpath.batches.intake import Owner
from towpath.batches.records import Batch
from towpath.cli.auditing import note
from towpath.cli.batching.opening import BatchId, OrderId, opened_batches
from towpath.cli.opening import run
from towpath.cli.options import Database, finds_data
from towpath.cli.screen import clean, console
from towpath.core.errors import NotRequeueable
from towpath.engine.app import App


@finds_data
def cancel(batch_id: BatchId, database: Database = None) -> None:
    """Stops a batch, also at its provider. What was answered there before may still be paid for.

    \b
    Examples:
      towpath batch cancel ID
    """

    async def work() -> int:
        async with opened_batches(database) as app:
            batch = await stored.find(app, batch_id.lower())
            stopped = len(await moving.cancel(app, batch, "the command line"))
            if stopped:
                await note(app, "batch.cancel", batch.id, tenant=batch.tenant, jobs=stopped)
            return stopped

    console().print("cancelled" if run(work()) else "nothing is being done with it")


@finds_data
def retry(batch_id: BatchId, database: Database = None) -> None:
    """Makes a new batch of the requests that were not answered, and prints its id. Without any results: of all of them.

    \b
    Examples:
      towpath batch retry ID
    """

    async def work() -> str:
        async with opened_batches(database, writes=True) as app:
            batch = await stored.find(app, batch_id.lower())
            made, _ = await moving.retry(app, batch, Owner(batch.tenant))
            await note(app, "batch.retry", batch.id, tenant=batch.tenant, made=made)
            return made

    console().print(run(work()))


@finds_data
def adopt(
    batch_id: BatchId,
    order: OrderId,
    external_id: Annotated[str, typer.Argument(metavar="EXTERNAL_ID", help="The job's id at the provider.")],
    database: Database = None,
) -> None:
    """Says which job at the provider an order is whose answer was lost. From then on it is polled like any other.

    \b
    Examples:
      towpath batch adopt ID ORDER batch_6842…
    """

    async def work() -> None:
        async with opened_batches(database) as app:
            batch = await _of_batch(app, batch_id, order)
            row = await app.provider_jobs.adopt(order.lower(), external_id)
            await note(app, "batch.adopt", batch.id, tenant=batch.tenant, order=row.id, external_id=external_id)

    run(work())
    console().print(f"adopted as {clean(external_id)}")


@finds_data
def resubmit(batch_id: BatchId, order: OrderId, database: Database = None) -> None:
    """Sends an order again whose answer was lost. If the provider has it after all, it is paid twice: look there first.

    \b
    Examples:
      towpath batch resubmit ID ORDER
    """

    async def work() -> None:
        async with opened_batches(database) as app:
            batch = await _of_batch(app, batch_id, order)
            row = await app.provider_jobs.resubmit(order.lower())
            await note(app, "batch.resubmit", batch.id, tenant=batch.tenant, order=row.id)

    run(work())
    console().print("it is sent again")


async def _of_batch(app: App, batch_id: str, order: str) -> Batch:
    batch = await stored.find(app, batch_id.lower())
    [work] = await stored.work_on(app, [batch])
    if order.lower() not in {row.id for row in work.ordered}:
        raise NotRequeueable(f"this batch has no order {order[:100]!r}; towpath batch status lists them")
    return batch
