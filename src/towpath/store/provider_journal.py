"""What is written about jobs at providers, as units over any transaction.

Whatever a running operation writes is fenced by its attempt, with one exception: the id that a provider has answered. It was
paid for, and is written down even if the job has been taken away meanwhile.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

from towpath.core.encoding import encode
from towpath.core.errors import HistoryMismatch, NotRequeueable
from towpath.core.failpoints import reach
from towpath.core.provider_jobs import (
    OPEN,
    PROVIDER_JOB_FIELDS,
    ProviderJob,
    ProviderState,
    provider_job_column,
)
from towpath.core.records import Job, Step
from towpath.core.waking import wake
from towpath.core.working_set import WorkingSet
from towpath.store import journal, ledger
from towpath.store.contract import Row, Tx

_OPEN = sorted(OPEN)
_UNANSWERED = [ProviderState.CALLING.value, ProviderState.UNKNOWN.value]


def provider_job_from(row: Row) -> ProviderJob:
    values = {name: row[provider_job_column(name)] for name in PROVIDER_JOB_FIELDS}
    values["id"], values["job_id"] = str(values["id"]), str(values["job_id"])
    values["state"] = ProviderState(values["state"])
    return ProviderJob(**values)


async def of_step(tx: Tx, job_id: str, name: str) -> list[ProviderJob]:
    return [provider_job_from(row) for row in await tx.fetch("provider_jobs_of_step", job_id=job_id, name=name)]


async def of_jobs(tx: Tx, job_ids: Sequence[str]) -> list[ProviderJob]:
    return [provider_job_from(row) for row in await tx.fetch("provider_jobs_of_jobs", job_ids=list(job_ids))]


async def by_ids(tx: Tx, ids: Sequence[str]) -> list[ProviderJob]:
    return [provider_job_from(row) for row in await tx.fetch("provider_jobs_found", ids=list(ids))]


async def unknown(tx: Tx, after: str, limit: int) -> list[ProviderJob]:
    return [provider_job_from(row) for row in await tx.fetch("unknown_provider_jobs", after=after, limit=limit)]


async def poll_soon(tx: Tx, provider: str, external_id: str, pause: timedelta) -> bool:
    """Now, or if its provider has told of it a moment ago, when `pause` is over: a message that is sent again and again
    neither asks the provider as often nor takes the job from whoever is just asking."""
    named = {"provider": provider, "external_id": external_id}
    if await tx.execute("poll_now", **named, now=tx.now, lately=tx.now - pause):
        return True
    return bool(await tx.execute("poll_soon", **named, soon=tx.now + pause))


async def intend(
    tx: Tx, job_id: str, attempt: int, name: str, orders: Sequence[ProviderJob]
) -> tuple[Step, list[ProviderJob]]:
    """Puts the orders on record before anything is sent; a second call finds the first one's."""
    job = await journal.hold(tx, job_id, attempt)
    found = await tx.fetch("step_by_name", job_id=job_id, name=name)
    if found:
        step = journal.step_from(found[0])
        if step.kind != "submit":
            raise HistoryMismatch(journal.mismatch(name, step.kind, "submit"))
        return step, await of_step(tx, job_id, name)
    working = WorkingSet([job], tx.now)
    # The record of an earlier life was dropped with its steps, and so are its orders; see `ledger.write` for what becomes of
    # those that are still at a provider.
    await tx.execute("drop_provider_jobs", job_id=job_id, name=name)
    for order in orders:
        await tx.execute(
            "add_provider_job", id=order.id, job_id=job_id, name=name, part=order.part, tenant=job.tenant,
            provider=order.provider, model=order.model, shard=order.shard, key=order.key, ordered=order.order_json,
            state=order.state.value, now=tx.now,
        )  # fmt: skip
    step = Step(job_id, name, "submit", done=False, output_json=encode({"orders": len(orders)}))
    step = await journal.put_step(tx, job, step) or step
    working.note(job, "provider.intended", fields={"step": name, "orders": len(orders)})
    await ledger.write(tx, working)
    await reach("submit.intended")
    return step, await of_step(tx, job_id, name)


