"""A task goes to the queue of its workers; and comes back from there when nobody is heard of any more."""

from __future__ import annotations

from datetime import timedelta

from towpath import App, Context, Transaction, Transient, to_json
from towpath.brokers import Outgoing
from towpath.fleet.messages import LOST, Failure
from towpath.fleet.minting import Minted, message_of, mint
from towpath.fleet.queues import Queues
from towpath.fleet.records import Dispatch, Task


async def send(app: App, ctx: Context, task: Task, dispatch: Dispatch) -> None:
    """Twice is as good as once: both messages have the same secret, and the first worker that is heard of has the task."""
    now = await app.now()
    minted = await mint(app, task, dispatch, now)
    await _note_urls(ctx, dispatch, minted)
    queue = app.part(Queues).of(dispatch.route)
    unsent = await queue.send([Outgoing(message_of(task, dispatch, minted).model_dump_json())])
    if unsent:
        raise Transient(f"the queue did not take it: {unsent[0].reason}")

    async def sent(tx: Transaction) -> None:
        lasts = timedelta(seconds=app.settings.fleet_ack_seconds)
        await tx.change(
            "fleet_dispatch_sent", task_id=task.id, attempt=dispatch.attempt, now=tx.now, lease_until=tx.now + lasts
        )

    await ctx.transact(sent)


async def _note_urls(ctx: Context, dispatch: Dispatch, minted: Minted) -> None:
    from datetime import UTC, datetime

    async def unit(tx: Transaction) -> None:
        await tx.change(
            "fleet_dispatch_minted", task_id=dispatch.task_id, attempt=dispatch.attempt, get_url=minted.get_url,
            put_url=minted.put_url, until=datetime.fromtimestamp(minted.until, UTC),
        )  # fmt: skip

    await ctx.transact(unit)


async def give_up(ctx: Context, dispatch: Dispatch) -> None:
    """The job has waited beyond every deadline, and nobody else has noticed."""

    async def unit(tx: Transaction) -> None:
        await tx.change(
            "fleet_dispatch_lost", task_id=dispatch.task_id, attempt=dispatch.attempt, now=tx.now,
            report=lost(dispatch.worker_id, taken=dispatch.acknowledged),
        )  # fmt: skip

    await ctx.transact(unit)


def lost(worker_id: str | None, *, taken: bool) -> str:
    """The report that nobody has sent."""
    who = f"worker {worker_id} has not been heard of any more" if taken else "no worker has taken it up"
    failure = Failure(kind="network", error_class="WorkerLost" if taken else "NotAcknowledged", message=who)
    return to_json({"status": LOST, "failure": failure.model_dump()})
