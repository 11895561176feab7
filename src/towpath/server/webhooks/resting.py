"""A receiver that is down is left alone for a while, so that the deliveries to it do not take everybody's slots.

An attempt at one that does not answer holds a slot of a worker for ten seconds. So after such an attempt a rate budget of
the webhook is blocked, for longer the longer it has been failing, and what comes up meanwhile goes back to the queue without
being sent and without using up an attempt.
"""

from __future__ import annotations

import random
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Any

from towpath.core.errors import Fatal
from towpath.core.outcomes import RetryLater
from towpath.engine.running.context import Context
from towpath.outbound.client import check_url
from towpath.server.webhooks.records import Webhook
from towpath.store.contract import Tx

_SHORTEST, _LONGEST = 15.0, 900.0
_OF_THE_TIME = 0.2
"""A rest is so much of the time that the receiver has been failing."""
PATIENCE = timedelta(days=2)
"""What is older than this is not kept for a receiver that is still down."""


def budget_of(webhook_id: str) -> str:
    return f"webhook {webhook_id}"


async def check(ctx: Context, webhook: Webhook, message: dict[str, Any]) -> None:
    """Raises, if the receiver is to be left alone for now."""
    if webhook.failing_since is None:
        return
    wait = await ctx.services.store.read(partial(_seconds_left, webhook_id=webhook.id))
    if wait <= 0:
        return
    since = webhook.failing_since.astimezone(UTC).isoformat(timespec="seconds")
    said = f"{check_url(webhook.url).hostname} has not answered well since {since}"
    if ctx.claimed.retry_laters and is_old(message):
        raise Fatal(f"{said}, so it was not sent", remedy="mend the receiver, then replay the delivery")
    raise RetryLater(said, wait * random.uniform(1.0, 1.5))


async def _seconds_left(tx: Tx, webhook_id: str) -> float:
    """Asked of the database each time: somebody who sends something once more must not meet what a process remembers."""
    rows = await tx.fetch("budget", name=budget_of(webhook_id))
    return float((rows[0]["blocked_until"] - tx.now).total_seconds()) if rows else 0.0


async def begin(ctx: Context, webhook: Webhook, reason: str, asked: float | None = None) -> None:
    """After an attempt that found the receiver down or busy; `asked` is the time it asked for itself."""
    failing = 0.0
    if webhook.failing_since is not None:
        failing = (datetime.now(UTC) - webhook.failing_since).total_seconds()
    seconds = min(_LONGEST, max(_SHORTEST, _OF_THE_TIME * failing))
    await ctx.budgets.block(budget_of(webhook.id), seconds if asked is None else asked, reason)


async def end(tx: Tx, webhook_id: str) -> None:
    """Whoever sends something once more believes that the receiver is there again."""
    await tx.execute("open_budget", name=budget_of(webhook_id), now=tx.now)


def is_old(message: dict[str, Any]) -> bool:
    return datetime.now(UTC) - datetime.fromisoformat(message["created_at"]) >= PATIENCE
