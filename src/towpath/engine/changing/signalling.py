"""Signals on their way to jobs that wait for them, now or later."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from towpath.core.errors import JobNotFound, NotRequeueable
from towpath.core.ids import uuid7, uuid7s
from towpath.engine.registry import check_label
from towpath.engine.services import Services
from towpath.store import journal
from towpath.store.contract import Tx


def checked(services: Services, name: str, payload: Any) -> str:
    """The payload as it is stored."""
    check_label("signal", name)
    return services.values.encode(payload, f"the payload of signal {name!r}")


async def send(services: Services, job_id: str, name: str, payload: Any) -> None:
    """JobNotFound or NotRequeueable if it reaches nobody."""
    text, number = checked(services, name, payload), uuid7()
    await services.store.run(lambda tx: journal.send_signal(tx, job_id, name, text, number))


async def send_to_live(tx: Tx, job_ids: Sequence[str], name: str, payload_json: str) -> list[str]:
    """Answers those that it reached; what has ended meanwhile is passed over."""
    reached = []
    for job_id, number in zip(job_ids, uuid7s(len(job_ids)), strict=True):
        try:
            await journal.send_signal(tx, job_id, name, payload_json, number)
        except (JobNotFound, NotRequeueable):  # raised before anything was written
            continue
        reached.append(job_id)
    return reached
