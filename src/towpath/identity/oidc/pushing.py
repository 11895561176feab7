"""Who pushes: a service account that an OpenID provider answers for, by a token with each request."""

from __future__ import annotations

import time
from collections import OrderedDict

from towpath.identity.errors import LoginRefused
from towpath.identity.oidc.provider import Provider

_REMEMBER_SECONDS = 3900.0
"""Tokens of pushes hold for an hour; whoever has caught one cannot use it for the same message again while it does."""
_MOST_REMEMBERED = 10_000


class Pushing:
    """What may be pushed here, and what has been. One per server process."""

    def __init__(self, issuer: str, audience: str, account: str) -> None:
        self._provider, self._account = Provider(issuer, audience, ""), account
        self._seen: OrderedDict[str, float] = OrderedDict()

    async def check(self, authorization: str) -> None:
        """Raises LoginRefused unless the token was signed by the issuer, for this audience and by this account."""
        kind, _, token = authorization.partition(" ")
        if kind.lower() != "bearer" or not token:
            raise LoginRefused("a push carries a token: Authorization: Bearer …")
        claims = await self._provider.signed(token.strip())
        if claims.get("email") != self._account or claims.get("email_verified") is not True:
            raise LoginRefused("this token is not of the service account that pushes here")

    def is_new(self, message_id: str) -> bool:
        """Whether this message has not come before, as far as this process remembers."""
        now = time.monotonic()
        while len(self._seen) >= _MOST_REMEMBERED or (self._seen and self._oldest() < now - _REMEMBER_SECONDS):
            self._seen.popitem(last=False)
        if message_id in self._seen:
            return False
        self._seen[message_id] = now
        return True

    def _oldest(self) -> float:
        return next(iter(self._seen.values()))
