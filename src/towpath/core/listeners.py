"""Who wants to hear what, inside one process. The bells of stores and transports end here."""

from __future__ import annotations

import logging
from collections.abc import Callable

log = logging.getLogger("towpath.bell")


class Listeners:
    """Callbacks that are told a topic, in the event loop."""

    def __init__(self) -> None:
        self._callbacks: dict[int, Callable[[str], None]] = {}
        self._next = 0

    def add(self, heard: Callable[[str], None]) -> Callable[[], None]:
        self._next += 1
        number = self._next
        self._callbacks[number] = heard
        return lambda: self._callbacks.pop(number, None) and None

    def tell(self, topic: str) -> None:
        for heard in list(self._callbacks.values()):
            try:
                heard(topic)
            except Exception:  # whoever rings has nothing to do with it, and has committed already
                log.exception("a listener failed on %s", topic)
