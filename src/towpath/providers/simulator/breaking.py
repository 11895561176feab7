"""An answer whose connection is lost in the middle of the body."""

from __future__ import annotations

from starlette.responses import Response
from starlette.types import Receive, Scope, Send


class BreaksOff(Response):
    """Announces the whole body, sends half of it and hangs up."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        await send({"type": "http.response.start", "status": self.status_code, "headers": self.raw_headers})
        half = bytes(self.body[: len(self.body) // 2])
        await send({"type": "http.response.body", "body": half, "more_body": True})
