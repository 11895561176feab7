"""Why a job waits for a provider."""

from __future__ import annotations

from typing import TYPE_CHECKING

from towpath.core.provider_jobs import ProviderJob, ProviderState
from towpath.core.records import Job
from towpath.store import provider_journal
from towpath.store.contract import Tx

if TYPE_CHECKING:
    from towpath.engine.asking.explain import Explanation


async def tell_of_providers(tx: Tx, job: Job, told: Explanation) -> None:
    rows = await provider_journal.of_jobs(tx, [job.id])
    unknown = [row for row in rows if row.state is ProviderState.UNKNOWN]
    under_way = [row for row in rows if not row.state.ended]
    if unknown:
        told.reason = "submit_unknown"
        told.sentence = f"{unknown[0].provider} cannot say whether it has {_orders(unknown)}: the answer was lost"
        told.remedy = f"look there for {unknown[0].key}, then adopt it by its id there, or send it again"
    elif job.reason == "provider_call":
        told.sentence = "a call to its provider may still be on its way; the provider is asked what became of it after that"
    elif not under_way:
        told.sentence = "everything it ordered has ended, and it goes on"
    else:
        polls = [row.next_poll_at for row in under_way if row.next_poll_at is not None]
        said = ", ".join(sorted({f"{row.provider} ({row.status or row.state.value})" for row in under_way}))
        told.sentence = f"it waits for {len(under_way)} of {_orders(rows)} at {said}"
        told.until = min(polls) if polls else told.until
        if polls:
            told.sentence += f", polled next at {min(polls):%H:%M:%S} UTC"


def _orders(rows: list[ProviderJob]) -> str:
    return "1 order" if len(rows) == 1 else f"{len(rows)} orders"