async def fenced_note(tx: Tx, job_id: str, attempt: int, query: str, **params: Any) -> bool:
    await journal.hold(tx, job_id, attempt)
    return bool(await tx.execute(query, **params))


async def record_submitted(
    tx: Tx, order: ProviderJob, external_id: str, status: str, *, first_poll: float, timeout: float, how: str
) -> bool:
    """The provider's id. Whether it was news."""
    job = await ledger.lock_one(tx, order.job_id)
    changed = await tx.execute("note_submitted", **_submitted(tx, order, external_id, status, first_poll, timeout))
    if changed and job is not None:
        fields = {"provider": order.provider, "model": order.model, "external_id": external_id, "part": order.part}
        await _note(tx, job, f"provider.{how}", fields)
    return bool(changed)


async def record_refused(tx: Tx, order: ProviderJob, error: str) -> bool:
    """The provider will not take it: nothing was started, and nothing will be."""
    job = await ledger.lock_one(tx, order.job_id)
    changed = await tx.execute(
        "note_ended", id=order.id, state=ProviderState.FAILED.value, status="REFUSED", error=error, now=tx.now,
        states=[ProviderState.INTENDED.value, ProviderState.CALLING.value],
    )  # fmt: skip
    if changed and job is not None:
        await _note(tx, job, "provider.refused", {"provider": order.provider, "model": order.model}, error)
    return bool(changed)


async def record_unknown(tx: Tx, order: ProviderJob, error: str) -> bool:
    job = await ledger.lock_one(tx, order.job_id)
    changed = await tx.execute("note_unknown", id=order.id, error=error)
    if changed and job is not None:
        await _note(tx, job, "provider.submit_unknown", {"provider": order.provider, "key": order.key}, error)
    return bool(changed)


async def _note(tx: Tx, job: Job, name: str, fields: dict[str, Any], message: str | None = None) -> None:
    working = WorkingSet([job], tx.now)
    working.note(job, name, fields=fields, message=message, level="info" if message is None else "warning")
    await ledger.write(tx, working)


async def take_due(tx: Tx, providers: Sequence[str], limit: int, seconds: float) -> list[ProviderJob]:
    """Those that are to be polled now, and are ours for so many seconds."""
    ids = [str(row["id"]) for row in await tx.fetch("due_provider_jobs", now=tx.now, providers=list(providers), limit=limit)]
    if not ids:
        return []
    await reach("poll.locked")
    await tx.execute("take_provider_jobs", ids=ids, until=tx.now + timedelta(seconds=seconds))
    return [provider_job_from(row) for row in await tx.fetch("provider_jobs_by_id", ids=ids)]


async def record_poll(tx: Tx, before: ProviderJob, after: ProviderJob) -> bool:
    """What one poll has found out. If it was the last of its step to end, the job goes on. False: another was faster."""
    told = after.state is not before.state or after.status != before.status
    job = await ledger.lock_one(tx, before.job_id) if told else None
    changed = await tx.execute(
        "note_poll", id=after.id, polls=before.polls, state=after.state.value, status=after.status,
        transient_failures=after.transient_failures, answer=after.answer_json, error=after.error,
        output_uri=after.output_uri, now=tx.now, next_poll_at=after.next_poll_at,
        ended_at=tx.now if after.state.ended else None,
    )  # fmt: skip
    if not changed:
        return False
    if job is not None:
        await _tell(tx, job, after)
    return True


async def _tell(tx: Tx, job: Job, after: ProviderJob) -> None:
    working = WorkingSet([job], tx.now)
    fields = {"provider": after.provider, "model": after.model, "part": after.part, "status": after.status}
    name = f"provider.{after.state.value}" if after.state.ended else "provider.status"
    bad = after.state is ProviderState.FAILED
    working.note(job, name, fields=fields, message=after.error, level="warning" if bad else "info")
    if after.state.ended:
        await _wake_if_last(tx, working, job, after.name)
    await ledger.write(tx, working)


async def _wake_if_last(tx: Tx, working: WorkingSet, job: Job, name: str) -> None:
    [row] = await tx.fetch("open_provider_jobs", job_id=job.id, name=name, states=_OPEN)
    if row["jobs"] == 0 and job.live:
        wake(working, job, "provider")


