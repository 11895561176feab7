"""Thousands of jobs that wait for a provider, each with an order there. They are written by the engine's own words, but a
thousand to a transaction: sending so many one by one takes longer than what is to be seen of them."""

from __future__ import annotations

from collections.abc import Sequence

from tests.providers.scripted import ScriptedProvider
from towpath import App, Order
from towpath.core import transitions
from towpath.core.encoding import encode
from towpath.core.ids import uuid7
from towpath.core.provider_jobs import ProviderJob, ProviderState
from towpath.engine.providers import as_json
from towpath.store import provider_journal
from towpath.store.contract import Claim, Claimed, Tx

OPERATION = "ordered"
_TOGETHER = 1000
_HOUR = 3600.0
_ORDERED = encode(as_json(Order("", "completion", "m1", count=1), []))


def wait_at(app: App, provider: ScriptedProvider) -> None:
    """Before the app is opened: its provider, and the operation whose jobs wait."""
    app.provider(provider.name, lambda: provider)

    @app.operation(OPERATION)
    async def ordered(ctx: object) -> None: ...


async def make_waiting(app: App, provider: ScriptedProvider, count: int) -> list[str]:
    """So many jobs that wait, each with an order that is due in an hour; answers the ids of the jobs."""
    made: list[str] = []
    while len(made) < count:
        new = min(_TOGETHER, count - len(made))
        await app.enqueue_many([{"operation": OPERATION} for _ in range(new)])
        claimed = (await app.services.store.claim(Claim("default", new, uuid7(), 60.0))).jobs
        await app.services.store.run(lambda tx, claimed=claimed: _order(tx, provider, claimed))
        await app.services.store.settle([_wait(job) for job in claimed])
        made += [job.id for job in claimed]
    return made


def _wait(job: Claimed) -> transitions.Transition:
    return transitions.defer(job.id, job.attempt, "provider", wakes_seen=job.wakes, deadline=None, max_wait=24 * _HOUR)


async def _order(tx: Tx, provider: ScriptedProvider, claimed: Sequence[Claimed]) -> None:
    for job in claimed:
        row = ProviderJob(uuid7(), job.id, "submit", 0, job.tenant, provider.name, "m1", 0, f"tow-{job.id}", _ORDERED)
        await tx.execute(
            "add_provider_job", id=row.id, job_id=job.id, name=row.name, part=0, tenant=row.tenant, provider=row.provider,
            model=row.model, shard=0, key=row.key, ordered=_ORDERED, state=ProviderState.INTENDED.value, now=tx.now,
        )  # fmt: skip
        await tx.execute("note_calling", id=row.id, now=tx.now)
        at_provider = provider.simulator.accept(provider.simulator.new_id("ext-"), row.key, None, 1)
        await provider_journal.record_submitted(
            tx, row, at_provider.id, "RUNNING", first_poll=_HOUR, timeout=26 * _HOUR, how="submitted"
        )


async def make_due(app: App, job_ids: Sequence[str]) -> None:
    """The orders of these jobs are to be looked at now."""
    table, past = ("towpath_provider_job", "1") if app.url.startswith("sqlite") else ("towpath.provider_job", "'epoch'")
    named = ", ".join(f"'{job_id}'" for job_id in job_ids)
    await app.services.store.run(
        lambda tx: tx.execute_sql(f"UPDATE {table} SET next_poll_at = {past} WHERE job_id IN ({named})")
    )
