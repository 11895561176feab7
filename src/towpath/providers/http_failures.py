"""What an HTTP status, a lost connection or a silence means for an order, whichever library met it.

429                     RateLimited, for as long as the provider asks
408, 409, 425, 5xx      Transient, and so is no answer at all
404, 410                Vanished: the provider does not know what was asked for
401, 402, 403           Fatal: credentials, accounts, money. What is said of them is not passed on, keys are in there
other 4xx               SchemaInvalid: the same order gets the same answer
"""

from __future__ import annotations

import asyncio
import importlib
import ssl
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

from towpath.core.encoding import plain
from towpath.core.errors import Fatal, OperationError, RateLimited, SchemaInvalid, TowpathError, Transient
from towpath.providers.contract import Vanished

Translate = Callable[[Exception, str], OperationError | None]
"""One library's exceptions as ours, given what was going on; None for an exception that is not the library's."""

_USUAL_WAIT = 30.0
_SHORTEST_WAIT = 1.0
"""Nobody who has just said "too many" means at once."""
_LATER = (408, 409, 425)
_GONE = (404, 410)
_REFUSED = (401, 402, 403)
_REMEDY = "check the credentials, and the account they belong to"


def of_status(
    provider: str, doing: str, status: int, said: str, headers: Mapping[str, str], wait: float | None = None
) -> OperationError:
    """`wait` is what the provider asked for elsewhere than in a Retry-After header."""
    if status in _REFUSED:
        return Fatal(f"{provider} refused the credentials while {doing} (HTTP {status})", remedy=_REMEDY)
    message = f"{provider} answered {status} while {doing}: {plain(said, 500) or 'nothing'}"
    if status == 429:
        asked = asked_wait(headers) if wait is None else wait
        return RateLimited(message, retry_after=_USUAL_WAIT if asked is None else max(asked, _SHORTEST_WAIT))
    if status in _GONE:
        return Vanished(message)
    if status >= 500 or status < 400 or status in _LATER:
        return Transient(message)
    return SchemaInvalid(message)


def asked_wait(headers: Mapping[str, str]) -> float | None:
    """The seconds of a Retry-After header, which may also be a date, or of the `-ms` that some services send besides."""
    precise, usual = headers.get("retry-after-ms"), headers.get("retry-after")
    try:
        wait = float(precise) / 1000 if precise else float(usual or "none")
    except ValueError:
        try:
            then = parsedate_to_datetime(usual or "")
        except ValueError:
            return None
        wait = ((then if then.tzinfo else then.replace(tzinfo=UTC)) - datetime.now(UTC)).total_seconds()
    return wait if abs(wait) < float("inf") else None


@asynccontextmanager
async def calling(provider: str, doing: str, seconds: float, translate: Translate) -> AsyncIterator[None]:
    """What goes wrong inside leaves as one of the engine's categories, and nothing takes longer than `seconds`."""
    try:
        async with asyncio.timeout(seconds):
            yield
    except TowpathError:
        raise
    except TimeoutError:
        raise Transient(f"{provider} did not answer within {seconds:g} s while {doing}") from None
    except Exception as error:
        known = translate(error, doing) or _of_connection(provider, doing, error)
        if known is not None:
            raise known from None
        raise Transient(f"something unexpected while {doing} at {provider}: {type(error).__name__}") from error


async def in_time(
    chunks: AsyncIterator[bytes], guard: Callable[[], AbstractAsyncContextManager[None]]
) -> AsyncGenerator[bytes, None]:
    """Each chunk under its own guard. What is done with a chunk takes the time it takes, and fails as it fails."""
    while True:
        async with guard():
            chunk = await anext(chunks, None)
        if chunk is None:
            return
        yield chunk


def _of_connection(provider: str, doing: str, error: Exception) -> OperationError | None:
    if isinstance(error, (OSError, ssl.SSLError, *_http_errors())):
        return Transient(f"{provider} could not be reached, or broke off, while {doing}: {type(error).__name__}")
    return None


def _http_errors() -> tuple[type[Exception], ...]:
    """Libraries pass on what their HTTP client raises in the middle of a body, and bring along one client or the other."""
    found: list[type[Exception]] = []
    for name in ("httpx", "httpx2"):
        try:
            module = importlib.import_module(name)
        except ImportError:
            continue
        found += [module.HTTPError, module.StreamError]
    return tuple(found)
