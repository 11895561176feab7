"""The operation that sends one message to one webhook."""

from __future__ import annotations

import logging
import math
import time
from email.utils import parsedate_to_datetime
from typing import Any

from towpath.core.encoding import encode
from towpath.core.errors import Fatal, Transient
from towpath.core.outcomes import Partial, RetryLater
from towpath.engine.running.context import Context
from towpath.outbound.client import Outbound, Reply, Unresolvable, UnsafeUrl, check_url
from towpath.outbound.signatures import ID, SIGNATURE, TIMESTAMP, sign
from towpath.server.webhooks import resting, stored
from towpath.server.webhooks.messages import PING, RETRY
from towpath.server.webhooks.records import Webhook
from towpath.version import __version__

log = logging.getLogger("towpath.webhooks")
_TIMEOUT = 10.0
_MOST_REFUSALS = 3
"""Attempts at a receiver that does not want the message: it may have been a bad deploy, but not for a day."""
_MOST_LOOKS = 5
"""Attempts at an address that leads nowhere: they take more than an hour, and most troubles with names are over by then."""
_LONGEST_WAIT = 6 * 3600.0
_GONE = 410
_NO_MORE = "its receiver answered 410: it is there no more"
REFUSED = "its address leads to nothing that may be called from here"
_BUSY = frozenset({408, 425, 429})


async def deliver(ctx: Context, payload: dict[str, Any]) -> Any:
    """Any 2xx is a success. The answer's body is not even read: it is none of our business, and may never end."""
    store, message = ctx.services.store, payload["message"]
    webhook = await stored.find(store, payload["webhook_id"])
    if webhook is not None and webhook.tenant != ctx.tenant:
        webhook = None
    if webhook is None or not (webhook.active or message["type"] == PING):
        return Partial(warning=f"it was not sent: the webhook {'was removed' if webhook is None else 'is not active'}")
    if message["type"] != PING:
        await resting.check(ctx, webhook, message)
    try:
        reply = await _send(ctx, webhook, message)
    except (UnsafeUrl, Unresolvable) as error:
        return await _led_nowhere(ctx, webhook, error)
    except Transient as error:
        await stored.answered(store, webhook.id, ctx.id, None)
        await resting.begin(ctx, webhook, str(error))
        raise
    await stored.answered(store, webhook.id, ctx.id, reply.status)
    if 200 <= reply.status < 300:
        return {"status": reply.status}
    if reply.status == _GONE:
        await stored.pause(store, webhook.id, _NO_MORE)
    elif _is_busy(reply):
        await resting.begin(ctx, webhook, f"it answered {reply.status}", _retry_after(reply))
    raise _failure(ctx, check_url(webhook.url).hostname or "", message, reply)


async def _led_nowhere(ctx: Context, webhook: Webhook, error: Exception) -> Partial:
    """A name without an address and a name inside end alike: whoever reads deliveries could find out by the difference
    which names there are in a private network. The log of the worker tells them apart."""
    log.warning("webhook %s: %s", webhook.id, error)
    store = ctx.services.store
    await stored.answered(store, webhook.id, ctx.id, None)
    if ctx.claimed.failures + 1 < _MOST_LOOKS:
        await resting.begin(ctx, webhook, REFUSED)
        raise Transient(f"it was not sent: {REFUSED}") from None
    await stored.pause(store, webhook.id, REFUSED)
    return Partial(warning=f"it was not sent, and the webhook was paused: {REFUSED}")


async def _send(ctx: Context, webhook: Webhook, message: dict[str, Any]) -> Reply:
    body, now = encode(message).encode(), int(time.time())
    headers = {
        "Content-Type": "application/json",
        "User-Agent": f"Towpath/{__version__}",
        ID: message["id"],
        TIMESTAMP: str(now),
        SIGNATURE: sign(webhook.secret, message["id"], now, body),
    }
    outbound = Outbound(allow_private=ctx.services.settings.allow_private_urls, timeout=_TIMEOUT)
    return await outbound.post(webhook.url, body, headers, most=0)


def _is_busy(reply: Reply) -> bool:
    return reply.status >= 500 or reply.status in _BUSY


def _failure(ctx: Context, host: str, message: dict[str, Any], reply: Reply) -> Exception:
    """Names the host only: an address may hold a key of the receiver's."""
    said, busy = f"{host} answered {reply.status}", _is_busy(reply)
    if reply.status == _GONE:
        return Fatal(f"{said}: it is there no more, and the webhook was paused", remedy="activate it again, then requeue")
    wait = _retry_after(reply)
    entries = ctx.claimed.failures + ctx.claimed.retry_laters + 1
    if busy and wait is not None and (entries < RETRY.limit or not resting.is_old(message)):
        return RetryLater(said, wait)
    tries = ctx.claimed.failures + 1
    if wait is not None or tries >= (RETRY.limit if busy else _MOST_REFUSALS):
        return Fatal(f"{said}, after {tries} attempts", remedy="mend the receiver, then replay the delivery")
    return Transient(said)


def _retry_after(reply: Reply) -> float | None:
    """How long a busy receiver asks us to wait."""
    text = reply.headers.get("retry-after", "").strip() if _is_busy(reply) else ""
    if text.isascii() and text.isdigit():
        return min(float(text), _LONGEST_WAIT)
    try:
        seconds = parsedate_to_datetime(text).timestamp() - time.time()
    except (ValueError, OverflowError):
        return None
    return min(max(0.0, seconds), _LONGEST_WAIT) if math.isfinite(seconds) else None
