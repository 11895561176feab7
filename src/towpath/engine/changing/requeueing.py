"""Requeueing: a fresh start for jobs that have ended, with another payload if somebody says so."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from towpath.core import transitions
from towpath.engine.asking.reading import get
from towpath.engine.changing.batches import batches
from towpath.engine.services import Services
from towpath.engine.values import blob_prefix
from towpath.store import ledger
from towpath.store.contract import Tx

_AS_THEY_WERE: Mapping[str, str] = {}


@dataclass(slots=True)
class Requeued:
    """What it came to: how many went back, and why the others did not."""

    requeued: int = 0
    refused: dict[str, str] = field(default_factory=dict)


async def requeue(services: Services, job_ids: Sequence[str], *, payload: Any = None, keep_steps: bool = False) -> Requeued:
    """A few per transaction. With an edited payload the recorded steps and children are dropped, unless `keep_steps`."""
    outcome = Requeued()
    for batch in batches(list(dict.fromkeys(job_ids))):
        edited = {} if payload is None else {job_id: await _payload_for(services, job_id, payload) for job_id in batch}
        unit = partial(requeue_in, job_ids=batch, payloads=edited, keep_steps=keep_steps)
        refused = await services.store.run(unit)
        outcome.requeued += len(batch) - len(refused)
        outcome.refused |= refused
    return outcome


async def requeue_in(
    tx: Tx, job_ids: Sequence[str], payloads: Mapping[str, str] = _AS_THEY_WERE, *, keep_steps: bool = False
) -> dict[str, str]:
    """As a part of somebody else's transaction; answers why it did not go, of those that did not."""
    asked = [transitions.requeue(one, payload_json=payloads.get(one), keep_steps=keep_steps) for one in job_ids]
    verdicts = await ledger.apply(tx, asked)
    return {job_id: why for job_id, why in zip(job_ids, verdicts, strict=True) if why is not None}


async def _payload_for(services: Services, job_id: str, payload: Any) -> str:
    """An edited payload is checked against the operation's type like any other."""
    job = await get(services.store, job_id)
    known = services.registry.get(job.operation)
    text = known.check(payload) if known else services.values.encode(payload, "the payload")
    services.values.check(text, "the payload")
    return await services.values.place(text, f"{blob_prefix(job_id)}/payload-{job.seq}")
