"""A worker process for the chaos runs: `python -m tests.chaos.worker --url … --log …`.

It can be told to kill or stop itself at the n-th reach of a named point, or to carry a seeded bug. It ends by itself when
whoever started it is gone.
"""

import argparse
import asyncio
import faulthandler
import logging
import os
import signal
import sys
import threading
import time
import weakref
from collections import Counter
from collections.abc import Callable

import asyncpg

from tests.chaos import bugs
from tests.chaos.witness import Witness
from tests.chaos.workload import QUEUES, make_app
from towpath.core import failpoints


def arguments(parser: argparse.ArgumentParser) -> argparse.ArgumentParser:
    """What every process of a chaos run understands."""
    parser.add_argument("--url", required=True)
    parser.add_argument("--log", required=True)
    parser.add_argument("--owner", type=int, required=True, help="the process without which this one has no purpose")
    parser.add_argument("--die", metavar="POINT:N", help="SIGKILL this process at the n-th reach of a point")
    parser.add_argument("--freeze", metavar="POINT:N", help="SIGSTOP this process there")
    parser.add_argument("--twice", type=int, default=0, help="1: every transaction has to be run twice (PostgreSQL only)")
    parser.add_argument("--bug", choices=sorted(bugs.BUGS))
    parser.add_argument("--lease", type=float, default=1.0)
    parser.add_argument("--drain", type=float, default=0.2)
    parser.add_argument("--pool", type=int, default=10)
    return parser


def prepare(options: argparse.Namespace, witness: Witness) -> None:
    faulthandler.enable()
    logging.basicConfig(level=logging.WARNING, format="%(asctime)s %(name)s %(levelname)s %(message)s")
    threading.Thread(target=_end_with_the_owner, args=(options.owner,), daemon=True).start()
    if options.bug:
        bugs.plant(options.bug)
    for asked, number in ((options.die, signal.SIGKILL), (options.freeze, signal.SIGSTOP)):
        if asked:
            failpoints.install(_signal_at(asked, number, witness))
    if options.twice:
        failpoints.install(_everything_twice())


def _signal_at(asked: str, number: signal.Signals, witness: Witness) -> Callable[[str], None]:
    point, _, nth = asked.partition(":")
    reached: Counter[str] = Counter()

    def hook(name: str) -> None:
        reached[name] += 1
        if name == point and reached[name] == int(nth or 1):
            witness.tell("reached", point=point, signal=number.name)
            os.kill(os.getpid(), number)

    return hook


def _everything_twice() -> Callable[[str], None]:
    """Every other commit of a task fails with a deadlock: the unit is rolled back, and run again from its beginning."""
    tried: weakref.WeakSet[asyncio.Task[object]] = weakref.WeakSet()

    def hook(name: str) -> None:
        task = asyncio.current_task() if name == "tx.commit" else None
        if task is None:
            return
        if task in tried:
            tried.discard(task)
        else:
            tried.add(task)
            raise asyncpg.DeadlockDetectedError("deadlock detected, or so it is said")

    return hook


def _end_with_the_owner(owner: int) -> None:
    """A member of a fleet must not outlive the run, even if the run was killed outright."""
    while True:
        time.sleep(0.5)
        try:
            os.kill(owner, 0)
        except ProcessLookupError:
            os._exit(1)


def answer_inquests() -> None:
    """On SIGUSR1 tells where every task stands, for whoever wonders why nothing moves."""

    def tell() -> None:
        for task in asyncio.all_tasks():
            task.print_stack(file=sys.stderr)

    asyncio.get_running_loop().add_signal_handler(signal.SIGUSR1, tell)


async def run(options: argparse.Namespace, witness: Witness) -> None:
    answer_inquests()
    app = make_app(options.url, witness, lease_seconds=options.lease, drain_seconds=options.drain, pool_size=options.pool)
    async with app:
        witness.tell("worker")
        await app.run_until_signal(options.queues.split(","), options.concurrency)
    witness.tell("stopped")


def main() -> None:
    parser = arguments(argparse.ArgumentParser(description=__doc__))
    parser.add_argument("--queues", default=",".join(QUEUES))
    parser.add_argument("--concurrency", type=int, default=4)
    options = parser.parse_args()
    witness = Witness(options.log)
    prepare(options, witness)
    asyncio.run(run(options, witness))


if __name__ == "__main__":
    main()
