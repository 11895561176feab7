"""Says that something everybody depends on is away: once, then now and then, and when it is back."""

from __future__ import annotations

import logging
import time

_SAY_AGAIN = 60.0


class Outage:
    def __init__(self, who: str, log: logging.Logger, meanwhile: str = "and is asked again until it does") -> None:
        self._who, self._log, self._meanwhile = who, log, meanwhile
        self._since: float | None = None
        self._said = float("-inf")
        self.reason: str | None = None
        """What was last heard of it while it is away; None while it answers, as far as anybody knows."""

    def seen(self, error: BaseException) -> None:
        now = time.monotonic()
        self._since = now if self._since is None else self._since
        self.reason = str(error) or type(error).__name__
        if now - self._said >= _SAY_AGAIN:
            self._said = now
            self._log.warning("%s does not answer, %s: %s", self._who, self._meanwhile, self.reason)

    def over(self) -> None:
        if self._since is not None:
            self._log.info("%s answers again, after %.0f s", self._who, time.monotonic() - self._since)
            self._since, self._said, self.reason = None, float("-inf"), None
