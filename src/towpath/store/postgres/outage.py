"""Says that the database is away: once, then now and then, and when it is back."""

from __future__ import annotations

import logging
import time

log = logging.getLogger("towpath.store")
_SAY_AGAIN = 60.0


class Outage:
    def __init__(self) -> None:
        self._since: float | None = None
        self._said = float("-inf")

    def seen(self, error: BaseException) -> None:
        now = time.monotonic()
        self._since = now if self._since is None else self._since
        if now - self._said >= _SAY_AGAIN:
            self._said = now
            log.warning("PostgreSQL does not answer, and is asked again until it does: %s", error)

    def over(self) -> None:
        if self._since is not None:
            log.info("PostgreSQL answers again, after %.0f s", time.monotonic() - self._since)
            self._since, self._said = None, float("-inf")
