"""What a provider's refusal means for a job.

429                    RateLimited, for as long as it says
408, 425, 5xx          Transient
401, 402, 403          Fatal: the credentials or the account
404, 410               Vanished
anything else          SchemaInvalid: the same order gets the same answer
"""

from __future__ import annotations

import re
from collections.abc import AsyncGenerator, Iterable
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

from towpath.core.encoding import plain
from towpath.core.errors import Fatal, OperationError, RateLimited, SchemaInvalid, Transient
from towpath.providers.contract import Vanished

_LATER = (408, 425)
_DENIED = (401, 402, 403)
_GONE = (404, 410)
_USUAL_WAIT = 30.0
_QUERY = re.compile(r"(\b[a-z]+://[^\s?\"'<>]+)\?[^\s\"'<>]+")
"""What follows the question mark of a link: signatures that open a file to whoever reads them."""


def refusal(
    who: str, status: int, said: str, retry_after: str | None = None, secrets: Iterable[str | None] = ()
) -> OperationError:
    message = f"{who} answered {status}: {told(said, secrets) or 'nothing'}"
    if status == 429:
        return RateLimited(message, retry_after=seconds(retry_after))
    if status >= 500 or status in _LATER:
        return Transient(message)
    if status in _DENIED:
        return Fatal(message, remedy="check the credentials, and what they are allowed to do")
    if status in _GONE:
        return Vanished(message)
    return SchemaInvalid(message)


def told(text: str, secrets: Iterable[str | None] = ()) -> str:
    """What a provider said, fit to be stored and shown: short, without the credentials we gave it and without the keys that
    links carry."""
    for secret in secrets:
        if secret:
            text = text.replace(secret, "…")
    return plain(" ".join(_QUERY.sub(r"\1?…", text).split()), 500)


def seconds(retry_after: str | None, usual: float = _USUAL_WAIT) -> float:
    """What a Retry-After header asks for: seconds, or a date."""
    try:
        wait = float(retry_after or "")
    except ValueError:
        try:
            then = parsedate_to_datetime(retry_after or "")
        except ValueError:
            return usual
        wait = max(0.0, ((then if then.tzinfo else then.replace(tzinfo=UTC)) - datetime.now(UTC)).total_seconds())
    return wait if 0 <= wait < float("inf") else usual


@asynccontextmanager
async def patience(who: str, limit: float) -> AsyncGenerator[None, None]:
    """No call takes longer than `limit` seconds, whatever its library thinks."""
    import asyncio

    try:
        async with asyncio.timeout(limit):
            yield
    except TimeoutError:
        raise Transient(f"{who} did not answer within {limit:g} s") from None