async def resolve(
    tx: Tx, provider_job_id: str, *, external_id: str | None, first_poll: float, timeout: float
) -> ProviderJob | None:
    """A person's word on an order that nobody else can say anything about: its id at the provider, or, with None, that there
    is no such job and it is to be sent again. None if it is not in doubt."""
    owner = await tx.fetch("provider_job_owner", id=provider_job_id)
    job = await ledger.lock_one(tx, str(owner[0]["job_id"])) if owner else None
    rows = await tx.fetch("provider_jobs_by_id", ids=[provider_job_id])
    if job is None or not rows:
        return None
    order = provider_job_from(rows[0])
    if order.state is not ProviderState.UNKNOWN:
        return None
    if external_id is not None:
        await _check_is_nobodys(tx, order, external_id)
    if external_id is None:
        await tx.execute("note_not_submitted", id=order.id, states=[ProviderState.UNKNOWN.value])
    else:
        await tx.execute("note_submitted", **_submitted(tx, order, external_id, "ADOPTED", first_poll, timeout))
    working = WorkingSet([job], tx.now)
    said = {"provider": order.provider, "key": order.key, "external_id": external_id}
    working.note(job, "provider.resubmitted" if external_id is None else "provider.adopted", fields=said)
    if job.live:
        wake(working, job, "provider")
    await ledger.write(tx, working)
    [row] = await tx.fetch("provider_jobs_by_id", ids=[provider_job_id])
    return provider_job_from(row)


async def _check_is_nobodys(tx: Tx, order: ProviderJob, external_id: str) -> None:
    """All tenants of an installation order with the same credentials: whoever could adopt the job of another order would be
    handed its results."""
    if await tx.fetch("provider_job_by_external_id", provider=order.provider, external_id=external_id):
        raise NotRequeueable(
            f"{external_id!r} at {order.provider} belongs to another order here; look for {order.key!r} there"
        )


def _submitted(
    tx: Tx, order: ProviderJob, external_id: str, status: str, first_poll: float, timeout: float
) -> dict[str, Any]:
    return {
        "id": order.id, "external_id": external_id, "status": status, "now": tx.now, "states": _UNANSWERED,
        "next_poll_at": tx.now + timedelta(seconds=first_poll), "deadline": tx.now + timedelta(seconds=timeout),
    }  # fmt: skip


async def end_by_hand(tx: Tx, order: ProviderJob, error: str | None) -> None:
    """It was cancelled, here and as far as possible at the provider."""
    cancelled = ProviderState.CANCELLED.value
    await tx.execute(
        "note_ended", id=order.id, state=cancelled, status="CANCELLED", error=error, now=tx.now, states=_OPEN
    )  # fmt: skip


async def forget(tx: Tx, orders: Sequence[ProviderJob]) -> None:
    """Takes away those whose jobs were deleted. Whoever deletes one now has not seen that its order is stopped and leaves
    it to us, so that commit is waited for; who comes later takes the order along."""
    await tx.jobs("lock_jobs", ids=sorted({order.job_id for order in orders}))
    await tx.execute("delete_provider_jobs_without_jobs", ids=[order.id for order in orders])


async def due_next(tx: Tx, providers: Sequence[str]) -> datetime | None:
    """When the next of them is to be polled. What only others can poll is theirs to wait for."""
    rows = await tx.fetch("next_provider_poll", providers=list(providers))
    moment: datetime | None = rows[0]["next_poll_at"] if rows else None
    return moment


async def forsaken(tx: Tx, after: str, limit: int) -> list[str]:
    return [str(row["id"]) for row in await tx.fetch("forsaken_by_providers", after=after, limit=limit, states=_OPEN)]


async def close_step(tx: Tx, job: Job, step: Step) -> None:
    """All orders of the step have ended: later entries find them without looking at a provider."""
    working = WorkingSet([job], tx.now)
    await journal.put_step(tx, job, replace(step, done=True))
    working.note(job, "step.completed", fields={"step": step.name, "kind": step.kind})
    await ledger.write(tx, working)
