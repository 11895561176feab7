"""The queues that an app's process speaks to, each opened once."""

from __future__ import annotations

from towpath.brokers.sqs import SqsQueue


class Queues:
    """`app.part(Queues).of(url)`."""

    def __init__(self) -> None:
        self._opened: dict[str, SqsQueue] = {}

    def of(self, url: str) -> SqsQueue:
        if url not in self._opened:
            self._opened[url] = SqsQueue(url)
        return self._opened[url]

    def close(self) -> None:
        for queue in self._opened.values():
            queue.close()
        self._opened.clear()
