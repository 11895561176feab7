"""A new database from its first job on: whether the plans that were made for an empty table still do when it has grown.

Nothing is analysed beforehand, and nothing is warm. One producer sends jobs one by one and one worker runs them; what is
compared is the same run with itself, its last third with its first.
"""

import threading
import time
from dataclasses import dataclass

from bench.contender import Contender
from bench.databases import Databases
from bench.processes import ChildFailed, Scoreboard, Workers, call

SLOTS = 32
_PATIENCE = 60.0


@dataclass(frozen=True)
class Course:
    """Jobs per second at the beginning and at the end of a run."""

    first: float
    last: float

    @property
    def ratio(self) -> float:
        return self.last / self.first


def from_the_first_job_on(contender: Contender, databases: Databases, *, seconds: float) -> Course:
    url = databases.fresh(contender)
    try:
        scoreboard = Scoreboard(processes=1)
        with Workers(contender, url, batch=SLOTS, scoreboard=scoreboard, sink="count") as workers:
            workers.go()
            producer = threading.Thread(
                target=call, args=(contender.event_loop, _send, contender, url, seconds), daemon=True
            )
            producer.start()
            _until_begun(workers, scoreboard)
            counts = [_handled_after(workers, scoreboard, seconds / 3) for _ in range(3)]
            producer.join(_PATIENCE)
        return Course(counts[0], counts[2])
    finally:
        databases.drop(url)


def _until_begun(workers: Workers, scoreboard: Scoreboard) -> None:
    deadline = time.monotonic() + _PATIENCE
    while not scoreboard.handled:
        workers.check()
        if time.monotonic() > deadline:
            raise ChildFailed(f"no job was run within {_PATIENCE:.0f} s")
        time.sleep(0.01)


def _handled_after(workers: Workers, scoreboard: Scoreboard, seconds: float) -> float:
    """Jobs per second of the next so many seconds."""
    before, start = scoreboard.handled, time.monotonic()
    while (elapsed := time.monotonic() - start) < seconds:
        workers.check()
        time.sleep(min(0.1, seconds - elapsed))
    return (scoreboard.handled - before) / elapsed


async def _send(contender: Contender, url: str, seconds: float) -> None:
    async with contender.producer(url) as producer:
        ends = time.monotonic() + seconds + 1.0
        while time.monotonic() < ends:
            await producer.one({"n": 0})
