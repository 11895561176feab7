"""The door of a simulator: whoever has no credential stays outside, and so do requests that a fault strikes."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING

from towpath.providers.simulator.faults import Fault
from towpath.providers.simulator.simulator import RETRY_AFTER, Simulator

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.responses import Response

    Handler = Callable[[Request], Awaitable[Response]]


class Refusal(Exception):
    """A request that gets an error for an answer. `kind` is ours; each simulator words it as its provider does."""

    def __init__(self, kind: str, message: str) -> None:
        super().__init__(message)
        self.kind, self.message = kind, message

    @property
    def status(self) -> int:
        return _STATUS[self.kind]

    @property
    def headers(self) -> dict[str, str]:
        return {"retry-after": str(RETRY_AFTER)} if self.kind == "rate_limited" else {}


_STATUS = {
    "invalid": 400,
    "denied": 401,
    "forbidden": 403,
    "unknown": 404,
    "conflict": 409,
    "too_large": 413,
    "rate_limited": 429,
    "broken": 500,
    "unavailable": 503,
}


def gated(
    simulator: Simulator,
    handler: Handler,
    sent: Callable[[Request], str],
    secret: str,
    refused: Callable[[Refusal], Response],
) -> Handler:
    """`sent` is the credential of a request, `refused` the provider's shape of an error."""

    async def endpoint(request: Request) -> Response:
        try:
            _pass(simulator, sent(request), secret)
            return await handler(request)
        except Refusal as refusal:
            return refused(refusal)

    return endpoint


def _pass(simulator: Simulator, credential: str, secret: str) -> None:
    strikes = simulator.faults.strikes
    if credential != secret or strikes(Fault.DENIED):
        raise Refusal("denied", f"this credential is not good: {credential}")  # providers do repeat keys
    if strikes(Fault.RATE_LIMITED):
        raise Refusal("rate_limited", "too many requests")
    if strikes(Fault.UNAVAILABLE):
        raise Refusal("unavailable", "try again later")
